"""An adversary in an environment: the worst of a set, the same every time, and told as such."""

import gymnasium
import numpy as np
import pytest

import carom
from carom.adapters.gymnasium import NUM_TRIED, SetValuedImpacts

LAW = carom.Routh(num_samples=64, num_threads=1)
UP = 1
"""Index of the vertical velocity of Walker2d."""


def run(env, steps=40, seed=0):
    seen, _ = env.reset(seed=seed)
    env.action_space.seed(0)
    observations, impacts = [seen], []
    for _ in range(steps):
        seen, *_, info = env.step(env.action_space.sample())
        observations.append(seen)
        impacts += info["impacts"]
    env.close()
    return np.array(observations), impacts


def make(**options):
    env = gymnasium.make("Walker2d-v5", terminate_when_unhealthy=False)
    return SetValuedImpacts(env, **options)


def lift(problem):
    """Return the direction in which the contact that approaches fastest lifts."""
    return problem.J_n[(problem.J_n @ problem.v_pre).argmin()]


def fall(problem):
    return -lift(problem)


@pytest.mark.parametrize("adversary", [np.eye(9)[UP], lift], ids=["direction", "function"])
def test_the_outcome_is_the_worst_of_the_set(adversary):
    _, impacts = run(make(adversary=adversary, law=LAW))
    assert len(impacts) >= 3
    beaten = 0
    for impact in impacts:
        problem = impact.problem
        direction = adversary(problem) if callable(adversary) else adversary
        assert np.array_equal(impact.direction, direction)
        assert impact.seed is None
        assert impact.law == LAW
        value, every = direction @ impact.v_post, LAW.resolve(problem)
        assert value == pytest.approx(every.support(direction), rel=0, abs=1e-12)
        draws = [direction @ LAW.draw_path(problem, seed).v_post for seed in range(20)]
        beaten += value > max(draws) - 1e-12
        # No outcome at all exceeds what is proved.
        extreme = carom.worst_case(problem, direction, max_seconds=0.05)
        assert value <= extreme.proved + 1e-9 * extreme.scale
        np.testing.assert_allclose(impact.path().v_post, impact.v_post, rtol=0.0, atol=1e-9)
    assert beaten >= 0.8 * len(impacts)


def test_the_same_state_ends_in_the_same_way():
    one, impacts = run(make(adversary=lift, law=LAW, seed=1))
    other, again = run(make(adversary=lift, law=LAW, seed=2))
    assert np.array_equal(one, other)
    assert len(impacts) == len(again) > 0


def test_opposite_directions_end_on_opposite_sides():
    other, apart = make(adversary=fall, law=LAW), []
    for impact in run(make(adversary=lift, law=LAW))[1]:
        opposite = other._replaced(impact.problem, impact.time)
        apart.append(lift(impact.problem) @ (impact.v_post - opposite.v_post))
    assert min(apart) >= -1e-12
    assert max(apart) > 1e-4  # [m/s]
    other.close()


def test_without_a_law_it_tries_few_samples():
    _, impacts = run(make(adversary=lift), steps=20)
    assert {impact.law for impact in impacts} == {carom.Routh(NUM_TRIED, num_threads=1)}


@pytest.mark.parametrize(
    ("adversary", "message"),
    [
        ([1.0, 0.0], r"adversary: expected shape \(9,\), got \(2,\); give a direction .*function"),
        ("down", "adversary: expected numbers"),
        (np.zeros(9), "adversary: expected a direction of the velocity, got zeros"),
    ],
)
def test_directions_that_are_none(adversary, message):
    with pytest.raises(carom.InvalidOption, match=message):
        make(adversary=adversary)
    env = make(adversary=lambda _: adversary, law=LAW)
    with pytest.raises(carom.InvalidOption, match=message):
        run(env)
