"""Environments whose impacts are drawn: the same by seed, plain where nothing is, physical."""

import copy
import pickle
import warnings
from itertools import combinations

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import carom
from carom.adapters.gymnasium import SetValuedImpacts

NAMES = ("Walker2d-v5", "Hopper-v5", "Ant-v5", "Humanoid-v5")
every_environment = pytest.mark.parametrize("name", NAMES)
LAW = carom.Routh(selection="lemke")
"""Quick, where it does not matter which outcome is drawn."""


def _make(name, **options):
    # A robot that has fallen goes on, so that there are more impacts.
    return gymnasium.make(name, terminate_when_unhealthy=False, **options)


def _run(env, steps, seed=0):
    """Return all observations and impacts of some steps with random actions."""
    observation, _ = env.reset(seed=seed)
    env.action_space.seed(seed or 0)
    observations, impacts = [observation], []
    for _ in range(steps):
        observation, *_, info = env.step(env.action_space.sample())
        observations.append(observation)
        impacts += info.get("impacts", ())
    env.close()
    return np.array(observations), impacts


@every_environment
def test_same_seed_same_motion(name):
    one, impacts = _run(SetValuedImpacts(_make(name), law=LAW), 60)
    other, again = _run(SetValuedImpacts(_make(name), law=LAW), 60)
    assert np.array_equal(one, other)
    assert len(impacts) == len(again) > 0
    for first, second in zip(impacts, again, strict=True):
        assert np.array_equal(first.v_post, second.v_post)


def test_other_seeds_of_the_draws_end_an_impact_otherwise():
    """Up to the first impact all motions are the same, and it does not end in one way."""
    first = []
    for seed in range(1, 6):
        env = SetValuedImpacts(_make("Walker2d-v5"), law=LAW, seed=seed)
        env.unwrapped.reset(seed=0)
        first.append(_run(env, 60, seed=None)[1][0])
    for other in first[1:]:
        assert other.time == first[0].time
        assert np.array_equal(other.v_pre, first[0].v_pre)
    assert np.ptp([impact.v_post for impact in first], axis=0).max() > 1e-3


@every_environment
def test_without_draws_it_is_the_plain_environment(name):
    """To the last bit: with probability 0, and where no contact is fast enough."""
    plain, _ = _run(_make(name), 40)
    for options in ({"probability": 0.0}, {"speed": 1e9}):
        wrapped, impacts = _run(SetValuedImpacts(_make(name), **options), 40)
        assert np.array_equal(plain, wrapped)
        assert impacts == []


@every_environment
def test_draws_are_physical(name):
    env = SetValuedImpacts(_make(name), law=LAW)
    problems = []
    draw = env._draw

    def record(problem):
        assert draw(problem)
        problems.append(problem)
        assert np.array_equal(env.unwrapped.data.qvel, env._impacts[-1].v_post)
        return True

    env._draw = record
    _, impacts = _run(env, 60)
    assert len(impacts) == len(problems) > 0
    for impact, problem in zip(impacts, problems, strict=True):
        size = np.linalg.norm(impact.v_pre)
        assert (problem.J_n @ impact.v_pre).min() < -0.1
        assert (problem.J_n @ impact.v_post >= -1e-8 * size).all()
        energies = [problem.kinetic_energy(v) for v in (impact.v_pre, impact.v_post)]
        assert energies[1] <= energies[0] * (1.0 + 1e-9)
        assert impact.energy_lost == pytest.approx(1.0 - energies[1] / energies[0])
        assert len(impact.contacts) >= 2


class _Counted(np.random.Generator):
    """A random generator that remembers what decided."""

    def __init__(self):
        super().__init__(np.random.PCG64(0))
        self.decisions = []

    def random(self):
        self.decisions.append(super().random())
        return self.decisions[-1]


def _colliding(env):
    """Return which contacts approach faster than 0.1 m/s within 1 mm, if two or more touch."""
    here = env.system.dynamics(env.unwrapped.data.qpos)
    near = np.flatnonzero(here.phi <= 1e-3)
    fast = near[here.J_n[near] @ env.unwrapped.data.qvel < -0.1]
    return set(fast) if len(near) >= 2 else set()


def test_one_start_ends_in_many_ways_by_the_seed_of_the_draws():
    """Environments with seeds of their own, reset alike, start alike; the same ones draw alike."""
    runs = []
    for seed in (None, 1, 2, 1):
        env = SetValuedImpacts(_make("Walker2d-v5"), law=LAW, seed=seed)
        runs.append(_run(env, 60, seed=3))
    for observations, impacts in runs[1:]:
        assert np.array_equal(observations[0], runs[0][0][0])
        assert impacts[0].time == runs[0][1][0].time
    assert np.array_equal(runs[1][0], runs[3][0])
    firsts = [impacts[0].v_post for _, impacts in runs[:3]]
    assert min(np.abs(a - b).max() for a, b in combinations(firsts, 2)) > 1e-6


def test_an_impact_tells_how_it_came_about():
    """The law and the seed draw it again; contacts end as their velocities say."""
    _, impacts = _run(SetValuedImpacts(_make("Walker2d-v5")), 60)
    words = set()
    for impact in impacts:
        assert impact.law == carom.Routh()
        path = impact.path()
        assert np.array_equal(path.v[0], impact.v_pre)
        np.testing.assert_allclose(path.v_post, impact.v_post, rtol=0.0, atol=1e-12)
        velocity = impact.problem.contact_velocity(impact.v_post)
        for name, word, (n, t) in zip(impact.contacts, impact.ends, velocity, strict=True):
            assert word == ("lifts" if n > 1e-8 else "slides" if abs(t) > 1e-8 else "sticks")
            assert f"{name} {word}" in str(impact)
        assert str(impact.seed) in str(impact)
        words |= {*impact.ends}
    assert len(words) >= 2


def test_a_spec_makes_the_same_environment():
    env = SetValuedImpacts(_make("Hopper-v5"), law=LAW, seed=4)
    twin = gymnasium.make(env.spec)
    (one, impacts), (other, again) = _run(env, 40), _run(twin, 40)
    assert np.array_equal(one, other)
    assert [each.seed for each in impacts] == [each.seed for each in again]
    assert impacts


@pytest.mark.parametrize("probability", [1e-12, 0.3, 1.0])
def test_an_impact_is_decided_upon_once(probability):
    """MuJoCo takes several steps for one that is left to it; all others are drawn."""
    env = SetValuedImpacts(_make("Walker2d-v5"), probability=probability, law=LAW)
    env.reset(seed=0)
    env.action_space.seed(0)
    env._rng = _Counted()
    replace, before, busy = env._replace, set(), []

    def look():
        nonlocal before
        now, decided = _colliding(env), len(env._rng.decisions)
        replace()
        is_decided = len(env._rng.decisions) > decided
        assert is_decided == bool(now - before)
        busy.append(bool(now))
        is_drawn = is_decided and env._rng.decisions[-1] < probability
        before = set() if is_drawn else now

    env._replace = look
    drawn = 0
    for _ in range(100):
        drawn += len(env.step(env.action_space.sample())[-1]["impacts"])
    env.close()
    assert drawn == sum(each < probability for each in env._rng.decisions)
    assert (sum(busy) > len(env._rng.decisions)) == (probability < 1.0)


def test_draws_do_not_follow_from_where_the_environment_starts():
    """One seed is for both, and what is random in them must not be the same numbers."""
    env = SetValuedImpacts(_make("Hopper-v5"), law=LAW)
    starts, decisions = [], []
    for seed in range(200):
        env.reset(seed=seed)
        starts.append(env.unwrapped.data.qpos[0])
        decisions.append(env._rng.random())
    env.close()
    # Of 200 independent pairs, one in a million has as much correlation.
    assert abs(np.corrcoef(starts, decisions)[0, 1]) < 4.9 / np.sqrt(200)


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))], ids=["copy", "pickle"]
)
@pytest.mark.parametrize("is_wrapped", [False, True])
def test_copies_draw_as_the_original_does(copied, is_wrapped):
    env = SetValuedImpacts(_make("Walker2d-v5"), law=LAW)
    if is_wrapped:
        env = gymnasium.wrappers.TimeLimit(env, 1000)
    twin = copied(env)
    assert twin.unwrapped is not env.unwrapped
    (one, impacts), (other, again) = _run(env, 40), _run(twin, 40)
    assert len(impacts) == len(again) > 0
    assert np.array_equal(one, other)


def test_gymnasiums_own_checks_pass():
    env = SetValuedImpacts(gymnasium.make("Hopper-v5").unwrapped, law=LAW)
    with warnings.catch_warnings():
        # It says of every wrapper that it is one, and of unbounded spaces that they are.
        warnings.filterwarnings("ignore", category=UserWarning, module="gymnasium")
        check_env(env, skip_render_check=True)
    env.close()


def test_closing_gives_the_environment_its_steps_back():
    inner = _make("Hopper-v5")
    plain, _ = _run(_make("Hopper-v5"), 20)
    base = inner.unwrapped
    SetValuedImpacts(inner, law=LAW).close()
    base.reset(seed=0)
    inner.action_space.seed(0)
    observations = [base.step(inner.action_space.sample())[0] for _ in range(20)]
    assert np.array_equal(plain[1:], observations)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"probability": 1.5}, "probability: expected a number from 0 to 1, got 1.5"),
        ({"gap_tolerance": 0.0}, "gap_tolerance: expected a number > 0"),
        ({"speed": np.nan}, "speed: expected a number > 0"),
        ({"seed": -1}, "seed: expected an integer >= 0, got -1"),
        ({"law": "routh"}, r"law: expected an ImpactLaw such as carom.Routh\(\), got 'routh'"),
    ],
)
def test_options_out_of_range(options, message):
    env = _make("Hopper-v5")
    with pytest.raises(carom.InvalidOption, match=message):
        SetValuedImpacts(env, **options)
    env.close()


def test_impacts_are_drawn_by_one_wrapper():
    """Two would each draw, one after the other; after `close` another one may."""
    env = SetValuedImpacts(_make("Hopper-v5"), law=LAW)
    for outer in (env, gymnasium.wrappers.TimeLimit(env, 10)):
        with pytest.raises(carom.InvalidOption, match=r"env: its impacts .* wrap it once"):
            SetValuedImpacts(outer, law=LAW)
    env.close()
    SetValuedImpacts(env.env, law=LAW).close()


def test_other_environments_are_refused():
    with pytest.raises(carom.InvalidOption, match="expected a MuJoCo environment, got a CartPole"):
        SetValuedImpacts(gymnasium.make("CartPole-v1"))
