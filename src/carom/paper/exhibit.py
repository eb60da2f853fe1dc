"""A numbered figure or table of the paper, and what becomes of it when it is made again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Progress = Callable[[int, int], None]
"""Is told how much is done, and how much there is."""


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
    """A sentence of the paper about an exhibit, held against what came out here.

    Attributes:
        sentence: What the paper says, in other words.
        agrees: Whether it came out so.
        measured: What came out, in numbers.
    """

    sentence: str
    agrees: bool
    measured: str

    def __post_init__(self) -> None:
        # NumPy's own kind of truth is none that JSON knows.
        object.__setattr__(self, "agrees", bool(self.agrees))


@dataclass(frozen=True)
class Table:
    """Numbers with a heading each.

    Attributes:
        columns: Headings, with units.
        rows: The numbers or words under them.
        shown: Whether the report prints it, beside giving it as a file.
    """

    columns: tuple[str, ...]
    rows: Sequence[Sequence[object]]
    shown: bool = False


@dataclass(frozen=True, eq=False)
class Made:
    """What an exhibit came to.

    Attributes:
        remarks: What agrees with the paper and what differs, and why.
        figures: Pictures by their names.
        tables: The data by their names.
        findings: Sentences of the paper, judged.
    """

    remarks: str
    figures: dict[str, Figure] = field(default_factory=dict)
    tables: dict[str, Table] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class Exhibit:
    """A figure or table of the paper that can be made again.

    Attributes:
        name: How the command line calls it.
        place: Where it is in the paper, e.g. "Figure 9" with its label.
        title: What it shows.
        make: Makes it.
        seconds: About how long that takes, in full and quickly, to foretell the end.
    """

    name: str
    place: str
    title: str
    make: Callable[[Effort, Progress], Made]
    seconds: tuple[float, float]
