"""The affine pieces of the impact step: right, complete, continuous, and named."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import linprog

from carom.contact_space import ContactSpace, friction_directions
from carom.kernels import overlap
from carom.kernels.lanes import LANES
from carom.kernels.search import END, MIDDLE, NUM_BLOCKS, NUM_ETAS, SIGN, START, Table
from carom.kernels.tolerances import MATCH
from carom.stepping.lcp import step_lcp
from carom.stepping.pieces import Pieces, mode_name, mode_names, num_modes
from carom.stepping.tables import Trial, can_tabulate, search_table
from tests.reference.brute_force import contact_units, unit_residual
from tests.reference.impact_problems import impact_problems, random_generator, random_problem

FloatArray = NDArray[np.float64]

RESIDUAL = 1e-8
"""In natural units; pieces whose system is nearly singular lose some digits."""

OFF_FACES = 1e-7
"""A u closer than this to a face of any piece says nothing about which pieces hold it."""

WIDE = 1e-5
"""Pieces whose overlap is wider than this must be known to overlap; what is thinner is met with a
chance as small."""

AGREE = 1e-7
"""How well neighbouring pieces agree on a face, relative to the outcome."""


def random_space(
    rng: np.random.Generator, m: int, d: int, k: int = 3, **options: object
) -> ContactSpace:
    return random_problem(rng, m, d, num_directions=max(3, k), **options).space


def random_u(rng: np.random.Generator, space: ContactSpace) -> FloatArray:
    """Return generic contact velocities, mostly approaching, and positive caps."""
    m = space.num_contacts
    v_c = rng.normal(size=(m, space.width))
    v_c[:, 0] -= 0.5
    return np.concatenate([v_c.ravel(), 10.0 ** rng.uniform(-2, 1, m)])


def margins(pieces: Pieces, u: FloatArray) -> FloatArray:
    """Return the least of the conditions of each piece at u: >= 0 where the piece holds u."""
    rows = pieces.C @ u
    counts = np.arange(rows.shape[1]) < pieces.num_conditions[:, None]
    return np.where(counts, rows, np.inf).min(axis=1)


def is_generic(margin: FloatArray) -> bool:
    return bool((np.abs(margin) > OFF_FACES).all())


def residual_of_step(space: ContactSpace, u: FloatArray, impulse: FloatArray) -> float:
    """Return the residual of the step LCP in natural units, for a dimensionless impulse (c,)."""
    m, width = space.num_contacts, space.width
    v_c, caps = u[: m * width].reshape(m, width), u[m * width :]
    lcp = step_lcp(space.A, space.mu, space.directions, v_c, caps)
    x = lcp.contacts.variables(impulse.reshape(m, width))
    k, d = space.directions.shape
    speed = max(1.0, float(np.abs(u).max()), float(np.abs(impulse).max()))
    units = contact_units(space.A, space.mu, d, k, speed, capped=True)
    return float(unit_residual(lcp.W, lcp.w, x, *units))


@settings(max_examples=150)
@given(impact_problems(max_contacts=2), random_generator(), st.booleans())
def test_every_piece_that_holds_u_solves_the_step(problem, rng, moves_like_the_robot):
    space = problem.space
    assume(can_tabulate(space))
    pieces = Pieces.all(space)
    u = random_u(rng, space)
    if moves_like_the_robot:
        u[: len(space.A)] = space.A @ rng.normal(size=len(space.A))
        # Where contacts depend on each other, this is on the faces of all pieces.
    held = np.flatnonzero(margins(pieces, u) >= -MATCH * np.abs(u).max())
    assert len(held) > 0
    for p in held:
        assert residual_of_step(space, u, pieces.L[p] @ u) <= RESIDUAL


@settings(max_examples=60)
@given(impact_problems(max_contacts=2, dims=(1,)), random_generator())
def test_a_piece_that_does_not_hold_u_does_not_solve_the_step(problem, rng):
    """Without this, conditions could be missing and nothing above would notice."""
    space = problem.space
    pieces = Pieces.all(space)
    u = random_u(rng, space)
    margin = margins(pieces, u)
    assume(is_generic(margin))
    after = u[: len(space.A)] + (space.A @ (pieces.L @ u).T).T
    held = after[margin > 0.0]
    # The same outcome may belong to a mode that holds: friction 0 has two ways to slide.
    differs = np.abs(after[:, None] - held).max(axis=2).min(axis=1) > 1e-3
    wrong = np.flatnonzero((margin < -1e-3) & differs)
    assume(len(wrong) > 0)
    for p in wrong:
        assert residual_of_step(space, u, pieces.L[p] @ u) > RESIDUAL


@pytest.mark.parametrize("full_rank", [True, False], ids=["independent", "dependent"])
@pytest.mark.parametrize(
    ("m", "d", "k", "count"),
    [
        pytest.param(1, 1, 2, 60, id="1 planar"),
        pytest.param(2, 1, 2, 60, id="2 planar"),
        pytest.param(3, 1, 2, 40, id="3 planar"),
        pytest.param(1, 2, 3, 60, id="1 spatial, k=3"),
        pytest.param(1, 2, 4, 60, id="1 spatial, k=4"),
        pytest.param(1, 2, 8, 60, id="1 spatial, k=8"),
    ],
)
def test_positive_pieces_outnumber_negative_ones_by_one(m, d, k, count, full_rank):
    """Off the faces, any step has as many solutions of sign +1 as of sign -1, and one more."""
    c = m * (1 + d)
    negative = checked = 0
    for i in range(count):
        rng = np.random.default_rng([4, m, d, k, i])
        nv = int(rng.integers(c, c + 3) if full_rank else rng.integers(1, c))
        space = random_space(rng, m, d, k, nv=nv, at_rest=False, duplicates=not full_rank)
        pieces = Pieces.all(space)
        for _ in range(50):
            margin = margins(pieces, random_u(rng, space))
            if is_generic(margin):
                signs = pieces.sign[margin > 0.0]
                assert signs.sum() == 1, (i, signs)
                checked += 1
                negative += (signs < 0).any()
    assert checked >= 40 * count
    # Contacts with much friction jam, so the count is not always one.
    assert negative > 0


@settings(max_examples=100)
@given(impact_problems(max_contacts=2, nv=8, duplicates=False), random_generator())
def test_the_step_is_continuous_where_it_is_unique(problem, rng):
    """Along a segment, the pieces that hold it in turn agree where one hands over to the next.

    Contacts are independent (nv >= c): if not, modes that do not fix the impulse, which have no
    piece, may lie between two pieces and hold a whole range of outcomes at one point.
    """
    space = problem.space
    assume(can_tabulate(space))
    pieces = Pieces.all(space)
    start, end = random_u(rng, space), random_u(rng, space)
    stretches = sorted(_stretches(pieces, start, end))
    ends = np.array([stretch[:2] for stretch in stretches])
    # One after another, without gap or overlap: every point has one solution.
    assume((np.abs(ends[1:, 0] - ends[:-1, 1]) <= AGREE).all())
    assert ends[0, 0] == 0.0
    assert ends[-1, 1] == 1.0
    c = len(space.A)
    for (_, t, p), (_, _, q) in pairwise(stretches):
        assert pieces.sign[p] == pieces.sign[q] == 1
        u = (1.0 - t) * start + t * end
        before = u[:c] + space.A @ pieces.L[p] @ u
        after = u[:c] + space.A @ pieces.L[q] @ u
        slope = np.abs(space.A @ pieces.L[[p, q]]).max() * np.abs(u).max()
        np.testing.assert_allclose(before, after, atol=AGREE * (1.0 + slope))


def _stretches(
    pieces: Pieces, start: FloatArray, end: FloatArray
) -> list[tuple[float, float, int]]:
    """Return from where to where each piece holds the segment (1 - t) start + t end."""
    found = []
    for p in range(len(pieces)):
        rows = pieces.C[p, : pieces.num_conditions[p]]
        at_start, at_end = rows @ start, rows @ end
        slope = at_end - at_start
        crossing = np.divide(-at_start, slope, out=np.zeros_like(slope), where=slope != 0.0)
        low = max(0.0, crossing[slope > 0.0].max(initial=0.0))
        high = min(1.0, crossing[slope < 0.0].min(initial=1.0))
        if high - low > AGREE and (at_start[slope == 0.0] >= 0.0).all():
            found.append((low, high, p))
    return found


@pytest.mark.parametrize(("d", "k"), [(1, 2), (2, 3), (2, 4), (2, 8), (2, 16)])
def test_every_mode_has_its_own_readable_name(d, k):
    directions = friction_directions(d, k)
    space = ContactSpace.build(np.eye(1 + d), np.ones(1), directions, 1.0)
    assert num_modes(space) == (7 if d == 1 else 3 + 4 * k)
    assert num_modes(space, capped=False) == (4 if d == 1 else 2 + 2 * k)
    names = [mode_name(mode, directions) for mode in range(num_modes(space))]
    assert len(set(names)) == len(names)
    pattern = r"free|(closed|compressing), (sticking|sliding ([+-]|\d+(\.\d+)?°))"
    for name in names:
        assert re.fullmatch(pattern, name), name


@pytest.mark.parametrize(("d", "k"), [(1, 2), (2, 3), (2, 4), (2, 8)])
def test_a_sliding_mode_is_named_after_the_velocity(d, k):
    """Pieces that slide are followed by a velocity in the direction that their name says."""
    rng = np.random.default_rng([5, k])
    space = random_space(rng, 1, d, k, mu=0.3, nv=3)
    pieces = Pieces.all(space)
    seen = set()
    for _ in range(400):
        u = random_u(rng, space)
        u[1 : 1 + d] *= 5.0
        for p in np.flatnonzero(margins(pieces, u) > OFF_FACES):
            name = mode_name(int(pieces.modes[p, 0]), space.directions)
            slip = (u[:-1] + space.A @ pieces.L[p] @ u)[1:]
            if name.endswith(("+", "-")):
                assert np.sign(slip[0]) == (1.0 if name.endswith("+") else -1.0)
            elif name.endswith("°"):
                seen.add(name)
                angle = np.degrees(np.arctan2(slip[1], slip[0]))
                named = float(re.search(r"([\d.]+)°", name).group(1))
                # Against a corner of the polygon: within half a turn / k; square to an edge: exact.
                is_corner = round((named - 180.0) * k / 360.0, 6) % 1.0 == 0.0
                off = abs((angle - named + 180.0) % 360.0 - 180.0)
                assert off <= (180.0 / k if is_corner else 0.0) + 1e-3, (name, angle)
    assert d == 1 or len(seen) > k


@settings(max_examples=30)
@given(impact_problems(max_contacts=2, dims=(1,)))
def test_pieces_are_named_by_contact(problem):
    pieces = Pieces.all(problem.space)
    names = [mode_names(row, problem.space.directions) for row in pieces.modes]
    assert len(set(names)) == len(names) == len(pieces)
    assert names[0] == ("free",) * problem.num_contacts
    assert pieces.is_complete


@settings(max_examples=30)
@given(impact_problems(max_contacts=2), random_generator())
def test_pieces_of_given_modes_are_those_of_the_whole_table(problem, rng):
    space = problem.space
    assume(can_tabulate(space))
    every = Pieces.all(space)
    chosen = rng.permutation(len(every))[:5]
    some = Pieces.of_modes(space, every.modes[chosen])
    assert not some.is_complete
    np.testing.assert_array_equal(some.modes, every.modes[chosen])
    np.testing.assert_array_equal(some.sign, every.sign[chosen])
    np.testing.assert_array_equal(some.L, every.L[chosen])
    np.testing.assert_array_equal(
        margins(some, np.ones(some.C.shape[2])), margins(every, np.ones(every.C.shape[2]))[chosen]
    )


def test_modes_that_do_not_fix_the_impulse_have_no_piece():
    """Two contacts that coincide cannot both be closed: how they share is open."""
    A = np.kron(np.ones((2, 2)), np.eye(2))
    space = ContactSpace.build(A, np.ones(2), friction_directions(1, 2), 1.0)
    both_closed_and_stuck = np.array([[1, 1]])
    assert len(Pieces.of_modes(space, both_closed_and_stuck)) == 0
    pieces = Pieces.all(space)
    assert len(pieces) < 49
    assert not (pieces.modes == 1).all(axis=1).any()


@pytest.mark.parametrize(("m", "d", "k"), [(1, 1, 2), (2, 1, 2), (1, 2, 3), (1, 2, 4)])
def test_pieces_that_overlap_anywhere_are_found(m, d, k):
    found = 0
    for i in range(12):
        rng = np.random.default_rng([6, m, d, k, i])
        space = random_space(rng, m, d, k)
        pieces = Pieces.all(space)
        overlapping = overlap.find_overlaps(pieces.C, pieces.num_conditions, m)
        assert not overlapping.diagonal().any()
        np.testing.assert_array_equal(overlapping, overlapping.T)
        for _ in range(600):
            held = np.flatnonzero(margins(pieces, random_u(rng, space)) > OFF_FACES)
            apart = ~overlapping[np.ix_(held, held)]
            assert apart.sum() == len(held), i
            found += len(held) > 1
    assert found > 0


@pytest.mark.parametrize("seed", [2, 3, 6])
def test_overlaps_are_those_that_linear_programming_finds(seed):
    """Widest margin t with R u >= t in the unit cube: pieces that overlap have one, others none."""
    space = random_space(np.random.default_rng([9, seed]), 2, 1)
    pieces = Pieces.all(space)
    size = pieces.C.shape[2]
    overlapping = overlap.find_overlaps(pieces.C, pieces.num_conditions, 2)
    conditions = [C[:count] for C, count in zip(pieces.C, pieces.num_conditions, strict=True)]
    missing = []
    for p in range(len(pieces)):
        for q in range(p):
            R = np.vstack([conditions[p], conditions[q], np.eye(size)[-2:]])
            program = linprog(
                np.append(np.zeros(size), -1.0),
                A_ub=np.column_stack([-R, np.ones(len(R))]),
                b_ub=np.zeros(len(R)),
                bounds=[(-1.0, 1.0)] * size + [(None, 1.0)],
            )
            if -program.fun > WIDE and not overlapping[p, q]:
                missing.append((p, q, -program.fun))
            assert not overlapping[p, q] or -program.fun > 0.0
    assert missing == []


def random_trial(rng: np.random.Generator, space: ContactSpace, pieces: Pieces) -> Trial:
    """Return steps, each with a piece that holds it, as a trial run would."""
    u = np.array([random_u(rng, space) for _ in range(200)])
    piece = np.array([margins(pieces, row).argmax() for row in u])
    return Trial(u, pieces.modes[piece], piece, np.full(len(u), -1))


def in_rows(blocks: FloatArray, size: int) -> FloatArray:
    """Undo the layout in blocks of eight lanes: return vectors (8 * blocks, size)."""
    return blocks.reshape(-1, size, LANES).swapaxes(1, 2).reshape(-1, size)


def linked(table: Table, first: int, last: int, size: int) -> tuple[list[int], FloatArray]:
    """Return the pieces of some blocks of links, and their hints (n, size)."""
    hints = in_rows(table.hints[first:last], size)
    is_filler = (hints == np.append(np.zeros(size - 1), 1.0)).all(axis=1)
    return table.links[first:last].ravel()[~is_filler].tolist(), hints[~is_filler]


@pytest.mark.parametrize("tried", [True, False], ids=["trial", "no trial"])
@pytest.mark.parametrize(("m", "d", "k"), [(1, 1, 2), (2, 1, 2), (1, 2, 3), (1, 2, 8)])
def test_a_table_links_each_piece_to_its_rivals(m, d, k, tried):
    """With a trial to those that overlap it, else to all: negative ones first, all of them once."""
    for i in range(6):
        rng = np.random.default_rng([8, m, d, k, i])
        space = random_space(rng, m, d, k)
        pieces = Pieces.all(space)
        count, size = len(pieces), pieces.C.shape[2] + 1
        table = search_table(space, pieces, random_trial(rng, space, pieces) if tried else None)
        rivals = overlap.find_overlaps(pieces.C, pieces.num_conditions, m)
        rivals = rivals if tried else np.ones_like(rivals)
        for p, row in enumerate(table.info[:count]):
            negative, _ = linked(table, row[START], row[MIDDLE], size)
            positive, _ = linked(table, row[MIDDLE], row[END], size)
            assert sorted(negative) == np.flatnonzero(rivals[p] & (pieces.sign < 0)).tolist()
            assert sorted(positive) == np.flatnonzero(rivals[p] & (pieces.sign > 0)).tolist()
        everyone, _ = linked(table, table.info[-1, START], table.info[-1, END], size)
        assert everyone == list(range(count))
        np.testing.assert_array_equal(table.info[:count, SIGN], pieces.sign)


@pytest.mark.parametrize("tried", [True, False], ids=["trial", "no trial"])
@pytest.mark.parametrize(("m", "d", "k"), [(1, 1, 2), (2, 1, 2), (1, 2, 3), (1, 2, 8)])
def test_a_table_holds_the_conditions_and_maps_of_its_pieces(m, d, k, tried):
    """In the lanes of each piece, for each direction; a hint is a condition of its piece."""
    rng = np.random.default_rng([12, m, d, k])
    space = random_space(rng, m, d, k)
    pieces = Pieces.all(space)
    count, c, size = len(pieces), len(space.A), pieces.C.shape[2] + 1
    table = search_table(space, pieces, random_trial(rng, space, pieces) if tried else None)
    end = table.data.shape[1] - c * size
    data = table.data.reshape(NUM_ETAS, count, -1)
    hints = table.hints.reshape(NUM_ETAS, len(table.links), -1)
    for eta in range(NUM_ETAS):
        held = [{tuple(row) for row in in_rows(part, size)} for part in data[eta, :, :end]]
        for p, number in enumerate(pieces.num_conditions):
            blocks = table.info[p, NUM_BLOCKS]
            assert LANES * (blocks - 1) < number <= LANES * blocks
            rows = in_rows(data[eta, p, : blocks * LANES * size], size)
            order = np.lexsort(rows[:number, :-1].T)
            expected = pieces.C[p, :number]
            expected = expected[np.lexsort(expected.T)]
            np.testing.assert_array_equal(rows[order, :-1], expected)
            np.testing.assert_array_equal(np.abs(rows[order, -1]), MATCH)
            # What fills a block up holds for every step (v_c, caps, -1).
            assert not rows[number:, :-1].any()
            assert (rows[number:, -1] < 0.0).all()
            L = data[eta, p, end:].reshape(size, c).T
            np.testing.assert_array_equal(L, np.column_stack([pieces.L[p], np.zeros(c)]))
        part = table._replace(hints=hints[eta])
        for p, hint in zip(*linked(part, 0, len(table.links), size), strict=True):
            assert tuple(hint) in held[p]


@settings(max_examples=40)
@given(impact_problems(max_contacts=2, dims=(1,)), random_generator())
def test_an_interior_point_is_strictly_inside(problem, rng):
    space = problem.space
    m = space.num_contacts
    pieces = Pieces.all(space)
    overlapping = overlap.find_overlaps(pieces.C, pieces.num_conditions, m)
    u = np.empty(pieces.C.shape[2])
    groups = [[p] for p in range(len(pieces))]
    groups += [[p, q] for p, q in np.argwhere(overlapping).tolist() if q < p]
    inside = 0
    for group in groups:
        is_inside = overlap.interior_point(pieces.C, pieces.num_conditions, np.array(group), m, u)
        assert is_inside or len(group) == 1
        if is_inside:
            inside += 1
            assert (margins(pieces, u)[group] > 0.0).all()
            assert (u[-m:] > 0.0).all()
    assert inside > 0
    # A piece without a point inside holds no random u either.
    empty = [p for (p,) in groups[: len(pieces)] if not _has_interior(pieces, p, m)]
    for _ in range(20):
        assert not (margins(pieces, random_u(rng, space))[empty] > OFF_FACES).any()


def _has_interior(pieces: Pieces, p: int, m: int) -> bool:
    u = np.empty(pieces.C.shape[2])
    return overlap.interior_point(pieces.C, pieces.num_conditions, np.array([p]), m, u)


@settings(max_examples=30)
@given(impact_problems(max_contacts=2), random_generator())
def test_the_names_say_what_vanishes(problem, rng):
    """A closed contact has no normal velocity after the step, a sticking one does not slide."""
    space = problem.space
    assume(can_tabulate(space))
    c, m = len(space.A), space.num_contacts
    pieces = Pieces.all(space)
    u = random_u(rng, space)
    after = (u[:c] + (pieces.L @ u) @ space.A).reshape(-1, m, space.width)
    scale = np.abs(pieces.L @ u).max(axis=1).clip(1.0) * np.abs(space.A).max()
    for p, row in enumerate(pieces.modes):
        for i, mode in enumerate(row):
            name = mode_name(int(mode), space.directions)
            if name.startswith("closed"):
                assert abs(after[p, i, 0]) <= RESIDUAL * scale[p]
            if name.endswith("sticking"):
                assert np.abs(after[p, i, 1:]).max() <= RESIDUAL * scale[p]
            if name == "free":
                assert not pieces.L[p, i * space.width : (i + 1) * space.width].any()
            if name.startswith("compressing"):
                assert pieces.L[p, i * space.width] @ u == pytest.approx(u[c + i])


def test_few_contacts_are_tabulated():
    rng = np.random.default_rng(10)
    assert can_tabulate(random_space(rng, 3, 1))
    assert not can_tabulate(random_space(rng, 4, 1))
    assert can_tabulate(random_space(rng, 1, 2, 8))
    assert not can_tabulate(random_space(rng, 2, 2, 8))
