"""Extremes of an impact: what motions reach, and what proofs allow."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from carom.errors import InvalidOption
from carom.extremes.extreme import EXACT, Extreme, Extremes
from carom.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WORDS = {
    "m/s": "contact velocity after the impact",
    "N s": "normal impulse of the impact",
    "J": "kinetic energy after the impact",
    "": "direction · v after the impact",
}
"""What has a unit; that of a direction of the user's own is not known."""
FLAT = 2e-3
"""A bar that is shorter than this share of the width is a point."""
MARGIN = 0.06
"""Free share of the width on either side."""


def plot_extremes(extremes: Extremes | Extreme, ax: Axes) -> Axes:
    """Draw what is reached and what is proved, one row per quantity.

    A thick bar goes from the least to the largest value that a motion reaches, a thin one between
    the bounds that no outcome exceeds. Where they end together, the extreme is exact. If one side
    only was asked for, the thin bar shows what lies between reached and proved. An arrow at the
    edge stands for a bound that is not known.

    Args:
        extremes: Extremes to draw, of quantities with one unit.
        ax: Where to draw.

    Examples:
        >>> import carom
        >>> from matplotlib.figure import Figure
        >>> block = carom.scenes.load("rocking-block").problem
        >>> ax = carom.plots.plot_extremes(carom.worst_case(block), Figure().subplots())
        >>> ax.get_xlabel(), [each.get_text() for each in ax.get_yticklabels()][:2]
        ('contact velocity after the impact [m/s]', ['A normal', 'A tangential'])
    """
    draw_extremes(extremes, ax)
    style.legend_below(ax)
    return ax


def draw_extremes(extremes: Extremes | Extreme, ax: Axes) -> None:
    """Draw all but a legend."""
    if not isinstance(extremes, Extreme | Extremes):
        raise InvalidOption(f"extremes: expected some, got a {type(extremes).__name__}")
    found = Extremes((extremes,)) if isinstance(extremes, Extreme) else extremes
    rows = {name: _without_noise(found, name, four) for name, _, *four in found.rows()}
    unit = _only_unit(found)
    low, high = _limits([x for four in rows.values() for x in four])
    for place, four in enumerate(rows.values()):
        _draw_row(ax, place, four, low, high)
    _draw_bands(ax, found.problem.contacts, [*rows])
    ax.axvline(0.0, **style.ZERO)
    ax.plot([], [], **style.REACHED, label="reached by a motion")
    ax.plot([], [], **style.PROVED, label="proved bounds")
    ax.set_yticks(range(len(rows)), [style.literal(name) for name in rows])
    ax.set(xlabel=f"{WORDS[unit]} [{unit or 'its own unit'}]")
    ax.set(xlim=(low, high), ylim=(len(rows) - 0.5, -0.5))


def _only_unit(extremes: Extremes) -> str:
    units = list(dict.fromkeys(each.unit for each in extremes))
    if len(units) > 1:
        one = ", ".join(unit or "none" for unit in units)
        raise InvalidOption(f"extremes: expected quantities with one unit, got {one}")
    return units[0]


def _without_noise(extremes: Extremes, name: str, four: Sequence[float]) -> list[float]:
    scale = max(each.scale for each in extremes if each.name in (name, f"-{name}"))
    return [0.0 if abs(x) <= EXACT * scale else x for x in four]


def _limits(values: list[float]) -> tuple[float, float]:
    """Return the limits of the horizontal axis, which has room for all and for zero."""
    known = [0.0, *(x for x in values if math.isfinite(x))]
    margin = MARGIN * ((max(known) - min(known)) or 1.0)
    return min(known) - margin, max(known) + margin


def _draw_row(ax: Axes, place: int, four: list[float], low: float, high: float) -> None:
    """Draw one quantity: bounds and what is reached; nan was not asked for."""
    known = [x for x in four if not math.isnan(x)]
    ends = [min(known), max(known)]
    ax.plot(np.clip(ends, low, high), [place, place], **style.PROVED | {"marker": ""})
    for bound, arrow in ((four[0], "<"), (four[3], ">")):
        if math.isfinite(bound):
            ax.plot([bound], [place], **style.PROVED)
        elif math.isinf(bound):
            edge = low if arrow == "<" else high
            ax.plot([edge], [place], **style.PROVED | style.ENDLESS | {"marker": arrow})
    reached = [x for x in four[1:3] if not math.isnan(x)]
    # A bar of no width would not be seen.
    is_point = abs(reached[-1] - reached[0]) < FLAT * (high - low)
    marks = style.REACHED_POINT if is_point else style.REACHED
    ax.plot([reached[0], reached[-1]], [place, place], **marks)


def _draw_bands(ax: Axes, contacts: tuple[str, ...], names: list[str]) -> None:
    """Shade the rows of every second contact, so that those of one are seen together."""
    for place, name in enumerate(names):
        own = [i for i, contact in enumerate(contacts) if name.startswith(f"{contact} ")]
        if own and own[0] % 2:
            ax.axhspan(place - 0.5, place + 0.5, **style.BAND)
