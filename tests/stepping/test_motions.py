"""Samplers of exact motions: the same bits however they are run, replayed, and legal."""

from __future__ import annotations

import numpy as np
import pytest

import carom
from carom.kernels.motions import FINISHED
from carom.stepping.motions import MotionSampler, prepare_motions
from carom.stepping.replay import replay
from carom.stepping.until import begin_at
from tests.reference.impact_problems import random_problem

SCENES = ("rocking-block", "compass-gait", "box-wall", "ramone", "disk-stack", "painleve-rod")


def motions_of(name, extremes=0.5, num_samples=400, seed=3) -> MotionSampler:
    return prepare_motions(carom.scenes.load(name).problem, seed, num_samples, extremes)


def same(one, other):
    for a, b in zip(one, other, strict=True):
        assert a.tobytes() == b.tobytes()


@pytest.mark.parametrize("extremes", [0.0, 0.5])
@pytest.mark.parametrize("name", SCENES)
def test_same_bits_on_threads_and_in_chunks(name, extremes, monkeypatch):
    sampler = motions_of(name, extremes)
    one = sampler.run(400, 1, None)
    same(one, sampler.run(400, 2, None))
    monkeypatch.setattr("carom.stepping.parallel.SMALLEST_CHUNK", 7)
    same(one, sampler.run(400, 2, None))
    monkeypatch.setattr("carom.stepping.parallel.LARGEST_CHUNK", 3)
    same(one, sampler.run(400, 1, None))
    assert (one[1] == FINISHED).all()


@pytest.mark.parametrize("name", SCENES)
def test_motions_may_begin_anywhere(name):
    sampler = motions_of(name, 0.0, 16)
    whole = sampler.run(90, 1, None)
    for first in (1, 17, 60):
        later = begin_at(sampler, first)
        same((part[first:] for part in whole), later.run(90 - first, 1, None))
        record = later.record(0, int(whole[2][first]))
        np.testing.assert_allclose(record.sum(axis=0), whole[0][first], rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("name", SCENES)
def test_records_of_random_and_searched_motions_lead_to_their_totals(name):
    sampler = motions_of(name)
    totals, statuses, events = sampler.run(400, 1, None)
    assert 0 < sampler.num_random < 400
    numbers = [*range(0, sampler.num_random, 20), *range(sampler.num_random, 400, 9)]
    for number in numbers:
        record = sampler.record(number, int(events[number]))
        assert len(record) <= events[number]
        np.testing.assert_allclose(record.sum(axis=0), totals[number], rtol=0.0, atol=1e-12)
        assert statuses[number] == FINISHED
        assert replay(sampler.space, sampler.start, record, 1e-9) == []


def test_a_drawn_motion_is_number_zero():
    sampler = motions_of("ramone")
    runs, record = sampler.draw()
    totals, _, events = sampler.run(400, 1, None)
    assert runs[0][0].tobytes() == totals[0].tobytes()
    assert runs[2][0] == events[0]
    assert record.tobytes() == sampler.record(0, int(events[0])).tobytes()


@pytest.mark.parametrize("m", [1, 2, 3, 4, 5])
def test_random_motions_are_legal(m):
    """Replayed by the inclusion, on problems with contacts at rest, or that coincide."""
    num_checked = 0
    for seed in range(20):
        rng = np.random.default_rng([m, seed])
        problem = random_problem(rng, m, 1, mu=rng.uniform(0.0, 2.0, m))
        sampler = prepare_motions(problem, seed, 40, 0.0)
        totals, statuses, events = sampler.run(40, 1, None)
        assert (statuses == FINISHED).all()
        for number in (0, 39):
            record = sampler.record(number, int(events[number]))
            np.testing.assert_allclose(record.sum(axis=0), totals[number], rtol=0.0, atol=1e-12)
            assert replay(problem.space, problem.start, record, 1e-9) == []
            num_checked += 1
    assert num_checked == 40


@pytest.mark.parametrize("name", SCENES[:4])
def test_searches_go_further_than_random_motions(name):
    sampler = motions_of(name, 0.5, 2000)
    totals, _, _ = sampler.run(2000, None, None)
    values = totals @ sampler.objectives.T
    random = values[: sampler.num_random].max(axis=0)
    for k in range(len(sampler.objectives)):
        first = sampler.num_random + k * sampler.num_per_search
        own = values[first : first + sampler.num_per_search, k].max()
        # A search begins with the best random motions, and has a chance to change them.
        assert own >= random[k] - 0.01
    assert (values.max(axis=0) >= random).all()


def test_few_samples_are_all_random():
    problem = carom.scenes.load("ramone").problem
    searches = len(prepare_motions(problem, 0, 1, 0.0).objectives)
    assert searches == 6
    assert prepare_motions(problem, 0, 4 * 8 * searches - 1, 0.25).num_per_search == 0
    sampler = prepare_motions(problem, 0, 4 * 8 * searches, 0.25)
    assert sampler.num_per_search == 8
    assert sampler.num_random == 3 * 8 * searches
