"""The affine pieces of the impact step, by name, and tables of them for the kernels.

`carom.kernels.pieces` says what a piece is; docs/pieces.md says why they are worth having.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from carom.friction import ContactSpace
from carom.kernels import overlap
from carom.kernels import pieces as kernel
from carom.kernels.search import NUM_ETAS, NUM_GLANCES, Table, contexts, single_contexts
from carom.kernels.tolerances import MATCH
from carom.typing import BoolArray, FloatArray, IntArray

MOST_TABULATED = 400
"""Tables of all pieces are kept up to this size: three planar contacts, or one in space with
the default eight friction directions."""

MOST_MET = 256
"""Where pieces are filled as met, so many are kept, the most frequent ones."""

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
    angle = round(float(np.degrees(np.arctan2(-against[1], -against[0]))), 2) % 360.0
    return f"{normal}, sliding {angle:.6g}°"


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
    """Return sequences of lengths c, m and c + m + 1; see `carom.kernels.paths`."""
    d = space.directions.shape[1]
    m = space.num_contacts
    lengths = (m * (1 + d), m, m * (2 + d) + 1)
    if d == 1 and m <= MOST_UNROLLED:
        return tuple((0,) * length for length in lengths)
    return tuple(np.zeros(length, np.int8) for length in lengths)


def single_extents(space: ContactSpace) -> tuple[object, ...]:
    """Return the extents of one contact."""
    d = space.directions.shape[1]
    return (0,) * (1 + d), (0,), (0,) * (3 + d)


@dataclass(frozen=True, eq=False)
class Trial:
    """What a short trial run met; it speeds up the search and changes no result.

    Attributes:
        u: (n, c + m) steps, in order.
        modes: (n, m) the modes of each.
        piece: (n,) the piece of each, -1 where only one contact acted or none was known.
        before: (n,) the last piece before it, -1 where there was none.
    """

    u: FloatArray
    modes: IntArray
    piece: IntArray
    before: IntArray

    def single_steps(self, i: int, width: int) -> tuple[FloatArray, IntArray]:
        """Return velocities and cap, and the modes, of the steps in which contact i acted alone."""
        caps = self.u[:, -self.modes.shape[1] :]
        alone = (caps[:, i] > 0.0) & ((caps > 0.0).sum(axis=1) == 1)
        own = self.u[alone, i * width : (i + 1) * width]
        return np.column_stack([own, caps[alone, i]]), self.modes[alone, i]


def search_table(space: ContactSpace, pieces: Pieces, trial: Trial | None = None) -> Table:
    """Arrange pieces for the kernels' search; with a trial, what is likely is tried first."""
    count = len(pieces)
    if trial is not None:
        pieces = _with_likely_conditions_first(pieces, trial)
    if trial is None:
        order: IntArray = np.arange(count)[None, :]
        by_sign = [np.flatnonzero(pieces.sign == sign) for sign in (-1, 1)]
        rivals = np.concatenate(by_sign)
        # Lemke's algorithm ends at pieces of positive sign only. Where it found the pieces, the
        # negative ones do not tell who has rivals, and all are searched.
        first_part = len(by_sign[0]) if pieces.is_complete else count
        bounds = np.tile(np.array([0, first_part, count]), (count, 1))
        hints = np.zeros_like(rivals)
    else:
        order = _likely_pieces(space, pieces, trial)
        bounds, rivals = overlap.find_rivals(
            pieces.C, pieces.num_conditions, pieces.sign, space.num_contacts
        )
        hints = _sort_rivals(pieces, trial, bounds, rivals)
    vanishing = _vanishing(space, pieces.modes)
    # As many as an integer has bits for; the others keep what rounding leaves of their zero.
    bits = vanishing[:, :62] @ (1 << np.arange(min(vanishing.shape[1], 62)))
    info = np.column_stack([bounds, pieces.sign, pieces.num_conditions, bits])
    links = np.column_stack([rivals, hints])
    return Table(_arrange(pieces, space.num_contacts), info, links, order.astype(np.int16))


def singles_table(space: ContactSpace, trial: Trial | None = None) -> Table:
    """Arrange the pieces of every contact alone."""
    tables = []
    orders = []
    num_pieces = num_links = 0
    for i in range(space.num_contacts):
        pieces = Pieces.all(space.single(i))
        table = search_table(space.single(i), pieces)
        count = len(pieces)
        table.info[:, :3] += num_links
        table.links[:, 0] += num_pieces
        orders.append(num_pieces + _likely_singles(space, pieces, i, trial))
        tables.append(table._replace(data=table.data.reshape(NUM_ETAS, count, -1)))
        num_pieces += count
        num_links += len(table.links)
    data = np.concatenate([table.data for table in tables], axis=1)
    return Table(
        data.reshape(NUM_ETAS * num_pieces, -1),
        np.concatenate([table.info for table in tables]),
        np.concatenate([table.links for table in tables]),
        np.concatenate(orders).astype(np.int16),
    )


def _arrange(pieces: Pieces, num_caps: int) -> FloatArray:
    """Lay out conditions, what they must exceed, and impulse maps, piece by piece.

    On a face, where C u = 0, an infinitesimal move of u decides; its direction is one of a few
    that are fixed, generic, and open the caps. So a value must exceed `MATCH` where the move
    would lower it, and -`MATCH` where it would raise it.
    """
    count, rows, size = pieces.C.shape
    etas = np.random.default_rng(20).normal(size=(NUM_ETAS, size))
    etas[:, size - num_caps :] = np.abs(etas[:, size - num_caps :])
    least = np.where(np.einsum("prj,ej->epr", pieces.C, etas) < 0.0, MATCH, -MATCH)
    conditions = np.empty((NUM_ETAS, count, rows, size + 1))
    conditions[..., :size] = pieces.C
    conditions[..., size] = least
    maps = np.broadcast_to(pieces.L, (NUM_ETAS, *pieces.L.shape))
    flat = [
        conditions.reshape(NUM_ETAS * count, rows * (size + 1)),
        maps.reshape(NUM_ETAS * count, pieces.L[:1].size if count else 0),
    ]
    return np.concatenate(flat, axis=1)


def _with_likely_conditions_first(pieces: Pieces, trial: Trial) -> Pieces:
    """Put the conditions of each piece first that fail most often."""
    counting = np.arange(pieces.C.shape[1]) < pieces.num_conditions[:, None]
    fails = (np.einsum("prj,nj->npr", pieces.C, trial.u) < -MATCH).sum(axis=0)
    best = np.argsort(-np.where(counting, fails, -1), axis=1, kind="stable")
    return replace(pieces, C=np.take_along_axis(pieces.C, best[:, :, None], axis=1))


def _likely_pieces(space: ContactSpace, pieces: Pieces, trial: Trial) -> IntArray:
    """Sort all pieces (contexts, pieces) by how often they were met in each context."""
    c, m, _ = extents(space)
    rows = contexts(trial.u, trial.before, c, m)
    return _most_met(rows, trial.piece, NUM_GLANCES * (len(pieces) + 1), len(pieces))


def _likely_singles(space: ContactSpace, pieces: Pieces, i: int, trial: Trial | None) -> IntArray:
    """Sort the pieces (glances, modes) of contact i alone; where some lack, the first stands in."""
    index = np.zeros(num_modes(space), np.int64)
    index[pieces.modes[:, 0]] = np.arange(len(pieces))
    rows, modes = np.empty(0, np.int64), np.empty(0, np.int64)
    if trial is not None:
        u, modes = trial.single_steps(i, space.width)
        width = single_extents(space)[0]
        rows = single_contexts(u, width)
    return index[_most_met(rows, modes, NUM_GLANCES, len(index))]


def _most_met(rows: IntArray, columns: IntArray, num_rows: int, num_columns: int) -> IntArray:
    """Sort the columns of a table of counts, row by row, and by their sum where a row is silent."""
    visits = np.zeros((num_rows, num_columns), np.int64)
    known = columns >= 0
    np.add.at(visits, (rows[known], columns[known]), 1)
    total = np.broadcast_to(visits.sum(axis=0), visits.shape)
    return np.lexsort((-total, -visits), axis=1)


def _sort_rivals(pieces: Pieces, trial: Trial, bounds: IntArray, rivals: IntArray) -> IntArray:
    """Sort rivals, in place, by how often they held together; return what most excludes each."""
    counting = np.arange(pieces.C.shape[1]) < pieces.num_conditions[:, None]
    fails = (np.einsum("prj,nj->npr", pieces.C, trial.u) < -MATCH) & counting
    holds = (~fails.any(axis=-1)).astype(np.float64)
    together = holds.T @ holds
    exclude = (holds.T @ fails.reshape(len(fails), -1)).reshape(len(pieces), *counting.shape)
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
