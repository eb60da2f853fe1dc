"""Many motions of one state: reproducible, in any number of processes."""

import math
import os
import signal
import subprocess
import sys
from functools import partial

import numpy as np
import pytest

import carom
from carom.motion import bundle as bundles

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


@pytest.mark.parametrize("num_processes", [1, 2])
def test_measures_are_those_of_the_motions(num_processes):
    motions = drop(5, num_processes=1)
    ends = drop(5, num_processes=num_processes, measure=lambda motion: motion.v[-1])
    np.testing.assert_array_equal(ends, [motion.v[-1] for motion in motions.trajectories])


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"num": 0}, "num"),
        ({"num": 2, "seed": -1}, "seed"),
        ({"num": 2, "num_processes": 0}, "num_processes"),
    ],
)
def test_wrong_numbers_are_refused(options, word):
    with pytest.raises(carom.InvalidOption, match=word):
        drop(**options)


def test_inputs_need_not_be_sendable():
    ball = carom.systems.Body.point("ball", 1.0, joints=(carom.systems.Prismatic((0.0, 1.0)),))
    contact = carom.systems.PlaneContact("A", carom.systems.Disc("ball"), carom.systems.FLOOR, 0.0)
    lift = 2.0
    system = carom.systems.PlanarSystem([ball], [contact], inputs=lambda *_: [lift])
    bundle = carom.simulate_many(system, [1.0], [0.0], 0.1, LAW, 3, num_processes=2)
    expected = 1.0 + (lift - 9.81) * 0.1**2 / 2
    np.testing.assert_allclose(bundle.q_at([0.1])[:, 0, 0], expected, atol=1e-10)


SCRIPT = """
import multiprocessing, sys
import numpy as np
import carom

def told(done, total):
    print(done, flush=True)

if __name__ == "__main__":
    multiprocessing.set_start_method(sys.argv[1])
    scene = carom.scenes.load("rocking-block")
    how = scene.system, scene.q, scene.v, 0.06, carom.Routh(num_samples=1), int(sys.argv[2])
    motions = carom.simulate_many(*how, num_processes=2, progress=told)
    print(repr(motions.v_at(0.06).tobytes()))
"""


def start(tmp_path, method, num):
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    return subprocess.Popen(
        [sys.executable, path, method, str(num)], stdout=subprocess.PIPE, text=True
    )


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_every_way_to_start_processes_gives_the_same_motions(method, tmp_path):
    out, _ = start(tmp_path, method, 5).communicate(timeout=300)
    assert out.splitlines()[-1] == repr(drop(5, num_processes=1).v_at(0.06).tobytes())


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.parametrize("number", ["SIGTERM", "SIGKILL"])
def test_workers_end_with_their_parent(method, number, tmp_path):
    process = start(tmp_path, method, 100_000)
    assert process.stdout is not None
    for line in process.stdout:
        # The second motion comes from a worker.
        if line.strip() == "2":
            break
    os.kill(process.pid, getattr(signal, number))
    # As long as a worker lives it holds the pipe open.
    process.communicate(timeout=60)
    assert process.returncode == -getattr(signal, number)


def test_what_cannot_be_sent_is_forked_or_told(monkeypatch):
    system = carom.systems.PlanarSystem(SCENE.system.bodies, [], inputs=lambda *_: np.zeros(3))
    job = partial(carom.simulate, system, SCENE.q, SCENE.v, DURATION, LAW)
    spawn = bundles.multiprocessing.get_context("spawn")
    monkeypatch.setattr(bundles.multiprocessing, "get_context", lambda method=None: method or spawn)
    monkeypatch.setattr(bundles.multiprocessing, "get_all_start_methods", lambda: ["fork"])
    assert bundles._context(job) == "fork"
    monkeypatch.setattr(bundles.multiprocessing, "get_all_start_methods", lambda: ["spawn"])
    with pytest.raises(carom.InvalidOption, match=r"pickled.*num_processes=1"):
        bundles._context(job)
    fine = partial(carom.simulate, SCENE.system, SCENE.q, SCENE.v, DURATION, LAW)
    assert bundles._context(fine) is spawn


def test_a_bundle_is_shown_on_one_line():
    assert repr(drop(3, num_processes=1)) == "Bundle(3 motions, 3 finished, seed 0, t = 0 … 0.06 s)"


def test_notebooks_show_tables_with_escaped_names(monkeypatch):
    ball = carom.systems.Body.point("ball", 1.0)
    name = "<b>left & right</b>"
    contact = carom.systems.PlaneContact(name, carom.systems.Disc("ball"), carom.systems.FLOOR, 0.5)
    system = carom.systems.PlanarSystem([ball], [contact])
    motions = carom.simulate_many(system, [0, 0.1], [0, 0], 0.3, LAW, 30, num_processes=1)
    first = motions.trajectories[0]
    monkeypatch.setattr(carom.plots, "thumbnail", lambda _: b"<svg/>", raising=False)
    for thing in (motions, first):
        assert repr(thing) in thing._repr_html_()
        assert "data:image/svg+xml;base64," in thing._repr_html_()
    assert name not in first._repr_html_()
    assert "&lt;b&gt;left &amp; right&lt;/b&gt;" in first._repr_html_()
    assert first._repr_html_().count("<tr>") == 1 + len(first.parts)
    assert motions._repr_html_().count("<tr>") == 1 + 20
    assert "finished: 30 motions" in motions._repr_html_()
    # Where no figure can be drawn, the table is shown.
    monkeypatch.setattr(carom.plots, "thumbnail", None, raising=False)
    assert "<img" not in first._repr_html_()
    assert "collision" in first._repr_html_()


def test_xarray_has_names_times_and_seeds():
    motions = drop(3, num_processes=1)
    data = motions.to_xarray([0.0, 0.03, 1.0])
    assert type(data).__name__ == "Dataset"
    assert data.q.dims == ("motion", "time", "coordinate")
    np.testing.assert_array_equal(data.q, motions.q_at([0.0, 0.03, 1.0]))
    np.testing.assert_array_equal(data.v, motions.v_at([0.0, 0.03, 1.0]))
    assert data.coordinate.values.tolist() == ["x [m]", "y [m]", "angle [rad]"]
    assert data.seed.values.tolist() == [motion.seed for motion in motions.trajectories]
    height = float(data.q.sel(time=0.0, coordinate="y [m]")[0])
    assert height == pytest.approx(SCENE.q[1], abs=1e-12)


def test_without_xarray_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "xarray", None)
    with pytest.raises(carom.MissingExtra, match=r"carom\[tables\]"):
        drop(1, num_processes=1).to_xarray([0.0])


def test_motions_of_several_systems_are_no_bundle():
    rod = carom.scenes.load("painleve-rod")
    other = carom.simulate(rod.system, rod.q, rod.v, 0.01, LAW)
    motion = drop(1, num_processes=1).trajectories[0]
    with pytest.raises(carom.InvalidOption, match="one system"):
        carom.Bundle((motion, other), 0)
    with pytest.raises(carom.InvalidOption, match="one motion or more"):
        carom.Bundle((), 0)
