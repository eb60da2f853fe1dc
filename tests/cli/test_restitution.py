"""Restitution on the command line: by contact or for all, of scenes, files and robots."""

import click
import numpy as np
import pytest

import carom
from carom.cli import main
from carom.cli.impact import load_impact, takes_an_impact
from tests.cli.test_robots import ARM, BLOCK, TABLE

FIELDS = ("M", "J_n", "J_t", "mu", "v_pre")


def target(*words):
    """Return what the arguments of a command pose."""

    @click.command()
    @takes_an_impact
    def command(target, **given):
        return load_impact(target, given)

    return command.main([str(word) for word in words], standalone_mode=False)


@pytest.fixture(params=["npz", "json"])
def file(request, tmp_path):
    """Return a file of the rocking block, written without carom's help."""
    problem = carom.scenes.load("rocking-block").problem
    path = tmp_path / f"block.{request.param}"
    arrays = {name: getattr(problem, name) for name in FIELDS} | {"restitution": [0.25, 0.5]}
    if request.param == "npz":
        np.savez(path, **arrays)
    else:
        pairs = (f'"{key}": {np.asarray(x).tolist()}' for key, x in arrays.items())
        path.write_text("{" + ", ".join(pairs) + "}")
    return path


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], [0.0, 0.0]),
        (["--restitution", "0.5"], [0.5, 0.5]),
        (["--restitution", "B=0.25"], [0.0, 0.25]),
        (["--restitution", "B=0.25", "--restitution", "0.75"], [0.75, 0.25]),
        (["--set", "restitution=0.5", "--restitution", "A=1"], [1.0, 0.5]),
    ],
)
def test_scenes_bounce_as_asked(words, expected):
    found = target("rocking-block", *words)
    assert found.problem.restitution.tolist() == expected
    assert found.scene.system.restitution.tolist() == expected


def test_files_have_their_own_restitution_unless_asked_otherwise(file):
    assert target(file).problem.restitution.tolist() == [0.25, 0.5]
    assert target(file, "--restitution", "A=1").problem.restitution.tolist() == [1.0, 0.5]
    assert target(file, "--restitution", "0").problem.restitution.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("number", ["[0.5, 1.5]", '"hard"', "[0.5]"])
def test_bad_restitution_in_a_file_is_told(tmp_path, number):
    problem = carom.scenes.load("rocking-block").problem
    rows = (f'"{name}": {getattr(problem, name).tolist()}' for name in FIELDS)
    path = tmp_path / "bad.json"
    path.write_text("{" + ", ".join([*rows, f'"restitution": {number}']) + "}")
    with pytest.raises(carom.InvalidFile, match="restitution: expected"):
        carom.load(path)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--restitution", "Z=0.5"], "there is no contact 'Z'"),
        (["--restitution", "A=1.5"], "restitution: expected numbers from 0 to 1, got 1.5"),
        (["--restitution", "high"], "expected a number, or a contact and a number as in A=0.5"),
        (["--restitution", "nan"], "expected a number, or a contact and a number as in A=0.5"),
    ],
)
@pytest.mark.parametrize("command", ["outcomes", "check", "worst-case"])
def test_refusals_are_one_line(capsys, command, words, reason):
    assert main([command, "rocking-block", *words]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert reason in captured.err


@pytest.mark.engines
def test_robots_bounce_as_asked(tmp_path):
    (mjcf := tmp_path / "block.xml").write_text(BLOCK)
    (urdf := tmp_path / "table.urdf").write_text(TABLE)
    block = ["--mjcf", mjcf, "--qvel", "0,-1,0"]
    assert not target(*block).problem.bounces
    assert target(*block, "--restitution", "0.5").problem.restitution.tolist() == [0.5, 0.5]
    first, _ = target(*block).problem.contacts
    found = target(*block, "--restitution", f"{first}=0.5")
    # The corner behind it does not bounce, and is no copy of it any more.
    assert found.problem.restitution.tolist() == [0.5, 0.0, 0.0]
    system, _ = found.robot
    assert system.restitution[system.contacts.index(first)] == 0.5
    table = ["--urdf", urdf, "--feet", "top", "--mu", "1", "--stand"]
    assert target(*table, "--restitution", "0.25").problem.restitution.tolist() == [0.25]
    assert target(*table, "--restitution", "top=0.5").problem.restitution.tolist() == [0.5]


@pytest.mark.engines
def test_a_number_for_all_is_one_for_bodies(tmp_path):
    """A limit bounces if it is named."""
    (urdf := tmp_path / "arm.urdf").write_text(ARM)
    arm = ["--urdf", urdf, "--feet", "tip", "--mu", "1", "--fixed-base", "--qpos", "0", "--qvel"]
    for given, expected in (("0.5", 0.0), ("hinge (low)=0.5", 0.5)):
        found = target(*arm, "-1", "--restitution", given).problem
        assert (found.contacts, found.restitution.tolist()) == (("hinge (low)",), [expected])
