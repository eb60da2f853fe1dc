"""Which order of contacts leads here: how a walker's leading foot can bounce off, step by step.

A classical law would never say so. The exact set does, and tells the order that leads there.
"""

import numpy as np

import carom


def describe(v_n: float) -> str:
    """Say what a contact does, from its normal velocity."""
    if abs(v_n) < 1e-9:
        return "stays on the floor"
    return f"{'leaves' if v_n > 0 else 'nears'} the floor at {abs(v_n):.4f} m/s"


def main() -> tuple[carom.ImpactProblem, carom.ImpactPath]:
    # The leading foot A of a walker hits the floor, while its trailing foot B rests there.
    problem = carom.scenes.load("compass-gait").problem
    outcomes = carom.RouthExact().resolve(problem)

    # Of all outcomes, take one in which A leaves the floor. No classical law has such a one.
    (lifts,) = [polytope for polytope in outcomes.polytopes if polytope.kind == "A lifts, B sticks"]
    v_post = lifts.vertices.mean(axis=0)
    print(f"A can leave the floor at {problem.J_n[0] @ v_post:.4f} m/s, but at no more than")
    for law in (carom.AnitescuPotra(), carom.Sequential()):
        said = law.resolve(problem).support(problem.J_n[0])
        print(f"  {said:z.4f} m/s, says {type(law).__name__}")

    # One way there: straight motions of the velocity, with the impulses of each. A contact is
    # compressing while it approaches and pushes, and closed while it pushes and rests.
    path = outcomes.path_to(v_post)
    print(f"\n{path.describe()}\n")
    for step, v in enumerate(path.v[1:], start=1):
        after = problem.contact_velocity(v)[:, 0]
        doing = (f"{name} {describe(v_n)}" for name, v_n in zip("AB", after, strict=True))
        print(f"after step {step}, {' and '.join(doing)}")

    # Replay it by hand: an impulse changes the velocity by M⁻¹ Jᵀ λ. Nothing else happens.
    v = problem.v_pre.copy()
    for lambda_n, lambda_t in zip(path.lambda_n, path.lambda_t[..., 0], strict=True):
        v += np.linalg.solve(problem.M, problem.J_n.T @ lambda_n + problem.J_t[:, 0].T @ lambda_t)
    print(f"\nreplayed by hand, it ends {np.abs(v - v_post).max():.0e} away from the outcome")
    return problem, path


if __name__ == "__main__":
    main()
