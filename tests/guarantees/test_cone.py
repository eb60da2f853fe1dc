"""Whether impulses can cancel, judged by linear programs and by the proofs that come along."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize

import carom
from carom.guarantees.cone import pointedness
from tests.reference.impact_problems import impact_problems, random_problem
from tests.reference.set_checks import changed

SCENES = ("rocking-block", "box-wall", "compass-gait", "disk-stack", "ramone", "painleve-rod")
SOLVER = 1e-6
"""What linprog leaves of constraints on unit vectors, and a decision that may go either way."""
PROOF = 1e-7
"""Rounding in r . ray >= 1 where friction of up to 1e5 makes rays that are almost opposite."""

seeds = st.integers(0, 2**31)


def corner_impulses(problem):
    """Return unit normal impulses with full friction along every direction, (n, m, 1 + d)."""
    if problem.num_tangents == 1:
        directions = np.array([[1.0], [-1.0]])
    else:
        angles = 2 * np.pi * np.arange(problem.num_directions) / problem.num_directions
        directions = np.column_stack([np.cos(angles), np.sin(angles)])
    shape = (problem.num_contacts, 1 + problem.num_tangents)
    impulses = np.zeros((problem.num_contacts, len(directions), *shape))
    for i, mu in enumerate(problem.mu):
        impulses[i, :, i, 0] = 1.0
        impulses[i, :, i, 1:] = mu * directions
    return impulses.reshape(-1, *impulses.shape[2:])


def effect(problem, impulses):
    """Return the velocities (n, nv) that impulses (n, m, 1 + d) give."""
    J = np.concatenate([problem.J_n[:, None], problem.J_t], axis=1)
    return np.linalg.solve(problem.M, np.einsum("nmd,mdv->vn", impulses, J)).T


def nearest_mix(rays):
    """Return the least t such that a mean of unit rays has no coordinate above t."""
    unit = rays / np.linalg.norm(rays, axis=1, keepdims=True)
    n, nv = unit.shape
    bounds = np.hstack([np.vstack([unit.T, -unit.T]), -np.ones((2 * nv, 1))])
    answer = linprog(
        np.append(np.zeros(n), 1.0),
        A_ub=bounds,
        b_ub=np.zeros(2 * nv),
        A_eq=[[1.0] * n + [0.0]],
        b_eq=[1.0],
    )
    assert answer.status == 0
    return answer.fun


def check_cone(problem):
    """Assert that the verdict has a proof, and agrees with the linear program."""
    cone = pointedness(problem)
    rays = effect(problem, corner_impulses(problem))
    t = nearest_mix(rays)
    if cone.is_pointed:
        assert cone.jamming is None
        for r in (cone.r, cone.r_energy):
            assert (rays @ r).min() >= 1.0 - PROOF
        unit = rays / np.linalg.norm(rays, axis=1, keepdims=True)
        margin = (unit @ cone.r_energy).min() / np.linalg.norm(cone.r_energy)
        assert t >= margin / np.sqrt(problem.num_velocities) - SOLVER
        return cone
    assert cone.r is None
    assert cone.r_energy is None
    assert t <= SOLVER
    normal, friction = cone.jamming[:, 0], cone.jamming[:, 1:]
    assert normal.sum() == pytest.approx(1.0, abs=1e-12)
    assert (normal >= 0.0).all()
    # Also the polygon lies in the disc.
    assert (np.linalg.norm(friction, axis=1) <= problem.mu * normal * (1 + 1e-12)).all()
    left = effect(problem, cone.jamming[None])[0]
    largest = np.sqrt(2 * problem.kinetic_energy(rays)).max()
    assert np.sqrt(2 * problem.kinetic_energy(left)) <= 1e-8 * largest
    assert np.sqrt(2 * problem.kinetic_energy(left)) == pytest.approx(
        cone.residual, abs=1e-12 * largest
    )
    return cone


@settings(max_examples=300)
@given(problem=impact_problems(max_contacts=4))
def test_verdict_is_right_and_proved(problem):
    check_cone(problem)


def test_both_verdicts_occur():
    """Or the test above would say half of what it seems to."""
    found = [
        check_cone(random_problem(np.random.default_rng(seed), 3, 1, nv=3)).is_pointed
        for seed in range(40)
    ]
    assert 5 <= sum(found) <= 35


@pytest.mark.parametrize("name", SCENES)
def test_scenes_are_pointed(name):
    assert check_cone(carom.scenes.load(name).problem).is_pointed


def walls(mu, offset=0.0, J_n=(), J_t=()):
    """Return a box, 1 m wide, between two walls that touch it at heights +offset and -offset."""
    return carom.ImpactProblem(
        M=np.diag([2.0, 2.0, 0.5]),
        J_n=[[1.0, 0.0, -offset], [-1.0, 0.0, -offset], *J_n],
        J_t=[[0.0, 1.0, -0.5], [0.0, 1.0, 0.5], *J_t],
        mu=mu,
        v_pre=[-1.0, 0.5, 0.2],
    )


@pytest.mark.parametrize("mu", [0.0, 0.4, 1e3])
def test_box_between_walls_is_jammed_whatever_the_friction(mu):
    cone = check_cone(walls(mu))
    assert not cone.is_pointed
    assert cone.jamming[:, 0] == pytest.approx([0.5, 0.5])


def test_half_space_is_not_pointed():
    """Two rays are exactly opposite, the third lies on one side: one combination cancels."""
    problem = carom.ImpactProblem(
        M=np.diag([1.0, 3.0]),
        J_n=[[1.0, 0.0], [-2.0, 0.0], [0.3, 1.0]],
        J_t=[[0.0, 1.0]] * 3,
        mu=0.0,
        v_pre=[1.0, -1.0],
    )
    cone = check_cone(problem)
    assert not cone.is_pointed
    assert cone.jamming[:, 0] == pytest.approx([2 / 3, 1 / 3, 0.0], abs=1e-9)
    assert check_cone(
        changed(problem, J_n=problem.J_n[1:], J_t=problem.J_t[1:], mu=0.0, contacts=None)
    ).is_pointed


@settings(max_examples=40)
@given(offset=st.floats(0.05, 5.0), distance=st.floats(1e-4, 0.5))
def test_friction_jams_from_a_known_coefficient_on(offset, distance):
    """Forces at two points cancel if they point at each other: the line between the points must
    lie in both friction cones, mu >= height difference / width."""
    critical = 2 * offset / 1.0
    assert check_cone(walls(critical * (1 - distance), offset)).is_pointed
    assert not check_cone(walls(critical * (1 + distance), offset)).is_pointed


def moderate(seed):
    """Return a random pointed problem whose rays are of like lengths."""
    rng = np.random.default_rng(seed)
    while True:
        m, d = int(rng.integers(1, 4)), int(rng.integers(1, 3))
        problem = random_problem(rng, m, d, nv=int(rng.integers(2, 7)), mu=rng.uniform(0, 1, m))
        cone = pointedness(problem)
        if cone.is_pointed and np.linalg.cond(problem.M) < 1e3:
            return problem, cone


def energy_length(problem, r):
    return np.sqrt(r @ np.linalg.solve(problem.M, r))


@settings(max_examples=40)
@given(seed=seeds)
def test_r_is_the_shortest(seed):
    problem, cone = moderate(seed)
    rays = effect(problem, corner_impulses(problem))
    scale = np.linalg.norm(cone.r)
    answer = minimize(
        lambda x: x @ x,
        1.3 * cone.r / scale,
        jac=lambda x: 2 * x,
        constraints={
            "type": "ineq",
            "fun": lambda x: scale * rays @ x - 1.0,
            "jac": lambda _: scale * rays,
        },
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-12},
    )
    assert answer.fun >= 1.0 - 1e-5
    rng = np.random.default_rng(seed)
    for r in cone.r + scale * rng.normal(size=(200, len(cone.r))) * rng.uniform(0, 1, (200, 1)):
        least = (rays @ r).min()
        if least > 0.0:
            feasible = r / least
            assert np.linalg.norm(feasible) >= scale * (1 - 1e-7)
            assert energy_length(problem, feasible) >= energy_length(problem, cone.r_energy) * (
                1 - 1e-7
            )
    assert energy_length(problem, cone.r_energy) <= energy_length(problem, cone.r) * (1 + 1e-7)


@settings(max_examples=40)
@given(seed=seeds)
def test_r_by_energy_is_the_same_in_all_coordinates(seed):
    problem, cone = moderate(seed)
    rng = np.random.default_rng([seed, 1])
    nv = problem.num_velocities
    T = np.linalg.qr(rng.normal(size=(nv, nv)))[0] * 10.0 ** rng.uniform(-1, 1, nv)
    other = pointedness(
        changed(
            problem,
            M=T.T @ problem.M @ T,
            J_n=problem.J_n @ T,
            J_t=problem.J_t @ T,
            v_pre=np.linalg.solve(T, problem.v_pre),
        )
    )
    length = energy_length(problem, cone.r_energy)
    # r . v is a number: r moves against v.
    back = np.linalg.solve(T.T, other.r_energy)
    assert energy_length(problem, back - cone.r_energy) <= 1e-5 * length
    assert energy_length(problem, back) == pytest.approx(length, rel=1e-8)


@given(seed=seeds)
def test_one_contact_is_always_pointed(seed):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, 1, int(rng.integers(1, 3)), nv=int(rng.integers(3, 6)), mu=2.0)
    assert check_cone(problem).is_pointed
