"""A first set: every way in which the impact of a box that lands on two corners can end.

Run it as `python first_set.py [figure.png]`; the figure is written here unless told otherwise.
"""

import sys

import numpy as np

import carom

MASS, WIDTH, HEIGHT = 2.0, 0.4, 1.0  # of the box [kg, m, m]


def impact() -> carom.ImpactProblem:
    """The box lands flat, at 1 m/s, while it moves to the right at 0.1 m/s."""
    # Velocities are (x, y, angle) of the centre. A row of J_n, times a velocity, is how fast a
    # corner leaves the floor; a row of J_t is how fast it slides.
    return carom.ImpactProblem(
        M=np.diag([MASS, MASS, MASS * (WIDTH**2 + HEIGHT**2) / 12]),
        J_n=[[0, 1, -WIDTH / 2], [0, 1, WIDTH / 2]],
        J_t=[[1, 0, HEIGHT / 2], [1, 0, HEIGHT / 2]],
        mu=0.5,
        v_pre=[0.1, -1.0, 0.0],
        contacts=("left", "right"),
    )


def main(figure: str = "first_set.png") -> dict[str, carom.OutcomeSet]:
    problem = impact()
    outcomes = {
        # What may happen: many samples, and the whole set as polytopes.
        "sampled": carom.Routh().resolve(problem),
        "exact": carom.RouthExact().resolve(problem),
        # What classical laws say instead: both corners at once, or one after the other.
        "simultaneous": carom.AnitescuPotra().resolve(problem),
        "sequential": carom.Sequential().resolve(problem),
    }
    for each in outcomes.values():
        print(each.summary(), end="\n\n")

    # Any linear question: how fast can it turn afterwards, to the left and to the right?
    for side, direction in (("left", [0, 0, 1]), ("right", [0, 0, -1])):
        asked = {name: each.support(direction) for name, each in outcomes.items()}
        said = ", ".join(f"{rate:z.4f} rad/s ({name})" for name, rate in asked.items())
        print(f"fastest turn to the {side}: {said}")

    others = {name: outcomes[name] for name in ("exact", "simultaneous", "sequential")}
    title = "A box lands on two corners"
    carom.plots.outcomes_overview(outcomes["sampled"], **others, title=title).savefig(figure)
    print(f"figure: {figure}")
    return outcomes


if __name__ == "__main__":
    main(*sys.argv[1:])
