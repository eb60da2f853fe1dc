"""What is known of one extreme of an impact: a motion that reaches it, a proof that bounds it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, final, overload

import numpy as np

from carom import checks, notebook
from carom.errors import InvalidOption
from carom.extremes.certificates import AnyCertificate, check, is_certificate
from carom.io import Saved
from carom.outcomes.path import ImpactPath
from carom.problem import ImpactProblem
from carom.typing import FloatArray

EXACT = 1e-9
"""Share of the impact's scale to which reached and proved agree where the extreme is exact."""

HEAD = ("quantity", "proved ≥", "reached", "reached", "proved ≤", "gap")
"""Columns of the table of extremes."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class Extreme(Saved):
    """The largest value of a quantity after an impact, known from both sides.

    Attributes:
        problem: The impact.
        name: The quantity, such as "A normal"; a minus in front asks for the least value.
        unit: Its unit, or "" if that depends on the direction.
        direction: (nv,) the quantity is direction . v_post, plus what `impulse_weights` add.
        impulse_weights: (m,) coefficients of the normal impulses; zero for velocities.
        reached: Largest value for which there is a motion.
        v_post: (nv,) velocity after that motion.
        path: That motion.
        proved: No outcome exceeds this value; infinity if nothing could be proved.
        certificate: Data that prove it, for `verify`; None if there are none, and `notes` say why.
        scale: Value that the impact's energy alone would allow, to compare the gap with.
        notes: Remarks, one sentence each.

    Examples:
        A block lands flat with 1 m/s: how fast can corner A rise, and by what motion?

        >>> import carom
        >>> block = carom.scenes.load("rocking-block", speed=1.0).problem
        >>> rise = carom.worst_case(block, "A normal")
        >>> round(rise.reached, 6), round(rise.proved, 6), rise.is_exact
        (0.21, 0.21, True)
        >>> rise.path.ends
        ('lifts', 'sticks')
        >>> rise.verify()
    """

    problem: ImpactProblem
    name: str
    unit: str
    direction: FloatArray
    impulse_weights: FloatArray
    reached: float
    v_post: FloatArray
    path: ImpactPath
    proved: float
    certificate: AnyCertificate | None
    scale: float
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        # Files may hold anything.
        problem = self.problem
        if not isinstance(problem, ImpactProblem):
            raise InvalidOption(f"problem: expected one, got a {type(problem).__name__}")
        texts = (self.name, self.unit, *self.notes)
        if not all(isinstance(text, str) for text in texts):
            raise InvalidOption(f"name, unit, notes: expected text, got {texts!r}")
        checks.vector("direction", self.direction, problem.num_velocities)
        checks.vector("impulse_weights", self.impulse_weights, problem.num_contacts)
        checks.vector("v_post", self.v_post, problem.num_velocities)
        if not isinstance(self.path, ImpactPath) or self.path.contacts != problem.contacts:
            raise InvalidOption("path: expected a path of the impact")
        if not checks.is_number(self.reached):
            raise InvalidOption(f"reached: expected a finite number, got {self.reached!r}")
        checks.between("proved", self.proved, -math.inf, math.inf)
        checks.positive("scale", self.scale, or_zero=True)
        if self.certificate is not None and not is_certificate(self.certificate):
            kind = type(self.certificate).__name__
            raise InvalidOption(f"certificate: expected one or None, got a {kind}")

    @property
    def gap(self) -> float:
        """Return proved minus reached, the width of what is not known."""
        return max(self.proved - self.reached, 0.0)

    @property
    def is_exact(self) -> bool:
        """Return whether the extreme is known to 1e-9 of `scale`."""
        return self.gap <= EXACT * self.scale

    def verify(self, max_seconds: float = 60.0) -> None:
        """Check the certificate anew, in rational arithmetic and without any solver.

        Without a certificate there is nothing to check.

        Args:
            max_seconds: Time budget [s].

        Raises:
            InvalidCertificate: The certificate does not prove the bound.
        """
        if self.certificate is None:
            return
        about = self.direction, self.impulse_weights, self.proved
        check(self.problem, self.certificate, *about, max_seconds)

    def __str__(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        reached = _number(self.reached, self.scale, 6)
        if self.is_exact:
            return f"{self.name}: {reached}{unit} at most, exactly"
        if math.isinf(self.proved):
            return f"{self.name}: {reached}{unit} is reached; no bound is proved"
        proved = _number(self.proved, self.scale, 6)
        return f"{self.name}: {reached}{unit} is reached, and no outcome exceeds {proved}{unit}"

    def __repr__(self) -> str:
        return f"Extreme({self})"

    def _repr_html_(self) -> str:
        return Extremes((self,))._repr_html_()


@final
@dataclass(frozen=True, eq=False, repr=False)
class Extremes(Saved):
    """Several extremes of one impact: a sequence of `Extreme`.

    Attributes:
        extremes: The extremes, in the order in which they were asked for.

    Examples:
        >>> import carom
        >>> block = carom.scenes.load("rocking-block", speed=1.0).problem
        >>> found = carom.worst_case(block, ["-A normal", "A normal"])
        >>> len(found), round(found["A normal"].reached, 6)
        (2, 0.21)
        >>> print(found)
        extremes of 2 contacts: 2 of 2 exact
          quantity        proved ≥  reached  reached  proved ≤    gap
          A normal [m/s]         0        0     0.21      0.21  exact
    """

    extremes: tuple[Extreme, ...]

    def __post_init__(self) -> None:
        found = self.extremes
        if not found or not all(isinstance(each, Extreme) for each in found):
            raise InvalidOption("extremes: expected one or more of class Extreme")
        if len({(each.problem.contacts, each.problem.J.shape) for each in found}) > 1:
            raise InvalidOption("extremes: expected those of one impact, got several")

    @property
    def problem(self) -> ImpactProblem:
        """Return the impact."""
        return self.extremes[0].problem

    @property
    def reached(self) -> FloatArray:
        """Return the reached values (k,)."""
        return np.array([each.reached for each in self.extremes])

    @property
    def proved(self) -> FloatArray:
        """Return the proved bounds (k,)."""
        return np.array([each.proved for each in self.extremes])

    def __len__(self) -> int:
        return len(self.extremes)

    def __iter__(self) -> Iterator[Extreme]:
        return iter(self.extremes)

    @overload
    def __getitem__(self, key: int | str) -> Extreme: ...
    @overload
    def __getitem__(self, key: slice) -> Extremes: ...
    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            for each in self.extremes:
                if each.name == key:
                    return each
            raise KeyError(key)
        found = self.extremes[key]
        return Extremes(found) if isinstance(key, slice) else found

    def verify(self, max_seconds: float = 60.0) -> None:
        """Check all certificates anew; see `Extreme.verify`."""
        for each in self.extremes:
            each.verify(max_seconds)

    def rows(self) -> list[tuple[str, str, float, float, float, float]]:
        """Return name, unit, and least proved, least reached, largest reached, largest proved.

        What was not asked for is nan.
        """
        found = []
        for name, (least, largest) in self._pairs().items():
            unit = next(each.unit for each in (least, largest) if each is not None)
            low = (math.nan, math.nan) if least is None else (-least.proved, -least.reached)
            high = (math.nan, math.nan) if largest is None else (largest.reached, largest.proved)
            found.append((name, unit, *low, *high))
        return found

    def _pairs(self) -> dict[str, list[Extreme | None]]:
        """Return the least and the largest of each quantity; None was not asked for."""
        found: dict[str, list[Extreme | None]] = {}
        for each in self.extremes:
            is_least = each.name.startswith("-")
            pair = found.setdefault(each.name[1:] if is_least else each.name, [None, None])
            pair[0 if is_least else 1] = each
        return found

    def cells(self) -> list[list[str]]:
        """Return the table of what is reached and what is proved, as text, one row per quantity.

        The columns are the quantity, the least value proved and reached, the largest reached and
        proved, and the larger gap of both sides: "exact" for none, "open" without a bound. What is
        less than 1e-9 of `Extreme.scale` is 0.
        """
        found = []
        for row, pair in zip(self.rows(), self._pairs().values(), strict=True):
            name, unit, *four = row
            own = [each for each in pair if each is not None]
            scale = max(each.scale for each in own)
            gap = max(each.gap for each in own)
            is_exact = all(each.is_exact for each in own)
            numbers = [_number(x, scale) for x in four]
            last = "exact" if is_exact else "open" if math.isinf(gap) else _number(gap, scale, 3)
            found.append([f"{name} [{unit}]" if unit else name, *numbers, last])
        return found

    @property
    def notes(self) -> tuple[str, ...]:
        """Return the notes of all extremes, each once."""
        return tuple(dict.fromkeys(note for each in self.extremes for note in each.notes))

    def summary(self) -> str:
        """Return a table of what is reached and what is proved."""
        table = [list(HEAD), *self.cells()]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines = []
        for name, *numbers in table:
            right = (f"{x:>{width}}" for x, width in zip(numbers, widths[1:], strict=True))
            lines.append("  ".join([f"  {name:<{widths[0]}}", *right]))
        return "\n".join([self._title(), *lines, *(f"  note: {note}" for note in self.notes)])

    def _title(self) -> str:
        exact = sum(each.is_exact for each in self.extremes)
        count = len(self.problem.contacts)
        contacts = f"{count} contact{'s' if count > 1 else ''}"
        return f"extremes of {contacts}: {exact} of {len(self)} exact"

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        exact = sum(each.is_exact for each in self.extremes)
        return f"Extremes({len(self)} quantities, {exact} exact)"

    def _repr_html_(self) -> str:
        return notebook.page(self._title(), HEAD, self.cells(), self.notes, figure_of=self)


def _number(x: float, scale: float, digits: int = 5) -> str:
    """Return a number as text, without noise about zero."""
    if math.isnan(x):
        return ""
    if math.isinf(x):
        return "none"
    return "0" if abs(x) <= EXACT * scale else f"{x:.{digits}g}"
