"""Motions of two planar contacts, eight at a time: the same bits as one after the other."""

from __future__ import annotations

import numpy as np
import pytest

import carom
from carom.kernels import plans
from carom.stepping import motions
from carom.stepping.motions import MotionSampler, best_motions, prepare_motions
from tests.reference.impact_problems import random_problem


def one_by_one(sampler: MotionSampler, count: int, monkeypatch) -> motions.Runs:
    """Run motions by the code for any number of contacts."""

    def run(*arguments):
        *known, room, _ = arguments
        plan, trail = np.empty((plans.LONGEST, 4)), np.empty((plans.LONGEST, 10))
        plans.run(*known, plan, trail, room)

    with monkeypatch.context() as patch:
        patch.setattr(motions.abreast, "run", run)
        return sampler.run(count, 1, None)


def check(problem: carom.ImpactProblem, seed: int, count: int, monkeypatch) -> None:
    sampler = prepare_motions(problem, seed, count, 0.0)
    found, expected = sampler.run(count, 1, None), one_by_one(sampler, count, monkeypatch)
    for one, other in zip(found, expected, strict=True):
        assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize("name", ["rocking-block", "compass-gait", "box-wall", "ramone"])
def test_scenes(name, monkeypatch):
    check(carom.scenes.load(name).problem, 7, 3000, monkeypatch)


@pytest.mark.parametrize("seed", range(60))
def test_random_impacts(seed, monkeypatch):
    """Contacts may rest, coincide or have no friction."""
    rng = np.random.default_rng(seed)
    mu = rng.uniform(0.0, 3.0, 2) * (rng.random(2) < 0.8)
    check(random_problem(rng, 2, 1, mu=mu), seed, 300, monkeypatch)


def test_contacts_at_rest_begin(monkeypatch):
    """No contact approaches, so that some motions need several tries."""
    rod = carom.scenes.load("painleve-rod").problem
    assert rod.num_contacts == 1
    block = carom.scenes.load("rocking-block").problem
    still = carom.ImpactProblem(
        M=block.M, J_n=block.J_n, J_t=block.J_t, mu=block.mu,
        v_pre=np.linalg.pinv(block.J) @ np.tile([0.0, 0.5], 2), without_collision=True,
    )  # fmt: skip
    assert still.starts_at_rest
    check(still, 0, 50, monkeypatch)


@pytest.mark.parametrize("count", [1, 7, 8, 9])
def test_fewer_motions_than_lanes(count, monkeypatch):
    check(carom.scenes.load("compass-gait").problem, 1, count, monkeypatch)


def test_best_motions_are_the_largest_and_the_first_of_equal_ones():
    rng = np.random.default_rng(0)
    for count in (3, 16, 500):
        totals = rng.integers(0, 30, (count, 4)).astype(float)
        statuses = (rng.random(count) < 0.2).astype(np.int8)
        q = np.array([1.0, -2.0, 0.5, 0.0])
        ended = np.flatnonzero(statuses == 0)
        expected = ended[np.lexsort((ended, -(totals[ended] @ q)))][: motions.POPULATION]
        assert best_motions(totals, statuses, q).tolist() == expected.tolist()
