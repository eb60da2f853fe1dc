"""SampledSet: the few questions that every set of outcomes answers."""

from dataclasses import replace

import numpy as np
import pytest

import carom


@pytest.fixture(scope="module")
def outcomes():
    return carom.Routh(num_samples=2000, seed=1).resolve(carom.scenes.load("box-wall").problem)


def test_contains(outcomes):
    assert outcomes.contains(outcomes.v_post[5], tol=0.0)
    away = outcomes.v_post[5] + np.array([0.0, 0.0, 3e-9])
    assert outcomes.contains(away, tol=1e-8)
    assert not outcomes.contains(outcomes.problem.v_pre, tol=1e-3)


def test_support_is_the_largest_product(outcomes):
    for direction in np.random.default_rng(0).normal(size=(20, 3)):
        products = [float(direction @ v) for v in outcomes.v_post]
        assert outcomes.support(direction) == pytest.approx(max(products), abs=1e-12)
        assert -outcomes.support(-direction) == pytest.approx(min(products), abs=1e-12)


def test_contact_bounds_hold_every_outcome(outcomes):
    bounds = outcomes.contact_bounds()
    assert bounds.shape == (2, 2, 2)
    for v in outcomes.v_post:
        v_c = outcomes.problem.contact_velocity(v)
        assert (bounds[..., 0] - 1e-12 <= v_c).all()
        assert (v_c <= bounds[..., 1] + 1e-12).all()
    tangential = outcomes.v_post @ outcomes.problem.J_t[0, 0]
    assert bounds[0, 1] == pytest.approx([tangential.min(), tangential.max()])


def test_sample_draws_outcomes_by_seed(outcomes):
    drawn = outcomes.sample(50, rng=3)
    assert drawn.shape == (50, 3)
    assert all(outcomes.contains(v, tol=0.0) for v in drawn)
    assert np.array_equal(drawn, outcomes.sample(50, rng=3))
    assert not np.array_equal(drawn, outcomes.sample(50, rng=4))


def test_project(outcomes):
    rows = outcomes.problem.J_n
    assert np.array_equal(outcomes.project(rows).points, outcomes.v_post @ rows.T)


def test_kinds_exclude_each_other(outcomes):
    sticks, slides, lifts = outcomes.contact_states
    assert ((sticks.astype(int) + slides + lifts) == 1).all()
    v_n = outcomes.contact_velocities[..., 0]
    assert (v_n[lifts] > 0).all()
    assert (np.abs(v_n[~lifts]) <= 1e-8).all()


def test_summary_tells_the_ranges_and_shares(outcomes):
    text = outcomes.summary()
    bounds = outcomes.contact_bounds()
    assert f"{bounds[0, 1, 1]:.5g}" in text
    assert f"{100 * outcomes.contact_states[2][:, 1].mean():.1f}%" in text
    assert f"{outcomes.num_steps.mean():.3g} per outcome" in text
    assert "energy kept" in text
    assert "unfinished   0" in text
    assert "outcomes may be missing" in text


def test_a_sample_says_how_it_came_about(outcomes):
    for i in (0, 7, len(outcomes) - 1):
        path = outcomes.path_to(outcomes.v_post[i])
        assert np.abs(path.v_post - outcomes.v_post[i]).max() < 1e-12
    with pytest.raises(carom.InvalidOption, match="the nearest is"):
        outcomes.path_to(outcomes.problem.v_pre)


def test_samples_without_a_law_have_no_paths(outcomes):
    alone = replace(outcomes, origin=None)
    with pytest.raises(carom.CaromError, match="no origin"):
        alone.path_to(alone.v_post[0])


@pytest.mark.parametrize("law", [carom.Routh(num_samples=20), carom.RouthExact()])
def test_velocities_that_are_no_numbers_are_refused(law):
    outcomes = law.resolve(carom.scenes.load("rocking-block").problem)
    for ask in (outcomes.contains, outcomes.distance, outcomes.support):
        with pytest.raises(carom.InvalidOption, match="expected numbers in a regular array"):
            ask("rest")


def test_only_complete_sets_say_so(outcomes):
    assert not outcomes.is_complete
    assert carom.AnitescuPotra().resolve(outcomes.problem).is_complete
