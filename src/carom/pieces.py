"""The affine pieces of the impact step, by name, and tables of them for the kernels.

`carom.kernels.pieces` says what a piece is; docs/pieces.md says why they are worth having.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from carom.friction import ContactSpace
from carom.kernels import overlap, paths
from carom.kernels import pieces as kernel
from carom.kernels.search import NUM_ETAS
from carom.kernels.tolerances import MATCH
from carom.typing import BoolArray, FloatArray, IntArray

MOST_TABULATED = 400
"""Tables of all pieces are kept up to this size: three planar contacts, or one in space."""

MOST_COMPARED = 64
"""Up to this many pieces it pays to find out in advance which of them overlap."""

MOST_UNROLLED = 2
"""Up to this many planar contacts, kernels are compiled for the very number of contacts."""


def num_modes(space: ContactSpace, *, capped: bool = True) -> int:
    """Count the modes of one contact: 7 in the plane, 4 without caps."""
    k, d = space.directions.shape
    frictions = kernel.num_frictions(d, k)
    return int(1 + (2 * frictions if capped else frictions))


def mode_name(mode: int, directions: FloatArray) -> str:
    """Name a contact's mode, e.g. "compressing, sliding +".

    In space a sliding direction is named by the angle of the tangential velocity.
    """
    if mode == 0:
        return "free"
    k, d = directions.shape
    frictions = int(kernel.num_frictions(d, k))
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
    angle = np.degrees(np.arctan2(-against[1], -against[0])) % 360.0
    return f"{normal}, sliding {angle:.4g}°"


@dataclass(frozen=True, eq=False)
class Pieces:
    """Some affine pieces of one impact's step.

    The impulse is L u where C u >= 0, with u = (contact velocities, caps), all dimensionless.

    Attributes:
        L: (pieces, c, c + m) impulse maps.
        C: (pieces, rows, c + m) conditions; row r counts if r < num_conditions.
        num_conditions: (pieces,).
        sign: (pieces,) sign of the determinant, 1 or -1.
        modes: (pieces, m) mode numbers.
        is_complete: Whether no piece is missing.
    """

    L: FloatArray
    C: FloatArray
    num_conditions: IntArray
    sign: IntArray
    modes: IntArray
    is_complete: bool

    def __len__(self) -> int:
        return len(self.sign)

    @classmethod
    def all(cls, space: ContactSpace, *, capped: bool = True) -> Pieces:
        """Build every piece; for few contacts."""
        L, C, number, sign, modes = kernel.tabulate(space.A, space.mu, space.directions, capped)
        return cls(L, C, number, sign, modes, is_complete=True)

    @classmethod
    def of_modes(cls, space: ContactSpace, modes: IntArray) -> Pieces:
        """Build the pieces of given modes (n, m), but for those that do not fix the impulse."""
        L, C, number, sign, modes = kernel.tabulate_modes(
            space.A, space.mu, space.directions, modes
        )
        return cls(L, C, number, sign, modes, is_complete=False)

    def names(self, contacts: tuple[str, ...], directions: FloatArray) -> list[str]:
        """Name every piece, e.g. "A: free; B: closed, sticking"."""
        return [
            "; ".join(
                f"{c}: {mode_name(k, directions)}" for c, k in zip(contacts, row, strict=True)
            )
            for row in self.modes
        ]


def can_tabulate(space: ContactSpace) -> bool:
    """Tell whether all pieces of an impact are few enough to be tabulated."""
    return num_modes(space) ** space.num_contacts <= MOST_TABULATED


def extents(space: ContactSpace) -> tuple[object, ...]:
    """Return sequences of lengths c, m, c + m and rows; see `carom.kernels.paths`."""
    k, d = space.directions.shape
    m = space.num_contacts
    lengths = (m * (1 + d), m, m * (2 + d), m * kernel.max_conditions(d, k))
    if d == 1 and m <= MOST_UNROLLED:
        return tuple((0,) * length for length in lengths)
    return tuple(np.zeros(length, np.int8) for length in lengths)


@dataclass(frozen=True, eq=False)
class Trial:
    """What a short trial run met; it speeds up the search and changes no result.

    Attributes:
        u: (n, c + m) steps, in order.
        modes: (n, m) the modes of each.
        is_first: (n,) which steps are the first of a sample.
    """

    u: FloatArray
    modes: IntArray
    is_first: BoolArray


def search_table(space: ContactSpace, pieces: Pieces, trial: Trial | None = None) -> paths.Table:
    """Arrange pieces for the kernels' search; with a trial, what is likely is tried first."""
    count = len(pieces)
    least = _least_values(pieces, space.num_contacts)
    if trial is None:
        order = np.tile(np.arange(count), (count + 1, 1))
        by_sign = [np.flatnonzero(pieces.sign == sign) for sign in (-1, 1)]
        rivals = np.concatenate(by_sign)
        bounds = np.tile(np.array([0, len(by_sign[0]), count]), (count, 1))
        hints = np.zeros_like(rivals)
    else:
        order = _likely_successors(pieces, trial)
        bounds, rivals = overlap.find_rivals(
            pieces.C, pieces.num_conditions, pieces.sign, space.num_contacts
        )
        hints = _sort_rivals(pieces, trial, least[0], bounds, rivals)
    return paths.Table(
        L=pieces.L,
        C=np.ascontiguousarray(pieces.C.transpose(0, 2, 1)),
        least=least,
        sign=pieces.sign,
        modes=pieces.modes,
        zeros=_vanishing(space, pieces.modes),
        order=order,
        bounds=bounds,
        rivals=rivals,
        hints=hints,
    )


def _likely_successors(pieces: Pieces, trial: Trial) -> IntArray:
    """Sort all pieces (pieces + 1, pieces) by how often they followed each piece, or none."""
    count = len(pieces)
    index = {tuple(row): p for p, row in enumerate(pieces.modes.tolist())}
    sequence = np.array([index.get(tuple(row), -1) for row in trial.modes.tolist()])
    before = np.where(trial.is_first, -1, np.roll(sequence, 1))
    visits = np.zeros((count + 1, count), np.int64)
    known = sequence >= 0
    np.add.at(visits, (before[known], sequence[known]), 1)
    return np.lexsort((np.broadcast_to(-visits.sum(axis=0), visits.shape), -visits), axis=1)


def _sort_rivals(
    pieces: Pieces, trial: Trial, least: FloatArray, bounds: IntArray, rivals: IntArray
) -> IntArray:
    """Sort rivals, in place, by how often they held together; return what most excludes each."""
    fails = np.einsum("prj,nj->npr", pieces.C, trial.u) < least
    holds = (~fails.any(axis=-1)).astype(np.float64)
    together = holds.T @ holds
    exclude = (holds.T @ fails.reshape(len(fails), -1)).reshape(len(pieces), *fails.shape[1:])
    hints = np.empty_like(rivals)
    for p, (start, middle, end) in enumerate(bounds):
        for part in (slice(start, middle), slice(middle, end)):
            rivals[part] = rivals[part][np.argsort(-together[p, rivals[part]], kind="stable")]
        hints[start:end] = exclude[p, rivals[start:end]].argmax(axis=-1)
    return hints


def _vanishing(space: ContactSpace, modes: IntArray) -> BoolArray:
    """Return which contact velocities (pieces, c) are zero after a step."""
    k, d = space.directions.shape
    frictions = int(kernel.num_frictions(d, k))
    closed = (modes > 0) & (modes <= frictions)
    sticking = (modes > 0) & ((modes - 1) % frictions == 0)
    columns = [closed] + [sticking] * d
    return np.stack(columns, axis=-1).reshape(len(modes), modes.shape[1] * (1 + d))


def _least_values(pieces: Pieces, num_caps: int) -> FloatArray:
    """Return what the conditions' values C u must reach: (directions, pieces, rows).

    On a face, where C u = 0, an infinitesimal move of u decides; its direction is one of a few
    that are fixed, generic, and open the caps. So a value must exceed `MATCH` where the move
    would lower it, and -`MATCH` where it would raise it. Rows that do not count are zero, and
    pass.
    """
    size = pieces.C.shape[2]
    etas = np.random.default_rng(20).normal(size=(NUM_ETAS, size))
    etas[:, size - num_caps :] = np.abs(etas[:, size - num_caps :])
    least = np.where(np.einsum("prj,ej->epr", pieces.C, etas) < 0.0, MATCH, -MATCH)
    return np.where(_counting(pieces), least, -1.0)


def _counting(pieces: Pieces) -> BoolArray:
    """Return which rows (pieces, rows) of C count."""
    return np.arange(pieces.C.shape[1]) < pieces.num_conditions[:, None]
