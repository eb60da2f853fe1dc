"""Every solution of the simultaneous impact, against exact arithmetic and the law itself."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import carom

CLEAR = 1e-6
"""Share of its natural size by which a condition must hold for an outcome to be beyond dispute."""

SAME = 1e-6
"""Energy norm of a difference, as a share of the impact's, at which two outcomes are one."""


def solve_exactly(matrix, rhs):
    """Solve a square system of fractions; None where it is singular."""
    rows = [[*row, value] for row, value in zip(matrix, rhs, strict=True)]
    for k in range(len(rows)):
        pivot = next((i for i in range(k, len(rows)) if rows[i][k] != 0), None)
        if pivot is None:
            return None
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [entry / rows[k][k] for entry in rows[k]]
        for i in range(len(rows)):
            if i != k and rows[i][k] != 0:
                rows[i] = [a - rows[i][k] * b for a, b in zip(rows[i], rows[k], strict=True)]
    return [row[-1] for row in rows]


def fractions(array):
    return [[Fraction(float(entry)) for entry in row] for row in np.atleast_2d(array)]


def exact_outcomes(problem):
    """Return (v_post, is clear) of every choice of planar modes that holds, without rounding."""
    m, nv = problem.num_contacts, problem.num_velocities
    M, J = fractions(problem.M), fractions(problem.J)
    mu, v = fractions(problem.mu)[0], fractions(problem.v_pre)[0]
    columns = [solve_exactly(M, row) for row in J]
    dot = lambda a, b: sum(x * y for x, y in zip(a, b, strict=True))  # noqa: E731
    A = [[dot(row, column) for column in columns] for row in J]
    v_c = [dot(row, v) for row in J]
    unit_v = np.repeat(problem.space.velocity_unit, 2)
    unit_l = np.repeat(problem.space.impulse_unit, 2)
    found = []
    for modes in product(("free", "sticks", 1, -1), repeat=m):
        basis, equations = [], []
        for i, mode in enumerate(modes):
            if mode == "sticks":
                basis += [{2 * i: Fraction(1)}, {2 * i + 1: Fraction(1)}]
                equations += [2 * i, 2 * i + 1]
            elif mode != "free":
                basis.append({2 * i: Fraction(1), 2 * i + 1: -mode * mu[i]})
                equations.append(2 * i)
        system = [[sum(A[e][k] * x for k, x in b.items()) for b in basis] for e in equations]
        xi = solve_exactly(system, [-v_c[e] for e in equations]) if basis else []
        if xi is None:
            continue
        impulse = [Fraction(0)] * (2 * m)
        for b, x in zip(basis, xi, strict=True):
            for k, share in b.items():
                impulse[k] += share * x
        after = [v_c[k] + dot(A[k], impulse) for k in range(2 * m)]
        margins = []
        for i, mode in enumerate(modes):
            n, t = 2 * i, 2 * i + 1
            if mode == "free":
                margins.append(float(after[n]) / unit_v[n])
                continue
            margins.append(float(impulse[n]) / unit_l[n])
            if mode == "sticks":
                margins += [float(mu[i] * impulse[n] - s * impulse[t]) / unit_l[t] for s in (1, -1)]
            else:
                margins.append(float(mode * after[t]) / unit_v[t])
        if min(margins) >= 0.0:
            v_post = [
                float(v[a] + sum(columns[k][a] * impulse[k] for k in range(2 * m)))
                for a in range(nv)
            ]
            size = max(1.0, *(abs(float(x)) / u for x, u in zip(impulse, unit_l, strict=True)))
            found.append((np.array(v_post), min(margins) > CLEAR * size))
    return found


def energy_distance(problem, a, b):
    return np.sqrt(2.0 * problem.kinetic_energy(a - b)) / problem.energy_norm


def assert_physical(problem, outcomes):
    """Judge by the law: impulses, cone, complementarity, energy."""
    space = problem.space
    lambda_n = outcomes.impulse_n / space.impulse_unit
    v = problem.contact_velocity(outcomes.v_post) / space.velocity_unit[:, None]
    lambda_t = outcomes.impulse_t[..., 0] / space.impulse_unit
    assert lambda_n.min() >= -1e-8
    assert v[..., 0].min() >= -1e-8
    assert np.minimum(lambda_n, v[..., 0]).max() <= 1e-8
    assert (np.abs(lambda_t) - problem.mu * lambda_n).max() <= 1e-8 * max(1.0, problem.mu.max())
    energy = problem.kinetic_energy(outcomes.v_post)
    assert energy.max() <= problem.kinetic_energy(problem.v_pre) * (1.0 + 1e-8)


def test_an_ill_conditioned_mass_hides_no_outcome():
    """Checked with 60 digits: rest is an outcome, and so is another."""
    problem = carom.ImpactProblem(
        M=np.diag([9.3e-5, 29000.0]),
        J_n=[[1.42, -0.68], [-0.49, 0.33]],
        J_t=[[1.36, 0.58], [0.51, 0.74]],
        mu=(0.04, 0.65),
        v_pre=(0.76, 0.97),
    )
    outcomes = carom.AnitescuPotra().resolve(problem)
    assert len(outcomes.v_post) == 2
    assert min(energy_distance(problem, v, np.zeros(2)) for v in outcomes.v_post) < SAME
    assert_physical(problem, outcomes)


@st.composite
def ill_conditioned(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    nv, decades = draw(st.integers(2, 4)), draw(st.floats(0.0, 8.0))
    Q = np.linalg.qr(rng.normal(size=(nv, nv)))[0]
    if draw(st.booleans()):
        Q = np.eye(nv)
    sizes = 10.0 ** np.concatenate([[0.0, decades], rng.uniform(0.0, decades, nv - 2)])
    M = Q @ np.diag(sizes) @ Q.T
    v = rng.normal(size=nv) / np.sqrt(np.diag(M))
    return carom.ImpactProblem(
        M=0.5 * (M + M.T),
        J_n=rng.normal(size=(2, nv)),
        J_t=rng.normal(size=(2, nv)),
        mu=rng.uniform(0.0, 1.5, 2),
        v_pre=v,
    )


@settings(max_examples=300, deadline=None)
@given(ill_conditioned())
def test_outcomes_are_those_of_exact_arithmetic(problem):
    assume(problem.is_colliding(problem.v_pre))
    expected = exact_outcomes(problem)
    outcomes = carom.AnitescuPotra().resolve(problem)
    assert_physical(problem, outcomes)
    for v, clear in expected:
        if clear:
            assert min(energy_distance(problem, v, w) for w in outcomes.v_post) < SAME
    for w in outcomes.v_post:
        assert min(energy_distance(problem, w, v) for v, _ in expected) < SAME


@pytest.mark.parametrize("apart", [1e-5, 1e-7, 1e-9])
def test_nearly_coincident_contacts_have_physical_outcomes(apart):
    for k in range(150):
        rng = np.random.default_rng([int(-np.log10(apart)), k])
        root = rng.normal(size=(3, 3))
        J_n, J_t = rng.normal(size=(2, 3)), rng.normal(size=(2, 3))
        J_n[1] = J_n[0] + apart * rng.normal(size=3)
        if k % 2:
            J_t[1] = J_t[0] + apart * rng.normal(size=3)
        problem = carom.ImpactProblem(
            M=root @ root.T + 0.1 * np.eye(3),
            J_n=J_n,
            J_t=J_t,
            mu=rng.uniform(0.0, 1.5, 2),
            v_pre=rng.normal(size=3),
        )
        if not problem.is_colliding(problem.v_pre):
            continue
        outcomes = carom.AnitescuPotra().resolve(problem)
        assert_physical(problem, outcomes)
