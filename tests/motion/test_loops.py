"""Closed loops in motion and in impacts, judged by bars without joints and explicit pins."""

import numpy as np
import pytest

import carom
from carom.motion.parts import Segment
from tests.reference import four_bar
from tests.reference.motion_checks import check_motion

DRIFT = 1e-9
LAW = carom.Routh(num_samples=1)


def lander(lean, height, tilt, seed):
    """Return the linkage in a state that its pin allows."""
    system = four_bar.linkage()
    q = four_bar.pose(lean, height, tilt)
    v = np.random.default_rng(seed).normal(scale=0.3, size=6)
    v[1] -= 1.0
    return system, q, system.allowed_velocity(q, v)


def paths(problem, num):
    """Return ways in which an impact goes."""
    return [LAW.draw_path(problem, seed) for seed in range(num)]


def gathered(path):
    """Return the contact impulses (m, 2) of a path, normal first."""
    return np.column_stack([path.lambda_n.sum(axis=0), path.lambda_t.sum(axis=0)[:, 0]])


@pytest.mark.parametrize(("lean", "seed"), [(0.3, 0), (-0.3, 1), (0.6, 2)])
def test_impulses_through_the_loop_are_those_of_explicit_pins(lean, seed):
    """The linkage lands flat on two feet; its bars are also pushed alone, with all pins solved."""
    system, q, v = lander(lean, 0.0, 0.0, seed)
    problem = system.impact_problem(q, v)
    assert problem.num_contacts == 2
    places, rates = four_bar.bars(system, q), four_bar.bar_rates(system, q)
    largest = 0.0
    for path in paths(problem, 10):
        impulse = gathered(path)
        push = np.einsum("mx,mxv->v", impulse, four_bar.foot_rows(places))
        change, pins = four_bar.explicit(places, push)
        assert rates @ (path.v[-1] - problem.v_pre) == pytest.approx(change, abs=1e-8)
        # Pins act on the first body against the second: the last is the one that closes the loop.
        through = system.constraint_impulses(q, problem, impulse)
        assert through == pytest.approx(pins[6:], abs=1e-8)
        largest = max(largest, np.abs(through).max())
    assert largest > 0.1


def test_sets_are_those_of_independent_velocities():
    """In coordinates that satisfy the pin by themselves there is no constraint."""
    system, q, v = lander(0.4, 0.0, 0.0, 3)
    problem = system.impact_problem(q, v)
    G = system.constraint_state(q).G
    N = np.linalg.svd(G)[2][2:].T
    here = system.open_dynamics(q)
    reduced = carom.ImpactProblem(
        M=N.T @ here.M @ N,
        J_n=here.J_n @ N,
        J_t=here.J_t @ N,
        mu=system.mu,
        v_pre=np.linalg.lstsq(N, v, rcond=None)[0],
        contacts=problem.contacts,
    )
    for law in (carom.Routh(num_samples=64), carom.AnitescuPotra(), carom.Sequential()):
        found, expected = law.resolve(problem).v_post, law.resolve(reduced).v_post @ N.T
        assert found == pytest.approx(expected, abs=1e-9)
    exact, other = (carom.RouthExact().resolve(each) for each in (problem, reduced))
    assert exact.is_complete
    assert other.contains(exact.sample(50, rng=0) @ np.linalg.pinv(N).T).all()
    assert exact.contains(other.sample(50, rng=0) @ N.T).all()
    assert np.abs(exact.sample(50, rng=1) @ G.T).max() < 1e-9


@pytest.mark.parametrize("seed", range(3))
def test_a_linkage_that_lands_stays_closed(seed):
    """It falls, lands on one foot or two, slides, leans and falls over: its pin never opens."""
    system, q, v = lander(0.3, 0.03, 0.02 * seed, seed)
    motion = carom.simulate(system, q, v, 0.25, LAW, seed=seed)
    assert motion.status == "finished"
    assert len(motion.impacts) > 0
    check_motion(motion)
    for part in motion.parts:
        if isinstance(part, Segment):
            times = np.linspace(part.start, part.end, 20)
            values = part.values(times)
            for at, rate in zip(values[:, :6], values[:, 6:12], strict=True):
                state = system.constraint_state(at)
                assert np.abs(state.residual).max() < DRIFT
                assert np.abs(state.G @ rate).max() < 1e-8


def test_accelerations_in_flight_are_those_of_explicit_pins():
    for seed in range(5):
        system, q, v = lander(0.5, 0.2, 0.3, seed)
        v[3:] += system.allowed_velocity(q, np.full(6, 2.0))[3:]
        v = system.allowed_velocity(q, v)
        here = system.dynamics(q, v)
        places, rates = four_bar.bars(system, q), four_bar.bar_rates(system, q)
        weight = four_bar.free_inertia() @ np.tile([0.0, -four_bar.GRAVITY, 0.0], 4)
        expected, _ = four_bar.explicit(places, weight, rates @ v)
        step = 1e-5
        sides = [four_bar.bar_rates(system, q + s * step * v) @ v for s in (1, -1)]
        bias = (sides[0] - sides[1]) / (2.0 * step)
        found = rates @ np.linalg.solve(here.M, here.force) + bias
        assert found == pytest.approx(expected, abs=1e-4)


def test_energy_is_kept_in_flight():
    system, q, v = lander(0.3, 3.0, 0.1, 4)
    v = system.allowed_velocity(q, v + np.array([0.0, 0.0, 1.0, 4.0, 0.0, 0.0]))
    motion = carom.simulate(system, q, v, 0.6, LAW)
    end = motion.at(t=[0.6])
    assert system.energy(end.q[0], end.v[0]) == pytest.approx(system.energy(q, v), rel=1e-10)


def test_a_motion_starts_closed():
    system, q, v = lander(0.3, 0.1, 0.0, 0)
    with pytest.raises(carom.InvalidProblem, match=r"'pin \(.\)' off by .* m.*system.closed\(q\)"):
        carom.simulate(system, q + 1e-3 * np.eye(6)[3], v, 0.1, LAW)
    with pytest.raises(carom.InvalidProblem, match="v: expected a velocity that the constraints"):
        carom.simulate(system, q, np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0]), 0.1, LAW)


def test_impulses_are_asked_for_in_their_shape():
    system, q, v = lander(0.3, 0.0, 0.0, 0)
    problem = system.impact_problem(q, v)
    with pytest.raises(carom.InvalidOption, match=r"impulses: expected \(\.\.\., 2, 2\)"):
        system.constraint_impulses(q, problem, np.zeros((2, 3)))
    both = system.constraint_impulses(q, problem, np.ones((5, 2, 2)))
    assert both == pytest.approx(
        np.tile(system.constraint_impulses(q, problem, np.ones((2, 2))), (5, 1))
    )
