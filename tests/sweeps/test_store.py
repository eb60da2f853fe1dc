"""What goes wrong with a store: one clear error or the unit again, nothing wrong in the result."""

import errno
import io as std_io
import os
import random
import resource
import shutil
import subprocess
import sys

import numpy as np
import pytest

import carom
from carom.sweeps import store as stores
from carom.sweeps.run import open_store
from tests.sweeps import helpers
from tests.sweeps.helpers import FEW, GRID, MEASURES, assert_same, problem_of, units_of

CALL = {"parameters": GRID, "measures": MEASURES, "law": FEW, "unit_size": 2, "workers": 1}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    out = tmp_path_factory.mktemp("whole") / "out"
    carom.sweep(problem_of, **CALL, out=out)
    return out


@pytest.fixture
def copy(whole, tmp_path):
    shutil.copytree(whole, tmp_path / "copy")
    return tmp_path / "copy"


def count_computed(monkeypatch):
    """Return a list of the first points of units, as they are computed."""
    from carom.sweeps import engines

    begun, compute = [], engines.compute

    def counted(job, first, points):
        begun.append(first)
        return compute(job, first, points)

    monkeypatch.setattr(engines, "compute", counted)
    return begun


@pytest.mark.parametrize("damage", ["gone", "cut", "variable", "sums"])
def test_a_damaged_result_is_assembled_again(copy, whole, monkeypatch, damage):
    """Its units are whole, so nothing is computed, and nothing is NaN in silence."""
    begun = count_computed(monkeypatch)
    folder = copy / "result.zarr" / "contact_bounds"
    chunk = min(path for path in folder.iterdir() if not path.name.startswith("."))
    if damage == "gone":
        chunk.unlink()
    elif damage == "cut":
        chunk.write_bytes(chunk.read_bytes()[:-1])
    elif damage == "variable":
        shutil.rmtree(folder)
    else:
        (copy / "result.zarr" / ".sums.json").write_text("{")
    data = carom.sweep(problem_of, **CALL, out=copy)
    assert begun == []
    assert np.isfinite(data["contact_bounds"]).all()
    assert_same(copy, whole)


def test_what_is_there_is_not_computed_again(copy, whole, monkeypatch):
    begun = count_computed(monkeypatch)
    carom.sweep(problem_of, **CALL, out=copy)
    assert begun == []
    gone = sorted((copy / "units").iterdir())[2]
    gone.unlink()
    carom.sweep(problem_of, **CALL, out=copy)
    assert begun == [4]
    assert_same(copy, whole)


def test_damaged_units_are_computed_again(copy, whole, monkeypatch):
    """Cut short, empty, of another range: each is noticed."""
    paths = sorted((copy / "units").iterdir())
    paths[0].write_bytes(paths[0].read_bytes()[:-40])
    paths[1].write_bytes(b"")
    paths[3].write_bytes(paths[4].read_bytes())
    begun = count_computed(monkeypatch)
    assert open_store(copy).status().damaged == tuple(paths[k].name for k in (0, 1, 3))
    carom.sweep(problem_of, **CALL, out=copy)
    assert begun == [0, 2, 6]
    assert_same(copy, whole)


def test_no_flipped_byte_changes_a_number(whole):
    """A unit with a byte that is not what it was is refused, or holds the same numbers."""
    store = open_store(whole)
    content = store.path(1).read_bytes()
    before = store.read(1)
    rng, refused = random.Random(0), 0
    for _ in range(1000):
        damaged = bytearray(content)
        damaged[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        try:
            unit = stores.decode(bytes(damaged), store.recipe.digest, 2, 2)
        except Exception:
            refused += 1
            continue
        assert unit.errors == before.errors
        for name, table in unit.tables.items():
            assert table.labels == before.tables[name].labels
            assert table.data.tobytes() == before.tables[name].data.tobytes()
    assert refused > 500


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seed": 1}, "seed is 0 there and 1 here"),
        ({"law": carom.Routh(num_samples=32)}, "law is"),
        ({"measures": ["spread"]}, "measures is"),
        ({"parameters": {"mu": [0.1], "speed": [1.0]}}, "parameters is"),
        ({"unit_size": 3}, "unit_size is 2 there and 3 here"),
        ({"problem_of": helpers.fails_at_a_half}, "problem_of is .*fails_at_a_half"),
    ],
)
def test_another_recipe_is_refused(change, message, copy):
    before = units_of(copy)
    call = {"problem_of": problem_of, **CALL} | change
    with pytest.raises(carom.InvalidOption, match=f"holds another sweep: .*{message}"):
        carom.sweep(**call, out=copy)
    assert units_of(copy) == before


def test_the_size_of_units_may_be_left_to_the_store(copy, whole):
    call = {key: value for key, value in CALL.items() if key != "unit_size"}
    carom.sweep(problem_of, **call, out=copy)
    assert_same(copy, whole)


def test_a_folder_of_something_else_is_refused(tmp_path):
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(carom.InvalidOption, match="expected a new folder or one of this sweep"):
        carom.sweep(problem_of, **CALL, out=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_damaged_recipe_is_refused(copy):
    text = (copy / "recipe.json").read_text()
    (copy / "recipe.json").write_text(text.replace('"seed": 0', '"seed": 5'))
    with pytest.raises(carom.InvalidFile, match="expected the recipe of a sweep"):
        carom.sweep(problem_of, **CALL, out=copy)


def test_retry_computes_units_with_failures_only(tmp_path, monkeypatch):
    carom.sweep(helpers.fails_unless_allowed, **CALL, out=tmp_path / "a")
    begun = count_computed(monkeypatch)
    assert len(carom.sweep.failed(tmp_path / "a")) == 3
    carom.sweep(helpers.fails_unless_allowed, **CALL, out=tmp_path / "a")
    assert begun == []
    monkeypatch.setenv("CAROM_TEST_ALLOW", "1")
    found = carom.sweep(helpers.fails_unless_allowed, **CALL, out=tmp_path / "a", retry=True)
    assert begun == [6, 8]
    assert carom.sweep.failed(tmp_path / "a") == []
    assert bool((found.status == 1).all())
    carom.sweep(helpers.fails_unless_allowed, **CALL, out=tmp_path / "b")
    assert_same(tmp_path / "a", tmp_path / "b")


def test_full_disk(tmp_path, whole, monkeypatch):
    """The error names the file; with room again, the sweep goes on."""
    written, replace = [], os.replace

    def full(source, target):
        written.append(target)
        if len(written) > 3:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        replace(source, target)

    with monkeypatch.context() as patch:
        patch.setattr("carom.io.os.replace", full)
        with pytest.raises(OSError, match=r"No space left on device: .*units") as raised:
            carom.sweep(problem_of, **CALL, out=tmp_path / "a")
    assert raised.value.errno == errno.ENOSPC
    # The recipe and two units, and no half file.
    assert len(units_of(tmp_path / "a")) == 2
    carom.sweep(problem_of, **CALL, out=tmp_path / "a")
    assert_same(tmp_path / "a", whole)


LIMITED = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1500, 1500))
from carom.cli import main
sys.exit(main(["sweep", "spec.toml", "--out", "out", "--workers", "1"]))
"""
SPEC = """
problem = "rocking-block"
measures = ["contact_bounds", "spread"]
unit_size = 40
law = { name = "Routh", num_samples = 8 }
[parameters]
mu = { from = 0.1, to = 1.0, num = 40 }
"""


@pytest.mark.needs("zarr")
def test_a_file_that_cannot_be_written_whole_is_not_there(tmp_path):
    """Linux cuts the write of a large file short, as a full disk does."""
    assert hasattr(resource, "RLIMIT_FSIZE")
    (tmp_path / "spec.toml").write_text(SPEC)
    run = subprocess.run(
        [sys.executable, "-c", LIMITED], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert run.returncode == 2, run.stderr
    (line,) = run.stderr.splitlines()
    assert line.startswith("carom: error: ")
    assert "File too large" in line
    assert units_of(tmp_path / "out") == {}
    command = [
        sys.executable,
        "-m",
        "carom",
        "sweep",
        "spec.toml",
        "--out",
        "out",
        "--workers",
        "1",
    ]
    run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("40 of 40 points done, 0 failed")


def test_read_only_folder(tmp_path, monkeypatch):
    """Root may write anywhere: the file system says no here, not the permissions."""
    read_only = OSError(errno.EROFS, os.strerror(errno.EROFS), str(tmp_path / "a"))

    def refuse(*_, **__):
        raise read_only

    monkeypatch.setattr("pathlib.Path.mkdir", refuse)
    with pytest.raises(OSError, match="Read-only file system: "):
        carom.sweep(problem_of, **CALL, out=tmp_path / "a")
    assert not (tmp_path / "a").exists()


def test_a_result_that_is_there_opens_without_writing(copy, monkeypatch):
    def refuse(*_, **__):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr("carom.io.os.replace", refuse)
    found = carom.sweep(problem_of, **CALL, out=copy)
    assert np.isfinite(found.contact_bounds).all()


def test_temporaries_of_killed_writers_are_removed(copy, whole):
    left = copy / "units" / ".unit.npz.0123.tmp"
    left.write_bytes(b"half")
    carom.sweep(problem_of, **CALL, out=copy)
    assert not left.exists()
    assert_same(copy, whole)


def test_units_are_plain_arrays(whole):
    """NumPy alone reads them."""
    content = next(iter(units_of(whole).values()))
    with np.load(std_io.BytesIO(content)) as archive:
        assert archive["contact_bounds"].shape == (2, 2, 2, 2)
