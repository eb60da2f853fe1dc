"""The affine pieces of the impact step, by name, and every solution of a step by trying them.

`carom.kernels.pieces` says what a piece is; docs/pieces.md says why they are worth having.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from carom.contact_space import ContactSpace
from carom.errors import InvalidOption
from carom.kernels import pieces as kernel
from carom.kernels.jit import Late, interpreted
from carom.kernels.tolerances import DISTINCT, MATCH
from carom.typing import FloatArray, IntArray

MOST_MODES = 10**6  # maximum number of choices of modes that are tried one by one
MOST_SOLUTIONS = 4096  # maximum number of solutions that are listed
PATIENCE = 1000  # number of choices of modes that take far less time to try than to compile for

_solutions = Late(kernel.solutions, PATIENCE)


def num_modes(space: ContactSpace, *, capped: bool = True) -> int:
    """Count the modes of one contact: 7 in the plane, 4 without caps."""
    k, d = space.directions.shape
    return int(interpreted(kernel.num_modes)(d, k, capped))


def mode_name(mode: int, directions: FloatArray) -> str:
    """Name a contact's mode, e.g. "compressing, sliding +".

    In space a sliding direction is named by the angle of the tangential velocity.
    """
    if mode == 0:
        return "free"
    k, d = directions.shape
    frictions = int(interpreted(kernel.num_frictions)(d, k))
    normal = "compressing" if mode > frictions else "closed"
    friction = (mode - 1) % frictions
    if friction == 0:
        return f"{normal}, sticking"
    corner = (friction - 1) % k
    against = directions[corner]
    if friction > k:
        against = against + directions[(corner + 1) % k]
    if d == 1:
        return f"{normal}, sliding {'+' if against[0] < 0 else '-'}"
    angle = round(float(np.degrees(np.arctan2(-against[1], -against[0]))), 2) % 360.0
    return f"{normal}, sliding {angle:.6g}°"


def mode_names(modes: Iterable[float], directions: FloatArray) -> tuple[str, ...]:
    """Name the modes of all contacts."""
    return tuple(mode_name(int(mode), directions) for mode in modes)


@dataclass(frozen=True, eq=False)
class Pieces:
    """Hold some affine pieces of one impact's step, or all."""

    L: FloatArray  # (pieces, c, c + m) impulse maps
    C: FloatArray  # (pieces, rows, c + m) conditions; row r counts if r < num_conditions
    num_conditions: IntArray  # (pieces,)
    sign: IntArray  # (pieces,) sign of the determinant, 1 or -1
    modes: IntArray  # (pieces, m) mode numbers
    is_complete: bool = True  # whether no piece is missing

    def __len__(self) -> int:
        return len(self.sign)

    @classmethod
    def all(cls, space: ContactSpace, *, capped: bool = True) -> Pieces:
        """Build every piece that fixes the impulse; for few contacts, since modes multiply."""
        base, m = num_modes(space, capped=capped), space.num_contacts
        modes = np.arange(base**m)[:, None] // base ** np.arange(m) % base
        table = kernel.tabulate(space.A, space.mu, space.directions, modes, capped)
        return cls(*table)

    @classmethod
    def of_modes(cls, space: ContactSpace, modes: IntArray) -> Pieces:
        """Build the pieces of given modes, but for those that do not fix the impulse."""
        table = kernel.tabulate(space.A, space.mu, space.directions, modes, True)
        return replace(cls(*table), is_complete=False)


def distinct_rows(points: FloatArray, tolerance: float) -> IntArray:
    """Return the indices of points that are no closer than a tolerance to earlier ones."""
    kept: list[int] = []
    for i, point in enumerate(points):
        if not kept or np.abs(points[kept] - point).max(axis=1).min() > tolerance:
            kept.append(i)
    return np.array(kept, dtype=np.int64)


def modes_and_impulses(
    space: ContactSpace, v_c: FloatArray, caps: FloatArray | None
) -> tuple[IntArray, FloatArray]:
    """Find the modes (n, m) and impulses (n, c) of all solutions of a dimensionless step."""
    m = space.num_contacts
    u = np.concatenate([v_c, np.zeros(m) if caps is None else caps])
    found, impulses = np.empty((MOST_SOLUTIONS, m), np.int64), np.empty((MOST_SOLUTIONS, len(v_c)))
    impact = space.A, space.mu, space.directions
    capped = caps is not None
    work = num_modes(space, capped=capped) ** m
    count = _solutions(work, *impact, capped, u, MATCH, found, impulses)
    refuse_too_many(count)
    kept = distinct_rows(impulses[:count] @ space.A, DISTINCT)
    return found[kept], impulses[kept]


def can_try_all_modes(space: ContactSpace, *, capped: bool) -> bool:
    """Return whether the modes of an impact are few enough to be tried one by one."""
    return num_modes(space, capped=capped) ** space.num_contacts <= MOST_MODES


def refuse_too_many(count: int) -> None:
    """Refuse to list more than MOST_SOLUTIONS."""
    if count > MOST_SOLUTIONS:
        raise InvalidOption(
            f"W: expected at most {MOST_SOLUTIONS} solutions, got more; use solve with several "
            f"covering vectors"
        )
