"""Certificates: data that prove a bound on all outcomes of an impact, and their check.

A certificate holds polyhedra by cell and polyhedra that were not followed. Its check relies on
nothing else: no motion leaves the former except into the latter; in the former no end exceeds the
bound; and energy, momentum and separation, with the multipliers given, bound all that comes from
the latter.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any, Self, final

import numpy as np
import ppl
from gmpy2 import mpq, mpz

from carom.errors import InvalidCertificate
from carom.problem import ImpactProblem
from carom.proofs.certificate import digest_of
from carom.reach.check import Cover, is_closed
from carom.reach.envelope import energy_bounds
from carom.reach.inclusion import Cell, Inclusion, rationalize
from carom.reach.multipliers import Multipliers
from carom.reach.rational import Exact, exactly
from carom.reach.search import Search, pose
from carom.reach.waiting import Corners, Proof, Ruler, Unfinished, is_valid
from carom.typing import FloatArray

Row = tuple[bool, tuple[int, ...]]
"""A constraint: whether it is an equation, its coefficients and its constant."""

Rows = tuple[Row, ...]


@final
@dataclass(frozen=True)
class CoverCertificate:
    """A proof that direction . y <= bound for all outcomes y, in contact coordinates.

    Attributes:
        problem_digest: SHA-256 of the impact's data.
        zero: Option `zero` of the rounding of the data.
        grid: Option `grid` of the same.
        direction: (d,) form in the coordinates of `rationalize`, as fractions in text.
        bound: The bound [m/s], a fraction in text.
        cover: Pairs of a cell and the constraints of a polyhedron.
        waiting: Triples of a cell, the constraints of a polyhedron that was not followed, and the
            index of its multipliers.
        multipliers: Pairs of multipliers of separation (m,) and momentum (d,), in text.
    """

    problem_digest: str
    zero: float
    grid: float
    direction: tuple[str, ...]
    bound: str
    cover: tuple[tuple[Cell, Rows], ...]
    waiting: tuple[tuple[Cell, Rows, int], ...] = ()
    multipliers: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = ()

    @property
    def digest(self) -> str:
        """Return the SHA-256 of the content."""
        text = json.dumps(self.to_dict(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def to_dict(self) -> dict[str, Any]:
        """Return the content for JSON, with integers as text."""
        out: dict[str, Any] = {f.name: getattr(self, f.name) for f in fields(self)}
        out["cover"] = [[list(cell), _texts(rows)] for cell, rows in self.cover]
        out["waiting"] = [[list(cell), _texts(rows), k] for cell, rows, k in self.waiting]
        out["direction"] = list(self.direction)
        out["multipliers"] = [[list(s), list(g)] for s, g in self.multipliers]
        return out

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Return the certificate that `to_dict` wrote, or raise InvalidCertificate."""
        try:
            return cls(
                problem_digest=str(data["problem_digest"]),
                zero=float(data["zero"]),
                grid=float(data["grid"]),
                direction=tuple(map(str, data["direction"])),
                bound=str(data["bound"]),
                cover=tuple((_cell(cell), _rows(rows)) for cell, rows in data["cover"]),
                waiting=tuple(
                    (_cell(cell), _rows(rows), int(k)) for cell, rows, k in data["waiting"]
                ),
                multipliers=tuple(
                    (tuple(map(str, s)), tuple(map(str, g))) for s, g in data["multipliers"]
                ),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidCertificate(f"not a certificate: {error!r}") from error


def certify(
    problem: ImpactProblem,
    cover: Cover,
    state: Unfinished,
    proofs: Iterable[Proof],
    *,
    zero: float,
    grid: float,
) -> list[CoverCertificate]:
    """Return the certificates of bounds by a cover and by what was not followed."""
    # Most numbers are those of polyhedra, which all certificates share.
    known = tuple((cell, _rows_of(p)) for cell, group in cover.items() for p in group)
    index = {id(polyhedron): i for i, polyhedron in enumerate(state.polyhedra)}
    rows = [_rows_of(polyhedron) for polyhedron in state.polyhedra]
    parts = [(part.cell, index[id(part.polyhedron)]) for part in state.parts]
    digest = digest_of(problem)
    return [
        CoverCertificate(
            problem_digest=digest,
            zero=zero,
            grid=grid,
            direction=tuple(map(str, proof.direction)),
            bound=str(proof.bound),
            cover=known,
            waiting=tuple((cell, rows[i], proof.which[i]) for cell, i in parts),
            multipliers=tuple(
                (tuple(map(str, s)), tuple(map(str, g))) for s, g in proof.multipliers
            ),
        )
        for proof in proofs
    ]


def velocity_bound(
    problem: ImpactProblem,
    certificate: CoverCertificate,
    direction: FloatArray,
    inclusion: Inclusion | None = None,
) -> mpq:
    """Return what a certificate claims of direction . v, or raise InvalidCertificate."""
    if inclusion is None:
        inclusion = rationalize(problem, zero=certificate.zero, grid=certificate.grid)
    form, offset = in_coordinates(inclusion, direction)
    if tuple(map(str, form)) != certificate.direction:
        raise InvalidCertificate("direction: the certificate is about another one")
    return mpq(certificate.bound) + offset


def in_coordinates(inclusion: Inclusion, direction: FloatArray) -> tuple[Exact, mpq]:
    """Return form (d,) and offset: direction . v = form . y + offset on reachable velocities."""
    exact = exactly(direction)
    form = exact @ inclusion.lift
    return form, exact @ inclusion.v_start - form @ inclusion.y_start


def check(problem: ImpactProblem, certificate: CoverCertificate, max_seconds: float = 60.0) -> None:
    """Raise InvalidCertificate unless a certificate proves its bound for an impact.

    The data of the impact are rounded anew; nothing that a search did is repeated.
    """
    if certificate.problem_digest != digest_of(problem):
        raise InvalidCertificate("the certificate belongs to another impact")
    if problem.bounces:
        raise InvalidCertificate("polyhedra say nothing of impacts with restitution")
    end = time.monotonic() + max_seconds
    search = pose(problem, zero=certificate.zero, grid=certificate.grid)
    inclusion = search.flow.inclusion
    try:
        direction = np.array([mpq(x) for x in certificate.direction])
        bound = mpq(certificate.bound)
        cover = _cover(inclusion, ((cell, rows) for cell, rows in certificate.cover))
        exempt = _cover(inclusion, ((cell, rows) for cell, rows, _ in certificate.waiting))
        chosen = [
            Multipliers(np.array([mpq(x) for x in s]), np.array([mpq(x) for x in g]))
            for s, g in certificate.multipliers
        ]
    except (ValueError, ZeroDivisionError) as error:
        raise InvalidCertificate(f"a number cannot be read: {error}") from error
    _check_shapes(inclusion, certificate, direction, chosen)
    _check_ends(search, cover, direction, bound)
    _check_waiting(inclusion, certificate, direction, bound, chosen)
    if not is_closed(
        inclusion,
        cover,
        energy_bounds(inclusion),
        end - time.monotonic(),
        exempt=exempt,
        starts=search.starts,
    ):
        late = "; the time ended" if time.monotonic() > end else ""
        raise InvalidCertificate(f"some motion may leave the polyhedra of the certificate{late}")


def _check_shapes(
    inclusion: Inclusion, certificate: CoverCertificate, direction: Exact, chosen: list[Multipliers]
) -> None:
    d, m = inclusion.dimension, len(inclusion.mu)
    if len(direction) != d:
        raise InvalidCertificate(f"direction: expected {d} numbers, got {len(direction)}")
    if any(len(s) != m or len(g) != d for s, g in chosen):
        raise InvalidCertificate(f"multipliers: expected {m} and {d} numbers")
    if any(not 0 <= k < len(chosen) for *_, k in certificate.waiting):
        raise InvalidCertificate("a waiting polyhedron has no multipliers")


def _check_ends(search: Search, cover: Cover, direction: Exact, bound: mpq) -> None:
    """Raise InvalidCertificate if an end in the cover exceeds the bound."""
    for cell, polyhedra in cover.items():
        if not search.flow.inclusion.is_final(cell):
            continue
        for polyhedron in polyhedra:
            if search.stays(polyhedron):
                continue
            for vertex in polyhedron.minimized_generators():
                value = sum(
                    (a * x for a, x in zip(direction, vertex.coefficients(), strict=False)), mpq(0)
                )
                if not vertex.is_point() or value > bound * vertex.divisor():
                    raise InvalidCertificate("an end in the cover exceeds the bound")


def _check_waiting(
    inclusion: Inclusion,
    certificate: CoverCertificate,
    direction: Exact,
    bound: mpq,
    chosen: list[Multipliers],
) -> None:
    """Raise InvalidCertificate if multipliers do not bound what was not followed."""
    ruler = Ruler(inclusion)
    if not all(is_valid(ruler.chooser, multipliers) for multipliers in chosen):
        raise InvalidCertificate("multipliers have the wrong sign")
    for k, multipliers in enumerate(chosen):
        # The same polyhedron may wait in several cells.
        own = {rows for _, rows, which in certificate.waiting if which == k}
        corners = Corners.of(ruler, (_polyhedron(inclusion, rows) for rows in own))
        every = np.arange(len(corners.numbers))
        if len(every) and corners.bound(direction, multipliers, every) > bound:
            raise InvalidCertificate("what was not followed may exceed the bound")


def _cover(inclusion: Inclusion, entries: Iterable[tuple[Cell, Rows]]) -> Cover:
    """Return the polyhedra by cell, without empty ones."""
    cover: Cover = {}
    for cell, rows in entries:
        if len(cell) != len(inclusion.forms) or any(sign not in (-1, 0, 1) for sign in cell):
            raise InvalidCertificate("a cell has the wrong number of signs")
        polyhedron = _polyhedron(inclusion, rows)
        if not polyhedron.is_empty():
            cover.setdefault(cell, []).append(polyhedron)
    return cover


def _polyhedron(inclusion: Inclusion, rows: Rows) -> ppl.C_Polyhedron:
    """Return the polytope of some constraints and, where they leave it unbounded, of the energy."""
    d = inclusion.dimension
    out = ppl.C_Polyhedron(d, "universe")
    for is_equation, numbers in rows:
        if len(numbers) != d + 1:
            raise InvalidCertificate(f"a constraint: expected {d + 1} numbers")
        *form, constant = map(mpz, numbers)
        value = ppl.Linear_Expression(form, constant)
        out.add_constraint(value == 0 if is_equation else value >= 0)
    if not out.is_bounded():
        # No motion leaves these bounds.
        out.add_constraints(energy_bounds(inclusion))
    return out


def _rows_of(polyhedron: ppl.C_Polyhedron) -> Rows:
    d = polyhedron.space_dimension()
    return tuple(
        (
            bool(c.is_equality()),
            (*([*map(int, c.coefficients())] + [0] * d)[:d], int(c.inhomogeneous_term())),
        )
        for c in polyhedron.minimized_constraints()
    )


def _texts(rows: Rows) -> list[list[Any]]:
    # Through GMP, because Python refuses to write integers of thousands of digits.
    return [[is_equation, [mpz(x).digits() for x in numbers]] for is_equation, numbers in rows]


def _rows(data: Any) -> Rows:
    return tuple(
        (bool(is_equation), tuple(int(mpz(x)) for x in numbers)) for is_equation, numbers in data
    )


def _cell(data: Any) -> Cell:
    return tuple(int(x) for x in data)
