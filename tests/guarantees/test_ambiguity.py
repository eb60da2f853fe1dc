"""How much outcomes differ, judged by definition."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist, pdist

import carom
from carom.guarantees.ambiguity import RANK, ambiguity, farthest_pair
from carom.outcomes.kinds import describe_kinds
from tests.reference.impact_problems import random_problem
from tests.reference.set_checks import resolve

SCENES = ("rocking-block", "compass-gait", "box-wall", "ramone", "zeno-block", "painleve-rod")
RANKS = {"rocking-block": 2, "compass-gait": 4, "box-wall": 2, "ramone": 3, "zeno-block": 0}
ROUNDING = 1e-12

seeds = st.integers(0, 2**31)


def energy_norm(problem, v):
    return np.sqrt(2.0 * problem.kinetic_energy(v))


def check(outcomes, found, points):
    """Assert what the answer claims, for points (n, nv) of the set."""
    problem, size = outcomes.problem, outcomes.problem.energy_norm
    M, nv, rank = problem.M, problem.num_velocities, found.rank
    change = points - problem.v_pre
    B, Q = found.basis, found.euclidean_basis
    assert B.shape == Q.shape == (nv, rank)
    assert np.allclose(B.T @ M @ B, np.eye(rank), rtol=0, atol=1e-9)
    assert np.allclose(Q.T @ Q, np.eye(rank), rtol=0, atol=1e-9)
    P, E = found.projector, found.euclidean_projector
    # Invisible: neither what the impact does nor how outcomes differ.
    limit = 2 * RANK * size
    assert energy_norm(problem, change @ P.T).max() <= limit
    assert energy_norm(problem, (points - points[0]) @ P.T).max() <= 2 * limit
    factor = np.sqrt(np.linalg.eigvalsh(M)[[0, -1]])
    assert np.linalg.norm(change @ E.T, axis=1).max() <= limit / factor[0] * (1 + 1e-6)
    for projector in (P, E):
        assert np.allclose(projector @ projector, projector, rtol=0, atol=1e-9)
        assert np.trace(projector) == pytest.approx(nv - rank, abs=1e-9)
        assert np.abs(projector @ B).max(initial=0.0) <= 1e-9 * np.abs(B).max(initial=1.0)
    assert np.allclose(M @ P, (M @ P).T, rtol=0, atol=1e-9 * np.abs(M).max())
    assert np.allclose(E, E.T, rtol=0, atol=ROUNDING)
    # No direction is too many: along each, something changes.
    along = np.abs(change @ M @ B).max(axis=0, initial=0.0)
    assert (along > RANK * size / nv).all()


def brute_diameter(problem, points):
    root = np.linalg.cholesky(problem.M)
    return pdist(points @ root).max(initial=0.0)


@pytest.mark.parametrize("name", SCENES)
def test_scenes_exact(name):
    problem = carom.scenes.load(name).problem
    exact = resolve(problem)
    found = ambiguity(exact)
    drawn = np.vstack([exact.sample(1000), exact.v_post])
    check(exact, found, drawn)
    # A norm is convex: no two points are farther apart than two corners.
    assert found.distance == pytest.approx(brute_diameter(problem, exact.v_post), abs=1e-12)
    assert brute_diameter(problem, drawn) <= found.distance + 1e-12
    assert {kind.words for kind in found.kinds} == set(exact.kinds)
    assert all(kind.share is None and kind.dimension >= 0 for kind in found.kinds)
    assert found.rank == RANKS.get(name, found.rank)


@pytest.mark.parametrize("name", [*SCENES, "disk-stack"])
def test_scenes_sampled(name):
    problem = carom.scenes.load(name).problem
    sampled = carom.Routh(3000).resolve(problem)
    found = ambiguity(sampled)
    check(sampled, found, sampled.v_post)
    assert found.distance == pytest.approx(brute_diameter(problem, sampled.v_post), abs=1e-11)
    assert found.relative_distance == pytest.approx(found.distance / problem.energy_norm)
    assert found.relative_distance <= 2.0
    words = describe_kinds(problem, sampled.v_post)
    assert {kind.words: kind.share for kind in found.kinds} == {
        word: words.count(word) / len(words) for word in set(words)
    }
    shares = [kind.share for kind in found.kinds]
    assert shares == sorted(shares, reverse=True)
    assert all(kind.dimension is None for kind in found.kinds)
    assert found.rank == RANKS.get(name, found.rank)


@pytest.mark.parametrize("name", SCENES)
def test_pair_is_a_pair_of_outcomes(name):
    problem = carom.scenes.load(name).problem
    for outcomes in (resolve(problem), carom.Routh(500).resolve(problem)):
        found = ambiguity(outcomes)
        assert all(outcomes.contains(v, 1e-12) for v in found.pair)
        apart = energy_norm(problem, found.pair[0] - found.pair[1])
        assert apart == pytest.approx(found.distance, abs=1e-12)


def test_rocking_block_in_closed_form():
    """The block turns about one corner or the other, or rests; it does not slide."""
    problem = carom.scenes.load("rocking-block").problem
    found = ambiguity(resolve(problem))
    assert [(kind.words, kind.dimension) for kind in found.kinds] == [
        ("A lifts, B sticks", 1),
        ("A sticks, B lifts", 1),
        ("A sticks, B sticks", 0),
    ]
    # Turning about either corner does not move the middle of the base sideways.
    sideways = problem.J_t.sum(axis=(0, 1))
    assert np.abs(sideways @ found.basis).max() <= 1e-12
    assert np.allclose(sideways @ found.projector, sideways, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", SCENES[:4])
def test_dimensions_are_those_of_samples_of_that_kind(name):
    problem = carom.scenes.load(name).problem
    exact = ambiguity(resolve(problem))
    # Of 10,000 samples, one slides at B of RAMone.
    sampled = carom.Routh(2**18).resolve(problem)
    # With RAMone's friction of 1e5, contacts that push in turns divide the velocities by thousands
    # each time, so that one sample in ten is so close to rest that the tolerance of kinds decides.
    size = np.abs(sampled.v_post @ problem.J.T) / problem.energy_norm
    clear = ((size < 1e-11) | (size > 1e-7)).all(axis=1)
    assert clear.mean() > 0.9
    v_post = sampled.v_post[clear]
    words = np.array(describe_kinds(problem, v_post))
    assert set(words) == {kind.words for kind in exact.kinds}
    for kind in exact.kinds:
        own = v_post[words == kind.words] / np.linalg.norm(problem.v_pre)
        assert np.linalg.matrix_rank(own - own[0], tol=1e-6) == kind.dimension


@settings(max_examples=15)
@given(seed=seeds)
def test_random_impacts(seed):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, int(rng.integers(1, 3)), 1)
    sampled = carom.Routh(200, max_steps=500, seed=seed).resolve(problem)
    found = ambiguity(sampled)
    check(sampled, found, sampled.v_post)
    apart = brute_diameter(problem, sampled.v_post)
    assert found.distance == pytest.approx(apart, abs=1e-11 * problem.energy_norm)


@settings(max_examples=60)
@given(seed=seeds)
def test_farthest_pair_is_that_of_brute_force(seed):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(1, 200)), int(rng.integers(1, 6))
    shape = seed % 4
    if shape == 0:
        points = rng.normal(size=(n, k))
    elif shape == 1:
        # About a sphere, where nothing can be left out.
        points = rng.normal(size=(n, k))
        points /= np.linalg.norm(points, axis=1, keepdims=True)
    elif shape == 2:
        points = rng.integers(-1, 2, size=(n, k)).astype(float)
    else:
        # Long, thin and far from the origin.
        points = 1e3 + rng.normal(size=(n, 1)) * rng.normal(size=k) + 1e-3 * rng.normal(size=(n, k))
    i, j = farthest_pair(points)
    expected = cdist(points, points).max()
    assert np.linalg.norm(points[i] - points[j]) == pytest.approx(expected, abs=2e-9)


def test_many_equal_ends_are_no_trouble():
    """Half of a million samples at each of two ends: all pairs would take hours."""
    rng = np.random.default_rng(0)
    points = np.repeat([[0.1, 0.2, 0.3], [0.7, -0.1, 0.4]], 500_000, axis=0)
    points += 1e-16 * rng.normal(size=points.shape)
    i, j = farthest_pair(points)
    assert (i < 500_000) != (j < 500_000)


def test_few_are_written_out():
    found = ambiguity(carom.Routh(3000).resolve(carom.scenes.load("disk-stack").problem))
    text = str(found)
    assert found.num_kinds > 12
    assert f"and {found.num_kinds - 12} more" in text
    assert f"{found.num_kinds} kinds of outcome" in text
    assert "along 9 of 9 directions" in text
    alone = ambiguity(carom.Routh(10).resolve(carom.scenes.load("painleve-rod").problem))
    assert str(alone).startswith("1 kind of outcome; two outcomes differ by up to 0 %")


def test_outer_sets_are_taken_as_they_are():
    problem = carom.scenes.load("rocking-block").problem
    outer = resolve(problem, max_polyhedra=1, on_budget="outer")
    found = ambiguity(outer)
    check(outer, found, outer.v_post)
    assert found.distance >= ambiguity(resolve(problem)).distance - 1e-12


def test_what_is_not_told_apart_has_the_dimension_of_its_polytope():
    problem = carom.scenes.load("disk-stack").problem
    outer = resolve(problem, on_budget="outer")
    assert outer.kinds == ("not told apart",)
    found = ambiguity(outer)
    assert found.kinds[0].words == "not told apart"
    assert found.kinds[0].dimension == max(each.dimension for each in outer.polytopes)


def test_finite_sets_have_an_answer_too():
    problem = carom.scenes.load("rocking-block").problem
    found = ambiguity(carom.Sequential().resolve(problem))
    assert {(kind.words, kind.share) for kind in found.kinds} == {
        ("A lifts, B sticks", 0.5),
        ("A sticks, B lifts", 0.5),
    }


def test_kinds_are_told_by_contacts_not_by_words():
    """A contact may have a name that reads like what another one does."""
    block = carom.scenes.load("rocking-block").problem
    named = replace(block, contacts=("A", "A lifts, B"))
    expected = [kind.dimension for kind in ambiguity(resolve(block)).kinds]
    assert [kind.dimension for kind in ambiguity(resolve(named)).kinds] == expected


def test_what_is_no_set_is_refused():
    with pytest.raises(carom.InvalidOption, match="a set of points or polytopes, got list"):
        ambiguity([[0.0, 0.0]])
