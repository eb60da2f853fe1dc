"""The wobbling block comes to rest after infinitely many impacts [HalmPosa, Section 4.3]."""

import math
from functools import cache

import numpy as np
import pytest

import carom
from tests.reference.rocking_block import Wobble

A, B = 0, 1
NUM_CYCLES = 100
"""0.7^100 is below rounding."""

OTHER = {"width": 0.8, "height": 1.5, "mass": 2.5, "mu": 0.9, "rate": 0.6}


@cache
def moved(law=None, **parameters):
    scene = carom.scenes.load("zeno-block", **parameters)
    law = carom.Sequential() if law is None else law
    return carom.simulate(scene.system, scene.q, scene.v, scene.duration, law)


def exact(rate=1.0, **parameters):
    parameters.pop("mu", None)
    block = Wobble(**parameters)
    return block, rate, block.half_cycles(rate, NUM_CYCLES)


@pytest.mark.parametrize("parameters", [{}, OTHER], ids=["paper", "other"])
class TestWobble:
    def test_impacts_come_when_quadrature_says(self, parameters):
        _, _, cycles = exact(**parameters)
        times = [part.t for part in moved(**parameters).impacts if part.kind == "collision"]
        assert len(times) > 30
        expected = np.cumsum([cycle.duration for cycle in cycles])[: len(times)]
        np.testing.assert_allclose(times, expected, rtol=0, atol=1e-7)

    def test_every_impact_leaves_the_same_share_of_the_rate(self, parameters):
        block, rate, _ = exact(**parameters)
        collisions = [part for part in moved(**parameters).impacts if part.kind == "collision"]
        for part in collisions:
            assert part.v_post[2] / part.v_pre[2] == pytest.approx(block.reduction, abs=1e-9)
        rates = [part.v_post[2] for part in collisions]
        powers = block.reduction ** np.arange(1, len(rates) + 1)
        signs = (-1.0) ** np.arange(1, len(rates) + 1)
        np.testing.assert_allclose(rates, rate * powers * signs, rtol=1e-5, atol=1e-9)

    def test_corners_take_turns_and_nothing_slips(self, parameters):
        motion = moved(**parameters)
        collisions = [part for part in motion.impacts if part.kind == "collision"]
        for index, part in enumerate(collisions):
            gained = part.impulse[-1] - part.impulse[0]
            landing = (B, A)[index % 2]
            assert gained[landing, 0] > 0.0
            np.testing.assert_array_equal(gained[1 - landing], 0.0)
        before_rest = motion.segments[: len(collisions)]
        for index, segment in enumerate(before_rest):
            expected = ("sticking", "free") if index % 2 == 0 else ("free", "sticking")
            assert segment.modes == expected
        assert motion.segments[-1].modes == ("sticking", "sticking")

    def test_first_swing_is_the_pendulums(self, parameters):
        block, rate, cycles = exact(**parameters)
        t = np.linspace(0.0, cycles[0].duration, 2001)[:-1]
        states = moved(**parameters).at(t=t)
        assert states.q[:, 2].max() == pytest.approx(block.apex(rate), abs=1e-6)
        energy = block.inertia * states.v[:, 2] ** 2 / 2
        alpha = math.atan2(block.height, block.width)
        energy += block.mass * block.gravity * block.radius * np.sin(states.q[:, 2] + alpha)
        np.testing.assert_allclose(energy, energy[0], rtol=1e-9)

    def test_pivot_carries_what_quadrature_says(self, parameters):
        _, _, cycles = exact(**parameters)
        motion = moved(**parameters)
        collisions = [part for part in motion.impacts if part.kind == "collision"]
        for index, (part, cycle) in enumerate(zip(collisions, cycles, strict=False)):
            pivot = (A, B)[index % 2]
            at_start = 0.0 if index == 0 else collisions[index - 1].impulse[-1, pivot, 0]
            assert part.impulse[0, pivot, 0] - at_start == pytest.approx(cycle.normal, abs=1e-7)
            gained = part.impulse[-1, :, 0].sum() - part.impulse[0, :, 0].sum()
            assert gained == pytest.approx(cycle.impact, abs=1e-8)

    def test_block_stands_at_the_sum_of_the_series(self, parameters):
        _, _, cycles = exact(**parameters)
        motion = moved(**parameters)
        (last,) = [part for part in motion.impacts if part.kind == "accumulation"]
        t_end = sum(cycle.duration for cycle in cycles)
        s_end = t_end + sum(cycle.normal + cycle.impact for cycle in cycles)
        assert last.end == pytest.approx(t_end, abs=1e-6)
        s = last.end + last.impulse[-1, :, 0].sum()
        assert s == pytest.approx(s_end, abs=1e-6)
        assert motion.at(t=last.end).s[0] == pytest.approx(s, abs=1e-9)

    def test_it_accumulates_once_and_stands_from_then_on(self, parameters):
        motion = moved(**parameters)
        assert motion.status == "finished"
        assert [part.kind for part in motion.impacts].count("accumulation") == 1
        last = motion.impacts[-1]
        assert last.kind == "accumulation"
        assert last.contacts == ("A", "B")
        assert 0.0 < last.duration <= 1e-6
        assert motion.parts[-2] is last
        after = motion.at(t=np.linspace(last.end, motion.end_time, 50))
        np.testing.assert_allclose(after.v, 0.0, atol=1e-9)
        np.testing.assert_allclose(after.q, np.tile(after.q[0], (50, 1)), atol=1e-10)
        assert np.abs(motion.system.gap(after.q[0])).max() <= 1e-10
        weight = motion.system.bodies[0].mass * 9.81
        np.testing.assert_allclose(after.rate[:, :, 0], weight / 2, rtol=1e-8)
        np.testing.assert_allclose(after.rate[:, :, 1].sum(axis=1), 0.0, atol=1e-8 * weight)
        # Time goes slower than s by the weight: t = t* + (s - s*) / (1 + m g).
        share = np.diff(after.t) / np.diff(after.s)
        np.testing.assert_allclose(share, 1.0 / (1.0 + weight), rtol=1e-8)


def test_papers_numbers():
    block, _, cycles = exact()
    assert block.reduction == pytest.approx(0.7)
    assert round(block.apex(1.0), 2) == 0.22
    motion = moved()
    last = motion.impacts[-1]
    assert f"{last.end:.3g}" == "2.67"
    assert f"{motion.at(t=last.end).s[0]:.3g}" == "28.4"
    # Momentum gives what the normal forces sum up to in closed form.
    t_end = sum(cycle.duration for cycle in cycles)
    s_end = t_end + sum(cycle.normal + cycle.impact for cycle in cycles)
    assert s_end == pytest.approx(t_end * (1 + 9.81) - 0.15 / 0.3, abs=1e-10)


@pytest.mark.parametrize(
    "law", [carom.Routh(num_samples=1), carom.AnitescuPotra()], ids=["routh", "anitescu"]
)
def test_every_law_agrees_where_one_corner_lands(law):
    # Corner B lands without slip and corner A lifts: no law has a choice.
    motion = moved(law)
    expected = moved()
    assert [part.kind for part in motion.impacts] == [part.kind for part in expected.impacts]
    times = [part.t for part in motion.impacts]
    np.testing.assert_allclose(times, [part.t for part in expected.impacts], atol=1e-7)


def test_time_to_spare_only_moves_what_is_extrapolated():
    scene = carom.scenes.load("zeno-block")
    ends = []
    # Below a microsecond a hop has hardly a digit: a metre has sixteen.
    for zeno_time in (1e-3, 1e-6):
        motion = carom.simulate(
            scene.system, scene.q, scene.v, 3.0, carom.Sequential(), zeno_time=zeno_time
        )
        last = motion.impacts[-1]
        assert last.kind == "accumulation"
        assert last.duration <= zeno_time
        ends.append(last.end)
    # The series is geometric but for the square of the swing's angle.
    np.testing.assert_allclose(ends, ends[-1], atol=1e-6)


def test_motion_may_end_before_it_stands():
    scene = carom.scenes.load("zeno-block")
    motion = carom.simulate(scene.system, scene.q, scene.v, 2.0, carom.Sequential())
    assert motion.status == "finished"
    assert motion.end_time == 2.0
    assert {part.kind for part in motion.impacts} == {"collision"}
