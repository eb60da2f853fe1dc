"""Examples run as a reader would run them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs_and_prints(path):
    run = subprocess.run(
        [sys.executable, path], capture_output=True, text=True, env=dict(os.environ), check=False
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip()


def test_readme_solves_the_readers_own_problem():
    """The Python block of the README runs as it stands."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    block = text.split("```python\n")[1].split("```")[0]
    scope = {}
    exec(compile(block, "README.md", "exec"), scope)
    assert scope["outcomes"].num_unfinished == 0


def test_readme_prints_the_exact_set(capsys):
    """The second block runs, and prints what the README says it does."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    block = text.split("```python\n")[2].split("```")[0]
    exec(compile(block, "README.md", "exec"), {})
    expected = text.split("```text\n")[1].split("```")[0]
    # The last note tells how far rounding moved v_pre, which is not the same everywhere.
    assert capsys.readouterr().out.splitlines()[:-1] == expected.splitlines()[:-1]


def test_readme_moves_a_block():
    """The third block runs, and its motions fan out."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    block = text.split("```python\n")[3].split("```")[0]
    scope = {}
    exec(compile(block, "README.md", "exec"), scope)
    assert scope["motion"].status == "finished"
    assert scope["motion"].impacts[0].contacts == ("A", "B")
    assert scope["motions"].num_finished == 20
    assert scope["motions"].spread([0.1]).max() > 1e-4


def test_readme_checks_a_walker():
    """The fourth block runs, and the walker's impact is what the README says."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    block = text.split("```python\n")[4].split("```")[0]
    scope = {}
    exec(compile(block, "README.md", "exec"), scope)
    report = scope["report"]
    assert len(report.statements) == 8
    assert report.worst.path.lambda_n.sum() == pytest.approx(report.worst.s)
