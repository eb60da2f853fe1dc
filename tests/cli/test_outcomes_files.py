import dataclasses
import json
import os
import signal
import subprocess
import sys
import time
from functools import partial

import numpy as np
import pytest

import carom
from carom.cli import main
from tests.cli.helpers import FEW, interrupt, no_matplotlib, on_a_terminal, read_json

pytestmark = [pytest.mark.needs("matplotlib"), pytest.mark.needs("ppl")]

SETS = {"routh.npz", "exact.json", "anitescu-potra.json", "sequential.json"}
FILES = {"summary.txt", "outcomes.json", "contact_velocities.png"} | SETS


@pytest.fixture
def block():
    return carom.scenes.load("rocking-block")


class TestOut:
    def test_writes_all_files(self, capsys, tmp_path, block):
        folder = tmp_path / "new" / "folder"
        assert main(["outcomes", "rocking-block", *FEW, "--out", str(folder)]) == 0
        printed = capsys.readouterr().out
        assert {path.name for path in folder.iterdir()} == FILES
        assert (folder / "summary.txt").read_text() == printed
        report = json.loads((folder / "outcomes.json").read_text())
        assert report == read_json(capsys, "outcomes", "rocking-block", *FEW)
        assert (folder / "contact_velocities.png").read_bytes()[1:4] == b"PNG"
        law = carom.Routh(num_samples=200)
        expected = law.resolve(block.problem)
        with np.load(folder / "routh.npz", allow_pickle=False) as arrays:
            for field in ("v_post", "impulse_n", "impulse_t", "num_steps", "v_unfinished"):
                np.testing.assert_array_equal(arrays[field], getattr(expected, field))
            np.testing.assert_array_equal(arrays["problem.J_t"], block.problem.J_t)
        assert carom.load(folder / "routh.npz").problem == block.problem
        assert carom.load(folder / "sequential.json").labels == ("A → B", "B → A")

    def test_files_of_an_earlier_run_are_removed(self, capsys, tmp_path):
        """Else the exact set of another impact would be taken for that of this one."""
        (tmp_path / "mine.txt").write_text("kept")
        assert main(["outcomes", "rocking-block", *FEW, "--out", str(tmp_path)]) == 0
        arguments = ["outcomes", "box-wall", *FEW, "--law", "routh", "--out", str(tmp_path)]
        assert main(arguments) == 0
        expected = FILES - SETS | {"routh.npz", "mine.txt"}
        assert {path.name for path in tmp_path.iterdir()} == expected

    def test_names_that_look_like_formulas(self, capsys, tmp_path, block):
        odd = dataclasses.replace(block.problem, contacts=(r"$\frac{1}{2$", "[B_1^"))
        odd.save(tmp_path / "odd.json")
        out = tmp_path / "out"
        assert main(["outcomes", str(tmp_path / "odd.json"), *FEW, "--out", str(out)]) == 0
        assert {path.name for path in out.iterdir()} == FILES

    def test_figure_that_fails_costs_no_other_file(self, capsys, tmp_path, monkeypatch):
        def fail(*_, **__):
            raise ZeroDivisionError("oh no")

        monkeypatch.setattr("carom.plots.outcomes_overview", fail)
        (tmp_path / "contact_velocities.png").write_text("of an earlier run")
        assert main(["outcomes", "rocking-block", *FEW, "--out", str(tmp_path)]) == 70
        captured = capsys.readouterr()
        assert "Routh, exact motions" in captured.out
        (line,) = captured.err.splitlines()
        assert "not written: contact_velocities.png: ZeroDivisionError: oh no" in line
        assert {path.name for path in tmp_path.iterdir()} == FILES - {"contact_velocities.png"}

    def test_without_matplotlib_says_how_to_get_a_figure(self, capsys, tmp_path, monkeypatch):
        no_matplotlib(monkeypatch)
        assert main(["outcomes", "rocking-block", *FEW, "--out", str(tmp_path)]) == 0
        assert {path.name for path in tmp_path.iterdir()} == FILES - {"contact_velocities.png"}
        assert 'pip install "carom[plots]"' in capsys.readouterr().err

    def test_files_are_named_on_a_terminal(self, capsys, monkeypatch, tmp_path):
        # No bar, however long it takes.
        monkeypatch.setattr("carom.cli.show.DELAY", 600.0)
        on_a_terminal(monkeypatch, sys.stderr)
        arguments = ["outcomes", "rocking-block", "--law", "sequential", "--out", str(tmp_path)]
        assert main(arguments) == 0
        words, folder = capsys.readouterr().err.split(" to ")
        assert folder == f"{tmp_path}\n"
        names = words.removeprefix("carom: wrote ").split(", ")
        assert sorted(names) == sorted(path.name for path in tmp_path.iterdir())

    def test_interrupted_law_leaves_no_file(self, capsys, tmp_path, monkeypatch):
        monkeypatch.setattr(carom.Sequential, "resolve", interrupt)
        folder = tmp_path / "out"
        assert main(["outcomes", "rocking-block", *FEW, "--out", str(folder)]) == 130
        assert capsys.readouterr() == ("", "carom: interrupted\n")
        assert list(tmp_path.iterdir()) == []

    def test_interrupted_writing_leaves_whole_files_only(self, tmp_path, monkeypatch):
        (tmp_path / "outcomes.json").write_bytes(b"old")
        replace, calls = os.replace, []

        def second_is_interrupted(*arguments):
            calls.append(arguments)
            if len(calls) == 2:
                raise KeyboardInterrupt
            replace(*arguments)

        monkeypatch.setattr(os, "replace", second_is_interrupted)
        assert main(["outcomes", "rocking-block", *FEW, "--out", str(tmp_path)]) == 130
        assert {path.name for path in tmp_path.iterdir()} == {"summary.txt", "outcomes.json"}
        assert (tmp_path / "outcomes.json").read_bytes() == b"old"

    @pytest.mark.skipif(os.name == "nt", reason="signals are others there")
    def test_real_interrupt_ends_a_long_run(self, tmp_path):
        code = (
            "import sys, carom; from carom.cli import main; resolve = carom.Routh.resolve;"
            "carom.Routh.resolve = lambda *both: print('begun', flush=True) or resolve(*both);"
            "sys.exit(main(sys.argv[1:]))"
        )
        command = [sys.executable, "-c", code, "outcomes", "disk-stack", "--law", "routh"]
        command += ["--threads", "1", "--samples", "10_000_000", "--out", str(tmp_path / "out")]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        # What runs in the background of a shell ignores interrupts, and so would what it starts.
        heeds = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
        with subprocess.Popen(command, preexec_fn=heeds, **pipes) as process:
            assert process.stdout.readline() == b"begun\n"
            time.sleep(1.0)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
        assert process.returncode == 130
        assert (out, err) == (b"", b"carom: interrupted\n")
        assert list(tmp_path.iterdir()) == []
