"""Judge what `simulate` takes, refuses and promises."""

import math
from itertools import pairwise

import numpy as np
import pytest

import carom
from carom.motion.parts import Impact, Segment
from carom.systems import (
    Body,
    PlanarSystem,
    Prismatic,
)
from tests.reference.own_system import RodOnCircle

LAW = carom.Sequential()
ONE_SAMPLE = carom.Routh(num_samples=1)
UP, RIGHT = Prismatic((0.0, 1.0)), Prismatic((1.0, 0.0))


@pytest.mark.parametrize("name", ["rocking-block", "box-wall", "disk-stack"])
def test_same_seed_same_motion(name):
    scene = carom.scenes.load(name)
    runs = [
        carom.simulate(scene.system, scene.q, scene.v, 0.1, ONE_SAMPLE, seed=seed)
        for seed in (4, 4, 5)
    ]
    assert runs[0].seed == 4
    for first, second in zip(runs[0].states, runs[1].states, strict=True):
        np.testing.assert_array_equal(first, second)
    assert len(runs[0].t) != len(runs[2].t) or (runs[0].v != runs[2].v).any()


BLOCK = carom.scenes.load("rocking-block")


def simulate_block(**changes):
    arguments = {"q": BLOCK.q, "v": BLOCK.v, "duration": 1.0, "law": LAW, **changes}
    q, v, duration, law = (arguments.pop(name) for name in ("q", "v", "duration", "law"))
    return carom.simulate(BLOCK.system, q, v, duration, law, **arguments)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"q": [0.0, 1.0]}, r"^q: expected shape \(3,\), got \(2,\)$"),
        ({"q": [0.0, 1.0, math.nan]}, r"^q: expected finite numbers, got nan at \[2\]$"),
        ({"q": np.zeros((1, 3))}, r"^q: expected shape \(3,\)"),
        ({"v": [0.0, 1.0, 0.0, 0.0]}, r"^v: expected shape \(3,\)"),
        ({"v": [0.0, math.inf, 0.0]}, "^v: expected finite numbers"),
        ({"v": "fast"}, "^v: "),
        ({"duration": -1.0}, "^duration: expected a number >= 0, got -1.0"),
        ({"duration": math.nan}, "^duration: "),
        ({"duration": math.inf}, "^duration: "),
        ({"duration": "long"}, "^duration: "),
        ({"start_time": math.nan}, "^start_time: "),
        ({"method": "Euler"}, "^method: expected one of DOP853, RK45, Radau, BDF, got 'Euler'$"),
        ({"rtol": 0.0}, "^rtol: expected a number > 0, got 0.0$"),
        ({"atol": -1.0}, "^atol: "),
        ({"atol": "small"}, "^atol: "),
        ({"gap_tolerance": math.nan}, "^gap_tolerance: "),
        ({"rest_speed": 0.0}, "^rest_speed: "),
        ({"zeno_time": -1e-3}, "^zeno_time: "),
        ({"max_impacts": 0}, "^max_impacts: expected an integer >= 1, got 0$"),
        ({"max_steps": 1.5}, "^max_steps: "),
        ({"max_step": 0.0}, "^max_step: expected a number > 0, got 0.0$"),
        ({"law": "routh"}, "^law: expected an impact law"),
        ({"seed": -1}, "^seed: "),
        ({"seed": 1.5}, "^seed: "),
        ({"seed": 2**53}, "^seed: "),
    ],
)
def test_bad_arguments_are_refused_with_one_sentence(changes, message):
    with pytest.raises(carom.InvalidOption, match=message) as caught:
        simulate_block(**changes)
    assert "\n" not in str(caught.value)


def test_a_penetration_is_refused():
    expected = r"^q: .*penetration.*'A'.*-0.001 m; move it apart$"
    with pytest.raises(carom.InvalidProblem, match=expected):
        simulate_block(q=BLOCK.q - [0.0, 1e-3, 0.0])


def test_an_impact_alone_is_no_system():
    with pytest.raises(carom.InvalidOption, match=r"^system: expected.*got ImpactProblem"):
        carom.simulate(BLOCK.problem, BLOCK.q, BLOCK.v, 1.0, LAW)


def test_contacts_have_one_tangent_or_two():
    class Strange(RodOnCircle):
        def tangent_jacobian(self, q):
            return np.repeat(super().tangent_jacobian(q), 3, axis=1)

        def contact_bias(self, q, v):
            return np.zeros((2, 4))

    with pytest.raises(carom.InvalidProblem, match="one tangent, in the plane, or two, in space"):
        carom.simulate(Strange(), [0, 1, 1, 0], np.zeros(3), 1.0, LAW)


@pytest.mark.parametrize(
    ("law", "message"),
    [
        (carom.Sequential(order=("A", "C")), "order: expected each of A, B"),
        (carom.RouthSingle(), "expected one planar contact, got 2"),
    ],
)
def test_law_that_does_not_suit_is_refused(law, message):
    with pytest.raises(carom.CaromError, match=message):
        simulate_block(law=law)


def test_inputs_that_are_no_numbers_are_refused():
    ball = Body.point("ball", 1.0, joints=(RIGHT,))
    system = PlanarSystem([ball], [], inputs=lambda t, *_: [math.nan if t > 0.7 else 0.0])
    with pytest.raises(carom.InvalidProblem, match=r"^inputs: expected finite numbers, got nan"):
        carom.simulate(system, [0.0], [0.0], 2.0, LAW)


def test_given_arrays_stay_as_they_are():
    q, v = np.array(BLOCK.q), np.array(BLOCK.v)
    simulate_block(q=q, v=v, duration=0.05)
    np.testing.assert_array_equal(q, BLOCK.q)
    np.testing.assert_array_equal(v, BLOCK.v)


def test_parts_are_segments_and_impacts_in_turn():
    motion = simulate_block(duration=0.2)
    for before, after in pairwise(motion.parts):
        assert before.end == after.start
    assert {type(part) for part in motion.parts} <= {Segment, Impact}
