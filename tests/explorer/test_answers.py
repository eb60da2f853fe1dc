"""Answers agree with the laws they come from."""

import base64
import json
import math
from dataclasses import replace

import numpy as np
import pytest

import carom
from carom.explorer.answers import Answers, energy_kept
from carom.explorer.controls import RANGES, parameters_of, scene_controls
from carom.explorer.hulls import nearest_weights
from carom.explorer.messages import Request, State
from carom.explorer.subjects import GivenSubject, SceneSubject

SCENES = carom.scenes.names()
EXACT = ("rocking-block", "compass-gait", "box-wall", "ramone")


@pytest.fixture(scope="module")
def answers():
    return Answers({name: SceneSubject(name) for name in SCENES}, budget=5.0)


def ask(answers, kind, state, **fields):
    request = Request(kind, 7, state, **fields)
    found = {kind: json.loads(text) for kind, text, _ in answers.answer(request)}
    assert all(each["number"] == 7 for each in found.values())
    return found


@pytest.mark.parametrize("name", SCENES)
def test_every_parameter_has_a_slider_with_a_unit(name):
    controls = {each.key: each for each in scene_controls(name)}
    assert controls.keys() | {"mu"} == parameters_of(name).keys()
    assert all(each.low <= each.default <= each.high and each.unit for each in controls.values())
    assert controls.keys() <= RANGES.keys()


@pytest.mark.needs("ppl")
@pytest.mark.parametrize("name", EXACT)
def test_a_set_is_that_of_the_laws(answers, name):
    found = ask(answers, "set", State(name))
    scene = carom.scenes.load(name)
    exact = carom.RouthExact().resolve(scene.problem)
    assert found["exact"]["bounds"] == exact.contact_bounds().tolist()
    assert {each["kind"] for each in found["exact"]["endings"]} == {x.kind for x in exact.polytopes}
    for each in found["exact"]["endings"] + found["exact"]["vertices"]:
        assert exact.contains(each["v"])
    samples = found["samples"]
    values = np.frombuffer(base64.b64decode(samples["data"]), "<f4")
    nv = scene.problem.num_velocities
    v = values.reshape(samples["count"], -1)[:, -nv:]
    assert exact.contains(v, 1e-5).all()


@pytest.mark.needs("ppl")
@pytest.mark.parametrize("name", EXACT)
def test_pointing_finds_an_outcome_and_a_path_to_it(answers, name):
    state = State(name)
    exact = carom.RouthExact().resolve(carom.scenes.load(name).problem)
    rows = exact.problem.J[[0, 2]]
    at = exact.sample(1, rng=0)[0] @ rows.T
    outcome = ask(answers, "outcome", state, plane=(0, 2), at=tuple(at))["outcome"]
    assert exact.contains(outcome["v"])
    # What is shown at the point is there.
    np.testing.assert_allclose(rows @ outcome["v"], at, atol=1e-9)
    np.testing.assert_allclose(outcome["path"][-1], outcome["at"], atol=1e-6)
    assert outcome["words"][-1].startswith("then")
    assert outcome["kind"] in exact.kinds


@pytest.mark.needs("ppl")
def test_energy_kept_is_that_of_the_set():
    for name in EXACT:
        exact = carom.RouthExact().resolve(carom.scenes.load(name).problem)
        problem = exact.problem
        low, high = energy_kept(exact)
        before = problem.kinetic_energy(problem.v_pre)
        drawn = problem.kinetic_energy(exact.sample(2000, rng=0)) / before
        assert low <= drawn.min() + 1e-12
        assert drawn.max() <= high + 1e-12
        assert high == pytest.approx(carom.worst_case(problem, "energy kept").reached / before)


@pytest.mark.needs("ppl")
def test_an_outer_set_tells_no_energy():
    """Its corners may have more energy than the impact; samples tell what is kept instead."""
    quick = Answers({"disk-stack": SceneSubject("disk-stack")}, budget=0.5)
    found = ask(quick, "set", State("disk-stack"))
    assert not found["exact"]["complete"]
    assert found["exact"]["energy"] is None
    low, high = found["samples"]["energy"]
    assert 0.0 <= low <= high <= 1.0


@pytest.mark.needs("ppl")
def test_a_velocity_outside_of_the_set_is_called_so(answers):
    state = State("rocking-block")
    outside = ask(answers, "outcome", state, v=(0.0, 0.3, 0.0))["outcome"]
    assert "not in the set" in outside["message"]
    assert outside["words"] is None
    inside = ask(answers, "outcome", state, v=(0.0, 0.0, 0.0))["outcome"]
    assert "message" not in inside


def test_weights_are_those_of_the_nearest_point():
    rng = np.random.default_rng(0)
    for _ in range(50):
        points = rng.normal(size=(6, 3)) + rng.normal(size=3)
        weights = nearest_weights(points)
        nearest = weights @ points
        assert weights.min() >= 0.0
        assert weights.sum() == pytest.approx(1.0)
        # No point of the hull lies before the plane through the nearest one.
        assert (points @ nearest).min() >= nearest @ nearest - 1e-9


def test_a_motion_begins_where_the_impact_was_and_ends_in_time(answers):
    state = State("rocking-block")
    found = ask(answers, "motion", state, v=(0.0, 0.0, 0.0), duration=0.1)["motion"]
    assert found["status"] == "finished"
    assert found["times"][0] == 0.0
    assert found["times"][-1] == pytest.approx(0.1)
    # A block at rest stays.
    np.testing.assert_allclose(found["poses"], [[[0.0, 1.0, 0.0]]] * len(found["times"]), atol=1e-6)


@pytest.mark.needs("ppl")
def test_extremes_are_reached_and_proved(answers):
    table = np.array(ask(answers, "extremes", State("box-wall"))["extremes"]["table"])
    bounds = carom.RouthExact().resolve(carom.scenes.load("box-wall").problem).contact_bounds()
    np.testing.assert_allclose(table[..., 0], bounds, atol=1e-9)
    np.testing.assert_allclose(table[..., 1], bounds, atol=1e-9)


@pytest.mark.needs("ppl")
@pytest.mark.parametrize(
    "state",
    [
        State("rocking-block"),
        State("box-wall", (("tilt", 0.3),), (("A", 0.25), ("B", 0.1)), (0.5, -0.1, 0.2)),
        State("compass-gait", (("leg_pitch", 1.2),), (("B", 0.4),)),
    ],
)
def test_the_python_that_is_copied_gives_the_same_bounds(answers, state):
    found = ask(answers, "set", state)
    names = {}
    exec(found["scene"]["snippets"]["python"], names)
    assert names["outcomes"].contact_bounds().tolist() == found["exact"]["bounds"]


@pytest.mark.needs("ppl")
def test_the_command_that_is_copied_gives_the_same_bounds(answers, capsys):
    import shlex

    from carom.cli import main

    state = State("box-wall", (("tilt", 0.3),), (("B", 0.1),), (0.5, -0.1, 0.2))
    found = ask(answers, "set", state)
    program, *words = shlex.split(found["scene"]["snippets"]["command"])
    assert program == "carom"
    assert main([*words, "--json"]) == 0
    law = json.loads(capsys.readouterr().out)["laws"]["exact"]
    bounds = [[own["normal"], *own["tangential"]] for own in law["contacts"].values()]
    assert bounds == found["exact"]["bounds"]


@pytest.mark.needs("ppl")
def test_matrices_without_a_file_are_copied_whole():
    block = carom.scenes.load("rocking-block").problem
    odd = replace(block, contacts=('<b>"A"</b>', "B'"))
    answers = Answers({"mine": GivenSubject("mine", "an impact", odd)}, budget=5.0)
    found = ask(answers, "set", State("mine", mu=(('<b>"A"</b>', 0.2),)))
    names = {}
    exec(found["scene"]["snippets"]["python"], names)
    assert names["problem"].contacts == odd.contacts
    assert names["outcomes"].contact_bounds().tolist() == found["exact"]["bounds"]
    assert found["scene"]["snippets"]["command"] is None


@pytest.mark.needs("ppl")
def test_slow_sets_are_left_out_while_a_slider_is_dragged():
    answers = Answers({"rocking-block": SceneSubject("rocking-block")}, budget=5.0)
    state = State("rocking-block")
    assert ask(answers, "set", state, live=True)["exact"]["complete"]
    answers._pause_until[2, 1] = math.inf
    left_out = ask(answers, "set", state, live=True)["exact"]
    assert left_out["polygons"] is None
    assert "when you let go" in left_out["message"]
    assert ask(answers, "set", state)["exact"]["complete"]


@pytest.mark.needs("ppl")
def test_a_set_beyond_its_budget_is_an_outer_set():
    hasty = Answers({"ramone": SceneSubject("ramone")}, budget=1e-4)
    exact = ask(hasty, "set", State("ramone"))["exact"]
    assert not exact["complete"]
    assert exact["polygons"]
    assert exact["vertices"] == []
