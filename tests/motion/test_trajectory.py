"""The record of a motion: two clocks, jumps, polynomials."""

from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import carom
from carom.motion.parts import DEGREE, Impact, Layout, Segment, record_step, step_nodes
from carom.motion.trajectory import Trajectory

NAMES = {"zeno-block": 1.2, "box-wall": 0.3, "painleve-rod": 0.3, "disk-stack": 0.1}
"""Scenes, and how long they are moved [s]."""


@cache
def moved(name, duration=None):
    scene = carom.scenes.load(name)
    law = carom.Routh(num_samples=1)
    duration = NAMES[name] if duration is None else duration
    return carom.simulate(scene.system, scene.q, scene.v, duration, law, seed=3, start_time=2.0)


@pytest.fixture(params=NAMES)
def motion(request):
    return moved(request.param)


def test_states_start_and_end_with_the_motion(motion):
    name = next(name for name in NAMES if moved(name) is motion)
    scene = carom.scenes.load(name)
    np.testing.assert_allclose(motion.q[0], scene.q, atol=1e-14)
    np.testing.assert_allclose(motion.v[0], scene.v, atol=1e-14)
    assert motion.t[0] == motion.start_time == 2.0
    assert motion.t[-1] == motion.end_time == 2.0 + NAMES[name]
    assert motion.s[0] == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(motion.impulse[0], 0.0, atol=1e-12)


def test_columns_are_those_of_the_states(motion):
    states = motion.states
    for name in ("t", "s", "q", "v", "impulse"):
        assert getattr(motion, name) is getattr(states, name)
    n, m = len(motion.t), len(motion.contacts)
    assert motion.q.shape == (n, motion.layout.nq)
    assert motion.v.shape == (n, motion.layout.nv)
    assert motion.impulse.shape == states.rate.shape == (n, m, 2)
    assert motion.energy.shape == (n,)


def test_s_is_time_and_normal_impulse(motion):
    t = np.linspace(2.0, motion.end_time, 301)
    states = motion.at(t=t)
    np.testing.assert_array_equal(states.t, t)
    np.testing.assert_allclose(states.s, t - 2.0 + states.impulse[:, :, 0].sum(axis=1), atol=1e-14)
    assert (np.diff(states.s) >= np.diff(t) - 1e-9).all()


def test_both_clocks_tell_the_same_state(motion):
    s = np.linspace(0.0, motion.s[-1], 401)
    by_s = motion.at(s=s)
    np.testing.assert_allclose(by_s.s, s, atol=1e-9)
    assert (np.diff(by_s.t) >= -1e-15).all()
    # Where time moves on, time tells the state as well; in an impact only s does.
    impacts = np.array([part.t for part in motion.impacts] or [-1.0])
    smooth = np.abs(by_s.t[:, None] - impacts).min(axis=1) > 1e-9
    by_t = motion.at(t=by_s.t[smooth])
    for name in ("q", "v", "impulse"):
        np.testing.assert_allclose(
            getattr(by_t, name), getattr(by_s, name)[smooth], atol=1e-8, rtol=1e-8
        )


def test_everything_is_continuous_in_s(motion):
    coarse = np.linspace(0.0, motion.s[-1], 500)
    step = 1e-7
    near = np.minimum(coarse + step, motion.s[-1])
    before, after = motion.at(s=coarse), motion.at(s=near)
    # Impulses grow by at most ds each, so that velocities change by at most a bound times ds.
    inverse = max(np.abs(np.linalg.inv(motion.system.mass_matrix(q))).max() for q in motion.q[::20])
    force = max(
        np.abs(motion.system.smooth_force(q, v, t)).max()
        for q, v, t in zip(motion.q[::20], motion.v[::20], motion.t[::20], strict=True)
    )
    mu = motion.system.mu.max()
    size = motion.layout.nv * inverse * (force + 4.0 * (1.0 + mu)) * 5.0
    assert np.abs(after.v - before.v).max() <= size * step
    assert np.abs(after.q - before.q).max() <= 2.0 * np.abs(motion.v).max() * step
    assert np.abs(after.impulse - before.impulse).max() <= 2.0 * (1.0 + mu) * step


def test_velocity_jumps_in_time_at_impacts_alone(motion):
    jumps = {part.t: part.v_post - part.v_pre for part in motion.impacts if not part.duration}
    for t, jump in jumps.items():
        if not 2.0 < t < motion.end_time:
            continue
        h = 1e-9
        before, after = motion.at(t=[t - h, t]).v
        assert np.abs(after - before - jump).max() <= 1e-6 * (1.0 + np.abs(jump).max())
    for part in motion.segments:
        for knot in part.knots[1:-1]:
            values = motion.at(t=[np.nextafter(knot, 0.0), knot])
            assert np.abs(np.diff(values.v, axis=0)).max() <= 1e-9
            assert np.abs(np.diff(values.q, axis=0)).max() <= 1e-10


def test_state_at_the_time_of_an_impact_is_that_after_it(motion):
    for part in motion.impacts:
        state = motion.at(t=part.end)
        np.testing.assert_allclose(state.v[0], part.v_post, atol=1e-9)
        np.testing.assert_allclose(state.impulse[0], part.impulse[-1], atol=1e-9)


def test_derivative_of_q_is_v_and_of_impulses_the_rate(motion):
    for part in motion.segments:
        if part.end - part.start < 1e-3:
            continue
        t = np.linspace(part.start, part.end, 9)[1:-1]
        h = 1e-5 * (part.end - part.start)
        before, here, after = (motion.at(t=t + k * h) for k in (-1, 0, 1))
        np.testing.assert_allclose((after.q - before.q) / (2 * h), here.v, atol=1e-5)
        slope = (after.impulse - before.impulse) / (2 * h)
        np.testing.assert_allclose(slope, here.rate, atol=1e-5 * (1.0 + np.abs(slope).max()))


def test_rates_in_an_impact_share_the_growth_of_s(motion):
    for part in motion.impacts:
        start = part.t - 2.0 + part.impulse[0, :, 0].sum()
        grown = part.impulse[-1, :, 0].sum() - part.impulse[0, :, 0].sum()
        if part.duration or grown < 1e-6:
            continue
        s = start + grown * np.array([0.2, 0.5, 0.8])
        states = motion.at(s=s)
        np.testing.assert_allclose(states.rate[:, :, 0].sum(axis=1), 1.0, rtol=1e-9)
        np.testing.assert_allclose(states.t, part.t, atol=1e-15)
        np.testing.assert_allclose(states.q, np.tile(part.q[0], (3, 1)), atol=1e-15)


@pytest.mark.parametrize("clock", ["t", "s"])
def test_order_and_shape_of_what_is_asked_do_not_matter(motion, clock):
    low, high = (2.0, motion.end_time) if clock == "t" else (0.0, motion.s[-1])
    asked = np.linspace(low, high, 37)
    order = np.random.default_rng(0).permutation(37)
    straight, mixed = motion.at(**{clock: asked}), motion.at(**{clock: asked[order]})
    for one, other in zip(straight, mixed, strict=True):
        np.testing.assert_allclose(one[order], other, atol=1e-14)
    single = motion.at(**{clock: asked[5]})
    for one, other in zip(straight, single, strict=True):
        assert other.shape == (1, *one.shape[1:])
        np.testing.assert_allclose(one[5:6], other, atol=1e-14)


def test_asking_for_nothing_gives_nothing(motion):
    states = motion.at(t=[])
    assert states.q.shape == (0, motion.layout.nq)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({}, "either t or s"),
        ({"t": 2.1, "s": 0.1}, "either t or s"),
        ({"t": 1.999}, "t: expected values from 2 to 3.2, got 1.999"),
        ({"t": [2.1, 3.21]}, "t: expected values from 2 to 3.2, got 2.1 to 3.21"),
        ({"s": -1e-3}, "s: expected values from 0 to"),
        ({"s": 1e3}, "s: expected values from 0 to"),
        ({"t": np.nan}, "t: expected"),
        ({"t": "soon"}, "t: expected"),
    ],
)
def test_what_lies_outside_is_refused(asked, message):
    with pytest.raises(carom.InvalidOption, match=message):
        moved("zeno-block").at(**asked)


def test_accumulation_is_passed_on_both_clocks():
    motion = moved("rocking-block", 0.6)
    (last,) = [part for part in motion.impacts if part.kind == "accumulation"]
    t = last.t + last.duration * np.linspace(0.0, 1.0, 5)
    by_t = motion.at(t=t)
    s = last.t - 2.0 + last.impulse[0, :, 0].sum()
    s += (last.duration + np.diff(last.impulse[:, :, 0], axis=0).sum()) * np.linspace(0.0, 1.0, 5)
    by_s = motion.at(s=s)
    for one, other in zip(by_t, by_s, strict=True):
        np.testing.assert_allclose(one[1:-1], other[1:-1], atol=1e-9, rtol=1e-5)
    np.testing.assert_allclose(by_t.v[0], last.v_pre, atol=1e-9)
    np.testing.assert_allclose(by_t.v[-1], last.v_post, atol=1e-9)
    np.testing.assert_allclose(by_t.q[-1], last.q[-1], atol=1e-9)


def test_parts_come_in_turn(motion):
    assert set(motion.parts) == set(motion.segments) | set(motion.impacts)
    for before, after in pairwise(motion.parts):
        assert before.end == after.start
    assert all(isinstance(part, Segment | Impact) for part in motion.parts)


def test_impact_tells_its_energy(motion):
    for part in motion.impacts:
        before = motion.system.energy(part.q[0], part.v_pre)
        after = motion.system.energy(part.q[-1], part.v_post)
        assert part.energy_lost == pytest.approx(before - after, abs=1e-12)
        # Sequences of steps lose energy one by one.
        steps = [motion.system.energy(part.q[0], v) for v in part.v]
        assert (np.diff(steps) <= 1e-9 * (1.0 + abs(steps[0]))).all()
        assert len(part.modes) == len(part.v) - 1
        assert all(len(words) == len(part.contacts) for words in part.modes)


def test_motion_without_its_system_says_what_is_missing():
    motion = moved("zeno-block")
    bare = Trajectory(
        motion.contacts, motion.layout, motion.parts, motion.status, motion.message, motion.seed
    )
    np.testing.assert_array_equal(bare.q, motion.q)
    with pytest.raises(carom.InvalidOption, match="with_system"):
        _ = bare.energy


@given(st.integers(1, 4), st.integers(1, 4), st.integers(0, 3))
def test_layout_packs_and_unpacks(nq, nv, m):
    layout = Layout(nq, nv, m)
    rng = np.random.default_rng(nq + 10 * nv + 100 * m)
    q, v, impulse = rng.normal(size=nq), rng.normal(size=nv), rng.normal(size=(m, 2))
    y = layout.pack(q, v, impulse)
    assert y.shape == (layout.size,)
    for one, other in zip(layout.unpack(y), (q, v, impulse), strict=True):
        np.testing.assert_array_equal(one, other)
    many = np.array([y, 2 * y])
    assert layout.unpack(many)[2].shape == (2, m, 2)


@given(st.floats(-5.0, 5.0), st.floats(1e-6, 3.0), st.integers(0, 100))
def test_step_records_polynomials_exactly(start, length, seed):
    rng = np.random.default_rng(seed)
    # In the time of the step, so that none of its powers is too large.
    powers = rng.normal(size=(DEGREE + 1, 2))

    def value(t):
        return np.polynomial.polynomial.polyval((t - start) / length, powers).T

    def slope(t):
        return np.polynomial.polynomial.polyval(
            (t - start) / length, np.polynomial.polynomial.polyder(powers)
        ).T

    end = start + length
    segment = Segment(
        np.array([start, end]), record_step(value(step_nodes(start, end)))[None], ("free",)
    )
    t = np.linspace(start, end, 11)
    np.testing.assert_allclose(segment.values(t), value(t), atol=1e-9)
    np.testing.assert_allclose(segment.values(t, derivative=True) * length, slope(t), atol=1e-7)
    assert (segment.start, segment.end) == (start, end)


def test_it_is_shown_on_one_line():
    assert len(moved("box-wall").impacts) == 1
    assert repr(moved("box-wall")) == "Trajectory(finished, t = 2 … 2.3 s, 1 impact)"


def spatial_motion():
    """Return a motion in space of two contacts, one step and one impact, made by hand."""
    layout = Layout(7, 6, 2, 2)
    rng = np.random.default_rng(4)
    coefficients = rng.normal(size=(1, 3, layout.size))
    segment = Segment(np.array([0.0, 0.1]), coefficients, ("free", "sliding"))
    q, v, impulse = layout.unpack(segment.values(np.array([0.1])))
    jump = rng.normal(size=impulse[0].shape)
    impact = Impact(
        *("collision", 0.1, 0.0, ("b",), np.array([q[0], q[0]]), np.array([v[0], -v[0]])),
        *(np.array([impulse[0], impulse[0] + jump]), np.array([2.0, 1.0]), (("sticks",),)),
    )
    return Trajectory(("a", "b"), layout, (segment, impact), "finished", "", 0)


def test_motions_in_space_have_two_tangents(tmp_path):
    motion = spatial_motion()
    assert motion.impulse.shape == (4, 2, 3)
    assert motion.at(t=[0.03]).rate.shape == (1, 2, 3)
    for ending in ("npz", "json"):
        motion.save(tmp_path / f"motion.{ending}")
        again = carom.load(tmp_path / f"motion.{ending}")
        assert again.layout == motion.layout
        np.testing.assert_array_equal(again.impulse, motion.impulse)
    flat = replace(motion.parts[1], impulse=motion.parts[1].impulse[..., :2])
    with pytest.raises(carom.InvalidOption, match="2 tangents"):
        replace(motion, parts=(motion.parts[0], flat))


def test_layouts_of_older_files_are_planar():
    assert Layout(3, 3, 2) == Layout(3, 3, 2, 1)
