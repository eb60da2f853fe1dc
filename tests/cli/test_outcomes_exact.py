import json
import sys
from dataclasses import replace

import numpy as np
import pytest

import carom
from carom.cli import main, outcomes
from tests.cli.helpers import FEW, read_error, read_json

pytestmark = [pytest.mark.needs("ppl")]

FILES = {"summary.txt", "outcomes.json", "contact_velocities.png", "exact.json"}


@pytest.fixture
def block():
    return carom.scenes.load("rocking-block")


class TestExact:
    def test_summary(self, capsys, block):
        assert main(["outcomes", "rocking-block", "--law", "exact"]) == 0
        captured = capsys.readouterr()
        assert captured.err == ""
        summary = carom.RouthExact().resolve(block.problem).summary()
        assert captured.out == f"rocking-block: {block.description}\n\n{summary}\n"

    def test_options_reach_the_law(self, capsys):
        arguments = ["--law", "exact", "--budget", "3.5", "--on-budget", "raise", "--seed", "4"]
        report = read_json(capsys, "outcomes", "rocking-block", *arguments)
        settings = report["laws"]["exact"]["settings"]
        assert settings["max_seconds"] == 3.5
        assert settings["on_budget"] == "raise"
        assert settings["seed"] == 4

    def test_default_budget(self, capsys):
        report = read_json(capsys, "outcomes", "rocking-block", "--law", "exact")
        settings = report["laws"]["exact"]["settings"]
        assert settings["max_seconds"] == carom.RouthExact().max_seconds
        assert settings["on_budget"] == "outer"

    def test_json_tells_what_the_set_is(self, capsys):
        report = read_json(capsys, "outcomes", "compass-gait", "--law", "exact")["laws"]["exact"]
        problem = carom.scenes.load("compass-gait").problem
        expected = carom.RouthExact().resolve(problem)
        assert report["is_complete"] is True
        assert report["outer_excess"] is None
        assert report["kinds"] == list(expected.kinds)
        assert report["notes"] == list(expected.notes)
        bounds = expected.contact_bounds()
        assert report["contacts"] == {
            name: {"normal": bounds[i, 0].tolist(), "tangential": bounds[i, 1:].tolist()}
            for i, name in enumerate(problem.contacts)
        }
        for written, polytope in zip(report["polytopes"], expected.polytopes, strict=True):
            assert written["kind"] == polytope.kind
            assert written["dimension"] == polytope.dimension
            assert written["vertices"] == polytope.vertices.tolist()

    def test_writes_the_set(self, capsys, tmp_path):
        arguments = ["outcomes", "compass-gait", "--law", "exact", "--out", str(tmp_path)]
        report = read_json(capsys, *arguments)
        assert {path.name for path in tmp_path.iterdir()} == FILES
        loaded = carom.load(tmp_path / "exact.json")
        vertices = [row["vertices"] for row in report["laws"]["exact"]["polytopes"]]
        assert [polytope.vertices.tolist() for polytope in loaded.polytopes] == vertices

    def test_outer_set_is_reported_as_one(self, capsys, tmp_path, monkeypatch):
        monkeypatch.setattr(outcomes, "_law", few_polyhedra(outcomes._law))
        arguments = ["outcomes", "compass-gait", "--law", "exact", "--out", str(tmp_path)]
        report = read_json(capsys, *arguments)["laws"]["exact"]
        assert report["is_complete"] is False
        assert np.shape(report["outer_excess"]) == (2, 2, 2)
        assert "outer set" in (tmp_path / "summary.txt").read_text()
        assert (tmp_path / "contact_velocities.png").read_bytes()[1:4] == b"PNG"

    def test_end_of_the_budget_can_be_a_failure(self, capsys, monkeypatch):
        monkeypatch.setattr(outcomes, "_law", few_polyhedra(outcomes._law))
        arguments = ["outcomes", "compass-gait", "--law", "exact", "--on-budget", "raise"]
        assert "budget" in read_error(capsys, arguments, 1)

    def test_without_pplpy_names_the_extra(self, capsys, monkeypatch):
        monkeypatch.setitem(sys.modules, "ppl", None)
        error = read_error(capsys, ["outcomes", "rocking-block", "--law", "exact"], 2)
        assert 'pip install "carom[exact]"' in error

    def test_without_pplpy_other_laws_answer(self, capsys, monkeypatch):
        monkeypatch.setitem(sys.modules, "ppl", None)
        assert main(["outcomes", "rocking-block", *FEW, "--json"]) == 0
        captured = capsys.readouterr()
        laws = ["routh", "anitescu-potra", "sequential"]
        assert list(json.loads(captured.out)["laws"]) == laws
        (line,) = captured.err.splitlines()
        assert line.startswith("carom: exact is left out")
        assert "carom[exact]" in line

    def test_is_not_tried_unasked_in_space_or_with_many_contacts(self, capsys, tmp_path):
        ball = carom.ImpactProblem(
            np.eye(3), [[0, 0, 1]], [[[1, 0, 0], [0, 1, 0]]], 0.2, [1.0, 0.5, -1.0]
        )
        m = outcomes.MOST_CONTACTS_TO_BE_EXACT + 1
        eye = np.eye(2 * m)
        heavy = carom.ImpactProblem(eye, eye[:m], eye[m:], 0.1, -np.ones(2 * m))
        for problem in (ball, heavy):
            problem.save(tmp_path / "problem.json")
            report = read_json(capsys, "outcomes", str(tmp_path / "problem.json"), *FEW)
            assert "exact" not in report["laws"]

    def test_choices_are_those_of_the_law(self):
        for choice in outcomes.ON_BUDGET:
            assert carom.RouthExact(on_budget=choice).on_budget == choice


def few_polyhedra(make_law):
    """Let an exact law's budget end at once."""

    def make(*arguments):
        return replace(make_law(*arguments), max_polyhedra=3, num_samples=200)

    return make
