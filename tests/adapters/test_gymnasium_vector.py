"""Impacts in vector environments: what each environment would do alone, merged and told apart."""

from functools import partial

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers.vector import DictInfoToList

import carom
from carom.adapters.gymnasium import SetValuedImpacts

NUM_ENVS = 3
NUM_STEPS = 40
LAW = carom.Routh(selection="lemke")
"""Quick, where it does not matter which outcome is drawn."""

every_mode = pytest.mark.parametrize("mode", ["sync", "async"])


def make(mode, name="Walker2d-v5", **options):
    wrap = partial(SetValuedImpacts, law=LAW, **options.pop("impacts", {}))
    # A robot that has fallen goes on, so that there are more impacts.
    options = {"terminate_when_unhealthy": False} | options
    return gymnasium.make_vec(name, NUM_ENVS, mode, wrappers=[wrap], **options)


def some_actions(env, num=NUM_STEPS):
    env.action_space.seed(0)
    return np.array([env.action_space.sample() for _ in range(num)])


def run(env, actions, seed):
    """Return observations (steps + 1, n, ...) and the impacts of each environment."""
    seen, info = env.reset(seed=seed)
    assert info["impacts"].tolist() == [()] * NUM_ENVS
    observations, impacts = [seen], [[] for _ in range(NUM_ENVS)]
    for action in actions:
        seen, *_, info = env.step(action)
        observations.append(seen)
        assert info["_impacts"].all()
        for own, new in zip(impacts, info["impacts"], strict=True):
            own.extend(new)
    env.close()
    return np.array(observations), impacts


def told(impacts):
    """Return all that is told of impacts, to compare."""
    return [
        (each.time, each.contacts, each.seed, each.law, each.v_post.tolist(), each.problem)
        for each in impacts
    ]


@every_mode
def test_each_environment_does_what_it_does_alone(mode):
    """To the last bit: environment i of seed s is the one environment with seed s + i."""
    env = make(mode)
    actions = some_actions(env)
    observations, impacts = run(env, actions, seed=7)
    for i in range(NUM_ENVS):
        alone = gymnasium.make("Walker2d-v5", terminate_when_unhealthy=False)
        alone = SetValuedImpacts(alone, law=LAW)
        seen, own = [alone.reset(seed=7 + i)[0]], []
        for action in actions[:, i]:
            each, *_, info = alone.step(action)
            seen.append(each)
            own += info["impacts"]
        alone.close()
        assert np.array_equal(observations[:, i], seen)
        assert told(impacts[i]) == told(own)
        assert own


@every_mode
def test_same_seed_same_draws_and_other_environments_other_draws(mode):
    actions = some_actions(make("sync"))
    # All get the same actions, and seeds tell them apart.
    actions[:] = actions[:, :1]
    one, impacts = run(make(mode), actions, seed=0)
    other, again = run(make(mode), actions, seed=0)
    assert np.array_equal(one, other)
    assert [told(own) for own in impacts] == [told(own) for own in again]
    seeds = [each.seed for own in impacts for each in own]
    assert len(set(seeds)) == len(seeds) > NUM_ENVS
    third, _ = run(make(mode), actions, seed=1)
    assert np.array_equal(third[:, 0], one[:, 1])
    assert not np.array_equal(third[:, 2], one[:, 2])


@every_mode
@pytest.mark.parametrize("reset", [AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP])
def test_impacts_of_a_last_step_are_told(mode, reset):
    """Where an episode ends in a step with an impact, a vector environment tells of it too."""
    kwargs = {"autoreset_mode": reset}
    env = make(mode, "Hopper-v5", vector_kwargs=kwargs, terminate_when_unhealthy=True)
    actions = some_actions(env, 300)
    env.reset(seed=0)
    alone = SetValuedImpacts(gymnasium.make("Hopper-v5"), law=LAW)
    alone.reset(seed=0)
    num_last, over = 0, False
    for action in actions:
        *_, info = env.step(action)
        if reset == AutoresetMode.NEXT_STEP and over:
            alone.reset()
            over = False
            assert info["impacts"][0] == ()
            continue
        *_, failed, late, own = alone.step(action[0])
        over = failed or late
        last = over and reset == AutoresetMode.SAME_STEP
        merged = info["final_info"]["impacts"][0] if last else info["impacts"][0]
        assert told(merged) == told(own["impacts"])
        num_last += over and len(merged)
        if last:
            alone.reset()
    assert num_last >= 1
    env.close()
    alone.close()


def test_infos_can_be_told_apart_as_dictionaries():
    env = DictInfoToList(make("sync"))
    env.reset(seed=0)
    counts = np.zeros(NUM_ENVS, int)
    for action in some_actions(env):
        *_, infos = env.step(action)
        counts += [len(info["impacts"]) for info in infos]
    assert (counts > 0).all()
    env.close()


def test_a_vector_environment_is_not_wrapped_itself():
    env = gymnasium.make_vec("Hopper-v5", 2, "sync")
    with pytest.raises(carom.InvalidOption, match=r"got a SyncVectorEnv; wrap each .*make_vec"):
        SetValuedImpacts(env)
    env.close()
