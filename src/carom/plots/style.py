"""Colours, marks and words of every figure; safe for all colour vision [Okabe and Ito, 2008]."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from matplotlib.transforms import ScaledTranslation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from carom.systems.names import Name

Marks = dict[str, Any]

BLACK = "#000000"
BLUE = "#0072B2"
GREEN = "#009E73"
ORANGE = "#E69F00"
PURPLE = "#CC79A7"
SKY = "#56B4E9"
VERMILLION = "#D55E00"
YELLOW = "#F0E442"
LIGHT = "#CBCBCB"
DARK = "#303030"

# Neighbours differ most; yellow is too pale for a line.
CYCLE = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, BLACK)
MARKERS = ("", "o", "s", "^", "D", "v", "x", "*")

LABEL = 20.0
"""Height of the numbers below an ax [points]."""
LINE = 14.0
"""Height of one line of an axis label [points]."""
LONG = 16
"""A contact's name with more letters goes to a second line of a label."""

_EDGED: Marks = {"linestyle": "none", "markeredgecolor": BLACK, "markeredgewidth": 0.8}
_OUTLINED: Marks = _EDGED | {"clip_on": False}
_DOTS: Marks = {"linestyle": "none", "marker": "o"}

# Large sets are drawn as pixels, also in vector graphics.
PATHS: Marks = {"colors": LIGHT, "linewidths": 0.5, "zorder": 1.0, "rasterized": True}
SET: Marks = _DOTS | {"markersize": 2.5, "markeredgewidth": 0.0, "color": DARK, "zorder": 2.0}
SET |= {"rasterized": True}
# What is exact lies below the samples, and is wide enough to be seen around them.
POLYGON: Marks = {"facecolor": SKY + "80", "edgecolor": BLUE, "linewidth": 1.2, "zorder": 1.6}
SEGMENT: Marks = {"color": SKY, "linewidth": 6.0, "solid_capstyle": "butt", "zorder": 1.7}
POINT: Marks = _DOTS | {"markersize": 10, "color": SKY, "zorder": 1.8}
POINT |= {"markeredgecolor": BLUE, "markeredgewidth": 1.2}
SAMPLED_BAR: Marks = SEGMENT | {"color": DARK, "linewidth": 2.0, "zorder": 2.0}
# What is proved surrounds what is reached, and its ends are seen where they meet.
REACHED: Marks = {"color": SKY, "linewidth": 8.0, "solid_capstyle": "butt", "zorder": 1.7}
REACHED_POINT: Marks = _DOTS | {"color": SKY, "markersize": 9.0, "zorder": 1.7}
PROVED: Marks = {"color": BLACK, "linewidth": 1.2, "solid_capstyle": "butt", "zorder": 1.9}
PROVED |= {"marker": "|", "markersize": 11.0, "markeredgewidth": 1.4}
ENDLESS: Marks = {"markersize": 5.0, "clip_on": False}
BAND: Marks = {"facecolor": "#F3F3F3", "edgecolor": "none", "zorder": 0.5}
ZERO: Marks = {"color": "#808080", "linewidth": 0.6, "zorder": 1.5}

# Marks that coincide stay visible: the larger lie below.
BEFORE: Marks = {**_OUTLINED, "marker": "*", "markersize": 16, "color": GREEN, "zorder": 3.0}
FIRST: Marks = {**_OUTLINED, "marker": "^", "markersize": 10, "color": VERMILLION, "zorder": 4.0}
SECOND: Marks = {**_OUTLINED, "marker": "v", "markersize": 10, "color": YELLOW, "zorder": 4.0}
SIMULTANEOUS: Marks = {**_OUTLINED, "marker": "D", "markersize": 6, "color": BLUE, "zorder": 5.0}

# Motions: time stands still in what is shaded.
FROZEN: Marks = {"facecolor": "#EBEBEB", "edgecolor": "none", "zorder": 0.5}
JUMP: Marks = {"linewidth": 0.9, "linestyle": (0, (3, 2))}

# Scenes: bodies above the ground, contacts above bodies.
BODY: Marks = {"edgecolor": DARK, "linewidth": 1.4, "zorder": 2.0}
LINK: Marks = {"linewidth": 4.0, "solid_capstyle": "round", "zorder": 2.0}
GROUND: Marks = {"color": DARK, "linewidth": 1.4, "zorder": 1.2}
SOLID: Marks = {"facecolor": "none", "edgecolor": "#909090", "linewidth": 0.0, "zorder": 1.0}
TOUCHING: Marks = _EDGED | {"marker": "o", "markersize": 6, "color": VERMILLION, "zorder": 4.0}
APART: Marks = TOUCHING | {"color": "white"}
DOT: Marks = {"marker": "o", "markersize": 7, "zorder": 2.5}
SPOKE: Marks = {"color": DARK, "linewidth": 1.4, "zorder": 2.1}
_PAPER: Marks = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none"}
NAME: Marks = {"fontsize": 9, "zorder": 6.0, "bbox": _PAPER}
_TO_SCALE: Marks = {"angles": "xy", "scale_units": "xy", "scale": 1.0}
ARROWS: Marks = _TO_SCALE | {"color": BLACK, "width": 0.008, "zorder": 5.0}
CONTACT_ARROWS: Marks = ARROWS | {"color": VERMILLION}
FLASH: Marks = {"marker": "*", "color": VERMILLION, "edgecolors": BLACK, "linewidths": 0.6}
FLASH |= {"zorder": 6.0}


def line(i: int) -> Marks:
    """Return colour and marker of line i of several, which are all different up to 56."""
    # Dashes are left to what a line means, such as tangential impulses.
    marks = {"color": CYCLE[i % len(CYCLE)]}
    marker = MARKERS[i // len(CYCLE) % len(MARKERS)]
    # Spread along the line, and not at the same places as those of its neighbour.
    place = {"markersize": 5, "markevery": (0.02 * (i % len(CYCLE)), 0.15)}
    return marks | {"marker": marker, **place} if marker else marks


def literal(text: str) -> str:
    """Return text that matplotlib draws as it is: no mathtext, and shown in legends."""
    # A legend leaves out what begins with an underscore.
    return f"{' ' if text.startswith('_') else ''}{text}".replace("$", r"\$")


def units(names: Iterable[Name]) -> str:
    """Return the units of several coordinates, each once."""
    return ", ".join(unit for unit in dict.fromkeys(name.unit for name in names) if unit)


def contact(name: str) -> str:
    """Return a contact's name, in quotes unless it is one plain word: "foot -" ends in no minus."""
    plain = name[-1:].isalnum() and not any(letter.isspace() for letter in name)
    return literal(name if plain else f"“{name}”")


def of_contact(what: str, name: str) -> str:
    """Return the label of an axis, with a long name in a second line."""
    return f"{what} of{chr(10) if len(name) > LONG else ' '}{contact(name)} [m/s]"


def legend_below(ax: Axes) -> None:
    """Put a legend below the label of an ax, however small the ax is."""
    height = LABEL + LINE * (1 + ax.get_xlabel().count("\n"))
    down = ScaledTranslation(0.0, -height / 72.0, ax.figure.dpi_scale_trans)
    place: Marks = {"loc": "upper center", "bbox_to_anchor": (0.5, 0.0), "borderaxespad": 0.0}
    ax.legend(**place, bbox_transform=ax.transAxes + down, ncols=2, frameon=False)
