"""Newton's cradle: three equal balls, and every way in which the first one's impact can end.

Run it as `python newtons_cradle.py [figure.png]`.
"""

import sys

import numpy as np
from matplotlib.figure import Figure
from scipy.integrate import solve_ivp

import carom

SIDES = np.array([[-1.0, 0.0, 1.0], [-1.0, 2.0, -1.0]]) / np.sqrt([[2.0], [6.0]])
"""What is seen of (v1, v2, v3) along (1, 1, 1): momentum fixes the rest."""
SEEN = [
    ("simultaneous", "s", "#D55E00"),
    ("B 10 times stiffer than A", "v", "#CC79A7"),
    ("linear springs, A and B alike", "o", "#0072B2"),
    ("springs of Hertz", "D", "#E69F00"),
    ("A 10 times stiffer than B", "^", "#009E73"),
    ("one after the other", "*", "#000000"),
]


def between_springs(power: float, stiffness: tuple[float, float] = (1.0, 1.0)) -> np.ndarray:
    """Return how three balls part if forces grow with a power of how far two are pressed."""

    def rates(_: float, y: np.ndarray) -> np.ndarray:
        force = stiffness * np.maximum(y[:2] - y[1:3], 0.0) ** power
        return np.concatenate([y[3:], [-force[0], force[0] - force[1], force[1]]])

    start = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0]  # displacements, then velocities
    return solve_ivp(rates, (0.0, 30.0), start, rtol=1e-10, atol=1e-12).y[3:, -1]


def draw(samples: carom.SampledSet, ends: dict[str, np.ndarray], figure: str) -> None:
    """Draw the circle along (1, 1, 1), and the speeds of the balls along the arc of outcomes."""
    drawing = Figure(figsize=(9.0, 4.3), layout="constrained")
    around, along = drawing.subplots(1, 2, width_ratios=(1.0, 1.35))
    turns = np.radians(np.linspace(0.0, 360.0, 361))
    radius = np.sqrt(2.0 / 3.0)
    arc = np.radians(np.linspace(30.0, -30.0, 61))
    around.fill([0, *1.4 * np.cos(arc)], [0, *1.4 * np.sin(arc)], color="#56B4E9", alpha=0.18)
    around.plot(radius * np.cos(turns), radius * np.sin(turns), color="#999999", linewidth=1.0)
    around.plot(*SIDES @ samples.v_post.T, ".", color="#56B4E9", markersize=9.0)
    before = SIDES @ samples.problem.v_pre
    around.plot(*before, "o", color="#000000", markerfacecolor="none")
    around.annotate("before", before, (-4, -14), textcoords="offset points", ha="center")
    around.text(1.13, 0.0, "nothing\napproaches", ha="center", va="center", fontsize=8)
    around.set(title="all with this momentum and energy", aspect="equal", xlim=(-1.0, 1.45))
    around.axis("off")

    # The same arc, as angles from where both contacts act at once.
    v = np.linalg.pinv(SIDES) @ (radius * np.array([np.cos(arc), np.sin(arc)])) + 1.0 / 3.0
    for i, dashes in enumerate(("-", "--", ":")):
        along.plot(30.0 - np.degrees(arc), v[i], color="#303030", linestyle=dashes)
    for x, i, up in ((20.0, 0, 0.07), (20.0, 1, 0.06), (20.0, 2, 0.07)):
        along.text(x, np.interp(x, 30.0 - np.degrees(arc), v[i]) + up, f"ball {i + 1}", va="center")
    for name, marker, color in SEEN:
        place = SIDES @ ends[name]
        angle = 30.0 - np.degrees(np.arctan2(place[1], place[0]))
        size = 12.0 if marker == "*" else 8.0
        marks = {"marker": marker, "color": color, "markersize": size, "linestyle": "none"}
        around.plot(*place, **marks, markeredgecolor="white", zorder=3.0)
        along.axvline(angle, color=color, linewidth=0.8, alpha=0.6)
        along.plot(
            [angle] * 3, ends[name], **marks, markeredgecolor="white", label=name, zorder=3.0
        )
    along.set(title="all outcomes", xlabel="place on the arc [°]", ylabel="velocity after [m/s]")
    drawing.legend(*along.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    drawing.savefig(figure, dpi=100)


def main(figure: str = "newtons_cradle.png") -> tuple[carom.SampledSet, dict[str, np.ndarray]]:
    scene = carom.scenes.load("newtons-cradle")  # contacts A and B between three balls, e = 1
    cradle = scene.problem
    samples = carom.Routh(num_samples=2000).resolve(cradle)

    def springs(*stiffness: float) -> np.ndarray:
        # As the model of Liu, Zhao and Brogliato shares impulses between contacts.
        law = carom.Compliant(stiffness, restitution=1.0)
        return law.resolve(scene.system, scene.q, scene.v).v_post[0]

    ends = {
        "simultaneous": carom.AnitescuPotra().resolve(cradle).v_post[0],
        "B 10 times stiffer than A": springs(1e10, 1e11),
        "linear springs, A and B alike": springs(1e10, 1e10),
        "springs of Hertz": between_springs(1.5),
        "A 10 times stiffer than B": springs(1e11, 1e10),
        "one after the other": carom.Sequential().resolve(cradle).v_post[0],
    }
    print("velocities after the impact [m/s], and how far the next of 2000 samples is")
    for name, v in ends.items():
        print(f"{name:30}", "".join(f"{each:10.5f}" for each in v), f"{samples.distance(v):10.1e}")
    draw(samples, ends, figure)
    print(f"figure: {figure}")
    return samples, ends


if __name__ == "__main__":
    main(*sys.argv[1:])
