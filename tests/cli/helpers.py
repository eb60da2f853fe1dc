"""The command line as a user meets it: run in this process, and what it prints."""

import json
import os
import subprocess
import sys

import pytest

from carom.cli import main

FEW = ["--samples", "200"]


def read_json(capsys, *arguments, code=0):
    """Run with --json, and return the one object on stdout, which holds no NaN."""
    assert main([*arguments, "--json"]) == code
    found = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert isinstance(found, dict)
    return found


def read_error(capsys, arguments, code):
    """Run, and return the one line on stderr."""
    assert main(arguments) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    (line,) = captured.err.splitlines()
    assert line.startswith("carom: error: ")
    return line


def run(*arguments, **settings):
    """Run in a process of its own."""
    command = [sys.executable, "-m", "carom", *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env=dict(os.environ), **settings
    )


def forget(monkeypatch, room):
    """Let a room of carom be imported anew, for one test."""
    import carom

    for name in [name for name in sys.modules if name.startswith(f"carom.{room}")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(carom.__dict__, room, raising=False)


def no_matplotlib(monkeypatch):
    """Let matplotlib seem not to be installed."""
    forget(monkeypatch, "plots")
    monkeypatch.setitem(sys.modules, "matplotlib", None)


def on_a_terminal(monkeypatch, *streams):
    """Let streams seem to be terminals."""
    for stream in streams:
        monkeypatch.setattr(stream, "isatty", lambda: True)


def interrupt(*_, **__):
    raise KeyboardInterrupt
