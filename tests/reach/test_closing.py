"""Searches that would go on for ever, closed from outside."""

import math
from functools import cache

import numpy as np
import ppl
import pytest

import carom
from carom.reach.check import is_closed
from carom.reach.closing import Closing, LooseNode
from carom.reach.envelope import energy_bounds
from carom.reach.flow import Flow, vertices
from carom.reach.inclusion import rationalize
from carom.reach.rational import solve
from carom.reach.search import Search
from tests.reference.impact_problems import numbered_triple
from tests.reference.random_motions import RandomMotions
from tests.reference.set_checks import AMPLE, speed_of

MANY = 10**6
# Of the series with three contacts: its list does not empty, and so many polyhedra close it.
GOES_ROUND = 363
ENOUGH = 2500
# Digits of exact numbers that floats keep, as a share of the speed.
ROUNDING = 1e-8


@cache
def closing_of(number):
    closing = Closing(Flow(rationalize(numbered_triple(number))))
    closing.run(AMPLE, MANY)
    assert closing.is_complete
    return closing


def cover_of(search):
    return {cell: [node.reached for node in nodes] for cell, nodes in search.known.items()}


def num_loose(search):
    return sum(isinstance(n, LooseNode) for nodes in search.known.values() for n in nodes)


def accepts(closing, cover):
    inclusion = closing.flow.inclusion
    return is_closed(inclusion, cover, energy_bounds(inclusion), AMPLE)


@pytest.mark.parametrize("name", ["rocking-block", "box-wall", "compass-gait", "ramone"])
def test_a_list_that_empties_is_closed_by_itself(name):
    """Where nothing is relaxed, what is found is what the search finds."""
    flow = Flow(rationalize(carom.scenes.load(name).problem))
    search, closing = Search(flow), Closing(flow)
    for one in (search, closing):
        one.run(AMPLE, MANY)
    assert search.is_complete
    assert closing.is_complete
    for cell, nodes in search.known.items():
        for node in nodes:
            assert any(other.reached.contains(node.reached) for other in closing.known[cell])
    if not num_loose(closing):
        assert closing.known.keys() == search.known.keys()


def test_rounds_add_corners_by_one_linear_map():
    """So the list cannot empty: each round finds corners anew, and the set has no end of them.

    The corners of one flat piece follow each other by a map that is the same to the last digit.
    """
    search = Search(Flow(rationalize(numbered_triple(GOES_ROUND))))
    search.run(AMPLE, 3000)
    nodes = [node for nodes in search.known.values() for node in nodes]
    flat = [node.reached for node in nodes if node.reached.affine_dimension() == 2]
    corners = max((vertices(p) for p in flat), key=len)
    assert len(corners) > 20
    # Every round makes fractions longer, which tells the order.
    corners.sort(key=lambda corner: math.prod(x.denominator for x in corner))
    used = [k for k in range(len(corners[0])) if any(corner[k] for corner in corners)]
    planar = np.array(corners)[:, used]
    transposed = solve(planar[0:2], planar[2:4])
    assert (planar[:12] @ transposed == planar[2:14]).all()
    shares = np.linalg.eigvals(transposed.astype(float))
    assert (np.abs(shares) < 1.0).all()


def test_rounds_are_closed_by_relaxing():
    closing = closing_of(GOES_ROUND)
    assert num_loose(closing) > 0
    assert accepts(closing, cover_of(closing))


def test_no_cell_may_be_missing():
    closing = closing_of(GOES_ROUND)
    cover = cover_of(closing)
    for cell in cover:
        assert not accepts(closing, {other: p for other, p in cover.items() if other != cell})


def test_a_piece_that_motions_leave_is_refused():
    """What entered a cell stands for what is reached from there."""
    closing = closing_of(GOES_ROUND)
    cover = cover_of(closing)
    nodes = [n for ns in closing.known.values() for n in ns if not n.entered.contains(n.reached)]
    assert nodes
    for node in nodes[:20]:
        others = [p for p in cover[node.cell] if p is not node.reached]
        assert not accepts(closing, {**cover, node.cell: [*others, node.entered]})


def test_all_that_a_search_finds_is_inside():
    closing = closing_of(GOES_ROUND)
    search = Search(closing.flow)
    search.run(AMPLE, ENOUGH)
    assert not search.is_complete
    for cell, nodes in search.known.items():
        outer = [node.reached for node in closing.known[cell]]
        for node in nodes:
            for corner in node.reached.minimized_generators():
                assert any(p.contains(ppl.C_Polyhedron(corner)) for p in outer)


def test_motions_end_inside_and_near():
    """Of an impact whose list never empties the outer set is known, and tight."""
    problem = numbered_triple(GOES_ROUND)
    law = carom.RouthExact(max_seconds=AMPLE, max_polyhedra=ENOUGH, on_budget="outer")
    outer = law.resolve(problem)
    assert not outer.is_complete
    assert "no motion leaves" in outer.notes[0]
    motions = RandomMotions(problem.M, problem.J_n, problem.J_t[:, 0], problem.mu, problem.v_pre)
    for v in motions.ends(np.random.default_rng(0), 30):
        assert outer.contains(v, ROUNDING * speed_of(problem))
    assert (outer.outer_excess <= 0.05 * problem.space.velocity_unit[:, None, None]).all()
