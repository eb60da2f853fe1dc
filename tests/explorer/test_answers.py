"""Answers agree with the laws they come from."""

import base64
import json
import math
from dataclasses import replace

import numpy as np
import pytest

import carom
from carom.explorer.answers import COMPILING, Answers, energy_kept
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
    assert controls.keys() | {"mu", "restitution"} == parameters_of(name).keys() - {"number"}
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


@pytest.mark.parametrize("name", SCENES)
def test_axes_show_what_varies_and_stay_while_friction_changes(answers, name):
    """The large plane is never one in which all outcomes are one point."""
    found = ask(answers, "set", State(name))
    plane = found["scene"]["planes"][0]
    values = np.frombuffer(base64.b64decode(found["samples"]["data"]), "<f4")
    spans = np.ptp(values.reshape(found["samples"]["count"], -1), axis=0)
    widest = spans[: 2 * len(found["scene"]["contacts"])].max()
    assert spans[list(plane)].max() >= 0.3 * widest
    contact = found["scene"]["contacts"][0]
    other = ask(answers, "set", State(name, mu=((contact, 0.3),)))
    assert other["scene"]["planes"] == found["scene"]["planes"]


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


@pytest.mark.parametrize("name", SCENES)
def test_samples_tell_one_ending_of_each_kind(answers, name):
    problem = carom.scenes.load(name).problem
    samples = ask(answers, "set", State(name))["samples"]
    values = np.frombuffer(base64.b64decode(samples["data"]), "<f4")
    v = values.reshape(samples["count"], -1)[:, -problem.num_velocities :].astype(float)
    kinds = [each["kind"] for each in samples["endings"]]
    assert kinds == sorted(set(kinds))
    assert kinds
    for each in samples["endings"]:
        assert np.abs(v - each["v"]).max(axis=1).min() <= 1e-6 * np.abs(v).max()
        contact = (problem.J @ each["v"]).reshape(problem.num_contacts, -1)
        told = [words.split()[-1] for words in each["kind"].split(", ")]
        lifts = contact[:, 0] > 1e-8
        slides = np.linalg.norm(contact[:, 1:], axis=1) > 1e-8
        expected = np.where(lifts, "lifts", np.where(slides, "slides", "sticks"))
        assert told == expected.tolist()
    live = ask(answers, "set", State(name), live=True)["samples"]
    assert live["endings"] == []


@pytest.mark.needs("ppl")
def test_classical_answers_outside_of_the_set_are_marked(answers):
    state = State("box-wall", (), (("A", 0.7), ("B", 0.3)), (0.9, -0.4, 0.5))
    found = ask(answers, "set", state)
    box = replace(carom.scenes.load("box-wall").problem, mu=[0.7, 0.3], v_pre=[0.9, -0.4, 0.5])
    exact = carom.RouthExact().resolve(box)
    for key, law in (("simultaneous", carom.AnitescuPotra()), ("sequential", carom.Sequential())):
        shown = np.array([each["v"] for each in found["scene"][key]])
        own = law.resolve(box).v_post
        # Rows in some order.
        assert np.abs(shown[:, None] - own).max(axis=2).min(axis=0).max() < 1e-9
        far = np.array([exact.distance(v) for v in shown])
        assert ((far < 1e-9) | (far > 1e-3)).all()
        assert found["exact"]["outside"][key] == (far > 1e-3).tolist()
    assert found["exact"]["outside"] == {"simultaneous": [True], "sequential": [False, True]}


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


BOUNCING = State("rocking-block", (("width", 0.7),), restitution=(("A", 0.5),))


def test_contacts_that_bounce_have_samples_only_and_say_so(answers):
    found = ask(answers, "set", BOUNCING)
    assert found["scene"]["restitution"] == [0.5, 0.0]
    assert found["scene"]["ownRestitution"] == [0.0, 0.0]
    assert found["samples"]["count"] > 0
    assert found["exact"]["polygons"] is None
    assert found["exact"]["message"] == "of contacts with restitution there is no exact set"
    # A sample that is pointed at tells how it came about.
    v = found["samples"]["endings"][0]["v"]
    outcome = ask(answers, "outcome", BOUNCING, v=tuple(v))["outcome"]
    np.testing.assert_allclose(outcome["v"], v, atol=1e-6)
    assert outcome["words"][-1].startswith("then")


def test_what_follows_a_bounce_can_be_watched(answers):
    state = State("bouncing-block")
    sample = ask(answers, "set", state)["samples"]["endings"][0]
    assert "motion" in ask(answers, "motion", state, v=tuple(sample["v"]), duration=0.2)


def test_bounces_are_copied_as_python_and_as_a_command(answers, capsys):
    import shlex

    from carom.cli import main

    code = ask(answers, "set", BOUNCING)["scene"]["snippets"]
    names = {}
    exec(code["python"], names)
    assert names["problem"].restitution.tolist() == [0.5, 0.0]
    assert names["problem"].J_n[1, 2] == pytest.approx(0.35)
    assert isinstance(names["outcomes"], carom.SampledSet)
    words = shlex.split(code["command"])
    assert words[-4:] == ["--restitution", "A=0.5", "--law", "routh"]
    capsys.readouterr()
    assert main([*words[1:], "--json"]) == 0
    assert "routh" in json.loads(capsys.readouterr().out)["laws"]


def test_matrices_that_bounce_are_copied_whole():
    block = carom.scenes.load("rocking-block", restitution=0.25).problem
    answers = Answers({"mine": GivenSubject("mine", "an impact", block)}, budget=5.0)
    code = ask(answers, "set", State("mine", restitution=(("B", 1.0),)))["scene"]["snippets"]
    names = {}
    exec(code["python"], names)
    assert names["problem"].restitution.tolist() == [0.25, 1.0]


def test_restitution_of_unknown_contacts_or_beyond_one_is_refused(answers):
    for restitution, reason in (((("Z", 0.5),), "no contact 'Z'"), ((("A", 2.0),), "from 0 to 1")):
        failed = ask(answers, "set", State("rocking-block", restitution=restitution))["failed"]
        assert reason in failed["message"]


def test_every_stage_of_a_first_request_may_compile():
    answers = Answers({"rocking-block": SceneSubject("rocking-block")}, budget=5.0)
    state = State("rocking-block")
    first, second = ([*answers.answer(Request("set", number, state))] for number in (1, 2))
    assert [kind for kind, *_ in first] == ["compiling", "scene", "samples", "exact"]
    assert {seconds for *_, seconds in first} == {COMPILING}
    assert [kind for kind, *_ in second] == ["scene", "samples", "exact"]
    # Zero stands for the usual time.
    assert {seconds for *_, seconds in second} == {0.0}


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
