"""The command `explore`: its address, what it opens, what it refuses."""

import re
from dataclasses import replace

import pytest

import carom
from carom.cli import main
from carom.cli.explore import command
from tests.cli.test_help import examples

pytestmark = pytest.mark.needs("websockets")


@pytest.fixture
def opened(monkeypatch):
    """Let Ctrl-C come as soon as the server runs; return what would have been opened."""
    found = []

    async def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr("webbrowser.open", found.append)
    run = pytest.importorskip("carom.explorer.run")
    monkeypatch.setattr(run, "until_interrupted", interrupted)
    return found


def test_examples_run(capsys, opened):
    for line in examples(command):
        assert main(line.split()[1:]) == 0
    assert len(opened) == len(capsys.readouterr().out.splitlines()) == len(examples(command))


def test_the_first_line_is_the_address_with_a_random_token(capsys, opened):
    for _ in range(2):
        assert main(["explore", "rocking-block", "--no-open"]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{20,}", first)
    assert first.partition("token=")[2] != second.partition("token=")[2]
    assert opened == []


def test_the_token_and_the_port_can_be_given(capsys, opened, monkeypatch):
    monkeypatch.setenv("CAROM_EXPLORE_TOKEN", "mine")
    assert main(["explore", "--no-open"]) == 0
    assert capsys.readouterr().out.strip().endswith("/?token=mine")
    assert opened == []


def test_other_machines_are_let_in_with_a_warning_only(capsys, opened):
    assert main(["explore", "rocking-block", "--no-open", "--host", "0.0.0.0"]) == 0
    assert "warning: listening on 0.0.0.0" in capsys.readouterr().err
    assert opened == []


def test_a_file_and_changes(capsys, opened, tmp_path):
    file = tmp_path / "impact.json"
    carom.scenes.load("rocking-block").problem.save(file)
    assert main(["explore", str(file), "--friction", "A=0.3", "--no-open"]) == 0
    assert capsys.readouterr().err == ""
    assert opened == []


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["rocking-blok"], "no scene is named"),
        (["missing.json"], "missing.json"),
        (["rocking-block", "--set", "wings=2"], "no parameter 'wings'"),
        (["rocking-block", "--set", "width"], "as in width=0.7"),
        (["rocking-block", "--friction", "Z=1"], "no contact 'Z'"),
        (["rocking-block", "--v-pre", "1,2"], "v_pre"),
        (["rocking-block", "--save", "page.html"], "--save"),
        (["rocking-block", "--port", "70000"], "port"),
    ],
)
def test_refusals_are_one_line(capsys, opened, words, reason):
    assert main(["explore", *words]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert reason in captured.err
    assert opened == []


@pytest.mark.needs("ppl")
def test_changes_apply_to_outcomes(capsys):
    import json

    words = ["box-wall", "--set", "tilt=0.4", "--friction", "A=0.5", "--v-pre=0.5,-0.1,0"]
    assert main(["outcomes", *words, "--law", "exact", "--json"]) == 0
    law = json.loads(capsys.readouterr().out)["laws"]["exact"]
    wall = carom.scenes.load("box-wall", tilt=0.4).problem
    changed = replace(wall, mu=[0.5, 1.0], v_pre=[0.5, -0.1, 0.0])
    expected = carom.RouthExact().resolve(changed).contact_bounds()
    assert [own["normal"] for own in law["contacts"].values()] == expected[:, 0].tolist()


def test_changes_do_not_apply_to_robots(capsys, tmp_path):
    file = tmp_path / "robot.xml"
    file.touch()
    assert main(["outcomes", "--mjcf", str(file), "--friction", "A=1"]) == 2
    assert "--friction: does not apply to --mjcf" in capsys.readouterr().err
