"""What is said beside the results."""

import json
import re
import sys
import time

import pytest

import carom
from carom.cli import main
from tests.cli.helpers import FEW, on_a_terminal


class TestProgress:
    def test_bar_on_a_terminal_counts_samples(self, capsys, monkeypatch):
        monkeypatch.setattr("carom.cli.show.DELAY", 0.0)
        on_a_terminal(monkeypatch, sys.stderr)
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setattr(carom.Routh, "resolve", slowly(carom.Routh.resolve))
        assert main(["outcomes", "rocking-block", *FEW, "--law", "routh", "--json"]) == 0
        captured = capsys.readouterr()
        json.loads(captured.out)
        assert "routh (kernels are compiled once, on first use)" in captured.err

    @pytest.mark.needs("ppl")
    def test_exact_law_shows_what_it_does(self, capsys, monkeypatch):
        monkeypatch.setattr("carom.cli.show.DELAY", 0.0)
        on_a_terminal(monkeypatch, sys.stderr)
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setattr(carom.RouthExact, "resolve", slowly(carom.RouthExact.resolve))
        assert main(["outcomes", "rocking-block", "--law", "exact", "--json"]) == 0
        captured = capsys.readouterr()
        json.loads(captured.out)
        assert "exact (follows every order of events)" in captured.err
        assert "compiled" not in captured.err

    def test_nothing_without_a_terminal(self, capsys, monkeypatch):
        monkeypatch.setattr("carom.cli.show.DELAY", 0.0)
        monkeypatch.setattr(carom.Routh, "resolve", slowly(carom.Routh.resolve))
        assert main(["outcomes", "rocking-block", *FEW, "--law", "routh"]) == 0
        assert capsys.readouterr().err == ""

    def test_quiet_leaves_results_and_errors(self, capsys, monkeypatch, tmp_path):
        monkeypatch.setattr("carom.cli.show.DELAY", 0.0)
        monkeypatch.setenv("FORCE_COLOR", "1")
        on_a_terminal(monkeypatch, sys.stderr)
        monkeypatch.setattr(carom.Routh, "resolve", slowly(carom.Routh.resolve))
        monkeypatch.setitem(sys.modules, "ppl", None)
        arguments = ["outcomes", "rocking-block", *FEW, "--out", str(tmp_path)]
        assert main(arguments) == 0
        loud = capsys.readouterr()
        for place in (0, len(arguments)):
            assert main([*arguments[:place], "--quiet", *arguments[place:]]) == 0
            assert capsys.readouterr() == (loud.out, "")
        assert "exact is left out" in loud.err
        assert main(["outcomes", "roking-block", "--quiet"]) == 2
        assert "no scene is named" in capsys.readouterr().err
        assert main(arguments) == 0
        assert capsys.readouterr().err != ""

    def test_no_color(self, capsys, monkeypatch):
        monkeypatch.setattr("carom.cli.show.DELAY", 0.0)
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setenv("NO_COLOR", "1")
        on_a_terminal(monkeypatch, sys.stderr)
        monkeypatch.setattr(carom.Routh, "resolve", slowly(carom.Routh.resolve))
        assert main(["outcomes", "rocking-block", *FEW, "--law", "routh"]) == 0
        error = capsys.readouterr().err
        assert "routh" in error
        # Colours are numbers from 30 on between these; 1 and 2 are bold and faint.
        assert not re.search(r"\x1b\[[\d;]*[34]\d[\d;]*m", error)


def slowly(function):
    def slow(*arguments):
        time.sleep(0.3)
        return function(*arguments)

    return slow
