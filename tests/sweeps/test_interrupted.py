"""A sweep that is killed goes on: nothing is lost, nothing is half, little is done twice."""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter

import pytest

import carom
from tests.sweeps import helpers
from tests.sweeps.helpers import assert_same, units_of

pytestmark = [pytest.mark.needs("xarray"), pytest.mark.needs("zarr")]

MODULE = """
import os
import time
import carom

def problem_of(mu, speed):
    # One line per computed point, of all processes.
    file = os.open(os.environ["CAROM_TEST_LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(file, f"{mu} {speed}\\n".encode())
    os.close(file)
    time.sleep(0.02)
    return carom.scenes.load("rocking-block", mu=mu, speed=speed).problem
"""
SPEC = """
problem = "posed:problem_of"
measures = ["contact_bounds", "kinds"]
unit_size = 3
law = { name = "Routh", num_samples = 8 }
[parameters]
mu = { from = 0.1, to = 1.0, num = 12 }
speed = { from = 0.5, to = 1.0, num = 10 }
"""
NUM_POINTS, UNIT_SIZE = 120, 3
PATIENCE = 120.0
"""How long anything may take before a test gives up [s]; no test depends on how long it does."""


@pytest.fixture(scope="module")
def spec(tmp_path_factory):
    """A spec file with the module that it names."""
    folder = tmp_path_factory.mktemp("spec")
    (folder / "posed.py").write_text(MODULE)
    (folder / "spec.toml").write_text(SPEC)
    return folder / "spec.toml"


def start(spec, out, log, workers=2):
    command = [sys.executable, "-m", "carom", "sweep", spec, "--out", out, "--workers", workers]
    return subprocess.Popen(
        [*map(str, command)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A group of its own, as a shell makes one, to send Ctrl-C to.
        start_new_session=True,
        preexec_fn=helpers.hear_ctrl_c,
        env={**os.environ, "CAROM_TEST_LOG": str(log)},
    )


def finish(spec, out, log, workers=2):
    process = start(spec, out, log, workers)
    printed, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, errors
    return printed


@pytest.fixture(scope="module")
def undisturbed(spec, tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed")
    finish(spec, folder / "out", folder / "log", workers=1)
    assert len((folder / "log").read_text().splitlines()) == NUM_POINTS
    return folder / "out"


def wait_until(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.005)


def names_of_units(out):
    units = out / "units"
    return {each.name for each in units.glob("*.npz")} if units.is_dir() else set()


def is_alive(group):
    """Return whether a group has processes; killed ones may wait for init to collect them."""
    for each in os.listdir("/proc"):
        if each.isdigit():
            try:
                with open(f"/proc/{each}/stat") as file:
                    state, _, process_group = file.read().rpartition(")")[2].split()[:3]
            except OSError:
                continue
            if int(process_group) == group and state != "Z":
                return True
    return False


def check_after(spec, out, log, undisturbed, kept):
    """Go on, and compare with a run that nobody disturbed."""
    whole = units_of(undisturbed)
    for name in kept:
        assert (out / "units" / name).read_bytes() == whole[name]
    finish(spec, out, log, workers=1)
    assert_same(out, undisturbed)
    times = Counter(log.read_text().splitlines())
    assert len(times) == NUM_POINTS
    # What was kept is computed once; what was in flight, at most once more.
    twice = sum(count - 1 for count in times.values())
    assert max(times.values()) <= 2
    assert twice <= NUM_POINTS - UNIT_SIZE * len(kept)


def kill_driver(spec, folder, undisturbed, enough):
    out, log = folder / "out", folder / "log"
    process = start(spec, out, log)
    wait_until(lambda: len(names_of_units(out)) >= enough)
    process.kill()
    process.communicate(timeout=PATIENCE)
    # Workers end with their parent.
    wait_until(lambda: not is_alive(process.pid))
    kept = names_of_units(out)
    assert enough <= len(kept) < NUM_POINTS / UNIT_SIZE
    check_after(spec, out, log, undisturbed, kept)


def test_killed_driver(spec, tmp_path, undisturbed):
    kill_driver(spec, tmp_path, undisturbed, 4)


@pytest.mark.slow
@pytest.mark.parametrize("enough", random.Random(18).sample(range(35), 5))
def test_killed_driver_at_other_times(enough, spec, tmp_path, undisturbed):
    kill_driver(spec, tmp_path, undisturbed, enough)


@pytest.mark.parametrize("enough", [1, 15])
def test_ctrl_c(enough, spec, tmp_path, undisturbed):
    """It ends at once, says how to go on, and leaves no process and no half file."""
    out, log = tmp_path / "out", tmp_path / "log"
    process = start(spec, out, log)
    wait_until(lambda: len(names_of_units(out)) >= enough)
    os.killpg(process.pid, signal.SIGINT)
    printed, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert printed == ""
    (line,) = (each for each in errors.splitlines() if "compiling kernels" not in each)
    assert line.startswith("carom: interrupted: ")
    assert "points, 0 failed" in line
    assert line.endswith(f"are in {out}; the same call goes on")
    # What it killed may have to be reaped by another.
    wait_until(lambda: not is_alive(process.pid))
    assert not [each for each in units_of(out) if each.endswith(".tmp")]
    check_after(spec, out, log, undisturbed, names_of_units(out))


def kill_dask_worker(tmp_path, spec, undisturbed, monkeypatch, times):
    """Kill a worker each time that another unit is there."""
    from distributed import Client, LocalCluster

    from carom.sweeps.run import prepare
    from carom.sweeps.spec import read_spec

    monkeypatch.setenv("CAROM_TEST_LOG", str(tmp_path / "log"))
    ready = prepare(**vars(read_spec(spec)), out=tmp_path / "out")
    rng, left = random.Random(7), list(times)
    settings = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    with LocalCluster(**settings) as cluster, Client(cluster) as client:

        def watch(progress):
            if left and progress.done >= UNIT_SIZE * left[0]:
                left.pop(0)
                pids = client.run(os.getpid)
                os.kill(rng.choice(sorted(pids.values())), signal.SIGKILL)

        ready.compute(dask=client, progress=watch)
    assert not left
    ready.data()
    assert_same(tmp_path / "out", undisturbed)
    counts = Counter((tmp_path / "log").read_text().splitlines())
    assert len(counts) == NUM_POINTS


def test_killed_dask_worker(spec, tmp_path, undisturbed, monkeypatch):
    kill_dask_worker(tmp_path, spec, undisturbed, monkeypatch, [5])


@pytest.mark.slow
def test_killed_dask_workers(spec, tmp_path, undisturbed, monkeypatch):
    kill_dask_worker(tmp_path, spec, undisturbed, monkeypatch, [1, 6, 13, 22, 31])


def test_ctrl_c_in_python_says_how_to_go_on(tmp_path):
    def interrupt(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt, match=r"0 of 2 points.*the same call goes on"):
        carom.sweep(
            "rocking-block",
            {"mu": [0.2, 0.5]},
            {"own": interrupt},
            out=tmp_path / "a",
            law=carom.Routh(num_samples=4),
            workers=1,
        )
