"""Extremes are reached by motions, proved by certificates, and exact where the exact set is."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import carom
from carom.stepping.replay import replay
from tests.reference.impact_problems import hard_triple, random_generator, random_problem
from tests.reference.set_checks import changed
from tests.reference.spatial_problems import box, flat_feet, on_feet, turn, with_tangents

pytestmark = pytest.mark.needs("ppl")

SCENES = ("rocking-block", "compass-gait", "box-wall", "ramone")
IMPULSES_AND_ENERGY = ["A impulse", "-A impulse", "B impulse", "energy kept", "-energy kept"]


def assert_replays(extreme, tol):
    """Judge the path by the inclusion, and its end by what is claimed to be reached."""
    problem, path = extreme.problem, extreme.path
    impulses = np.concatenate([path.lambda_n[..., None], path.lambda_t], axis=2)
    rows = impulses.reshape(len(impulses), -1)
    units = np.repeat(problem.space.impulse_unit, problem.space.width)
    assert replay(problem.space, problem.start, rows / units, tol) == []
    np.testing.assert_allclose(path.v[-1], extreme.v_post, rtol=0, atol=1e-12 * extreme.scale)
    value = extreme.direction @ extreme.v_post
    value += extreme.impulse_weights @ impulses[..., 0].sum(axis=0)
    assert extreme.reached == pytest.approx(value, rel=0, abs=1e-9 * extreme.scale)


def assert_holds(extremes, tol=1e-9):
    """No value that is reached exceeds what is proved, and proofs verify."""
    for each in extremes:
        assert each.reached <= each.proved + tol * each.scale, each
    extremes.verify()


@pytest.mark.parametrize("name", SCENES)
def test_two_contacts_are_exact(name):
    problem = carom.scenes.load(name).problem
    found = carom.worst_case(problem, max_seconds=20.0)
    exact = carom.RouthExact().resolve(problem)
    assert len(found) == 8
    for each in found:
        truth = exact.support(each.direction)
        assert each.reached == pytest.approx(truth, rel=0, abs=1e-9 * each.scale)
        assert each.proved == pytest.approx(truth, rel=0, abs=1e-9 * each.scale)
        assert each.is_exact
        assert each.certificate is not None
        assert_replays(each, 1e-9)
    found.verify()


@pytest.mark.parametrize("name", SCENES)
def test_impulses_and_energy_hold_samples(name):
    problem = carom.scenes.load(name).problem
    found = carom.worst_case(problem, IMPULSES_AND_ENERGY, max_seconds=3.0)
    samples = carom.Routh(20_000, seed=1).resolve(problem)
    energy = problem.kinetic_energy(samples.v_post)
    A, B = samples.impulse_n.T
    for each, values in zip(found, (A, -A, B, energy, -energy), strict=True):
        slack = 1e-9 * each.scale
        assert values.max() <= each.proved + slack, each
        assert each.reached >= values.max() - slack, each
    assert_holds(found)


@pytest.mark.parametrize("kind", ["two feet", "three feet", "box"])
def test_bases_of_tangents_do_not_matter(kind):
    rng = np.random.default_rng(0)
    problem = box() if kind == "box" else on_feet(rng, 2 if kind == "two feet" else 3)
    rows = np.vstack([problem.J_n[0], rng.normal(size=(1, 6))])
    turns = [turn(angle) for angle in rng.uniform(0.0, 6.0, problem.num_contacts)]
    turned = with_tangents(problem, turns)
    one, other = (carom.worst_case(each, rows, max_seconds=2.0) for each in (problem, turned))
    for a, b in zip(one, other, strict=True):
        assert a.proved == pytest.approx(b.proved, rel=0, abs=1e-9 * a.scale)
        assert a.reached == pytest.approx(b.reached, rel=0, abs=1e-2 * a.scale)
        assert_replays(a, 1e-6)
    assert_holds(one, 1e-6)


@pytest.mark.slow
def test_bases_of_tangents_do_not_matter_for_flat_feet():
    rng, problem = np.random.default_rng(0), flat_feet()
    rows = np.vstack([problem.J_n[:2], rng.normal(size=(1, 6))])
    turns = [turn(angle) for angle in rng.uniform(0.0, 6.0, 8)]
    turned = with_tangents(problem, turns)
    one, other = (carom.worst_case(each, rows, max_seconds=20.0) for each in (problem, turned))
    for a, b in zip(one, other, strict=True):
        assert a.proved == pytest.approx(b.proved, rel=0, abs=1e-9 * a.scale)
        assert a.reached == pytest.approx(b.reached, rel=0, abs=1e-2 * a.scale)


@st.composite
def problems(draw):
    """Draw impacts of one to four contacts, in the plane and in space."""
    m, d = draw(st.integers(1, 4)), draw(st.sampled_from([1, 2]))
    rng = draw(random_generator())
    return random_problem(rng, m, d, mu=rng.uniform(0.0, 1.5, m))


def assert_samples_are_below(problem, max_seconds):
    found = carom.worst_case(problem, max_seconds=max_seconds)
    samples = carom.Routh(2000, extremes=0.5, seed=1).resolve(problem)
    tol = 1e-9 if problem.num_tangents == 1 else 1e-6
    for each in found:
        assert (samples.v_post @ each.direction).max() <= each.proved + tol * each.scale, each
    assert_holds(found, tol)


@settings(max_examples=10)
@given(problem=problems())
def test_no_motion_exceeds_what_is_proved(problem):
    assert_samples_are_below(problem, 0.3)


@pytest.mark.slow
@settings(max_examples=60)
@given(problem=problems())
def test_no_motion_exceeds_what_is_proved_at_length(problem):
    assert_samples_are_below(problem, 1.0)


@pytest.mark.parametrize("number", range(3))
def test_three_contacts_replay_and_hold(number):
    problem = hard_triple(number)
    found = carom.worst_case(problem, max_seconds=2.0)
    for each in found:
        assert_replays(each, 1e-9)
    assert_holds(found)


def test_speed_scales_extremes():
    problem = carom.scenes.load("box-wall").problem
    slow, fast = (
        carom.worst_case(changed(problem, v_pre=scale * problem.v_pre)) for scale in (1.0, 8.0)
    )
    np.testing.assert_allclose(fast.reached, 8.0 * slow.reached, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(fast.proved, 8.0 * slow.proved, rtol=1e-9, atol=1e-9)


@pytest.mark.slow
def test_disk_stack():
    problem = carom.scenes.load("disk-stack").problem
    found = carom.worst_case(problem, max_seconds=30.0)
    for each in found:
        assert_replays(each, 1e-9)
    assert_holds(found)
    assert max(found["C tangential"].reached, found["-C tangential"].reached) >= 0.19
    assert found["E normal"].reached >= 0.13
    from carom.stepping.symmetry import symmetries

    units = np.repeat(problem.space.velocity_unit, problem.space.width)
    objectives = np.array([each.direction for each in found])
    images = 0
    for matrix in symmetries(problem.space, problem.start):
        # An impulse maps by the matrix, and so do contact velocities, a signed permutation.
        for k, each in enumerate(found):
            image = objectives[k] @ np.linalg.pinv(problem.J) / units @ matrix * units @ problem.J
            twin = np.flatnonzero(np.abs(objectives - image).max(axis=1) < 1e-9)
            if len(twin) == 1 and twin[0] != k:
                images += 1
                assert found[int(twin[0])].reached == pytest.approx(
                    each.reached, rel=0, abs=0.02 * each.scale
                )
    assert images > 0


def test_replaced_bounds_are_not_exact():
    """The tests above can fail: a bound that is too low is seen."""
    problem = carom.scenes.load("rocking-block").problem
    found = carom.worst_case(problem, "A normal")
    low = replace(found, proved=found.proved - 1e-6)
    with pytest.raises(carom.InvalidCertificate):
        low.verify()
    with pytest.raises(AssertionError):
        assert_replays(replace(found, reached=found.reached + 1e-6), 1e-9)
