"""carom check, as typed."""

import json

import numpy as np
import pytest

import carom
from carom.cli import main
from tests.cli.helpers import read_error, read_json, run


@pytest.fixture
def file(tmp_path):
    problem = carom.ImpactProblem(
        np.diag([1.0, 1.0]), [[1.0, 0.0], [-1.0, 0.0]], [[0.0, 1.0]] * 2, 0.5, [-1.0, 0.2]
    )
    path = tmp_path / "jam.json"
    problem.save(path)
    return path


def test_scene_prints_the_report_of_its_step(capsys):
    scene = carom.scenes.load("rocking-block")
    # Time enough: what fits in a budget is not the same twice.
    assert main(["check", "rocking-block", "--budget", "100"]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    expected = carom.check(scene.problem, step_impulse=scene.step_impulse, max_seconds=100)
    assert captured.out == f"{expected}\n"
    for statement in expected.statements:
        assert f"[{statement.source}]" in captured.out


def test_json(capsys):
    found = read_json(capsys, "check", "rocking-block")
    assert found["carom"] == carom.__version__
    assert found["source"] == "rocking-block"
    assert found["contacts"] == ["A", "B"]
    assert found["step_impulse"] == 0.3
    assert {row["verdict"] for row in found["statements"]} <= {"holds", "fails", "open"}
    assert all(row["source"] and row["lines"] for row in found["statements"])


def test_options_reach_the_report(capsys):
    found = read_json(
        capsys, "check", "rocking-block", "--step", "0.05", "--seed", "3", "--budget", "99"
    )
    assert found["step_impulse"] == 0.05
    problem = carom.scenes.load("rocking-block").problem
    expected = carom.check(problem, step_impulse=0.05, seed=3, max_seconds=99).json()
    assert found.items() >= json.loads(json.dumps(expected)).items()


def test_what_fails_is_no_error(capsys, file):
    """A report that says no is still a report."""
    assert main(["check", str(file)]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("fails     pointed friction cone")
    assert captured.err == ""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["no-such-scene"], "no-such-scene"),
        (["no-such-file.json"], "no-such-file.json"),
        (["rocking-block", "--step", "0"], "--step"),
        (["rocking-block", "--budget", "-1"], "--budget"),
        (["rocking-block", "--seed", "x"], "--seed"),
        (["rocking-block", "--unknown"], "--unknown"),
        ([], "SCENE|FILE"),
    ],
)
def test_bad_input_is_one_line(capsys, arguments, words):
    assert words in read_error(capsys, ["check", *arguments], 2)


def test_runs_as_a_module_and_stays_silent_on_errors(file):
    done = run("check", str(file), "--json")
    assert done.returncode == 0
    assert done.stderr == ""
    statements = json.loads(done.stdout)["statements"]
    assert statements[0]["verdict"] == "fails"
    assert np.sum(statements[0]["values"]["jamming"], axis=0)[0] == pytest.approx(1.0)
