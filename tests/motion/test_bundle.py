"""Many motions of one state: reproducible, in any number of processes."""

import math

import numpy as np
import pytest

import carom

SCENE = carom.scenes.load("rocking-block")
LAW = carom.Routh(num_samples=1)
DURATION = 0.06


def drop(num, **options):
    return carom.simulate_many(SCENE.system, SCENE.q, SCENE.v, DURATION, LAW, num, **options)


def same(one, other):
    return all(
        np.array_equal(a.v, b.v) and np.array_equal(a.t, b.t)
        for a, b in zip(one.trajectories, other.trajectories, strict=True)
    )


def test_processes_and_number_change_no_motion():
    alone, together = drop(6, num_processes=1), drop(6, num_processes=2)
    assert same(alone, together)
    assert np.array_equal(drop(3, num_processes=1).trajectories[2].v, alone.trajectories[2].v)
    assert all(motion.system is SCENE.system for motion in together.trajectories)


def test_seeds_give_different_motions():
    first, second = drop(3, num_processes=1), drop(3, seed=1, num_processes=1)
    seeds = {motion.seed for bundle in (first, second) for motion in bundle.trajectories}
    assert len(seeds) == 6
    assert not same(first, second)


def test_a_flat_landing_fans_out_and_a_tilted_one_does_not():
    flat = drop(12, num_processes=1)
    q = np.array([0.0, 0.0, math.radians(2.0)])
    q[1] -= SCENE.system.gap(q).min()
    tilted = carom.simulate_many(SCENE.system, q, SCENE.v, DURATION, LAW, 12, num_processes=1)
    times = np.linspace(0.0, DURATION, 20)
    assert flat.spread(times).max() > 1e-3
    assert tilted.spread(times).max() < 1e-3 * flat.spread(times).max()
    assert flat.num_finished == tilted.num_finished == 12


def test_values_are_those_of_the_motions_and_end_with_them():
    bundle = drop(2, num_processes=1)
    times = [0.0, 0.03, DURATION, 1.0]
    q, v = bundle.q_at(times), bundle.v_at(times)
    assert q.shape == (2, 4, 3)
    for k, motion in enumerate(bundle.trajectories):
        np.testing.assert_array_equal(q[k, :3], motion.at(t=times[:3]).q)
        np.testing.assert_array_equal(v[k, :3], motion.at(t=times[:3]).v)
    assert np.isnan(q[:, 3]).all()


def test_progress_counts_every_motion():
    seen = []
    drop(4, num_processes=2, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"num": 0}, "num"),
        ({"num": 2, "seed": -1}, "seed"),
        ({"num": 2, "num_processes": 0}, "num_processes"),
    ],
)
def test_wrong_numbers_are_refused(options, word):
    with pytest.raises(carom.InvalidProblem, match=word):
        drop(**options)


def test_inputs_need_not_be_sendable():
    ball = carom.systems.Body.point("ball", 1.0, joints=(carom.systems.Prismatic((0.0, 1.0)),))
    contact = carom.systems.PlaneContact("A", carom.systems.Disc("ball"), carom.systems.FLOOR, 0.0)
    lift = 2.0
    system = carom.systems.PlanarSystem([ball], [contact], inputs=lambda *_: [lift])
    bundle = carom.simulate_many(system, [1.0], [0.0], 0.1, LAW, 3, num_processes=2)
    expected = 1.0 + (lift - 9.81) * 0.1**2 / 2
    np.testing.assert_allclose(bundle.q_at([0.1])[:, 0, 0], expected, atol=1e-10)
