"""Energy along recorded paths, judged by the work of the impulses."""

from dataclasses import replace

import numpy as np
import pytest

import carom
from carom.guarantees.dissipation import NOTHING, dissipation
from tests.reference.set_checks import changed

PLANAR = ("rocking-block", "box-wall", "compass-gait", "ramone")
ROUNDING = 1e-14


def work(problem, path):
    """Return the work (steps,) of each step: impulse times mean contact velocity."""
    before, after = problem.contact_velocity(path.v[:-1]), problem.contact_velocity(path.v[1:])
    impulses = np.concatenate([path.lambda_n[..., None], path.lambda_t], axis=-1)
    return (impulses * 0.5 * (before + after)).sum(axis=(1, 2))


def check(outcomes, num_paths):
    """Assert what is claimed by following the same paths; return the claims."""
    problem = outcomes.problem
    found = dissipation(outcomes, num_paths)
    start = problem.kinetic_energy(problem.v_pre)
    largest, loss, steps = -np.inf, np.inf, 0
    for i in range(min(num_paths, len(outcomes))):
        path = outcomes.path(i)
        energy = problem.kinetic_energy(path.v)
        assert energy.shape == (path.num_steps + 1,)
        assert energy[0] == pytest.approx(start)
        done = work(problem, path) / start
        assert np.diff(energy) / start == pytest.approx(done, abs=ROUNDING)
        acts = (path.lambda_n > NOTHING * problem.space.impulse_unit).any(axis=1)
        assert np.abs(done[~acts]).max(initial=0.0) <= NOTHING
        largest = max(largest, done[acts].max(initial=-1.0))
        loss = min(loss, -done.sum())
        steps += acts.sum()
    assert found.num_steps == steps
    assert found.largest_change == pytest.approx(largest, abs=ROUNDING)
    assert found.least_loss == pytest.approx(loss, abs=1e-12)
    return found


@pytest.mark.parametrize("draw", ["uniform", "persistent"])
@pytest.mark.parametrize("name", PLANAR)
def test_every_step_of_a_scene_loses_energy(name, draw):
    scene = carom.scenes.load(name)
    law = carom.Routh(64, scene.step_impulse / 10, draw=draw)
    found = check(law.resolve(scene.problem), 64)
    assert found.num_paths == 64
    assert found.num_steps > 64
    assert found.is_strict
    assert 0.0 < found.least_loss <= 1.0 + ROUNDING


def test_five_contacts_lose_energy_up_to_rounding():
    """Contacts act that hardly approach: what they lose is below the last digit."""
    scene = carom.scenes.load("disk-stack")
    found = check(carom.Routh(64, scene.step_impulse).resolve(scene.problem), 64)
    assert found.largest_change <= ROUNDING
    assert found.least_loss > 0.0


def test_point_that_stops_loses_what_it_had_across():
    """One step ends it: a smooth contact takes the normal part of the energy and no more."""
    problem = carom.ImpactProblem(np.eye(2), [[0.0, 1.0]], [[1.0, 0.0]], 0.0, [3.0, -4.0])
    outcomes = carom.Routh(1, points=np.ones((1, 1)), step_impulse=10.0).resolve(problem)
    found = dissipation(outcomes)
    assert (found.num_paths, found.num_steps) == (1, 1)
    assert found.least_loss == pytest.approx(16 / 25)
    assert found.largest_change == pytest.approx(-16 / 25)


class Forged:
    """A law that runs every sample the same way."""

    def __init__(self, answer):
        self.answer = answer

    def replay(self, _problem):
        return self

    def path(self, _number, _num_steps):
        return self.answer


def test_a_budget_that_has_ended_leaves_one_path():
    outcomes = carom.Routh(8).resolve(carom.scenes.load("rocking-block").problem)
    assert dissipation(outcomes, max_seconds=0.0).num_paths == 1


def test_gains_are_seen():
    """A path with its steps reversed gains energy, and is called out."""
    problem = carom.scenes.load("rocking-block").problem
    outcomes = carom.Routh(1).resolve(problem)
    path = outcomes.path_to(outcomes.v_post[0])
    forged = Forged(replace(path, v=path.v[::-1].copy()))
    found = dissipation(replace(outcomes, origin=forged))
    assert not found.is_strict
    assert found.largest_change > 0.0


def test_impacts_that_are_none_lose_nothing():
    still = dissipation(carom.Routh(4).resolve(carom.scenes.load("zeno-block").problem))
    assert still.num_steps == 0
    assert still.least_loss == 0.0
    block = carom.scenes.load("rocking-block").problem
    rest = carom.Routh(4).resolve(changed(block, v_pre=0.0 * block.v_pre))
    assert dissipation(rest).num_steps == 0
