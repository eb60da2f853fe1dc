"""carom reproduce: what it prints, how it is interrupted, what it refuses."""

import json
import sys

import pytest

from carom.cli import main
from tests.cli.helpers import forget

pytestmark = [pytest.mark.needs("matplotlib"), pytest.mark.needs("ppl")]

CHEAP = ("routh-path", "parameters")


def test_lists_names_and_places(capsys):
    assert main(["reproduce", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 20
    name, place = lines[1].split(maxsplit=1)
    assert name == "rocking-block-outcomes"
    assert place.startswith("Figure 1 (fig:phone): ")


def test_lists_as_json(capsys):
    assert main(["reproduce", "--list", "--json"]) == 0
    exhibits = json.loads(capsys.readouterr().out)["exhibits"]
    assert {"name", "place", "title"} == set(exhibits[0])


def test_makes_what_is_named_and_keeps_it(tmp_path, capsys):
    arguments = ["reproduce", *CHEAP, "--quick", "--out", str(tmp_path)]
    assert main(arguments) == 0
    out = capsys.readouterr().out
    assert "3 of 3 sentences agree" in out
    assert f"page: {tmp_path / 'index.html'}" in out
    assert (tmp_path / "index.html").is_file()
    assert main([*arguments, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [exhibit["was_there"] for exhibit in found["exhibits"]] == [True, True]
    assert found["exhibits"][0]["findings"][0]["agrees"] is True


def test_says_that_an_interrupted_run_can_be_taken_up(tmp_path, capsys, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("carom.paper.run.keep", interrupt)
    assert main(["reproduce", "routh-path", "--out", str(tmp_path)]) == 130
    assert "the same command goes on from there" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["routh-pth"], "did you mean 'routh-path'"),
        (["routh-path", "--out", __file__], "is a file"),
    ],
)
def test_refuses_in_one_line(arguments, words, capsys):
    assert main(["reproduce", *arguments]) == 2
    err = capsys.readouterr().err
    assert words in err
    assert err.count("\n") == 1


def test_names_the_extras_that_are_missing(capsys, monkeypatch):
    forget(monkeypatch, "paper")
    monkeypatch.setitem(sys.modules, "ppl", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    assert main(["reproduce", "--list"]) == 2
    assert 'pip install "carom[plots,exact]"' in capsys.readouterr().err
