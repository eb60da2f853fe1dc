"""Numbered figures and tables of the paper, and what reproducing one gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Progress = Callable[[int, int], None]
"""Called with how much is done, and how much there is."""


@dataclass(frozen=True)
class Effort:
    """How much work is put into an exhibit: as in the paper, or less."""

    quick: bool = False

    def samples(self, count: int) -> int:
        """Return how many samples to draw where the paper draws `count`."""
        return min(count, 2**11) if self.quick else count

    def runs(self, count: int) -> int:
        """Return how many slow runs to do where the paper does `count`; odd stays odd."""
        return min(count, 5) if self.quick else count


@dataclass(frozen=True)
class Finding:
    """A sentence of the paper, in other words, whether it agrees here, and what was measured."""

    sentence: str
    agrees: bool
    measured: str

    def __post_init__(self) -> None:
        # NumPy's own kind of truth is none that JSON knows.
        object.__setattr__(self, "agrees", bool(self.agrees))


@dataclass(frozen=True)
class Table:
    """Numbers or words under headings with units; the page prints it only if `shown`."""

    columns: tuple[str, ...]
    rows: Sequence[Sequence[object]]
    shown: bool = False


@dataclass(frozen=True, eq=False)
class Made:
    """What an exhibit came to: what agrees and what differs, pictures and data by their names."""

    remarks: str
    figures: dict[str, Figure] = field(default_factory=dict)
    tables: dict[str, Table] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()


Maker = Callable[[Effort, Progress], Made]


@dataclass(frozen=True)
class Exhibit:
    """A figure or table of the paper that can be reproduced.

    Attributes:
        name: Name on the command line.
        place: Number in the paper, with its label.
        title: What it shows.
        make: Function that reproduces it.
        seconds: Approximate duration, in full and quickly, for the progress bar.
    """

    name: str
    place: str
    title: str
    make: Maker
    seconds: tuple[float, float]


def exhibit(
    name: str, place: str, title: str, seconds: float, quickly: float | None = None
) -> Callable[[Maker], Exhibit]:
    """Make a function the maker of an exhibit."""
    times = seconds, seconds if quickly is None else quickly
    return lambda make: Exhibit(name, place, title, make, times)
