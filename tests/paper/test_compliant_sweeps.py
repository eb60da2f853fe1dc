"""The compliant rocking block against the exact set [HalmPosa, fig:block_sensitivity].

In the contact normals the exact set is two segments: one corner rests, and the other lifts with a
speed from 0 to that of sequential impacts, 0.09302 m/s. Compliance moves outcomes off it by

- the end of a run, at which a corner may close by 1e-3 m / k_min = 1e-9 m/s;
- the angle to which the block has turned by then, which moves a corner's lever by height / 2 times
  that angle, and its normal velocity by as much times the rate of turning: up to 5e-6 m/s;
- along the segments, gravity over the time of an impact, up to g t = 5e-3 m/s, and what the springs
  give back, up to v0 / (4 zeta^2) = 4e-3 m/s. They act against each other.
"""

from functools import cache

import numpy as np
import pytest

import carom
from carom.paper.compliant import angle_sweep, stiffness_sweep

REST = 1e-9
HALF_HEIGHT = 1.0
ZETA = 5.0


@cache
def scene():
    return carom.scenes.load("rocking-block")


@cache
def exact():
    return carom.RouthExact().resolve(scene().problem)


@cache
def sequential_speed():
    """Return the largest speed at which a corner lifts in the exact set."""
    return exact().contact_bounds()[0, 0, 1]


@cache
def stiffness_runs(num):
    return stiffness_sweep(scene(), num)


@cache
def angle_runs(num):
    return angle_sweep(scene(), num)


def normal_speeds(sweep):
    """Return the corners' normal velocities (n, 2), as the paper plots them."""
    return scene().problem.contact_velocity(sweep.v_post)[:, :, 0]


def allowed(sweep):
    """Return how far off the segments outcomes may lie (n,), for the reasons above."""
    turned = np.array([abs(run.q[-1, 2]) for run in sweep.runs])
    return 1.001 * (REST + HALF_HEIGHT * turned * np.abs(sweep.v_post[:, 2]))


def check_is_on_the_segments(sweep):
    """Check that one corner rests, and the other lifts or rests."""
    assert {run.status for run in sweep.runs} == {"over"}
    assert allowed(sweep).max() < 6e-6
    low, high = np.sort(normal_speeds(sweep), axis=1).T
    assert (np.abs(low) <= allowed(sweep)).all()
    assert (high >= -allowed(sweep)).all()


def check_is_a_mirror_image(sweep):
    speeds = normal_speeds(sweep)
    np.testing.assert_allclose(speeds, speeds[::-1, ::-1], rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(sweep.shares, sweep.shares[::-1], rtol=0.0, atol=1e-8)


def check_loses_energy(sweep):
    for run in sweep.runs:
        assert np.diff(run.energy).max() <= 1e-12 * run.energy[0]


def check_stiffness(sweep):
    check_is_on_the_segments(sweep)
    check_is_a_mirror_image(sweep)
    check_loses_energy(sweep)
    assert normal_speeds(sweep).max() < sequential_speed()
    for v, tolerance in zip(sweep.v_post, allowed(sweep), strict=True):
        # In velocity: the lever from the resting corner to the centre, which turns, is 1.12 m.
        assert exact().contains(v, 1.2 * tolerance)


def largest_hole(sweep):
    """Return the largest distance of a point of the exact set to an outcome, as a share of it."""
    speeds = normal_speeds(sweep)
    along = np.sort(speeds[:, 0] - speeds[:, 1]) / sequential_speed()
    ends = [1.0 + along[0], 1.0 - along[-1]]
    return max(np.diff(along).max() / 2.0, *ends)


def test_stiffness_ratios_give_rigid_outcomes():
    check_stiffness(stiffness_runs(5))


def test_extreme_ratios_come_near_sequential_impacts():
    extremes = normal_speeds(stiffness_runs(5))[[0, -1]].max(axis=1)
    np.testing.assert_allclose(extremes, 0.9878 * sequential_speed(), rtol=1e-4)


def test_equal_corners_stop_together():
    np.testing.assert_allclose(normal_speeds(stiffness_runs(5))[2], [-REST, -REST], rtol=1e-6)


def test_corners_strike_one_after_the_other_at_a_hundredth_of_a_degree():
    """The paper says 99.9992 %."""
    sweep = angle_runs(3)
    assert [f"{share:.4%}" for share in sweep.shares] == ["99.9992%", "0.0000%", "99.9992%"]
    check_is_on_the_segments(sweep)
    check_is_a_mirror_image(sweep)
    check_loses_energy(sweep)


def test_turned_block_lifts_slightly_faster_than_any_rigid_outcome():
    """By 1.8 %: it falls on between the two impacts, and springs give back a little."""
    sweep = angle_runs(3)
    beyond = normal_speeds(sweep).max() - sequential_speed()
    assert beyond == pytest.approx(0.0183 * sequential_speed(), rel=1e-2)
    speed, duration = abs(scene().v[1]), sweep.runs[0].t[-1]
    assert beyond < 9.81 * duration + speed / (4.0 * ZETA**2)


def test_box_comes_to_the_exact_set_as_contacts_get_stiff_and_damped():
    """Springs give back a share of 1 / (4 zeta^2), however stiff: both must grow."""
    box = carom.scenes.load("box-wall")
    rigid = carom.RouthExact().resolve(box.problem)

    def distance(stiffness, damping_ratio):
        law = carom.Compliant([stiffness, 2.0 * stiffness], damping_ratio)
        impact = law.run(box.system, box.q, box.v)
        assert impact.status == "over"
        return rigid.distance(impact.v_post)

    assert 1e-3 < distance(1e9, ZETA) < 1.0 / (4.0 * ZETA**2)
    assert 1e-3 < distance(1e12, ZETA) < 1.0 / (4.0 * ZETA**2)
    assert distance(1e9, 50.0) < 1e-6
    assert distance(1e12, 50.0) < 1e-7


@pytest.mark.slow
def test_all_stiffness_ratios_give_rigid_outcomes_and_nearly_cover_them():
    """Takes 20 s. Of the exact set, no point is farther from an outcome than 4.4 % of its size."""
    sweep = stiffness_runs(51)
    assert sweep.values[0] == pytest.approx(1e-5)
    assert sweep.values[-1] == pytest.approx(1e5)
    assert all(run.stiffness.min() == 1e6 for run in sweep.runs)
    check_stiffness(sweep)
    assert (np.diff(sweep.v_post[:, 2]) < 0.0).all()
    assert largest_hole(sweep) < 0.05


@pytest.mark.slow
def test_all_angles_give_outcomes_on_the_segments_and_nearly_cover_them():
    """Takes 20 s."""
    sweep = angle_runs(51)
    check_is_on_the_segments(sweep)
    check_is_a_mirror_image(sweep)
    check_loses_energy(sweep)
    assert (np.diff(sweep.v_post[:, 2]) < 0.0).all()
    assert (np.diff(sweep.shares[25:]) > 0.0).all()
    assert largest_hole(sweep) < 0.07
