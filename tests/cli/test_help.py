"""Help teaches: it fits a terminal, and every example in it runs."""

import contextlib
import re
import shlex
from pathlib import Path

import pytest

from carom.cli import COMMANDS, group, main

HELPED = {"carom": group} | COMMANDS


def examples(command):
    """Return the example commands of an epilog, without what is said about them."""
    lists = re.findall(r"^(?:Examples|Try first):\n((?:  .*\n)+)", command.epilog, re.MULTILINE)
    return re.findall(r"^  (carom .*?)(?:  .*)?$", "".join(lists), re.MULTILINE)


@pytest.mark.parametrize("name", [name for name in HELPED if name != "explore"])
@pytest.mark.needs("matplotlib")
def test_examples_run(capsys, monkeypatch, tmp_path, name):
    lines = examples(HELPED[name])
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
    assert out.startswith(f"Usage: carom {name} ")
    assert "Examples:\n" in out
    for line in examples(COMMANDS[name]):
        assert f"\n  {line}" in out
    for option in COMMANDS[name].params:
        assert option.opts[0] in out or option.param_type_name == "argument"
    for flag in ("--quiet", "--debug"):
        assert flag in out
    assert main(["help", name]) == 0
    assert capsys.readouterr().out == out


def test_help_of_carom(capsys):
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    for name, command in COMMANDS.items():
        assert re.search(rf"^  {name} +{command.short_help}$", out, re.MULTILINE)
    assert main(["help"]) == 0
    assert capsys.readouterr().out == out


@pytest.mark.parametrize("columns", [60, 80])
@pytest.mark.parametrize("name", COMMANDS)
def test_help_fits_a_terminal(capsys, monkeypatch, columns, name):
    monkeypatch.setenv("COLUMNS", str(columns))
    assert main([name, "--help"]) == 0
    whole = [f"  {line}" for line in examples(COMMANDS[name])]
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if len(line) > columns and line not in whole] == []
