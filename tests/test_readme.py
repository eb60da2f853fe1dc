"""The README is true: its code runs in order, and prints what it says."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL)
MOST_LINES = 10


def run(*blocks):
    scope = {}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), scope)
    return scope


def test_own_problem_takes_ten_lines():
    lines = [line for line in BLOCKS[0].splitlines() if line.strip() not in ("", ")")]
    assert len(lines) <= MOST_LINES


@pytest.mark.needs("ppl")
def test_own_problem_and_its_questions(capsys):
    scope = run(*BLOCKS[:2])
    outcomes = scope["outcomes"]
    assert outcomes.is_complete
    assert not outcomes.contains([0, 0, 0])
    assert outcomes.support([0, 0, -1]) == pytest.approx(0.923, abs=5e-4)
    assert scope["samples"].num_unfinished == 0
    assert "every way in which the impact can end" in capsys.readouterr().out


def test_box_of_the_readme_is_uniform():
    """What is typed as a number follows from mass, width and height."""
    problem = run(BLOCKS[0])["problem"]
    mass, width, height = 2.0, 0.4, 1.0
    assert problem.M[2, 2] == pytest.approx(mass * (width**2 + height**2) / 12, abs=5e-4)
    assert abs(problem.J_n[:, 2]).tolist() == [width / 2] * 2
    assert problem.J_t[:, 0, 2].tolist() == [height / 2] * 2


@pytest.mark.engines
def test_lands_a_quadruped(capsys):
    landing = run(BLOCKS[0], BLOCKS[2])["landing"]
    assert landing.num_contacts == 4
    assert landing.num_tangents == 2
    assert "FL_FOOT" in capsys.readouterr().out


def test_prints_the_exact_set(capsys):
    run(BLOCKS[3])
    expected = TEXT.split("```text\n")[1].split("```")[0]
    assert capsys.readouterr().out == expected


def test_moves_a_block():
    scope = run(BLOCKS[4])
    assert scope["motion"].status == "finished"
    assert scope["motion"].impacts[0].contacts == ("A", "B")
    assert scope["motions"].num_finished == 20
    assert scope["motions"].spread([0.1]).max() > 1e-4


def test_checks_a_walker():
    report = run(BLOCKS[5])["report"]
    assert len(report.statements) == 8
    assert report.worst.path.lambda_n.sum() == pytest.approx(report.worst.s)


def test_all_blocks_are_tested():
    assert len(BLOCKS) == 6


def test_links_lead_somewhere():
    targets = re.findall(r"\]\(([^)#]+)[^)]*\)", TEXT)
    missing = [target for target in targets if not (ROOT / target).exists()]
    assert missing == []
    assert len(targets) > 15


def test_speeds_are_those_of_the_benchmark():
    """Every row of the README's tables of times has the numbers of benchmarks/results.md."""
    results = (ROOT / "benchmarks" / "results.md").read_text(encoding="utf-8")
    rows = [line for line in TEXT.splitlines() if line.startswith("|") and "µs |" in line]
    assert len(rows) == 5
    for row in rows:
        name, *cells = (cell.strip() for cell in row.strip("|").split("|"))
        times = [cell.removesuffix(" µs") for cell in cells if cell.endswith("µs")]
        assert f"| {name} | {' | '.join(times)} |" in results
