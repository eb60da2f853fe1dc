"""Completion, by asking bash what it would offer."""

import shutil
import subprocess
import sys

import pytest

import carom
from carom.cli import COMMANDS, main
from tests.cli.helpers import no_matplotlib, read_error

BASH = shutil.which("bash")


def script(capsys, shell):
    assert main(["completion", shell]) == 0
    return capsys.readouterr().out


@pytest.fixture
def offers(capsys, tmp_path):
    """Return what bash offers for the last of some words, in a folder with some files."""
    if BASH is None:
        pytest.skip("needs bash")
    content = script(capsys, "bash")
    for name in ("impact.json", "impact.npz", "notes.txt"):
        (tmp_path / name).write_text("")
    (tmp_path / "folder").mkdir()

    def ask(*words):
        typed = ["carom", *words]
        ask = (
            'shift 0; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _shtab_carom;'
            'printf "%s\\n" "${COMPREPLY[@]}"'
        )
        done = subprocess.run(
            [BASH, "--norc", "-c", f"{content}\n{ask}", "bash", *typed],
            capture_output=True,
            text=True,
            check=True,
            cwd=tmp_path,
        )
        return set(done.stdout.split())

    return ask


def test_commands(offers):
    assert offers("") == set(COMMANDS)
    assert offers("out") == {"outcomes"}


def test_options(offers):
    assert offers("outcomes", "ramone", "--se") == {"--seed", "--selection"}
    assert {"--json", "--quiet", "--debug", "--help"} <= offers("check", "--")


def test_choices(offers):
    assert offers("outcomes", "ramone", "--law", "routh") == {"routh", "routh-single"}
    assert offers("completion", "") == {"bash", "zsh", "fish"}


def test_scenes(offers):
    assert offers("simulate", "") == set(carom.scenes.names())
    assert offers("scenes", "z") == {"zeno-block"}


def test_exhibits(offers):
    assert offers("reproduce", "zeno-cycle", "routh") == {"routh-path"}


def test_exhibits_without_matplotlib(capsys, monkeypatch):
    for name in [name for name in sys.modules if name.startswith("carom.paper")]:
        monkeypatch.delitem(sys.modules, name)
    no_matplotlib(monkeypatch)
    assert "zeno-cycle" not in script(capsys, "bash")


def test_scenes_and_files(offers):
    files = {"impact.json", "impact.npz", "folder"}
    assert offers("outcomes", "") == set(carom.scenes.names()) | files
    assert offers("check", "--json", "ro") == {"rocking-block"}
    assert offers("check", "im") == {"impact.json", "impact.npz"}


def test_folders(offers):
    assert offers("outcomes", "ramone", "--out", "") == {"folder"}


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_know_the_same(capsys, shell):
    content = script(capsys, shell)
    for word in (*COMMANDS, *carom.scenes.names(), "samples", "anitescu-potra", "json", "npz"):
        assert word in content
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=content, text=True, check=True)


def test_unknown_shell(capsys):
    error = read_error(capsys, ["completion", "tcsh"], 2)
    assert "expected one of bash, zsh, fish, got 'tcsh'" in error
