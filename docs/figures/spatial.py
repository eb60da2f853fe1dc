"""Draw the picture of docs/spatial.md, and print its numbers.

Run it as `PYTHONPATH=. .venv/bin/python docs/figures/spatial.py`, which takes some minutes; the
picture appears in docs.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from carom.plots import style
from tests.reference.cone_errors import (
    exact_motions,
    one_contact,
    several_contacts,
    step_errors,
    turning,
    turning_exact_motions,
)

DOCS = Path(__file__).parents[1]
KS = (4, 8, 16, 32)
FINEST = 64
NUM_BODIES = 300
NUM_TURNED = 100
NUM_LANDINGS = {2: 40, 3: 20, 4: 10}
NUM_LANDINGS_TURNED = 40
NUM_STEPPED = 60
STEPS = (0.1, 0.03, 0.01, 0.003, 0.001)


def frame(ax: Axes, title: str) -> None:
    """Label an axis for errors against k."""
    ax.set_xscale("log", base=2)
    ax.set_yscale("log")
    ax.set_xticks(KS, [str(k) for k in KS])
    ax.set_xlabel("friction directions k")
    ax.set_ylabel("error, share of the impact's speed")
    ax.set_ylim(3e-4, 1.0)
    ax.set_title(title, fontsize=11)
    ax.grid(True, which="major", color=style.LIGHT, linewidth=0.8)
    ax.legend(frameon=False, fontsize=9, loc="lower left")


def show(name: str, errors: np.ndarray) -> dict[str, np.ndarray]:
    """Print and return what of errors (len(KS), n) is reported."""
    found = {
        "median": np.median(errors, axis=1),
        "nine in ten": np.percentile(errors, 90, axis=1),
        "99 in 100": np.percentile(errors, 99, axis=1),
        "worst": errors.max(axis=1),
    }
    mean = errors.mean(axis=1)
    print(name, "order of the mean:", np.log2(mean[:-1] / mean[1:]).round(2))
    for label, values in found.items():
        print(f"  {label:12}", *(f"{100 * value:7.2f} %" for value in values))
    return found


def draw_single(ax: Axes) -> None:
    """Draw the errors of impacts at one contact, and what turned tangents change."""
    errors = show("one contact", one_contact(NUM_BODIES, KS).T)
    turned = show("tangents turned", np.array([turning(NUM_TURNED, k) for k in KS]))
    bound = [np.sqrt(1.0 / np.cos(np.pi / k) - 1.0) for k in KS]
    ax.plot(KS, bound, color=style.DARK, linestyle="--", label="bound at equal normal impulse")
    ax.plot(KS, errors["worst"], color=style.VERMILLION, marker="o", label="worst of 300 bodies")
    ax.plot(KS, errors["nine in ten"], color=style.BLUE, marker="s", label="nine in ten")
    ax.plot(KS, errors["median"], color=style.GREEN, marker="^", label="median")
    ax.plot(KS, turned["median"], color=style.DARK, linestyle=":", label="tangents turned, median")
    frame(ax, "one contact, against the round cone")


def draw_several(ax: Axes) -> None:
    """Draw how far samples and sets at several contacts are from those with a fine cone."""
    for (m, count), colour in zip(
        NUM_LANDINGS.items(), (style.GREEN, style.BLUE, style.VERMILLION), strict=True
    ):
        apart, supports = several_contacts(m, count, KS, FINEST)
        samples = show(f"{m} contacts, samples", apart)
        sets = show(f"{m} contacts, support functions", supports)
        ax.plot(KS, samples["nine in ten"], color=colour, marker="o", label=f"{m} feet: samples")
        ax.plot(
            KS,
            sets["nine in ten"],
            color=colour,
            marker="s",
            markerfacecolor="white",
            linestyle="--",
            label=f"{m} feet: extent of the set",
        )
    frame(ax, f"several contacts, nine in ten, against k = {FINEST}")


def draw_errors() -> Figure:
    """Draw errors against the number of friction directions."""
    figure = Figure(figsize=(10.5, 4.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    draw_single(left)
    draw_several(right)
    return figure


def print_exact_motions() -> None:
    """Print the errors of the default law, which has neither directions nor steps."""
    found = {"one contact": exact_motions(NUM_BODIES).max(axis=1)}
    for m, count in {1: NUM_TURNED, **dict.fromkeys(NUM_LANDINGS, NUM_LANDINGS_TURNED)}.items():
        found[f"tangents turned, {m} contacts"] = turning_exact_motions(m, count).max(axis=(1, 2))
    for name, errors in found.items():
        parts = np.median(errors), np.percentile(errors, 90), errors.max()
        print(f"Routh(), {name}:", *(f"{100 * value:.1e} %" for value in parts))


def print_steps() -> None:
    """Print what steps add to the error of eight directions."""
    errors = step_errors(NUM_STEPPED, STEPS)
    print("steps", STEPS, "mean", *(f"{100 * value:.1e} %" for value in errors.mean(axis=0)))


if __name__ == "__main__":
    print_exact_motions()
    print_steps()
    path = DOCS / "spatial-error.png"
    draw_errors().savefig(path, dpi=110)
    print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")
