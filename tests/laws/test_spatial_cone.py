"""k friction directions against Coulomb's round cone: how far off they are, and that it shrinks."""

import numpy as np
import pytest

import carom
from carom.guarantees.uniqueness import step_uniqueness
from tests.reference.cone_errors import (
    SHARE,
    one_contact,
    one_outcome,
    several_contacts,
    step_errors,
    turning,
)
from tests.reference.coulomb_cone import round_cone_outcome
from tests.reference.set_checks import changed
from tests.reference.spatial_problems import distance, ellipsoid, on_feet, rates

KS = (4, 8, 16, 32)

ROUNDING = 1e-9
"""Of the impact's speed: the reference is integrated to 1e-12."""

MEDIAN = {4: 0.024, 8: 0.008, 16: 0.0025, 32: 0.00071}
WORST = {4: 0.3, 8: 0.077, 16: 0.041, 32: 0.021}
"""Errors of 300 ellipsoids, as docs/spatial.md reports them."""

TURNED = {4: 0.35, 8: 0.13, 16: 0.07, 32: 0.035}
"""How far apart two outcomes of 100 ellipsoids are whose tangents are turned, at most."""


def numbered(number, k=8):
    return ellipsoid(np.random.default_rng([7, number]), k)


@pytest.mark.parametrize("mu", [0.0, 0.2, 0.7, 2.0])
def test_the_reference_knows_how_a_point_slides(mu):
    """Friction is against slip, which keeps its direction and loses mu times the normal speed."""
    v = np.array([0.9, -0.5, -1.0])
    point = carom.ImpactProblem(3.0 * np.eye(3), [[0, 0, 1]], [np.eye(3)[:2]], mu, v)
    slip = np.linalg.norm(v[:2])
    expected = np.append(v[:2] * max(1.0 - mu / slip, 0.0), 0.0)
    assert np.abs(round_cone_outcome(point) - expected).max() <= ROUNDING


@pytest.mark.parametrize("seed", range(20))
def test_the_reference_is_rouths_closed_form_where_all_moves_in_a_plane(seed):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(2, 2))
    planar = carom.ImpactProblem(
        root @ root.T + 0.05 * np.eye(2),
        [[0.0, 1.0]],
        [[1.0, 0.0]],
        mu=rng.uniform(0.0, 2.0),
        v_pre=[rng.normal(), -1.0],
    )
    M = np.eye(3)
    M[:2, :2] = planar.M
    spatial = carom.ImpactProblem(
        M, [[0, 1, 0]], [[[1, 0, 0], [0, 0, 1]]], planar.mu, [*planar.v_pre, 0.0]
    )
    expected = carom.RouthSingle().resolve(planar).v_post[0]
    found = round_cone_outcome(spatial)
    assert np.abs(found - [*expected, 0.0]).max() <= ROUNDING * planar.energy_norm


@pytest.mark.parametrize("number", range(20))
def test_the_reference_obeys_physics(number):
    problem = numbered(number)
    v = round_cone_outcome(problem)
    impulse = np.linalg.lstsq(problem.J.T, problem.M @ (v - problem.v_pre), rcond=None)[0]
    unit = problem.space.impulse_unit[0]
    assert np.linalg.norm(impulse[1:]) <= problem.mu[0] * impulse[0] + ROUNDING * unit
    assert abs(problem.J_n[0] @ v) <= ROUNDING * problem.space.velocity_unit[0]
    assert problem.kinetic_energy(v) <= problem.kinetic_energy(problem.v_pre)
    # It can be stopped on the way, and goes on from there.
    half = changed(problem, v_pre=round_cone_outcome(problem, 0.5 * impulse[0]))
    assert abs((problem.M @ (half.v_pre - problem.v_pre)) @ _lift(problem) - 0.5 * impulse[0]) <= (
        ROUNDING * unit
    )
    assert distance(problem, round_cone_outcome(half), v)[0] <= ROUNDING


@pytest.mark.parametrize("k", [4, 8])
@pytest.mark.parametrize("number", range(10))
def test_small_steps_and_the_exact_set_agree(number, k):
    problem = numbered(number, k)
    outcomes = carom.RouthExact(max_seconds=60.0).resolve(problem)
    assert outcomes.is_complete
    # A step in which slip turns from one direction to another errs by part of what it can do.
    push = np.abs(problem.space.A).max() * (1.0 + problem.mu[0])
    for v in outcomes.v_post:
        assert distance(problem, one_outcome(problem), v)[0] <= SHARE * push


@pytest.mark.parametrize("k", [3, *KS])
def test_the_error_at_equal_normal_impulse_has_a_bound(k):
    """|v_k - v|_M <= sqrt(1 / cos(pi / k) - 1) |v_pre|_M as long as both take the same impulse."""
    bound = np.sqrt(1.0 / np.cos(np.pi / k) - 1.0)
    num_compared = 0
    for number in range(10):
        problem = numbered(number, k)
        step = 1e-3 * float(problem.space.impulse_unit[0])
        law = carom.Routh(points=np.ones((1, 10_000)), step_impulse=step)
        path = law.draw_path(problem, seed=0)
        for j in np.linspace(0, path.num_steps - 1, 4).astype(int)[1:]:
            v = round_cone_outcome(problem, j * step)
            if problem.J_n[0] @ v < -ROUNDING:
                assert distance(problem, path.v[j], v)[0] <= bound
                num_compared += 1
    assert num_compared >= 15


def test_one_contact_converges_to_the_round_cone():
    errors = one_contact(40, KS)
    mean = errors.mean(axis=0)
    order = np.log2(mean[:-1] / mean[1:])
    assert (order >= 1.2).all()
    assert (errors <= list(WORST.values())).all()


@pytest.mark.slow
def test_errors_at_one_contact_are_as_reported():
    errors = one_contact(300, KS)
    assert (np.median(errors, axis=0) <= list(MEDIAN.values())).all()
    assert (errors.max(axis=0) <= list(WORST.values())).all()
    # The numbers are no looser than they must be.
    assert (np.median(errors, axis=0) >= 0.9 * np.array(list(MEDIAN.values()))).all()
    assert (errors.max(axis=0) >= 0.9 * np.array(list(WORST.values()))).all()


def test_steps_err_in_proportion_to_their_length():
    """Beside the error of the directions, which stays; the default law takes no steps."""
    shares = np.array([0.1, 0.01, 0.001])
    mean = step_errors(60, shares).mean(axis=0)
    order = np.log(mean[:-1] / mean[1:]) / np.log(shares[:-1] / shares[1:])
    assert (order >= 0.8).all(), order
    assert mean[0] <= 0.01


@pytest.mark.parametrize("k", [8, 32])
def test_turned_tangents_change_little(k):
    assert turning(12, k).max() <= TURNED[k]


@pytest.mark.slow
@pytest.mark.parametrize("k", KS)
def test_what_turned_tangents_change_is_as_reported(k):
    worst = turning(100, k).max()
    assert 0.9 * TURNED[k] <= worst <= TURNED[k]


def test_samples_with_the_same_caps_converge_where_steps_have_one_solution():
    errors = []
    for seed in range(6):
        rng = np.random.default_rng([11, seed])
        problem = on_feet(rng, 2, most_friction=0.5)
        assert step_uniqueness(changed(problem, num_directions=16)).is_unique
        law = carom.Routh(points=rates(rng, 50, 2))
        ends = [law.resolve(changed(problem, num_directions=k)).v_post for k in (*KS, 64)]
        errors.append([distance(problem, v, ends[-1]) for v in ends[:-1]])
    errors = np.concatenate(errors, axis=1)
    mean = errors.mean(axis=1)
    assert (mean[1:] <= 0.6 * mean[:-1]).all()
    assert errors[1].max() <= 0.1


@pytest.mark.slow
@pytest.mark.parametrize(("m", "count"), [(2, 20), (3, 10), (4, 6)])
def test_samples_and_sets_at_several_contacts_converge(m, count):
    apart, supports = several_contacts(m, count, KS, 64)
    for errors in (apart, supports):
        mean = errors.mean(axis=1)
        # What they are compared with, k = 64, errs by some part of what k = 32 does.
        assert (mean[1:] <= [0.5, 0.5, 0.75] * mean[:-1]).all()
    assert np.percentile(apart[1], 99) <= 0.1
    assert np.percentile(supports[1], 99) <= 0.05


def _lift(problem):
    """Return a velocity (nv,) that lifts the contact with 1 m/s, and does not slide."""
    return np.linalg.lstsq(problem.J, [1.0, 0.0, 0.0], rcond=None)[0]
