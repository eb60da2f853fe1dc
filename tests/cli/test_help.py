"""Help teaches: it fits a terminal, and every example in it runs."""

import contextlib
import shlex
import sys
from pathlib import Path

import pytest

from carom.cli import COMMANDS, main
from carom.cli.parser import EPILOG
from tests.cli.helpers import on_a_terminal

EPILOGS = {"carom": EPILOG} | {name: command.EPILOG for name, command in COMMANDS.items()}


def examples(epilog):
    """Return the commands in an epilog, which stand two blanks from the left."""
    return [line[2:] for line in epilog.splitlines() if line.startswith("  carom ")]


@pytest.mark.parametrize("name", EPILOGS)
def test_examples_run(capsys, monkeypatch, tmp_path, name):
    lines = examples(EPILOGS[name].split("read on:")[0])
    assert lines
    monkeypatch.chdir(tmp_path)
    for line in lines:
        command, _, file = line.partition(" > ")
        with contextlib.ExitStack() as stack:
            if file:
                output = stack.enter_context(Path(file).open("w", encoding="utf-8"))
                stack.enter_context(contextlib.redirect_stdout(output))
            assert main(shlex.split(command)[1:]) == 0, line
        captured = capsys.readouterr()
        assert captured.err == ""
        assert Path(file).stat().st_size if file else captured.out


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command(capsys, name):
    assert main([name, "--help"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"usage: carom {name} ")
    assert "examples:\n" in out
    for flag in ("--quiet", "--debug"):
        assert flag in out
    assert main(["help", name]) == 0
    assert capsys.readouterr().out == out


def test_help_of_carom(capsys):
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    for name, command in COMMANDS.items():
        assert f"  {name}" in out
        assert command.HELP in out
    assert main(["help"]) == 0
    assert capsys.readouterr().out == out


@pytest.mark.parametrize("name", COMMANDS)
def test_first_line_of_a_description_is_a_sentence(name):
    """Shells show it beside the command."""
    first = COMMANDS[name].DESCRIPTION.splitlines()[0]
    assert first.endswith(".")


@pytest.mark.parametrize("columns", [40, 80])
def test_help_fits_a_terminal(capsys, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    on_a_terminal(monkeypatch, sys.stdout)
    for name in COMMANDS:
        assert main([name, "--help"]) == 0
        out = capsys.readouterr().out
        # What has no blank cannot be broken.
        long = [line for line in out.splitlines() if len(line) > columns]
        assert not [line for line in long if " " in line.strip()]
        if columns == 80:
            assert all(f"  {line}\n" in out for line in examples(COMMANDS[name].EPILOG))
