"""Tables of pieces, arranged for the kernels' search."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from carom.contact_space import ContactSpace
from carom.kernels import overlap, search
from carom.kernels import pieces as kernel
from carom.kernels.jit import plain
from carom.kernels.lanes import LANES
from carom.kernels.search import NUM_ETAS, NUM_GLANCES, Table
from carom.kernels.tolerances import MATCH
from carom.stepping.pieces import Pieces, num_modes
from carom.typing import BoolArray, FloatArray, IntArray

Links = tuple[IntArray, IntArray]
"""Pieces to go through, and of each the condition that most likely excludes it."""

MOST_TABULATED = 400
"""Tables of all pieces are kept up to this size: three planar contacts, or one in space with
the default eight friction directions."""

MOST_MET = 256
"""Maximum number of pieces that are kept where they are filled as met, the most frequent ones."""

MOST_COMPARED = 64  # up to this many pieces it pays to find out in advance which of them overlap

MOST_GUESSES = 3
"""Maximum number of likely pieces that are tried one by one before all are gone through."""

MOST_UNROLLED = 2
"""Up to this many planar contacts, kernels are compiled for the very number of contacts."""


def can_tabulate(space: ContactSpace) -> bool:
    """Return whether all pieces of an impact are few enough to be tabulated."""
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
    """What a short trial run met; it speeds up the search and changes no result."""

    u: FloatArray  # (n, c + m) steps, in order
    modes: IntArray  # (n, m) the modes of each
    piece: IntArray  # (n,) the piece of each, -1 where only one contact acted or none was known
    before: IntArray  # (n,) the last piece before it, -1 where there was none


def search_table(space: ContactSpace, pieces: Pieces, trial: Trial | None = None) -> Table:
    """Arrange pieces for the kernels' search; with a trial, what is likely is tried first."""
    guesses: IntArray = np.empty((1, 0), np.int64)
    if trial is None:
        links = _plain_links(pieces)
    else:
        pieces = _with_likely_conditions_first(pieces, trial)
        c, m, _ = extents(space)
        rows = plain(search.context)(trial.u.T, trial.before, c, m)
        num_rows = NUM_GLANCES * (len(pieces) + 1)
        guesses = _most_met(rows, trial.piece, num_rows, len(pieces))[:, :MOST_GUESSES]
        overlapping = overlap.find_overlaps(pieces.C, pieces.num_conditions, space.num_contacts)
        links = _likely_links(pieces, trial, overlapping)
    links.append((np.arange(len(pieces)), np.zeros(len(pieces), np.int64)))
    conditions = _with_thresholds(pieces, space.num_contacts)
    return Table(
        _arrange(pieces, conditions),
        _arrange_info(space, pieces, links),
        np.concatenate([_in_lanes(linked) for linked, _ in links]),
        _arrange_hints(conditions, links),
        guesses.astype(np.int16),
    )


def singles_table(space: ContactSpace, trial: Trial | None = None) -> Table:
    """Arrange the pieces of every contact alone, one contact after another."""
    tables, guesses, ends = [], [], []
    num_pieces = num_links = 0
    for i in range(space.num_contacts):
        single = space.part([i])
        pieces = Pieces.all(single)
        table = search_table(single, pieces)
        table.info[:, search.START : search.END + 1] += num_links
        table.links[:] += num_pieces
        guesses.append(num_pieces + _likely_singles(space, pieces, i, trial)[:, :MOST_GUESSES])
        ends.append(table.info[-1:])
        tables.append(table._replace(info=table.info[:-1]))
        num_pieces += len(pieces)
        num_links += len(table.links)
    return Table(
        _join_directions([table.data for table in tables]),
        np.concatenate([table.info for table in tables] + ends),
        np.concatenate([table.links for table in tables]),
        _join_directions([table.hints for table in tables]),
        np.concatenate(guesses).astype(np.int16),
    )


def _join_directions(parts: list[FloatArray]) -> FloatArray:
    """Put tables (NUM_ETAS * n, length) one after another, direction by direction."""
    length = parts[0].shape[1]
    cubes = [part.reshape(NUM_ETAS, -1, length) for part in parts]
    return np.concatenate(cubes, axis=1).reshape(-1, length)


def _with_thresholds(pieces: Pieces, num_caps: int) -> FloatArray:
    """Return conditions (NUM_ETAS, pieces, rows, c + m + 1) with what they must exceed as last.

    On a face, where C u = 0, an infinitesimal move of u decides; its direction is one of a few
    that are fixed, generic, and open the caps. So a value must exceed `MATCH` where the move
    would lower it, and -`MATCH` where it would raise it. Rows that do not count always hold.
    """
    count, rows, size = pieces.C.shape
    etas = np.random.default_rng(20).normal(size=(NUM_ETAS, size))
    etas[:, size - num_caps :] = np.abs(etas[:, size - num_caps :])
    conditions = np.zeros((NUM_ETAS, count, _num_blocks(rows) * LANES, size + 1))
    conditions[..., :rows, :size] = pieces.C
    conditions[..., :rows, size] = np.where(
        np.einsum("prj,ej->epr", pieces.C, etas) < 0.0, MATCH, -MATCH
    )
    idle = np.arange(conditions.shape[2]) >= pieces.num_conditions[:, None]
    conditions[:, idle] = np.append(np.zeros(size), -1.0)
    return conditions


def _arrange(pieces: Pieces, conditions: FloatArray) -> FloatArray:
    """Lay out conditions and impulse maps, piece by piece."""
    _, count, rows, size = conditions.shape
    blocks = conditions.reshape(NUM_ETAS, count, rows // LANES, LANES, size).swapaxes(3, 4)
    maps = np.zeros((NUM_ETAS, count, size, pieces.L.shape[1]))
    maps[:, :, :-1] = pieces.L.swapaxes(1, 2)
    flat = blocks.reshape(-1, rows * size), maps.reshape(-1, size * pieces.L.shape[1])
    return np.concatenate(flat, axis=1)


def _arrange_info(space: ContactSpace, pieces: Pieces, links: list[Links]) -> IntArray:
    """Write what the search needs to know of each piece, and at last where all are linked."""
    count = len(pieces)
    ends = np.cumsum([0] + [_num_blocks(len(linked)) for linked, _ in links])
    info = np.zeros((count + 1, 6), np.int64)
    # Either each piece has rivals of its own, or all share the same.
    info[:count, search.START] = ends[:-2:2]
    info[:count, search.MIDDLE] = ends[1:-1:2]
    info[:count, search.END] = ends[2::2]
    info[:count, search.SIGN] = pieces.sign
    info[:count, search.NUM_BLOCKS] = _num_blocks(pieces.num_conditions)
    vanishing = _vanishing(space, pieces.modes)
    # As many as an integer has bits for; the others keep what rounding leaves of their zero.
    info[:count, search.ZEROS] = vanishing[:, :62] @ (1 << np.arange(min(vanishing.shape[1], 62)))
    info[count, [search.START, search.END]] = ends[-2:]
    return info


def _num_blocks(count: Any) -> Any:
    """Return the number of blocks of eight that hold a number of entries."""
    return -(-count // LANES)


def _in_lanes(numbers: IntArray) -> IntArray:
    """Lay out numbers in rows of eight; what is left over is 0."""
    rows = np.zeros((_num_blocks(len(numbers)), LANES), np.int64)
    rows.reshape(-1)[: len(numbers)] = numbers
    return rows


def _arrange_hints(conditions: FloatArray, links: list[Links]) -> FloatArray:
    """Lay out one condition of each linked piece; what is left over never holds."""
    size = conditions.shape[3]
    never = np.append(np.zeros(size - 1), 1.0)
    parts = []
    for linked, rows in links:
        blocks = _num_blocks(len(linked))
        lanes = np.tile(never, (NUM_ETAS, blocks * LANES, 1))
        lanes[:, : len(linked)] = conditions[:, linked, rows]
        parts.append(lanes.reshape(NUM_ETAS, blocks, LANES, size).swapaxes(2, 3))
    hints = np.concatenate(parts, axis=1)
    return hints.reshape(NUM_ETAS * hints.shape[1], size * LANES)


def _with_likely_conditions_first(pieces: Pieces, trial: Trial) -> Pieces:
    """Put the conditions of each piece first that fail most often."""
    counting = np.arange(pieces.C.shape[1]) < pieces.num_conditions[:, None]
    fails = (np.einsum("prj,nj->npr", pieces.C, trial.u) < -MATCH).sum(axis=0)
    best = np.argsort(-np.where(counting, fails, -1), axis=1, kind="stable")
    return replace(pieces, C=np.take_along_axis(pieces.C, best[:, :, None], axis=1))


def _likely_singles(space: ContactSpace, pieces: Pieces, i: int, trial: Trial | None) -> IntArray:
    """Sort the pieces (glances, modes) of contact i alone; where some lack, the first stands in."""
    index = np.zeros(num_modes(space), np.int64)
    index[pieces.modes[:, 0]] = np.arange(len(pieces))
    rows, modes = np.empty(0, np.int64), np.empty(0, np.int64)
    if trial is not None:
        caps = trial.u[:, -space.num_contacts :]
        alone = (caps[:, i] > 0.0) & ((caps > 0.0).sum(axis=1) == 1)
        own = trial.u[alone, i * space.width : (i + 1) * space.width]
        u, modes = np.column_stack([own, caps[alone, i]]), trial.modes[alone, i]
        rows = plain(search.single_context)(u.T, 0, single_extents(space)[0])
    return index[_most_met(rows, modes, NUM_GLANCES, len(index))]


def _most_met(rows: IntArray, columns: IntArray, num_rows: int, num_columns: int) -> IntArray:
    """Sort the columns of a table of counts, row by row, and by their sum where a row is silent."""
    visits = np.zeros((num_rows, num_columns), np.int64)
    known = columns >= 0
    np.add.at(visits, (rows[known], columns[known]), 1)
    total = np.broadcast_to(visits.sum(axis=0), visits.shape)
    return np.lexsort((-total, -visits), axis=1)


def _plain_links(pieces: Pieces) -> list[Links]:
    """List the negative and the positive pieces, which are taken for the rivals of all.

    Lemke's algorithm ends at pieces of positive sign only. Where it found the pieces, the negative
    ones do not tell who has rivals, and all are gone through.
    """
    first = pieces.sign < 0 if pieces.is_complete else np.ones(len(pieces), np.bool_)
    parts = [np.flatnonzero(first), np.flatnonzero(~first)]
    return [(part, np.zeros_like(part)) for part in parts]


def _likely_links(pieces: Pieces, trial: Trial, overlapping: BoolArray) -> list[Links]:
    """List, for one piece after another, its negative and its positive rivals.

    Those come first that often held together with the piece; of each, the condition that most
    often told them apart.
    """
    counting = np.arange(pieces.C.shape[1]) < pieces.num_conditions[:, None]
    fails = (np.einsum("prj,nj->npr", pieces.C, trial.u) < -MATCH) & counting
    holds = (~fails.any(axis=-1)).astype(np.float64)
    together = holds.T @ holds
    exclude = (holds.T @ fails.reshape(len(fails), -1)).reshape(len(pieces), *counting.shape)
    conditions = exclude.argmax(axis=-1)
    links = []
    for p in range(len(pieces)):
        likely = np.argsort(-together[p], kind="stable")
        likely = likely[overlapping[p, likely]]
        negative = pieces.sign[likely] < 0
        links += [(part, conditions[p, part]) for part in (likely[negative], likely[~negative])]
    return links


def _vanishing(space: ContactSpace, modes: IntArray) -> BoolArray:
    """Return which contact velocities (pieces, c) are zero after a step."""
    k, d = space.directions.shape
    frictions = int(kernel.num_frictions(d, k))
    closed = (modes > 0) & (modes <= frictions)
    sticking = (modes > 0) & ((modes - 1) % frictions == 0)
    columns = [closed] + [sticking] * d
    return np.stack(columns, axis=-1).reshape(len(modes), modes.shape[1] * (1 + d))
