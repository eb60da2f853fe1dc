"""What fresh draws show of samples, and how far samples are from an exact set."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from scipy.stats import binom, vonmises

import carom
from carom.outcomes import distances
from carom.outcomes.distances import coverage_distance
from carom.outcomes.holdout import Holdout, count_misses, hold_out, holdout_bound, velocity_map
from carom.outcomes.polyhedral import PolyhedralSet
from carom.outcomes.polytope import Polytope
from carom.outcomes.sampled import SampledSet
from tests.reference.set_checks import resolve

SCENES = ("rocking-block", "compass-gait", "box-wall", "ramone")
REPETITIONS = 200
DELTA = 0.2

seeds = st.integers(0, 2**31)
deltas = st.floats(1e-6, 0.9)
counts = st.integers(1, 400)


def most_failures(delta):
    """Return how many of the repetitions may fail, at three sigma."""
    return REPETITIONS * delta + 3 * np.sqrt(REPETITIONS * delta * (1 - delta))


@given(trials=counts, delta=deltas)
def test_no_miss_has_a_bound_in_closed_form(trials, delta):
    expected = 1 - delta ** (1 / trials)
    assert holdout_bound(0, trials, delta) == pytest.approx(expected, rel=1e-9, abs=1e-14)
    assert holdout_bound(trials, trials, delta) == 1.0


@given(trials=counts, share=st.floats(0, 1), delta=deltas)
def test_bound_is_where_so_few_misses_have_probability_delta(trials, share, delta):
    misses = int(share * (trials - 1))
    p = holdout_bound(misses, trials, delta)
    assert binom.cdf(misses, trials, p) == pytest.approx(delta, rel=1e-6)
    assert p >= misses / trials or delta > 0.4


@given(trials=counts, share=st.floats(0, 1), delta=deltas)
def test_bound_is_monotone(trials, share, delta):
    misses = int(share * (trials - 1))
    p = holdout_bound(misses, trials, delta)
    assert holdout_bound(misses + 1, trials, delta) > p
    assert holdout_bound(misses, trials + 1, delta) < p
    assert holdout_bound(misses, trials, 0.9 * delta) > p


@pytest.mark.parametrize("trials", [1, 7, 40, 300])
@pytest.mark.parametrize("delta", [0.01, 0.05, 0.3])
def test_bound_errs_with_probability_delta_at_most(trials, delta):
    """Summed over all numbers of misses, for true probabilities near every bound and between."""
    misses = np.arange(trials + 1)
    bounds = np.array([holdout_bound(int(k), trials, delta) for k in misses])
    near = np.concatenate([bounds * (1 + 1e-9), np.linspace(0.001, 0.999, 97)])
    worst = 0.0
    for truth in near[near < 1.0]:
        error = binom.pmf(misses, trials, truth)[bounds < truth].sum()
        assert error <= delta * (1 + 1e-6)
        worst = max(worst, error)
    # It is not only safe: just above a bound it errs as often as it may.
    assert worst == pytest.approx(delta, rel=1e-3)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("misses", (-1, 10, 0.1)),
        ("misses", (11, 10, 0.1)),
        ("misses", (1.0, 10, 0.1)),
        ("trials", (0, 0, 0.1)),
        ("trials", (0, True, 0.1)),
        ("delta", (0, 10, 0.0)),
        ("delta", (0, 10, 1.0)),
        ("delta", (0, 10, np.nan)),
        ("delta", (0, 10, "few")),
    ],
)
def test_bound_refuses_what_is_out_of_range(name, arguments):
    with pytest.raises(carom.InvalidOption, match=f"^{name}: expected"):
        holdout_bound(*arguments)


@settings(max_examples=50)
@given(seed=seeds)
def test_misses_are_those_of_brute_force(seed):
    rng = np.random.default_rng(seed)
    dimension = int(rng.integers(1, 5))
    # On a coarse grid points repeat, and distances equal epsilon.
    points = rng.integers(-3, 4, size=(int(rng.integers(1, 40)), dimension)).astype(float)
    queries = rng.integers(-4, 5, size=(30, dimension)).astype(float)
    for epsilon in (0.5, 1.0, 2.0, float(rng.uniform(0.1, 4.0))):
        expected = int((cdist(queries, points).min(axis=1) > epsilon).sum())
        assert count_misses(points, queries, epsilon) == expected
    assert count_misses(points[:0], queries, 1.0) == 30


def uncovered(samples, epsilon, cdf):
    """Return the probability of what is more than epsilon from all samples, on a line."""
    samples = np.sort(samples)
    left = np.concatenate([[-np.inf], samples + epsilon])
    right = np.concatenate([samples - epsilon, [np.inf]])
    return float(np.maximum(cdf(right) - cdf(left), 0.0).sum())


def segment(rng, n):
    """Draw points from the density 2 x on [0, 1]."""
    return np.sqrt(rng.uniform(size=n))[:, None]


def segment_truth(points, epsilon):
    return uncovered(points[:, 0], epsilon, lambda x: np.clip(x, 0.0, 1.0) ** 2)


CIRCLE = vonmises(2.0)


def circle(rng, n):
    """Draw points on the unit circle, with angles of a von Mises density."""
    angle = CIRCLE.rvs(size=n, random_state=rng)
    return np.column_stack([np.cos(angle), np.sin(angle)])


def circle_truth(points, epsilon):
    """Cut the circle at -pi and unroll it three times; a chord is 2 sin(angle / 2)."""
    angle = np.arctan2(points[:, 1], points[:, 0])
    angle = np.concatenate([angle - 2 * np.pi, angle, angle + 2 * np.pi])
    reach = 2 * np.arcsin(0.5 * epsilon)
    return uncovered(angle, reach, lambda x: CIRCLE.cdf(np.clip(x, -np.pi, np.pi)))


@pytest.mark.parametrize(
    ("draw", "truth", "epsilon"),
    [(segment, segment_truth, 0.005), (circle, circle_truth, 0.03)],
)
def test_bound_is_honest_where_the_truth_is_known(draw, truth, epsilon):
    rng = np.random.default_rng(0)
    failures = 0
    for _ in range(REPETITIONS):
        points = draw(rng, 60)
        bound = holdout_bound(count_misses(points, draw(rng, 150), epsilon), 150, DELTA)
        failures += truth(points, epsilon) > bound
    assert failures <= most_failures(DELTA)
    # Were it never to fail, it would be needlessly wide.
    assert failures >= 0.3 * REPETITIONS * DELTA


class RockingMisses:
    """Count which of many outcomes of the rocking block samples miss, without a tree.

    The block pivots about A or about B, or rests: contact velocities lie on two rays from the
    origin. A sample covers an interval of each.
    """

    def __init__(self, problem, draws):
        self.J = problem.J
        v_c = draws @ self.J.T
        lifts = problem.contact_velocity(draws)[..., 0] > 1e-9
        assert not lifts.all(axis=1).any()
        self.rays = []
        for side in (lifts[:, 0], ~lifts[:, 0]):
            along = v_c[side].sum(axis=0) / np.linalg.norm(v_c[side].sum(axis=0))
            places = v_c[side] @ along
            assert np.abs(v_c[side] - places[:, None] * along).max() < 1e-9
            self.rays.append((along, np.sort(places)))
        self.count = len(draws)

    def probability(self, samples, epsilon):
        v_c = samples @ self.J.T
        covered = 0
        for along, places in self.rays:
            foot = v_c @ along
            half = epsilon**2 - np.maximum((v_c**2).sum(axis=1) - foot**2, 0.0)
            foot, half = foot[half >= 0.0], np.sqrt(half[half >= 0.0])
            order = np.argsort(foot - half)
            low, high = (foot - half)[order], np.maximum.accumulate((foot + half)[order])
            # What the intervals before reach is counted already.
            low = np.maximum(low, np.concatenate([[-np.inf], high[:-1]]))
            first = np.searchsorted(places, low, side="left")
            first[1:] = np.maximum(first[1:], np.searchsorted(places, high[:-1], side="right"))
            covered += (np.searchsorted(places, high, side="right") - first).clip(0).sum()
        return 1.0 - covered / self.count


def test_bound_is_honest_for_the_rocking_block():
    """The truth is that of 10^6 draws, with its own error of 0.0005 at most."""
    problem = carom.scenes.load("rocking-block").problem
    epsilon = 0.001
    truth = RockingMisses(problem, carom.Routh(10**6, seed=10**6).resolve(problem).v_post)
    failures = 0
    for seed in range(REPETITIONS):
        samples = carom.Routh(64, seed=seed).resolve(problem)
        fresh = carom.Routh(200, seed=REPETITIONS + seed).resolve(problem)
        found = hold_out(samples, fresh, epsilon, DELTA)
        true = truth.probability(samples.v_post, epsilon)
        assert 0.02 < true < 0.9
        failures += true > found.p
    assert failures <= most_failures(DELTA)
    assert failures >= 0.3 * REPETITIONS * DELTA


def test_reference_of_the_rocking_block_is_that_of_brute_force():
    problem = carom.scenes.load("rocking-block").problem
    draws = carom.Routh(2000, seed=5).resolve(problem).v_post
    samples = carom.Routh(30, seed=6).resolve(problem).v_post
    away = cdist(draws @ problem.J.T, samples @ problem.J.T).min(axis=1)
    for epsilon in (1e-4, 0.001, 0.004, 0.02):
        found = RockingMisses(problem, draws).probability(samples, epsilon)
        assert found == pytest.approx((away > epsilon).mean(), abs=1e-12)


@pytest.mark.parametrize("name", SCENES)
def test_norms_are_those_that_are_promised(name):
    problem = carom.scenes.load(name).problem
    v = carom.Routh(20).resolve(problem).v_post
    change = v[:, None] - v[None]
    contact = np.linalg.norm(change @ problem.J.T, axis=-1)
    energy = np.sqrt(2 * problem.kinetic_energy(change)) / problem.energy_norm
    for norm, expected in (("contact", contact), ("energy", energy)):
        found = np.linalg.norm(change @ velocity_map(problem, norm).T, axis=-1)
        assert np.allclose(found, expected, rtol=0, atol=1e-12)
    # No contact's velocity differs by more.
    each = np.linalg.norm(problem.contact_velocity(change), axis=-1)
    assert (each <= contact[..., None] + 1e-12).all()


def test_energy_norm_is_the_same_in_all_coordinates():
    problem = carom.scenes.load("compass-gait").problem
    T = np.random.default_rng(0).normal(size=problem.M.shape)
    back = np.linalg.inv(T)
    other = carom.ImpactProblem(
        back.T @ problem.M @ back, problem.J_n @ back, problem.J_t @ back, problem.mu,
        T @ problem.v_pre,
    )  # fmt: skip
    v = carom.Routh(10).resolve(problem).v_post
    for norm in ("contact", "energy"):
        one = np.linalg.norm((v - problem.v_pre) @ velocity_map(problem, norm).T, axis=1)
        two = np.linalg.norm((v - problem.v_pre) @ T.T @ velocity_map(other, norm).T, axis=1)
        assert np.allclose(one, two, rtol=1e-9, atol=0)


def test_hold_out_counts_as_brute_force_does():
    problem = carom.scenes.load("box-wall").problem
    samples = carom.Routh(300, seed=1).resolve(problem)
    fresh = carom.Routh(400, seed=2, max_steps=4).resolve(problem)
    assert fresh.num_unfinished > 0
    found = hold_out(samples, fresh, 0.02, 0.1)
    away = cdist(fresh.v_post @ problem.J.T, samples.v_post @ problem.J.T).min(axis=1)
    assert found.misses == (away > 0.02).sum() + fresh.num_unfinished
    assert (found.trials, found.num_samples) == (400, 300)
    assert found.p == holdout_bound(found.misses, 400, 0.1)
    assert found.is_met


def test_hold_out_refuses_the_samples_themselves_and_other_nonsense():
    problem = carom.scenes.load("box-wall").problem
    samples = carom.Routh(100).resolve(problem)
    more = carom.Routh(200).resolve(problem)
    with pytest.raises(carom.InvalidOption, match="fresh: expected other draws"):
        hold_out(samples, more, 0.01)
    fresh = carom.Routh(200, seed=1).resolve(problem)
    with pytest.raises(carom.InvalidOption, match="epsilon: expected a number > 0"):
        hold_out(samples, fresh, 0.0)
    with pytest.raises(carom.InvalidOption, match="delta: expected"):
        hold_out(samples, fresh, 0.01, 1.0)
    with pytest.raises(carom.InvalidOption, match="norm: expected one of contact, energy"):
        hold_out(samples, fresh, 0.01, norm="max")
    other = carom.Routh(10).resolve(carom.scenes.load("ramone").problem)
    with pytest.raises(carom.InvalidOption, match="same problem"):
        hold_out(samples, other, 0.01)


def test_a_single_outcome_is_never_missed():
    """Its draws are all the same, which is no sign of an error."""
    problem = carom.scenes.load("zeno-block").problem
    one, two = (carom.Routh(300, seed=seed).resolve(problem) for seed in (0, 1))
    assert hold_out(one, two, 1e-6).misses == 0


def test_a_bound_is_written_as_one_sentence_and_rounded_up():
    found = Holdout(0.02, 0.05, 0.0123412, 3, 1000, 2000)
    assert str(found) == (
        "with 95 % confidence at most 1.24 % of further draws lie more than 0.02 m/s of contact "
        "velocity from every sample (3 of 1,000 fresh draws did, compared with 2,000)"
    )
    assert "0.01 %" in str(Holdout(0.02, 0.05, 1e-4, 3, 1000, 2000))
    assert "at most 100 % of" in str(Holdout(0.02, 0.05, 1.0, 3, 3, 2000))
    missed = Holdout(0.02, 0.05, 0.0123412, 3, 1000, 2000, "energy", 4, 0.01)
    assert "0.02 |v_pre|_M" in str(missed)
    assert str(missed).endswith("; 1 % was asked for and not reached")
    assert not missed.is_met


def plain_problem(nv):
    """Return an impact whose contact velocities are its velocities, the first twice if odd."""
    rows = np.eye(max(nv, 2))
    pairs = rows if len(rows) % 2 == 0 else np.vstack([rows, rows[:1]])
    return carom.ImpactProblem(np.eye(len(rows)), pairs[::2], pairs[1::2], 0.5, -rows[0])


def samples_at(problem, v):
    n, m = len(v), problem.num_contacts
    return SampledSet(
        problem, "made up", v, np.zeros((n, m)), np.zeros((n, m, 1)), np.ones(n, int), False
    )


def hull(points, dimension):
    """Return a polytope with corners on a grid; it does not need to know its sides."""
    corners = tuple(tuple(Fraction(int(x)) for x in point) for point in points)
    zero = tuple(Fraction(0) for _ in range(len(corners[0]) + 1))
    return Polytope(corners, (), (zero,) * (len(corners[0]) - dimension), "A lifts")


def union(problem, *polytopes):
    return PolyhedralSet(problem, "made up", polytopes, ("A lifts",), True)


@settings(max_examples=60)
@given(seed=seeds)
def test_coverage_of_a_segment_is_half_of_its_widest_gap(seed):
    rng = np.random.default_rng(seed)
    problem = plain_problem(2)
    x = np.sort(rng.uniform(-0.2, 5.2, size=int(rng.integers(1, 30))))
    # The segment is 5 long, from (1, 2) to (4, 6).
    v = np.array([1.0, 2.0]) + x[:, None] * np.array([0.6, 0.8])
    gaps = 0.5 * np.diff(x)
    middles = x[:-1] + gaps
    inside = (middles >= 0.0) & (middles <= 5.0)
    ends = [np.abs(x).min(), np.abs(x - 5.0).min()]
    expected = max([*ends, *gaps[inside]])
    exact = union(problem, hull([[1, 2], [4, 6]], 1))
    found, left = coverage_distance(samples_at(problem, v), exact, tol=1e-5)
    assert left <= 5e-5 + 1e-12
    assert found - 1e-9 <= expected <= found + left + 1e-9


@settings(max_examples=15)
@given(seed=seeds)
def test_coverage_of_a_polygon_is_that_of_a_dense_grid(seed):
    rng = np.random.default_rng(seed)
    problem = plain_problem(2)
    exact = union(problem, hull([[0, 0], [2, 0], [2, 1], [0, 1]], 2), hull([[3, 3]], 0))
    v = rng.uniform([0.0, 0.0], [2.5, 1.0], size=(int(rng.integers(1, 60)), 2))
    found, left = coverage_distance(samples_at(problem, v), exact)
    x, y = np.meshgrid(np.linspace(0, 2, 401), np.linspace(0, 1, 201))
    grid = np.vstack([np.column_stack([x.ravel(), y.ravel()]), [[3.0, 3.0]]])
    on_grid = cdist(grid, v).min(axis=1).max()
    spacing = 0.005 / np.sqrt(2)
    assert left <= 1e-3
    assert on_grid - spacing - 1e-9 <= found + left
    assert found <= on_grid + spacing
    assert on_grid <= found + left + 1e-9


def test_coverage_of_a_cube_says_how_sure_it_is(monkeypatch):
    problem = plain_problem(3)
    corners = np.array(np.meshgrid([0, 1], [0, 1], [0, 1])).reshape(3, -1).T
    cube = union(problem, hull(corners, 3))
    v = np.vstack([corners, [[0.5, 0.5, 0.5]]]).astype(float)
    # The repeated contact row makes the first coordinate count twice.
    weight = np.array([np.sqrt(2.0), 1.0, 1.0])
    grid = np.array(np.meshgrid(*[np.linspace(0, 1, 41)] * 3)).reshape(3, -1).T
    true = cdist(grid * weight, v * weight).min(axis=1).max()
    found, left = coverage_distance(samples_at(problem, v), cube, tol=1e-2)
    assert left <= 1e-2 * 2.0
    assert true <= found + left + 1e-9
    assert found <= true + 0.025
    monkeypatch.setattr(distances, "MOST_COVERED", 20)
    rough, unsure = coverage_distance(samples_at(problem, v), cube, tol=1e-2)
    assert unsure > left
    assert rough <= found + left
    assert rough + unsure >= found


@pytest.mark.parametrize("name", SCENES)
@pytest.mark.parametrize("norm", ["contact", "energy"])
def test_coverage_of_scenes_holds_for_every_point(name, norm):
    problem = carom.scenes.load(name).problem
    exact = resolve(problem)
    to_points = velocity_map(problem, norm).T
    drawn = np.vstack([exact.sample(4000), exact.v_post])
    before = np.inf
    for count in (2**8, 2**11, 2**14):
        sampled = carom.Routh(count).resolve(problem)
        found, left = coverage_distance(sampled, exact, norm)
        away = cdist(drawn @ to_points, np.unique(sampled.v_post, axis=0) @ to_points).min(axis=1)
        assert away.max() <= found + left + 1e-12
        # Thousands of points come near to the worst, which some have.
        assert away.max() >= 0.3 * found
        assert found <= before + 1e-12
        before = found + left
        size = np.linalg.norm(np.ptp(exact.v_post @ to_points, axis=0))
        assert left <= 1e-4 * size


def test_coverage_refuses_nonsense():
    problem = carom.scenes.load("rocking-block").problem
    sampled, exact = carom.Routh(10).resolve(problem), resolve(problem)
    with pytest.raises(carom.InvalidOption, match="tol: expected"):
        coverage_distance(sampled, exact, tol=0.0)
    with pytest.raises(carom.InvalidOption, match="norm: expected"):
        coverage_distance(sampled, exact, norm="max")
    with pytest.raises(carom.InvalidOption, match="v_post: expected at least one"):
        samples_at(problem, np.empty((0, 3)))
    other = carom.Routh(10).resolve(carom.scenes.load("ramone").problem)
    with pytest.raises(carom.InvalidOption, match="same problem"):
        coverage_distance(other, exact)
