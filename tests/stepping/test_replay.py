"""The judge of motions: exact ones in space are legal, and turned friction is not."""

from __future__ import annotations

import numpy as np
import pytest

from carom.kernels.motions import FINISHED
from carom.stepping import MotionSampler
from carom.stepping.replay import replay
from tests.reference.impact_problems import random_problem

TOLERANCE = 1e-6


def motions(number: int, count: int = 32):
    """Return a landing on two to four contacts, and random motions of it."""
    rng = np.random.default_rng(number)
    m = 2 + number % 3
    problem = random_problem(rng, m, 2, mu=rng.uniform(0.1, 1.0, m), at_rest=False)
    sampler = MotionSampler(problem.space, problem.start, number, count)
    _, statuses, events = sampler.run(count, 1, None)
    numbers = np.flatnonzero(statuses == FINISHED)
    return problem, [sampler.record(int(k), int(events[k])) for k in numbers]


@pytest.mark.parametrize("number", range(9))
def test_motions_in_space_are_legal_however_their_slip_turns(number):
    problem, found = motions(number)
    for motion in found:
        assert not replay(problem.space, problem.start, motion, TOLERANCE)


@pytest.mark.parametrize("number", [2, 3, 5, 8])
def test_friction_that_is_turned_is_found(number):
    """Friction is turned by a hundredth in one stretch in which slip hardly turns."""
    problem, found = motions(number, 12)
    judged = 0
    for motion in found:
        changes = np.cumsum(motion @ problem.space.A, axis=0)
        u = problem.start + np.vstack([np.zeros(len(problem.start)), changes])
        slip = u.reshape(len(u), -1, 3)[..., 1:] @ [1.0, 1.0j]
        turns = np.abs(np.angle(slip[1:] / np.where(slip[:-1] == 0.0, 1.0, slip[:-1])))
        pushes = problem.space.mu * motion[:, ::3]
        clear = (np.abs(slip[:-1]) > 1e-2) & (np.abs(slip[1:]) > 1e-2) & (pushes > 1e-2)
        for k, i in np.argwhere(clear & (turns < 1e-3))[:3]:
            turned = motion.copy()
            own = slice(3 * i + 1, 3 * i + 3)
            turned[k, own] += 1e-2 * np.array([-motion[k, 3 * i + 2], motion[k, 3 * i + 1]])
            # Up to the stretch itself, because all later velocities differ as well.
            faults = replay(problem.space, problem.start, turned[: k + 1], TOLERANCE)
            assert any(f"friction of contact {i}" in fault for fault in faults)
            judged += 1
    assert judged
