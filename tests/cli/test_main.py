"""How carom starts and ends: exit codes, streams and errors of every kind."""

import json
import os
import re
import subprocess
import sys

import pytest

import carom
from carom.cli import main
from tests.cli.helpers import FEW, forget, interrupt, no_matplotlib, read_error, run


def raises(error):
    def fail(*_, **__):
        raise error

    return fail


class TestStart:
    @pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["outcomes", "--help"]])
    def test_quick_answers_import_nothing_heavy(self, arguments):
        code = (
            "import sys; from carom.cli import main; code = main(sys.argv[1:]);"
            "heavy = {'numpy', 'numba', 'scipy', 'matplotlib', 'rich'} & set(sys.modules);"
            "sys.exit(code or ', '.join(heavy) or 0)"
        )
        command = [sys.executable, "-c", code, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert "carom" in done.stdout

    def test_version(self, capsys):
        assert main(["--version"]) == 0
        assert capsys.readouterr().out == f"carom {carom.__version__}\n"

    def test_without_a_command_it_helps(self, capsys):
        assert main(["--help"]) == 0
        help_text = capsys.readouterr().out
        assert main([]) == 2
        assert capsys.readouterr() == ("", help_text)

    def test_runs_as_a_module(self):
        done = run("scenes", "--json")
        assert (done.returncode, done.stderr) == (0, "")
        rows = json.loads(done.stdout)["scenes"]
        assert [row["name"] for row in rows] == list(carom.scenes.names())


class TestExitCodes:
    """0 and 2 are met everywhere."""

    def test_1_not_resolved(self, capsys):
        arguments = ["outcomes", "rocking-block", *FEW, "--max-steps", "1", "--step", "1e-3"]
        error = read_error(capsys, [*arguments, "--law", "routh"], 1)
        assert "no sample ended" in error
        assert "raise max_steps" in error

    @pytest.mark.needs("ppl")
    def test_70_bug(self, capsys, monkeypatch):
        monkeypatch.setattr(carom.Sequential, "resolve", raises(ZeroDivisionError("oh no")))
        error = read_error(capsys, ["outcomes", "rocking-block", *FEW], 70)
        assert "ZeroDivisionError: oh no" in error
        assert "bug in carom" in error
        assert "--debug" in error

    def test_130_interrupted(self, capsys, monkeypatch):
        monkeypatch.setattr(carom.Sequential, "resolve", interrupt)
        assert main(["outcomes", "rocking-block", "--law", "sequential"]) == 130
        assert capsys.readouterr() == ("", "carom: interrupted\n")

    @pytest.mark.parametrize("arguments", [["scenes"], ["--help"]])
    def test_141_closed_pipe(self, arguments):
        command = [sys.executable, "-m", "carom", *arguments]
        # Buffered, as usual: a closed pipe is then met late.
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"}
        with subprocess.Popen(command, env=environment, **pipes) as process:
            process.stdout.close()
            assert process.stderr.read() == b""
        assert process.returncode == 141

    def test_all_are_explained(self, capsys):
        main(["--help"])
        out = capsys.readouterr().out
        listed = out.split("Exit codes:\n")[1].split("\n\n")[0]
        codes = re.findall(r"^  (\d+) ", listed, re.MULTILINE)
        assert codes == ["0", "1", "2", "70", "130", "141"]


class TestErrors:
    @pytest.mark.parametrize("place", [0, 1, 2])
    def test_debug_shows_the_traceback(self, capsys, place):
        arguments = ["outcomes", "roking-block"]
        arguments.insert(place, "--debug")
        assert main(arguments) == 2
        error = capsys.readouterr().err
        assert "Traceback" in error
        assert "UnknownScene" in error
        assert error.splitlines()[-1].startswith("carom: error: ")

    def test_debug_shows_where_a_bug_is(self, capsys, monkeypatch):
        monkeypatch.setattr(carom.Sequential, "resolve", raises(ZeroDivisionError("oh no")))
        assert main(["outcomes", "rocking-block", *FEW, "--debug"]) == 70
        assert "in fail\n" in capsys.readouterr().err

    @pytest.mark.needs("ppl")
    def test_memory_that_is_not_there(self, capsys, monkeypatch):
        monkeypatch.setattr(carom.Routh, "resolve", raises(MemoryError()))
        error = read_error(capsys, ["outcomes", "ramone", "--samples", "1_000_000_000"], 2)
        assert "not enough memory; lower --samples" in error

    def test_package_that_is_missing(self, capsys, monkeypatch):
        forget(monkeypatch, "paper")
        no_matplotlib(monkeypatch)
        error = read_error(capsys, ["reproduce", "--list"], 2)
        assert 'pip install "carom[plots,exact]"' in error

    def test_half_an_installation(self, capsys, monkeypatch):
        monkeypatch.setitem(sys.modules, "rich.table", None)
        error = read_error(capsys, ["scenes"], 2)
        assert "pip install rich" in error

    def test_nowhere_to_keep_compiled_code(self):
        """As with a package and a home that are read-only: works, with one line."""
        code = (
            "import sys, numba.core.caching as caching; from carom.cli import main\n"
            "def refuse(_): raise PermissionError\n"
            "caching._CacheLocator.ensure_cache_path = refuse\n"
            "sys.exit(main(['scenes', 'rocking-block']))"
        )
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0
        assert "rocking-block" in done.stdout
        (line,) = done.stderr.splitlines()
        assert line.startswith("carom: warning: compiled code cannot be kept")

    def test_warning_is_one_line(self):
        code = (
            "import sys, warnings, carom; from carom.cli import main;"
            "resolve = carom.Sequential.resolve;"
            "carom.Sequential.resolve = lambda law, x: warnings.warn('odd') or resolve(law, x);"
            "sys.exit(main(['outcomes', 'rocking-block', '--law', 'sequential']))"
        )
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "carom: warning: odd\n")

    @pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a full disk")
    def test_output_that_cannot_be_written(self):
        command = [sys.executable, "-m", "carom", "scenes"]
        with open("/dev/full", "w") as full:
            pipes = {"stdout": full, "stderr": subprocess.PIPE}
            done = subprocess.run(command, text=True, check=False, **pipes)
        assert (done.returncode, done.stderr) == (2, "carom: error: No space left on device\n")

    def test_output_that_is_closed(self, monkeypatch):
        monkeypatch.setattr(sys, "stdout", None)
        monkeypatch.setattr(sys, "stderr", None)
        assert main(["scenes"]) == 0
        assert main(["scene"]) == 2
        sys.stdout.close()
        sys.stderr.close()

    def test_characters_that_a_stream_lacks(self, monkeypatch):
        monkeypatch.setenv("PYTHONIOENCODING", "ascii")
        done = run("outcomes", "rocking-block", "--law", "sequential")
        assert (done.returncode, done.stderr) == (0, "")
        assert "  - A ? B\n" in done.stdout
