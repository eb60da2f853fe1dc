"""A jammed box: wedged between two walls, its impacts have no bound, and what to do about it."""

import numpy as np

import carom

MASS, WIDTH, HEIGHT = 2.0, 0.4, 1.0  # of the box [kg, m, m]


def impact() -> carom.ImpactProblem:
    """The box falls on the floor between two smooth walls that touch it on both sides."""
    return carom.ImpactProblem(
        M=np.diag([MASS, MASS, MASS * (WIDTH**2 + HEIGHT**2) / 12]),  # of x, y and the angle
        J_n=[[1, 0, 0], [-1, 0, 0], [0, 1, 0]],  # walls push along x, through the centre of mass
        J_t=[[0, 1, -WIDTH / 2], [0, 1, WIDTH / 2], [1, 0, HEIGHT / 2]],
        mu=[0, 0, 0.5],
        v_pre=[0.0, -1.0, 0.0],
        contacts=("left", "right", "floor"),
    )


def main() -> tuple[carom.Guarantees, carom.Guarantees]:
    problem = impact()
    jammed = carom.check(problem)
    # Both walls may push as hard as they like: their impulses cancel, and nothing moves. Then no
    # theorem bounds how long an impact lasts.
    print("the friction cone is pointed:", jammed.cone.is_pointed)
    for name, impulse in zip(problem.contacts, jammed.cone.jamming, strict=True):
        print(f"  {name:5} pushes with {impulse[0]:.3g} N s, friction {impulse[1]:.3g} N s")
    print(f"what all of this changes, in sqrt(J): {jammed.cone.residual:.1g}\n")

    # The box moves along the walls: one of them cannot matter, and without it the cone is pointed.
    kept = [0, 2]
    freed = carom.check(
        carom.ImpactProblem(
            M=problem.M,
            J_n=problem.J_n[kept],
            J_t=problem.J_t[kept],
            mu=problem.mu[kept],
            v_pre=problem.v_pre,
            contacts=("left", "floor"),
        )
    )
    print(freed)
    return jammed, freed


if __name__ == "__main__":
    main()
