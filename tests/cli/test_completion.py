"""Completion, by asking as a shell does, and the scripts that make shells ask."""

import shutil
import subprocess

import pytest

import carom
from carom.cli import COMMANDS, main
from tests.cli.helpers import forget, no_matplotlib, read_error


@pytest.fixture
def offers(capsys, monkeypatch, tmp_path):
    """Return what is offered for the last of some words, in a folder with some files."""
    for name in ("impact.json", "impact.npz", "notes.txt", "zeno.json"):
        (tmp_path / name).write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("_CAROM_COMPLETE", "bash_complete")

    def ask(*words):
        monkeypatch.setenv("COMP_WORDS", " ".join(["carom", *words]))
        monkeypatch.setenv("COMP_CWORD", str(len(words)))
        assert main([]) == 0
        return {line.removeprefix("plain,") for line in capsys.readouterr().out.split()}

    return ask


def test_commands(offers):
    assert offers("") == set(COMMANDS)
    assert offers("out") == {"outcomes"}


def test_options(offers):
    assert offers("outcomes", "ramone", "--se") == {"--seed", "--selection", "--set"}
    assert {"--json", "--quiet", "--debug", "--help"} <= offers("check", "--")


def test_choices(offers):
    assert offers("outcomes", "ramone", "--law", "routh") == {"routh", "routh-single"}
    assert offers("completion", "") == {"bash", "zsh", "fish"}


def test_scenes(offers):
    assert offers("simulate", "") == set(carom.scenes.names())
    assert offers("scenes", "z") == {"zeno-block"}


@pytest.mark.needs("matplotlib")
def test_exhibits(offers):
    assert offers("reproduce", "zeno-cycle", "routh") == {"routh-path"}


def test_exhibits_without_matplotlib(offers, monkeypatch):
    forget(monkeypatch, "paper")
    no_matplotlib(monkeypatch)
    assert offers("reproduce", "zeno") == set()


def test_scenes_and_files(offers):
    files = {"impact.json", "impact.npz", "zeno.json"}
    assert offers("outcomes", "") == set(carom.scenes.names()) | files
    assert offers("check", "--json", "ze") == {"zeno-block", "zeno.json"}
    assert offers("check", "im") == {"file,im"}


def test_folders(offers):
    assert offers("outcomes", "ramone", "--out", "fol") == {"dir,fol"}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_script_is_one_that_the_shell_reads(capsys, shell):
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert f"_CAROM_COMPLETE={shell}_complete" in script
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=script, text=True, check=True)


def test_unknown_shell(capsys):
    error = read_error(capsys, ["completion", "tcsh"], 2)
    assert "'tcsh' is not one of 'bash', 'zsh', 'fish'" in error
