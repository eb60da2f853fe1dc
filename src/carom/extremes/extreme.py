"""What is known of one extreme of an impact: a motion that reaches it, a proof that bounds it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, final, overload

import numpy as np

from carom import notebook
from carom.extremes.certificates import AnyCertificate, check
from carom.io import Saved
from carom.outcomes.path import ImpactPath
from carom.problem import ImpactProblem
from carom.typing import FloatArray

EXACT = 1e-9
"""Share of the impact's speed to which reached and proved agree where the extreme is exact."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class Extreme(Saved):
    """The largest value of a quantity after an impact, known from both sides.

    Attributes:
        problem: The impact.
        name: The quantity, such as "A normal"; a minus in front asks for the least value.
        unit: Its unit, or "" for a direction of your own.
        direction: (nv,) the quantity is direction . v_post, plus what `impulse_weights` add.
        impulse_weights: (m,) coefficients of the normal impulses; zero for velocities.
        reached: Largest value for which there is a motion.
        v_post: (nv,) velocity after that motion.
        path: That motion.
        proved: No outcome exceeds this value; infinity if nothing could be proved.
        certificate: Data that prove it, for `verify`; None if nothing could be proved.
        scale: Value that the impact's energy alone would allow, to compare the gap with.
        notes: Remarks, one sentence each.
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

    @property
    def gap(self) -> float:
        """Return proved minus reached, the width of what is not known."""
        return max(self.proved - self.reached, 0.0)

    @property
    def is_exact(self) -> bool:
        """Return whether the extreme is known to 1e-9 of the impact's speed."""
        return self.gap <= EXACT * self.scale

    def verify(self, max_seconds: float = 60.0) -> None:
        """Check the certificate anew, in rational arithmetic and without any solver.

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
        if self.is_exact:
            return f"{self.name}: {self.reached:.6g}{unit} at most, exactly"
        if math.isinf(self.proved):
            return f"{self.name}: {self.reached:.6g}{unit} is reached; no bound is proved"
        return (
            f"{self.name}: {self.reached:.6g}{unit} is reached, and no outcome exceeds "
            f"{self.proved:.6g}{unit}"
        )

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
    """

    extremes: tuple[Extreme, ...]

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
        found: dict[str, list[float]] = {}
        units: dict[str, str] = {}
        for each in self.extremes:
            is_least = each.name.startswith("-")
            name = each.name[1:] if is_least else each.name
            row = found.setdefault(name, [math.nan] * 4)
            units[name] = each.unit
            if is_least:
                row[:2] = [-each.proved, -each.reached]
            else:
                row[2:] = [each.reached, each.proved]
        return [(name, units[name], *row) for name, row in found.items()]  # type: ignore[misc]

    def summary(self) -> str:
        """Return a table of what is reached and what is proved."""
        head = ("quantity", "proved ≥", "reached", "reached", "proved ≤")
        rows = [(f"{n} [{u}]" if u else n, *map(_number, four)) for n, u, *four in self.rows()]
        width = max(len(row[0]) for row in [head, *rows])
        lines = [f"  {row[0]:<{width}}" + "".join(f"{x:>12}" for x in row[1:]) for row in rows]
        top = f"  {head[0]:<{width}}" + "".join(f"{x:>12}" for x in head[1:])
        exact = sum(each.is_exact for each in self.extremes)
        title = f"extremes of {len(self.problem.contacts)} contacts: {exact} of {len(self)} exact"
        notes = dict.fromkeys(note for each in self.extremes for note in each.notes)
        return "\n".join([title, top, *lines, *(f"  note: {note}" for note in notes)])

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        exact = sum(each.is_exact for each in self.extremes)
        return f"Extremes({len(self)} quantities, {exact} exact)"

    def _repr_html_(self) -> str:
        head = ["quantity", "proved ≥", "reached", "reached", "proved ≤"]
        rows = [[f"{n} [{u}]" if u else n, *map(_number, four)] for n, u, *four in self.rows()]
        return notebook.page(repr(self), head, rows)


def _number(x: float) -> str:
    return "" if math.isnan(x) else f"{x + 0.0:.5g}"
