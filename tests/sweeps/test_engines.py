"""The bits of a sweep depend on no engine and on no number of workers."""

import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import pytest

import carom
from carom.sweeps.engines import WorkersDied
from tests.sweeps import helpers
from tests.sweeps.helpers import FEW, GRID, MEASURES, assert_same, problem_of

CALL = {"parameters": GRID, "measures": MEASURES, "law": FEW, "unit_size": 2}


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """The sweep on one worker, in this process."""
    out = tmp_path_factory.mktemp("alone") / "out"
    carom.sweep(problem_of, **CALL, out=out, workers=1)
    return out


def test_two_processes(alone, tmp_path):
    carom.sweep(problem_of, **CALL, out=tmp_path / "a", workers=2)
    assert_same(alone, tmp_path / "a")


def test_executors(alone, tmp_path):
    with ThreadPoolExecutor(2) as pool:
        carom.sweep(problem_of, **CALL, out=tmp_path / "a", executor=pool)
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        carom.sweep(problem_of, **CALL, out=tmp_path / "b", executor=pool)
    assert_same(alone, tmp_path / "a")
    assert_same(alone, tmp_path / "b")


def test_shards(alone, tmp_path):
    """Each computes its part; the last one finds all of it there."""
    out = tmp_path / "a"
    first = carom.sweep(problem_of, **CALL, out=out, shard=(2, 3), workers=1)
    assert int((first.status == 0).sum()) == 8
    assert not (out / "result.zarr").exists()
    carom.sweep(problem_of, **CALL, out=out, shard=(1, 3), workers=1)
    last = carom.sweep(problem_of, **CALL, out=out, shard=(3, 3), workers=1)
    assert bool((last.status == 1).all())
    assert_same(alone, out)


def test_dask(alone, tmp_path):
    import distributed

    settings = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    with distributed.LocalCluster(**settings) as cluster, distributed.Client(cluster) as client:
        carom.sweep(problem_of, **CALL, out=tmp_path / "a", dask=client)
        carom.sweep(problem_of, **CALL, out=tmp_path / "b", dask=cluster.scheduler_address)
        # What no worker could import is sent by value.
        own = carom.sweep(
            lambda mu: problem_of(mu, 1.0),
            {"mu": [0.5]},
            ["spread"],
            out=tmp_path / "c",
            law=FEW,
            dask=client,
        )
    assert own.status.values.tolist() == [1]
    assert_same(alone, tmp_path / "a")
    assert_same(alone, tmp_path / "b")


def test_a_worker_that_dies_is_replaced(alone, tmp_path, monkeypatch):
    monkeypatch.setenv("CAROM_TEST_MARK", str(tmp_path / "mark"))
    carom.sweep(helpers.kills_its_worker_once, **CALL, out=tmp_path / "a", workers=2)
    assert (tmp_path / "mark").exists()
    found = helpers.units_of(tmp_path / "a")
    # Another function has another recipe, so names and headers differ: compare the numbers.
    assert len(found) == len(helpers.units_of(alone))
    mine, theirs = (carom.sweeps.run.open_store(each) for each in (tmp_path / "a", alone))
    for (_, one), (_, other) in zip(mine.units(), theirs.units(), strict=True):
        for name, table in one.tables.items():
            assert table.data.tobytes() == other.tables[name].data.tobytes()


def test_workers_that_always_die_end_the_sweep(tmp_path):
    with pytest.raises(WorkersDied, match="workers died 3 times in a row while computing units 0"):
        carom.sweep(helpers.kills_every_worker, **CALL, out=tmp_path / "a", workers=2)


def test_functions_that_cannot_be_sent(tmp_path, monkeypatch):
    """One clear error with processes; in this process they are as good as any."""
    call = {"parameters": {"mu": [0.2, 0.5]}, "measures": ["spread"], "law": FEW, "unit_size": 1}
    function = lambda mu: problem_of(mu, 1.0)  # noqa: E731
    monkeypatch.setitem(sys.modules, "cloudpickle", None)
    with pytest.raises(carom.InvalidOption, match="define functions at the top of a module"):
        carom.sweep(function, **call, out=tmp_path / "a", workers=2)
    found = carom.sweep(function, **call, out=tmp_path / "a", workers=1)
    assert found.status.values.tolist() == [1, 1]


SCRIPT = """
import sys
import carom

def problem_of(mu):
    return carom.scenes.load("rocking-block", mu=mu).problem

if __name__ == "__main__":
    data = carom.sweep(
        problem_of, {"mu": [0.2, 0.5]}, ["spread"], out="out", workers=2, unit_size=1,
        law=carom.Routh(num_samples=8))
    print(data.status.values.tolist())
"""


@pytest.mark.needs("zarr")
def test_functions_of_a_script(tmp_path):
    """They reach processes, because those run the script too, but for its main part."""
    (tmp_path / "script.py").write_text(SCRIPT)
    run = subprocess.run(
        [sys.executable, "script.py"], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert run.stdout == "[1, 1]\n", run.stderr
