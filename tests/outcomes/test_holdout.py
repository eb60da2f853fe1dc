"""What fresh draws show of samples, and how far samples are from an exact set."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from scipy.stats import binom, vonmises

import carom
from carom.outcomes.holdout import Holdout, count_misses, hold_out, holdout_bound, velocity_map
from tests.reference.misses import (
    REPETITIONS,
    RockingMisses,
    most_failures,
    segment,
    segment_truth,
    uncovered,
)

SCENES = ("rocking-block", "compass-gait", "box-wall", "ramone")
DELTA = 0.2

seeds = st.integers(0, 2**31)
deltas = st.floats(1e-6, 0.9)
counts = st.integers(1, 400)


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


def test_bound_is_honest_for_the_rocking_block():
    """The truth is that of 10^6 draws, with its own error of 0.0005 at most."""
    problem = carom.scenes.load("rocking-block").problem
    epsilon = 0.001
    many = carom.Routh(10**6, seed=10**6, extremes=0.0).resolve(problem)
    truth = RockingMisses(problem, many.v_post)
    failures = 0
    for seed in range(REPETITIONS):
        samples = carom.Routh(64, seed=seed, extremes=0.0).resolve(problem)
        fresh = carom.Routh(200, seed=REPETITIONS + seed, extremes=0.0).resolve(problem)
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
