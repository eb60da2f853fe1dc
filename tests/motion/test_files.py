"""Motions saved and loaded again are the same, and damaged files are refused."""

import copy
import json
import pickle
from dataclasses import replace

import numpy as np
import pytest

import carom
from carom.motion.parts import Impact, Segment

ZENO = carom.scenes.load("zeno-block")
ROD = carom.scenes.load("painleve-rod")
ENDINGS = pytest.mark.parametrize("ending", ["npz", "json"])


@pytest.fixture(scope="module")
def motion():
    return carom.simulate(ZENO.system, ZENO.q, ZENO.v, 2.8, carom.Sequential())


@pytest.fixture(scope="module")
def bundle():
    law = carom.Routh(num_samples=1)
    return carom.simulate_many(ZENO.system, ZENO.q, ZENO.v, 1.0, law, 3, num_processes=1)


def assert_same(one, other):
    """Assert that two motions are equal to the last bit."""
    for name in ("contacts", "layout", "status", "message", "seed"):
        assert getattr(one, name) == getattr(other, name)
    assert len(one.parts) == len(other.parts)
    for first, second in zip(one.parts, other.parts, strict=True):
        assert type(first) is type(second)
        for name, value in vars(first).items():
            again = getattr(second, name)
            assert type(again) is type(value)
            if isinstance(value, np.ndarray):
                assert again.dtype == value.dtype
                assert again.tobytes() == value.tobytes()
            else:
                assert again == value


@ENDINGS
def test_round_trip(motion, tmp_path, ending):
    path = tmp_path / f"motion.{ending}"
    motion.save(path)
    loaded = carom.load(path)
    assert_same(motion, loaded)
    assert loaded.system is None
    with pytest.raises(carom.InvalidOption, match="with_system"):
        _ = loaded.energy
    moved = loaded.with_system(ZENO.system)
    np.testing.assert_array_equal(moved.energy, motion.energy)
    times = np.linspace(0.0, 2.8, 77)
    for one, other in zip(moved.at(t=times), motion.at(t=times), strict=True):
        np.testing.assert_array_equal(one, other)


@ENDINGS
def test_round_trip_of_a_bundle(bundle, tmp_path, ending):
    path = tmp_path / f"bundle.{ending}"
    bundle.save(path)
    loaded = carom.load(path)
    assert loaded.seed == bundle.seed
    for one, other in zip(bundle.trajectories, loaded.trajectories, strict=True):
        assert_same(one, other)
    assert loaded.with_system(ZENO.system).trajectories[2].system is ZENO.system


@pytest.mark.parametrize(
    "duplicate", [lambda x: pickle.loads(pickle.dumps(x)), copy.deepcopy], ids=["pickle", "copy"]
)
def test_motions_and_bundles_survive_pickle_and_deep_copy(motion, bundle, duplicate):
    assert_same(motion, duplicate(motion))
    np.testing.assert_array_equal(duplicate(motion).energy, motion.energy)
    for one, other in zip(bundle.trajectories, duplicate(bundle).trajectories, strict=True):
        assert_same(one, other)


def test_another_system_is_refused(motion):
    with pytest.raises(carom.InvalidOption, match=r"^system: expected one with 3 .* A, B, got"):
        motion.with_system(ROD.system)


@pytest.mark.parametrize("content", [b"", b"nothing of the kind", None])
def test_other_files_are_refused(content, tmp_path):
    path = tmp_path / "other.npz"
    if content is None:
        np.savez(path, a=np.zeros(3))
    else:
        path.write_bytes(content)
    with pytest.raises(carom.InvalidFile, match=r"other\.npz"):
        carom.load(path)


def test_a_missing_folder_is_named_and_nothing_is_left(motion, tmp_path):
    with pytest.raises(FileNotFoundError):
        motion.save(tmp_path / "nowhere" / "motion.npz")
    assert not list(tmp_path.iterdir())


def test_a_motion_that_ends_as_it_begins_is_kept(tmp_path):
    block = carom.scenes.load("rocking-block")
    law = carom.Routh(num_samples=1, max_steps=1, step_impulse=1e-6, epsilon=1e-12)
    motion = carom.simulate(block.system, block.q, block.v, 1.0, law)
    assert motion.status == "impact not resolved"
    np.testing.assert_array_equal(motion.at(t=0.0).v, [block.v])
    motion.save(tmp_path / "short.npz")
    assert_same(motion, carom.load(tmp_path / "short.npz"))


@ENDINGS
@pytest.mark.parametrize("what", ["motion", "bundle"])
def test_a_flipped_byte_is_refused_or_leaves_a_motion_that_is_one(what, ending, request, tmp_path):
    """A digit may change into another; whatever loads passes all checks of a motion."""
    path = tmp_path / f"saved.{ending}"
    request.getfixturevalue(what).save(path)
    content = path.read_bytes()
    rng = np.random.default_rng(0)
    refused = 0
    for place in rng.integers(0, len(content), 120):
        broken = bytearray(content)
        broken[place] ^= int(rng.integers(1, 256))
        path.write_bytes(bytes(broken))
        try:
            loaded = carom.load(path)
        except carom.InvalidFile:
            refused += 1
            continue
        for motion in loaded.trajectories if what == "bundle" else [loaded]:
            assert np.isfinite(motion.states.q).all()
            assert (np.diff(motion.t) >= 0.0).all()
    # Archives have checksums; in text most changes end a number or a string.
    assert refused > (90 if ending == "npz" else 30)


def broken(part, **changes):
    """Return a function that makes a part anew with some fields changed."""
    return lambda: replace(part, **{name: change(part) for name, change in changes.items()})


def with_nan(name):
    def change(part):
        array = getattr(part, name).copy()
        array.flat[0] = np.nan
        return array

    return change


BROKEN_SEGMENTS = {
    "knots with NaN": {"knots": with_nan("knots")},
    "coefficients with NaN": {"coefficients": with_nan("coefficients")},
    "reversed knots": {"knots": lambda part: part.knots[::-1]},
    "one knot": {"knots": lambda part: part.knots[:1]},
    "few coefficients": {"coefficients": lambda part: part.coefficients[:, :4]},
    "unknown mode": {"modes": lambda part: ("flying",) * len(part.modes)},
    "no solution": {"num_solutions": lambda _: 0},
}
BROKEN_IMPACTS = {
    **{f"{name} with NaN": {name: with_nan(name)} for name in ("q", "v", "impulse", "energy")},
    "no number": {"t": lambda _: float("nan")},
    "negative duration": {"duration": lambda _: -1.0},
    "unknown kind": {"kind": lambda _: "bang"},
    "a step too many": {"v": lambda part: np.vstack([part.v, part.v[-1:]])},
    "modes of others": {"modes": lambda part: tuple(step[:1] for step in part.modes)},
}


@pytest.mark.parametrize("changes", BROKEN_SEGMENTS.values(), ids=BROKEN_SEGMENTS.keys())
def test_broken_segments_are_refused(motion, changes):
    with pytest.raises(carom.InvalidOption, match=f"^{next(iter(changes))}: expected"):
        broken(motion.segments[0], **changes)()


@pytest.mark.parametrize("changes", BROKEN_IMPACTS.values(), ids=BROKEN_IMPACTS.keys())
def test_broken_impacts_are_refused(motion, changes):
    with pytest.raises(carom.InvalidOption, match="expected"):
        broken(motion.impacts[0], **changes)()


@pytest.mark.parametrize(
    "changes",
    [
        {"parts": lambda m: m.parts[::-1]},
        {"parts": lambda _: ()},
        {"parts": lambda m: (*m.parts[:2], *m.parts[3:])},
        {"parts": lambda _: ("a segment",)},
        {"parts": lambda m: (replace(m.segments[0], modes=("free",)),)},
        {"parts": lambda m: (replace(m.impacts[0], contacts=("A", "Z")[:2]),)},
        {"contacts": lambda _: ("A",)},
        {"contacts": lambda _: ("A", "A")},
        {"status": lambda _: None},
        {"seed": lambda _: -1},
    ],
)
def test_broken_motions_are_refused(motion, changes):
    with pytest.raises(carom.InvalidOption, match="expected"):
        broken(motion, **changes)()


def test_reversed_times_and_nan_in_a_file_are_refused(motion, tmp_path):
    path = tmp_path / "motion.json"
    motion.save(path)
    saved = json.loads(path.read_text())
    segment = next(part for part in saved["parts"] if part["carom"] == "Segment")
    for data in (segment["knots"]["data"][::-1], [float("nan")] * len(segment["knots"]["data"])):
        broken_one = {**segment, "knots": {**segment["knots"], "data": data}}
        path.write_text(json.dumps({**saved, "parts": [broken_one]}))
        with pytest.raises(carom.InvalidFile, match=r"motion\.json: knots"):
            carom.load(path)


def test_parts_know_their_kind(motion):
    assert {type(part) for part in motion.parts} == {Segment, Impact}
