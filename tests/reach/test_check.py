"""Envelopes: what no motion leaves is accepted, and what some motion leaves is refused."""

from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import ppl
import pytest
from gmpy2 import mpq

import carom
from carom.reach.check import is_closed
from carom.reach.envelope import enclose, energy_bounds
from carom.reach.flow import Flow, point, vertices
from carom.reach.inclusion import rationalize
from carom.reach.rational import exactly
from tests.reference.impact_problems import numbered_pair
from tests.reference.random_motions import RandomMotions
from tests.reference.set_checks import AMPLE

SCENES = ("rocking-block", "compass-gait", "box-wall", "ramone")
# Of the series with two contacts, some whose sets have several polytopes.
PAIRS = (2, 18, 196)
# Of the largest coordinate: motions in floats end on polyhedra of the rounded impact.
ROUNDING = 1e-8


def problem_of(name):
    return numbered_pair(name) if isinstance(name, int) else carom.scenes.load(name).problem


@cache
def inclusion_of(name):
    """Return the impact in rationals, and its energy bounds."""
    problem = problem_of(name)
    inclusion = rationalize(problem)
    return inclusion, energy_bounds(inclusion)


@cache
def enclosed(name):
    inclusion, energy = inclusion_of(name)
    envelope = enclose(Flow(inclusion), energy, AMPLE)
    assert envelope is not None
    return envelope


def accepts(name, envelope):
    inclusion, energy = inclusion_of(name)
    cover = {cell: [polyhedron] for cell, polyhedron in envelope.items()}
    return is_closed(inclusion, cover, energy, AMPLE)


def hull(corners):
    out = ppl.C_Polyhedron(len(corners[0]), "empty")
    for corner in corners:
        out.add_generator(point(corner))
    return out


def shrunk(polyhedron, factor):
    """Return a polytope scaled about the mean of its corners."""
    corners = vertices(polyhedron)
    centre = sum(corners) / len(corners)
    return hull([centre + factor * (y - centre) for y in corners])


@pytest.mark.parametrize("name", SCENES + PAIRS)
def test_what_encloses_is_accepted(name):
    assert accepts(name, enclosed(name))


@pytest.mark.parametrize("name", SCENES + PAIRS)
def test_a_set_that_lacks_a_cell_is_refused(name):
    envelope = enclosed(name)
    assert len(envelope) > 1
    for cell in envelope:
        rest = {other: p for other, p in envelope.items() if other != cell}
        assert not accepts(name, rest)


@pytest.mark.parametrize("name", SCENES + PAIRS)
def test_a_set_with_one_polyhedron_shrunk_is_refused(name):
    """The envelope is the least one, so that no part of it can be missed.

    It grows from the start by what is reached and by hulls alone, unless it was widened, which
    takes more joins of one cell than happen here.
    """
    envelope = enclosed(name)
    large = [cell for cell, p in envelope.items() if len(vertices(p)) > 1]
    assert large
    for cell in large:
        assert not accepts(name, {**envelope, cell: shrunk(envelope[cell], mpq(99, 100))})


@pytest.mark.parametrize("name", SCENES)
def test_a_set_shrunk_as_a_whole_is_refused(name):
    """By a hundredth about the origin; with the start put back it is refused still."""
    envelope = enclosed(name)
    small = {cell: hull([mpq(99, 100) * y for y in vertices(p)]) for cell, p in envelope.items()}
    assert not accepts(name, small)
    start, cell = Flow(inclusion_of(name)[0]).start()
    with_start = ppl.C_Polyhedron(small[cell])
    with_start.poly_hull_assign(start)
    assert not accepts(name, {**small, cell: with_start})


@pytest.mark.parametrize("name", SCENES)
def test_a_set_that_misses_the_start_is_refused(name):
    """All else is as it was: motions from what is left do not leave."""
    inclusion, _ = inclusion_of(name)
    _, cell = Flow(inclusion).start()
    envelope = enclosed(name)
    assert not accepts(name, {other: p for other, p in envelope.items() if other != cell})
    at_rest = tuple(0 for _ in cell)
    rest = {at_rest: hull([exactly(np.zeros(inclusion.dimension))])}
    assert not accepts(name, rest)
    assert not accepts(name, {})


@pytest.mark.parametrize("name", SCENES + PAIRS)
def test_a_set_that_motions_leave_within_the_first_cell_is_refused(name):
    """The start is there without what is reached from it in its cell; all else is as it was."""
    start, cell = Flow(inclusion_of(name)[0]).start()
    envelope = enclosed(name)
    assert not start.contains(envelope[cell])
    assert not accepts(name, {**envelope, cell: start})


@pytest.mark.parametrize("name", SCENES)
def test_all_cells_within_the_energy_are_accepted(name):
    """Energy never rises, so that no motion leaves them: no set is too large."""
    inclusion, energy = inclusion_of(name)
    flow = Flow(inclusion)
    everything = {}
    for cell in product((-1, 0, 1), repeat=len(inclusion.forms)):
        polyhedron = ppl.C_Polyhedron(inclusion.dimension, "universe")
        polyhedron.add_constraints(flow.constraints(cell))
        polyhedron.add_constraints(energy)
        everything[cell] = polyhedron
    assert accepts(name, everything)


def test_no_time_is_no_proof():
    inclusion, energy = inclusion_of("compass-gait")
    cover = {cell: [polyhedron] for cell, polyhedron in enclosed("compass-gait").items()}
    assert is_closed(inclusion, cover, energy, AMPLE)
    assert not is_closed(inclusion, cover, energy, -1.0)
    assert enclose(Flow(inclusion), energy, -1.0) is None


@pytest.mark.parametrize("name", SCENES + PAIRS)
def test_motions_end_in_the_envelope(name):
    problem = problem_of(name)
    inclusion, _ = inclusion_of(name)
    ends = [p for cell, p in enclosed(name).items() if inclusion.is_final(cell)]
    motions = RandomMotions(problem.M, problem.J_n, problem.J_t[:, 0], problem.mu, problem.v_pre)
    found = motions.ends(np.random.default_rng(0), 20)
    assert len(found) >= 10
    corners = [np.array(vertices(p), dtype=float) for p in ends]
    size = max(np.abs(c).max() for c in corners) + float(max(map(abs, inclusion.y_start)))
    for v in found:
        y = np.array([float(x) for x in inclusion.coordinates(exactly(v))])
        assert any(_violation(p, y) <= ROUNDING * size for p in ends)


def _violation(polyhedron, y):
    """Return how far y lies beyond the worst condition."""
    worst = 0.0
    for c in polyhedron.minimized_constraints():
        row = [Fraction(int(x)) for x in c.coefficients()]
        scale = max(map(abs, row))
        value = sum(float(a / scale) * b for a, b in zip(row, y, strict=True))
        value += float(Fraction(int(c.inhomogeneous_term())) / scale)
        worst = max(worst, abs(value) if c.is_equality() else -value)
    return worst
