import json

import numpy as np
import pytest

import carom
from carom import stepping
from carom.cli import main, outcomes
from tests.cli.helpers import FEW, read_json
from tests.reference.ladder import ladder


@pytest.fixture
def block():
    return carom.scenes.load("rocking-block")


class TestLaws:
    @pytest.mark.needs("ppl")
    def test_default_is_every_law_that_applies(self, capsys, block):
        assert main(["outcomes", "rocking-block", *FEW]) == 0
        captured = capsys.readouterr()
        assert captured.err == ""
        expected = [
            carom.Routh(num_samples=200),
            carom.RouthExact(),
            carom.AnitescuPotra(),
            carom.Sequential(),
        ]
        title, *summaries, beside = captured.out.rstrip("\n").split("\n\n")
        assert title == f"rocking-block: {block.description}"
        assert summaries == [law.resolve(block.problem).summary() for law in expected]
        assert beside == "Samples of routh lie in the exact set."

    def test_settings_of_the_scene_are_defaults(self, monkeypatch):
        scene = carom.scenes.load("box-wall")
        monkeypatch.setattr(carom.Routh, "resolve", no_sample_ends)
        report = {}
        monkeypatch.setattr(
            outcomes, "_law", spy(outcomes._law, lambda law: report.setdefault("law", law))
        )
        assert main(["outcomes", "box-wall", "--law", "routh"]) == 1
        law = report.pop("law")
        assert law.num_samples == scene.num_samples
        assert not law.takes_steps
        # Options of steps select the paper's.
        assert main(["outcomes", "box-wall", "--law", "routh", "--draw", "uniform"]) == 1
        assert report["law"].step_impulse == scene.step_impulse

    def test_options_reach_the_law(self, capsys, block):
        arguments = "--samples 64 --step 0.05 --max-steps 7 --seed 3 --draw uniform"
        more = "--selection lemke --threads 1 --law routh"
        options = f"{arguments} {more}".split()
        report = read_json(capsys, "outcomes", "rocking-block", *options, code=1)
        assert report["laws"]["routh"]["settings"] == {
            "num_samples": 64,
            "step_impulse": 0.05,
            "max_steps": 7,
            "seed": 3,
            "extremes": 0.25,
            "draw": "uniform",
            "selection": "lemke",
            "epsilon": None,
            "until": None,
            "norm": "contact",
            "max_samples": 2**22,
        }
        law = carom.Routh(64, 0.05, 7, 3, draw="uniform", selection="lemke")
        expected = law.resolve(block.problem)
        assert report["laws"]["routh"]["num_unfinished"] == expected.num_unfinished > 0
        bounds = [report["laws"]["routh"]["contacts"][name]["normal"] for name in "AB"]
        assert bounds == expected.contact_bounds()[:, 0].tolist()

    def test_order_of_the_contacts(self, capsys):
        report = read_json(
            capsys, "outcomes", "rocking-block", "--law", "sequential", "--order", "B, A"
        )
        assert [end["label"] for end in report["laws"]["sequential"]["outcomes"]] == ["B → A"]

    def test_choices_are_those_of_the_law(self):
        assert set(outcomes.DRAWS) == set(stepping.DRAWS)
        assert set(outcomes.SELECTIONS) == set(stepping.SELECTIONS)
        block = carom.scenes.load("rocking-block").problem
        named, first = (carom.Routh(9, 0.05, draw=draw) for draw in (None, outcomes.DRAWS[0]))
        assert named.resolve(block).v_post.tobytes() == first.resolve(block).v_post.tobytes()

    @pytest.mark.needs("ppl")
    def test_one_contact_is_also_resolved_in_closed_form(self, capsys, tmp_path):
        ball = carom.ImpactProblem(np.eye(2), [[0, 1]], [[1, 0]], 0.2, [1.0, -1.0])
        ball.save(tmp_path / "ball.json")
        report = read_json(capsys, "outcomes", str(tmp_path / "ball.json"), *FEW)
        laws = ["routh", "exact", "anitescu-potra", "sequential", "routh-single"]
        assert list(report["laws"]) == laws
        assert report["laws"]["routh-single"]["contacts"]["A"]["tangential"] == [
            [pytest.approx(0.8), pytest.approx(0.8)]
        ]

    def test_many_contacts_are_not_ordered_unasked(self, capsys, tmp_path):
        m = outcomes.MOST_CONTACTS_TO_ORDER + 1
        heavy = carom.ImpactProblem(
            np.eye(2 * m), np.eye(2 * m)[:m], np.eye(2 * m)[m:], 0.1, -np.ones(2 * m)
        )
        heavy.save(tmp_path / "heavy.npz")
        arguments = ["outcomes", str(tmp_path / "heavy.npz"), "--samples", "4", "--max-steps", "50"]
        assert main([*arguments, "--json"]) == 0
        captured = capsys.readouterr()
        assert "sequential" not in json.loads(captured.out)["laws"]
        assert "5,040 orders; name one with --order" in captured.err
        order = ",".join(heavy.contacts)
        assert "sequential" in read_json(capsys, *arguments, "--order", order)["laws"]


class TestReport:
    def test_json_tells_what_the_set_is(self, capsys):
        report = read_json(capsys, "outcomes", "compass-gait", *FEW)
        problem = carom.scenes.load("compass-gait").problem
        law = carom.Routh(num_samples=200)
        expected = law.resolve(problem)
        assert report["carom"] == carom.__version__
        assert report["not_resolved"] == {}
        assert report["problem"]["contacts"] == ["A", "B"]
        before = report["problem"]["kinetic_energy"]
        assert before == problem.kinetic_energy(problem.v_pre)
        sampled = report["laws"]["routh"]
        assert sampled["num_outcomes"] == len(expected)
        assert sampled["num_outcomes"] + sampled["num_unfinished"] == 200
        assert sampled["is_complete"] is False
        sticks, slides, lifts = expected.contact_states
        for i, name in enumerate(("A", "B")):
            contact = sampled["contacts"][name]
            assert contact["normal"] == expected.contact_bounds()[i, 0].tolist()
            assert contact["tangential"] == expected.contact_bounds()[i, 1:].tolist()
            shares = [contact[word] for word in ("sticks", "slides", "lifts")]
            assert shares == [kind[:, i].mean() for kind in (sticks, slides, lifts)]
        assert sampled["steps"]["max"] == expected.num_steps.max()
        energy = problem.kinetic_energy(expected.v_post) / before
        assert sampled["energy_kept"] == [energy.min(), energy.max()]
        simultaneous = report["laws"]["anitescu-potra"]["outcomes"]
        ends = {end["label"]: end["v_post"] for end in simultaneous}
        assert set(ends) == {"A sticks, B lifts", "A sticks, B slides", "A sticks, B sticks"}
        np.testing.assert_allclose(ends["A sticks, B sticks"], 0.0, atol=1e-12)

    @pytest.mark.needs("ppl")
    def test_impact_without_approach_is_called_so(self, capsys, tmp_path):
        parting = carom.ImpactProblem(np.eye(2), [[0, 1]], [[1, 0]], 0.2, [0.0, 0.0])
        parting.save(tmp_path / "still.json")
        assert main(["outcomes", str(tmp_path / "still.json"), *FEW]) == 0
        out = capsys.readouterr().out
        assert out.count("\n  no contact approaches: the velocity stays as it is\n") == 5
        assert "Routh, exact motions: 1 outcome (complete)" in out
        report = read_json(capsys, "outcomes", str(tmp_path / "still.json"), *FEW)
        assert report["laws"]["routh"]["energy_kept"] is None


@pytest.mark.needs("ppl")
def test_it_is_told_how_far_samples_leave_the_exact_set(capsys, tmp_path):
    ladder().save(tmp_path / "ladder.json")
    command = ["outcomes", str(tmp_path / "ladder.json"), "--samples", "2000"]
    assert main([*command, "--draw", "persistent"]) == 0
    out = capsys.readouterr().out
    error = read_json(capsys, *command, "--draw", "persistent")["sample_error"]
    assert f"lie up to {error:.3g} m/s of contact velocity from the exact set" in out
    exact = carom.RouthExact().resolve(ladder()).contact_bounds()
    sampled = carom.Routh(num_samples=2000, draw="persistent").resolve(ladder()).contact_bounds()
    beyond = np.maximum((sampled - exact) * [-1.0, 1.0], 0.0)
    assert error >= beyond.max() > 1e-3
    assert main(command) == 0
    assert "Samples of routh lie in the exact set." in capsys.readouterr().out
    assert read_json(capsys, *command)["sample_error"] <= 1e-9
    one = read_json(capsys, "outcomes", "rocking-block", *FEW, "--law", "routh")
    assert one["sample_error"] is None


class TestSamplesThatDoNotEnd:
    """Those that end sooner than others are no fair choice of them all."""

    def test_many_are_a_failure_and_the_rest_is_told(self, capsys, tmp_path):
        ladder().save(tmp_path / "ladder.json")
        arguments = ["outcomes", str(tmp_path / "ladder.json"), *FEW, "--law", "routh"]
        assert main([*arguments, "--step", "0.01"]) == 0
        assert capsys.readouterr().err == ""
        assert main([*arguments, "--step", "0.01", "--max-steps", "1000"]) == 1
        captured = capsys.readouterr()
        assert "samples did not end, so that ranges are biased" in captured.out
        (line,) = captured.err.splitlines()
        assert line.startswith("carom: error: routh: ")
        assert "of 200 samples did not end" in line

    def test_few_are_a_warning(self, capsys):
        law = carom.Routh(num_samples=1000, step_impulse=0.3, max_steps=12)
        lost = law.resolve(carom.scenes.load("rocking-block").problem).num_unfinished
        assert 0 < lost <= 10
        arguments = ["outcomes", "rocking-block", "--samples", "1000", "--max-steps", "12"]
        assert main([*arguments, "--law", "routh"]) == 0
        assert f"warning: routh: {lost} of 1,000 samples did not end" in capsys.readouterr().err


def spy(function, look):
    def watched(*arguments):
        result = function(*arguments)
        look(result)
        return result

    return watched


def no_sample_ends(_, problem):
    raise carom.ImpactNotResolved("no sample ended", problem)
