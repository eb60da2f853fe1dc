"""Motions saved and loaded again are the same, and files are whole or not there."""

import numpy as np
import pytest

import carom

ZENO = carom.scenes.load("zeno-block")
ROD = carom.scenes.load("painleve-rod")


@pytest.fixture(scope="module")
def motion():
    return carom.simulate(ZENO.system, ZENO.q, ZENO.v, 2.8, carom.Sequential())


def test_round_trip(motion, tmp_path):
    carom.save_trajectory(motion, tmp_path / "motion.npz")
    loaded = carom.load_trajectory(tmp_path / "motion.npz", ZENO.system)
    for one, other in zip(motion.states, loaded.states, strict=True):
        np.testing.assert_array_equal(one, other)
    assert loaded.status == motion.status
    assert loaded.message == motion.message
    assert loaded.seed == motion.seed
    assert [impact.kind for impact in loaded.impacts] == [impact.kind for impact in motion.impacts]
    assert [impact.modes for impact in loaded.impacts] == [i.modes for i in motion.impacts]
    assert [part.modes for part in loaded.segments] == [part.modes for part in motion.segments]
    np.testing.assert_array_equal(loaded.energy, motion.energy)
    times = np.linspace(0.0, 2.8, 77)
    np.testing.assert_array_equal(loaded.at(t=times).q, motion.at(t=times).q)


def test_without_a_system_states_are_known_and_energy_is_not(motion, tmp_path):
    carom.save_trajectory(motion, tmp_path / "motion.npz")
    loaded = carom.load_trajectory(tmp_path / "motion.npz")
    np.testing.assert_array_equal(loaded.q, motion.q)
    with pytest.raises(carom.InvalidProblem, match="system"):
        _ = loaded.energy


def test_another_system_is_refused(motion, tmp_path):
    carom.save_trajectory(motion, tmp_path / "motion.npz")
    with pytest.raises(carom.InvalidProblem, match="contacts"):
        carom.load_trajectory(tmp_path / "motion.npz", ROD.system)


@pytest.mark.parametrize("content", [b"", b"nothing of the kind", None])
def test_other_files_are_refused(content, tmp_path):
    path = tmp_path / "other.npz"
    if content is None:
        np.savez(path, a=np.zeros(3))
    else:
        path.write_bytes(content)
    with pytest.raises(carom.InvalidProblem, match=r"other\.npz"):
        carom.load_trajectory(path)


def test_a_missing_folder_is_named_and_nothing_is_left(motion, tmp_path):
    with pytest.raises(FileNotFoundError):
        carom.save_trajectory(motion, tmp_path / "nowhere" / "motion.npz")
    assert not list(tmp_path.iterdir())


def test_a_motion_that_ends_as_it_begins_is_kept(tmp_path):
    block = carom.scenes.load("rocking-block")
    law = carom.Routh(num_samples=1, max_steps=1, step_impulse=1e-6, epsilon=1e-12)
    motion = carom.simulate(block.system, block.q, block.v, 1.0, law)
    assert motion.status == "impact not resolved"
    np.testing.assert_array_equal(motion.at(t=0.0).v, [block.v])
    carom.save_trajectory(motion, tmp_path / "short.npz")
    np.testing.assert_array_equal(carom.load_trajectory(tmp_path / "short.npz").q, motion.q)
