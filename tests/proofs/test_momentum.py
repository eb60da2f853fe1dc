"""Bounds hold for every outcome that is known, and are as tight as closed forms say."""

from dataclasses import replace
from math import inf

import numpy as np
import pytest

import carom
from carom.guarantees.cone import pointedness
from carom.proofs import Prover, check, is_valid, prove
from tests.reference.impact_problems import numbered_pair, random_problem
from tests.reference.set_checks import known_outcomes


def largest(problem, direction):
    """Return the largest value of a direction that the impact's energy allows."""
    return np.sqrt(direction @ np.linalg.solve(problem.M, direction)) * problem.energy_norm


def test_one_contact_without_friction_cannot_gain_or_lose_anything():
    """v+ = (0.3, 0) is the only outcome, and the three facts are enough to show it."""
    ball = carom.ImpactProblem(np.eye(2), [[0.0, 1.0]], [[1.0, 0.0]], 0.0, [0.3, -1.0])
    assert float(prove(ball, [1.0, 0.0])) == pytest.approx(0.3, abs=1e-9)
    assert float(prove(ball, [-1.0, 0.0])) == pytest.approx(-0.3, abs=1e-9)


@pytest.mark.parametrize("mu", [0.1, 0.5, 2.0, 1e5])
@pytest.mark.parametrize("slip", [0.0, 0.2, 1.5])
def test_one_contact_has_the_bound_of_its_geometry(mu, slip):
    """A unit mass: v+ lies in the disc of energy, above 0, and in the cone from v-."""
    ball = carom.ImpactProblem(np.eye(2), [[0.0, 1.0]], [[1.0, 0.0]], mu, [slip, -1.0])
    found = prove(ball, [1.0, 0.0])
    check(ball, found)
    assert float(found) == pytest.approx(_edge(mu, slip), abs=1e-9)
    assert float(found) <= np.hypot(slip, 1.0) + 1e-12


def _edge(mu, slip):
    """Return the largest x with (x, n) in the disc, n >= 0 and x - slip <= mu (n + 1).

    The cone's edge leaves the disc at n + 1 = 2 (1 - mu slip) / (1 + mu^2).
    """
    rise = 2.0 * (1.0 - mu * slip) / (1.0 + mu**2)
    return slip + mu * rise if rise > 1.0 else np.hypot(slip, 1.0)


@pytest.mark.parametrize("d", [1, 2])
def test_the_largest_impulse_of_one_contact(d):
    """A frictionless unit mass: energy allows the impulse that reverses the velocity."""
    J = np.eye(1 + d)
    ball = carom.ImpactProblem(J, J[:1], J[None, 1:], 0.0, -J[0])
    assert float(prove(ball, np.zeros(1 + d), [1.0])) == pytest.approx(2.0, abs=1e-8)
    assert float(prove(ball, np.zeros(1 + d), [-1.0])) == pytest.approx(-1.0, abs=1e-8)


@pytest.mark.needs("ppl")
@pytest.mark.parametrize("number", range(12))
def test_bounds_hold_for_exact_sets(number):
    problem = numbered_pair(number)
    outcomes = known_outcomes(problem)
    prover, rng = Prover(problem), np.random.default_rng(number)
    for d in [*problem.J, *-problem.J, *rng.normal(size=(4, problem.num_velocities))]:
        proved = prover.prove(d)
        check(problem, proved)
        # Vertices are floats, and the exact search rounds the problem once.
        assert float(proved) >= (outcomes.v_post @ d).max() - 1e-7 * largest(problem, d)
        assert float(proved) <= largest(problem, d) * (1.0 + 1e-9)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("m", [1, 2, 4])
def test_bounds_hold_for_samples_in_space(seed, m):
    """Friction directions lie on the circle, so that polygons are within the round cone."""
    rng = np.random.default_rng([seed, m])
    problem = random_problem(rng, m, 2, mu=rng.uniform(0.0, 1.0, m), num_directions=16)
    step = float(problem.space.impulse_unit.max()) / 50.0
    outcomes = carom.Routh(num_samples=300, step_impulse=step, num_threads=1).resolve(problem)
    prover = Prover(problem)
    for d in [*problem.J, *-problem.J]:
        proved = prover.prove(d)
        assert is_valid(problem, proved)
        assert float(proved) >= (outcomes.v_post @ d).max() - 1e-8 * largest(problem, d)
        assert float(proved) <= largest(problem, d) * (1.0 + 1e-9)
    if prover.pointed:
        for i in range(m):
            proved = prover.prove(np.zeros(problem.num_velocities), np.eye(m)[i])
            assert is_valid(problem, proved)
            slack = 1e-8 * problem.space.impulse_unit[i]
            assert float(proved) >= outcomes.impulse_n[:, i].max() - slack
            lowest = -float(prover.prove(np.zeros(problem.num_velocities), -np.eye(m)[i]))
            assert lowest <= outcomes.impulse_n[:, i].min() + slack


@pytest.mark.parametrize("seed", range(40))
def test_rotated_tangents_change_nothing(seed):
    rng = np.random.default_rng([7, seed])
    problem = random_problem(rng, int(rng.integers(1, 6)), 2)
    turned = problem.J_t.copy()
    for i, angle in enumerate(rng.uniform(0.0, 2.0 * np.pi, problem.num_contacts)):
        c, s = np.cos(angle), np.sin(angle)
        turned[i] = np.array([[c, -s], [s, c]]) @ turned[i]
    d = rng.normal(size=problem.num_velocities)
    found = float(prove(problem, d)), float(prove(replace(problem, J_t=turned), d))
    assert abs(found[0] - found[1]) < 1e-9 * largest(problem, d)


@pytest.mark.parametrize("seed", range(10))
def test_bounds_scale_with_the_units(seed):
    rng = np.random.default_rng([8, seed])
    problem = random_problem(rng, 3, int(rng.integers(1, 3)), mu=0.6)
    d = problem.J_n[0]
    scaled = carom.ImpactProblem(
        problem.M * 1e6, problem.J_n * 1e-3, problem.J_t * 1e-3, problem.mu, problem.v_pre * 1e4
    )
    assert float(prove(scaled, d)) == pytest.approx(
        1e4 * float(prove(problem, d)), abs=1e-8 * largest(scaled, d)
    )


@pytest.mark.parametrize("mu", [0.0, 0.5, 1e5])
def test_opposing_contacts_have_no_bound_on_impulses(mu):
    """A block between two walls, falling to a floor: walls jam, the floor does not."""
    J_n = [[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    J_t = [[0.0, 1.0, 0.5], [0.0, 1.0, -0.5], [1.0, 0.0, 0.5]]
    block = carom.ImpactProblem(np.eye(3), J_n, J_t, mu, [0.0, -1.0, 0.2])
    for i, is_bounded in enumerate([False, False, mu == 0.0]):
        proved = prove(block, np.zeros(3), np.eye(3)[i])
        assert (proved.bound is not None) == is_bounded
        if not is_bounded:
            assert float(proved) == inf
            assert "jam" in proved.reason
            assert not is_valid(block, proved)
    assert Prover(block).pointed is False
    for d in [*block.J, *-block.J]:
        proved = prove(block, d)
        check(block, proved)
        assert float(proved) <= largest(block, d) * (1.0 + 1e-12)
    if mu == 0.0:
        # Between frictionless walls nothing moves sideways, and spinning goes on.
        assert float(prove(block, [1.0, 0.0, 0.0])) == pytest.approx(0.0, abs=1e-7)
        assert float(prove(block, [0.0, 0.0, 1.0])) == pytest.approx(0.2, abs=1e-6)


@pytest.mark.parametrize("seed", range(40))
def test_impulses_are_bounded_if_and_only_if_the_cone_is_pointed(seed):
    rng = np.random.default_rng([9, seed])
    problem = random_problem(rng, int(rng.integers(2, 5)), 1, nv=3)
    proved = prove(problem, np.zeros(3), np.ones(problem.num_contacts))
    assert (proved.bound is not None) == pointedness(problem).is_pointed
    assert is_valid(problem, proved) == (proved.bound is not None)


def test_a_robot_at_rest_stays_at_rest():
    rest = carom.ImpactProblem(np.eye(2), [[0.0, 1.0]], [[1.0, 0.0]], 0.5, [0.0, 0.0])
    proved = prove(rest, [1.0, 2.0])
    check(rest, proved)
    assert proved.bound == 0


@pytest.mark.parametrize("seed", range(10))
def test_repeated_contacts_change_nothing(seed):
    rng = np.random.default_rng([10, seed])
    problem = random_problem(rng, 2, 2, mu=0.4, duplicates=False)
    twice = replace(
        problem,
        J_n=np.vstack([problem.J_n, problem.J_n]),
        J_t=np.concatenate([problem.J_t, problem.J_t]),
        mu=np.tile(problem.mu, 2),
        restitution=0.0,
        contacts=tuple("ABCD"),
    )
    for d in problem.J:
        proved = prove(twice, d)
        check(twice, proved)
        assert float(proved) == pytest.approx(
            float(prove(problem, d)), abs=1e-7 * largest(problem, d)
        )


def test_arguments_are_checked():
    ball = carom.ImpactProblem(np.eye(2), [[0.0, 1.0]], [[1.0, 0.0]], 0.5, [0.0, -1.0])
    with pytest.raises(carom.InvalidOption, match=r"direction: expected \(2,\)"):
        prove(ball, [1.0])
    with pytest.raises(carom.InvalidOption, match="impulse_weights"):
        prove(ball, [1.0, 0.0], [1.0, 2.0])
    with pytest.raises(carom.InvalidOption, match="direction"):
        prove(ball, [np.nan, 0.0])
