"""carom sweep: what it prints and writes."""

import json

import pytest

from carom.cli import main
from tests.cli.helpers import no_matplotlib, read_error, read_json

pytestmark = [pytest.mark.needs("xarray"), pytest.mark.needs("zarr")]

SPEC = """
problem = "rocking-block"
measures = ["contact_bounds", "complete"]
law = { name = "Routh", num_samples = 16 }
[parameters]
mu = [MU, 0.5, 1.0]
"""


@pytest.fixture
def spec(tmp_path):
    path = tmp_path / "spec.toml"
    path.write_text(SPEC.replace("MU", "0.2"))
    return path


@pytest.fixture
def failing(tmp_path):
    path = tmp_path / "failing.toml"
    path.write_text(SPEC.replace("MU", "-0.2"))
    return path


def arguments(spec, out, *more):
    return ["sweep", str(spec), "--out", str(out), "--workers", "1", *more]


def test_prints_and_writes(spec, tmp_path, capsys):
    assert main(arguments(spec, tmp_path / "out")) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("3 of 3 points done, 0 failed\n")
    assert "contact_bounds" in printed
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {"recipe.json", "units", "result.zarr", "summary.html"}
    page = (tmp_path / "out" / "summary.html").read_text()
    assert page.count("<img") == 2
    assert "http:" not in page
    assert "https:" not in page


def test_json(spec, tmp_path, capsys):
    found = read_json(capsys, *arguments(spec, tmp_path / "out"))
    assert (found["points"], found["done"], found["failed"]) == (3, 3, 0)
    bounds = found["measures"]["contact_bounds"]
    assert -1.0 < bounds["least"] < 0.0 < bounds["largest"] < 1.0


def test_status_and_failures(failing, tmp_path, capsys):
    out = tmp_path / "out"
    assert main(arguments(failing, out)) == 1
    captured = capsys.readouterr()
    assert "point 0 (mu = -0.2): InvalidProblem: mu" in captured.out
    assert captured.err.startswith("carom: error: 1 points failed; ")
    assert main(["sweep", "--status", str(out)]) == 0
    assert capsys.readouterr().out.startswith("3 of 3 points done, 1 failed\n  point 0 ")
    found = read_json(capsys, "sweep", "--status", str(out))
    assert found["failures"][0]["point"] == {"mu": -0.2}


def test_shards(spec, tmp_path, capsys):
    """Units are of one point here; the last shard writes the result."""
    for i, done in ((1, 1), (2, 2), (3, 3)):
        assert main(arguments(spec, tmp_path / "out", "--shard", f"{i}/3")) == 0
        assert capsys.readouterr().out.startswith(f"{done} of 3 points done, 0 failed")
        assert (tmp_path / "out" / "result.zarr").exists() == (i == 3)


def test_without_matplotlib(spec, tmp_path, capsys, monkeypatch):
    no_matplotlib(monkeypatch)
    assert main(arguments(spec, tmp_path / "out")) == 0
    assert "summary.html is left out: carom.plots: install matplotlib" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--shard", "4/3"], "expected i/n, as in 3/100"),
        (["--dask", "tcp://nowhere:1"], "workers and dask: expected one of them"),
    ],
)
def test_bad_options(more, message, spec, tmp_path, capsys):
    assert message in read_error(capsys, arguments(spec, tmp_path / "out", *more), 2)
    assert not (tmp_path / "out").exists()


def test_nothing_to_do(tmp_path, capsys):
    assert "expected SPEC.toml and --out DIR" in read_error(capsys, ["sweep"], 2)
    line = read_error(capsys, ["sweep", "--status", str(tmp_path)], 2)
    assert "expected the folder of a sweep, but there is no recipe.json" in line
    line = read_error(capsys, arguments(tmp_path / "none.toml", tmp_path / "out"), 2)
    assert "there is no file" in line


def test_errors_point_into_the_file(spec, tmp_path, capsys):
    spec.write_text(spec.read_text().replace("num_samples = 16", "num_samples = 0"))
    line = read_error(capsys, arguments(spec, tmp_path / "out"), 2)
    assert f"{spec}:4: law.num_samples: expected an integer >= 1, got 0" in line


def test_another_recipe(spec, tmp_path, capsys):
    assert main(arguments(spec, tmp_path / "out", "--json")) == 0
    json.loads(capsys.readouterr().out)
    spec.write_text(spec.read_text().replace("16", "17"))
    line = read_error(capsys, arguments(spec, tmp_path / "out"), 2)
    assert "holds another sweep: law is " in line
