"""carom worst-case, as typed."""

import json
import sys

import numpy as np
import pytest

import carom
from carom.cli import main, show
from tests.cli.helpers import no_matplotlib, on_a_terminal, read_error, read_json

pytestmark = pytest.mark.needs("ppl")

QUICK = ["--max-seconds", "0.5"]


@pytest.fixture
def gait():
    return carom.scenes.load("compass-gait").problem


def test_table_of_a_scene(capsys, gait):
    assert main(["worst-case", "compass-gait"]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    title, table, last = captured.out.rstrip("\n").split("\n\n")
    assert title.startswith("compass-gait: ")
    head, *rows = table.splitlines()
    assert head.split() == ["quantity", "proved", "≥", "reached", "reached", "proved", "≤", "gap"]
    expected = carom.worst_case(gait)
    assert [row.split("  ")[0] for row in rows] == [row[0] for row in expected.cells()]
    # The tangential velocity of B: from 0 to 0.198 m/s, exactly.
    assert rows[3].split()[3:] == ["0", "0", "0.19802", "0.19802", "exact"]
    assert last == "8 of 8 extremes are exact."


def test_json(capsys, gait):
    names = ["B normal", "-A tangential", "A impulse", "energy kept"]
    options = [word for name in names for word in ("--direction", name)]
    found = read_json(capsys, "worst-case", "compass-gait", *options, *QUICK, "--seed", "3")
    assert found["carom"] == carom.__version__
    assert found["problem"]["source"] == "compass-gait"
    assert found["settings"] == {"max_seconds": 0.5, "seed": 3}
    assert [each["name"] for each in found["extremes"]] == names
    assert [each["unit"] for each in found["extremes"]] == ["m/s", "m/s", "N s", "J"]
    expected = carom.worst_case(gait, "B normal")
    first, second, impulse, energy = found["extremes"]
    assert first["reached"] == pytest.approx(expected.reached, abs=1e-12)
    assert first["is_exact"] is True
    assert first["certificate"] == "CoverCertificate"
    np.testing.assert_array_equal(first["direction"], gait.J_n[1])
    # A slides backwards, so that the negative of its velocity is largest.
    assert second["reached"] == pytest.approx(0.074491, abs=1e-6)
    assert impulse["certificate"] == "Certificate"
    assert energy["certificate"] is None
    assert energy["notes"]


def test_a_bound_that_is_not_known_is_null(capsys, tmp_path):
    # Two walls that face each other can press without end.
    jam = carom.ImpactProblem(
        np.eye(2), [[1.0, 0.0], [-1.0, 0.0]], [[0.0, 1.0]] * 2, 0.5, [-1.0, 0.2]
    )
    jam.save(tmp_path / "jam.json")
    arguments = ["worst-case", str(tmp_path / "jam.json"), "--direction", "A impulse", *QUICK]
    (found,) = read_json(capsys, *arguments)["extremes"]
    assert found["proved"] is None
    assert found["is_exact"] is False
    assert main(arguments) == 0
    out = capsys.readouterr().out
    assert "none" in out
    assert "open" in out
    assert "0 of 1 extreme is exact." in out
    assert "note: A impulse: no bound" in out


def test_files(capsys, tmp_path, gait):
    out = tmp_path / "out"
    out.mkdir()
    (out / "mine.txt").write_text("kept")
    assert main(["worst-case", "compass-gait", "--out", str(out)]) == 0
    captured = capsys.readouterr()
    expected = {"summary.txt", "worst-case.json", "extremes.json", "extremes.png", "mine.txt"}
    assert {path.name for path in out.iterdir()} == expected
    assert (out / "summary.txt").read_text() == captured.out
    loaded = carom.load(out / "extremes.json")
    assert loaded.problem == gait
    loaded.verify()
    report = json.loads((out / "worst-case.json").read_text())
    assert [each["reached"] for each in report["extremes"]] == loaded.reached.tolist()
    assert (out / "extremes.png").read_bytes().startswith(b"\x89PNG")


def test_without_matplotlib_all_but_the_figure_is_written(capsys, monkeypatch, tmp_path):
    no_matplotlib(monkeypatch)
    (tmp_path / "extremes.png").write_bytes(b"of an earlier run")
    arguments = ["worst-case", "rocking-block", "--out", str(tmp_path)]
    assert main(arguments) == 0
    assert "extremes.png is left out: carom.plots" in capsys.readouterr().err
    assert not (tmp_path / "extremes.png").exists()
    assert (tmp_path / "extremes.json").exists()


def test_a_terminal_is_told_what_takes_long(capsys, monkeypatch):
    monkeypatch.setattr(show, "DELAY", 0.0)
    on_a_terminal(monkeypatch, sys.stderr)
    arguments = ["worst-case", "disk-stack", "--direction", "A normal", *QUICK]
    assert main(arguments) == 0
    assert "worst-case" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "SCENE|FILE"),
        (["no-such-scene"], "no-such-scene"),
        (["no-such-file.json"], "no-such-file.json"),
        (["rocking-block", "--direction", "C normal"], "expected 'A normal', 'A tangential'"),
        (["rocking-block", "--direction", "A normal", "--direction", ""], "got ''"),
        (["rocking-block", "--direction", "A tangent 1"], "got 'A tangent 1'"),
        (["rocking-block", "--direction"], "'--direction' requires an argument"),
        (["rocking-block", "--max-seconds", "0"], "'--max-seconds': expected a number > 0"),
        (["rocking-block", "--max-seconds", "nan"], "--max-seconds"),
        (["rocking-block", "--seed", "-1"], "'--seed': expected an integer from 0"),
        (["rocking-block", "--budget", "1"], "No such option"),
        (["rocking-block", "--keyframe", "0"], "--keyframe: does not apply"),
    ],
)
def test_bad_input_is_one_line(capsys, arguments, words):
    assert words in read_error(capsys, ["worst-case", *arguments], 2)
