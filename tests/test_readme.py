"""The README is true: its code runs in order and does what it says."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL)
BOX, ROBOT, MOTION, SWEEP, CHECK = BLOCKS
TWO_SCREENS = 60


def run(*blocks):
    scope = {}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), scope)
    return scope


def test_a_newcomer_gets_to_the_robot_on_two_screens():
    """The first heading that a newcomer may skip comes after the example and the robot."""
    lines = TEXT.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("## "))
    assert first <= 1.25 * TWO_SCREENS
    before = "\n".join(lines[:first])
    for part in ("make demo", "make test", BOX, ROBOT, "](docs/tutorial/index.md)", "![A block"):
        assert part in before


def test_the_first_example_runs_without_any_extra(capsys):
    scope = run(BOX)
    assert "left" in capsys.readouterr().out
    assert not scope["outcomes"].contains([0, 0, 0])


@pytest.mark.needs("ppl")
def test_the_first_example_says_what_the_comments_claim():
    outcomes = run(BOX)["outcomes"]
    assert outcomes.is_complete
    assert outcomes.support([0, 0, -1]) == pytest.approx(0.923, abs=5e-4)


def test_box_of_the_readme_is_uniform():
    """What is typed as a number follows from mass, width and height."""
    problem = run(BOX)["problem"]
    mass, width, height = 2.0, 0.4, 1.0
    assert problem.M[2, 2] == pytest.approx(mass * (width**2 + height**2) / 12, abs=5e-4)
    assert abs(problem.J_n[:, 2]).tolist() == [width / 2] * 2
    assert problem.J_t[:, 0, 2].tolist() == [height / 2] * 2


@pytest.mark.engines
def test_lands_a_quadruped(capsys):
    landing = run(BOX, ROBOT)["landing"]
    assert landing.num_contacts == 4
    assert landing.num_tangents == 2
    assert "FL_FOOT" in capsys.readouterr().out


def test_moves_a_block():
    scope = run("import carom", MOTION)
    assert scope["motion"].status == "finished"
    assert scope["motion"].impacts[0].contacts == ("A", "B")
    assert scope["motions"].num_finished == 20
    assert scope["motions"].spread([0.1]).max() > 1e-4


def test_sweeps_over_friction(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    bounds = run("import carom", SWEEP)["data"]["contact_bounds"]
    assert bounds.dims == ("mu", "contact", "component", "side")
    assert float(bounds.sel(component="normal", side="largest").min()) > 0.0


@pytest.mark.needs("ppl")
def test_checks_a_walker():
    report = run("import carom", CHECK)["report"]
    assert len(report.statements) == 8
    assert report.worst.path.lambda_n.sum() == pytest.approx(report.worst.s)


def test_links_lead_somewhere():
    targets = re.findall(r"\]\(([^)#]+)[^)]*\)", TEXT)
    missing = [target for target in targets if not (ROOT / target).exists()]
    assert missing == []
    assert len(targets) > 15


def table_rows(text: str, start: str) -> dict[str, list[str]]:
    """Return the cells of the table whose header starts so, by the first cell of each row."""
    lines = text[text.index(start) :].split("\n\n")[0].splitlines()[2:]
    rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines)
    return {first: rest for first, *rest in rows}


def test_speeds_are_those_of_the_benchmark():
    """The README's table of times is that of benchmarks/results.md with some columns left out."""
    results = (ROOT / "benchmarks" / "results.md").read_text(encoding="utf-8")
    measured = table_rows(results, "| impact | n | LCPs each")
    shown = table_rows(TEXT, "| impact | n | QuantEcon loop")
    assert shown.keys() == measured.keys()
    for impact, (n, _, loop, routh, _, _, _, _, *defaults) in measured.items():
        assert shown[impact] == [n, loop, routh, *defaults]
