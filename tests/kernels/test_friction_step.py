"""Contacts of one time step: Coulomb's law with the round cone, on random bodies and robots."""

import numpy as np
import pytest

from carom.kernels.friction_newton import polish, relax
from carom.kernels.friction_step import free_velocity, residual_of, resolve_contacts

NONE, NO_GAIN = np.empty(0), np.empty((0, 0))
SOLVED = 1e-9


def make(rng, *, body=True):
    """Return a mass matrix, rows of contacts, a velocity, and friction coefficients."""
    n = int(rng.integers(1, 9))
    if body:
        # Corners of one body over a plane, more than its velocities can tell apart.
        M = np.diag(np.concatenate([np.full(3, 2.0), rng.uniform(0.02, 0.2, 3)]))
        arms = rng.uniform(-0.4, 0.4, (n, 3))
        arms[:, 2] = -0.2
        rows = np.array([np.hstack([np.eye(3), np.cross(np.eye(3), arm).T]) for arm in arms])
        # v + ω × arm = v - arm × ω.
        J = rows[:, [2, 0, 1]]
    else:
        root = rng.normal(size=(18, 18))
        M, J = root @ root.T / 18.0 + np.eye(18), rng.normal(size=(n, 3, 18))
    return M, J, rng.normal(size=len(M)), rng.uniform(0.0, 0.8, n)


def solve(M, J, v, mu, room=None):
    """Return impulses, contact velocities and the velocity at the end, and what was told."""
    n, nv = len(J), len(v)
    L, a, v_free, end = np.zeros((nv, nv)), np.empty(nv), np.empty(nv), np.empty(nv)
    none = np.zeros(nv)
    assert free_velocity(M, none, NONE, NO_GAIN, v, 1.0, 0.0, none, L, a, v_free) == 1.0
    P, u, told = np.zeros((n, 3)), np.empty(3 * n), np.zeros(2)
    room = np.zeros(n) if room is None else room
    rows = np.ascontiguousarray(J[:, 0]), np.ascontiguousarray(J[:, 1:]), np.zeros((n, 3))
    scratch = np.empty((3 * n, nv)), np.empty((3 * n, 3 * n)), np.empty(3 * n)
    resolve_contacts(L, *rows, room, mu, v_free, 0.0, np.arange(n), P, *scratch, u, end, told)
    return P, u.reshape(-1, 3), end, told, scratch


def check(M, J, v, mu, P, end, room=0.0):
    """Assert Newton's law and Coulomb's, by the impulses and the velocity at the end alone."""
    u = J @ end
    size = np.abs(J @ v).max() + np.abs(room).max()
    push = np.einsum("mx,mxv->v", P, J)
    np.testing.assert_allclose(M @ (end - v), push, atol=1e-10 * np.abs(M @ v).max())
    normal, slip = u[:, 0] + room, u[:, 1:]
    assert normal.min() >= -1e-7 * size
    assert P[:, 0].min() >= 0.0
    assert np.abs(np.minimum(normal, P[:, 0])).max() <= 1e-7 * (size + P.max())
    force = np.linalg.norm(P[:, 1:], axis=1)
    assert (force - mu * P[:, 0]).max() <= 1e-9 * (1.0 + P.max())
    slides = np.linalg.norm(slip, axis=1) > 1e-5 * size
    against = P[:, 1:] + (mu * P[:, 0])[:, None] * slip / np.linalg.norm(slip, axis=1)[:, None]
    assert np.abs(against[slides]).max(initial=0.0) <= 1e-4 * (1.0 + P.max())


@pytest.mark.parametrize("body", [True, False])
@pytest.mark.parametrize("seed", range(40))
def test_impulses_obey_coulombs_law(seed, body):
    rng = np.random.default_rng(seed)
    M, J, v, mu = make(rng, body=body)
    room = rng.exponential(size=len(J)) * rng.integers(0, 2, len(J))
    P, _, end, told, _ = solve(M, J, v, mu, room)
    assert told[1] <= SOLVED
    check(M, J, v, mu, P, end, room)
    # Never does energy come from contact: impulses act against the mean of both velocities.
    assert 0.5 * end @ M @ end <= 0.5 * v @ M @ v * (1.0 + 1e-10)


def test_one_contact_in_closed_form():
    # A point: it stops in its cone, slides at its edge, or leaves.
    M, J = 2.0 * np.eye(3), np.eye(3)[None]
    mu = np.array([0.5])
    P, *_ = solve(M, J, np.array([-1.0, 0.3, 0.2]), mu)
    np.testing.assert_allclose(P, [[2.0, -0.6, -0.4]], atol=1e-12)
    P, _, end, _, _ = solve(M, J, np.array([-1.0, 3.0, 4.0]), mu)
    np.testing.assert_allclose(P, [[2.0, -0.6, -0.8]], atol=1e-12)
    np.testing.assert_allclose(end, [0.0, 2.7, 3.6], atol=1e-12)
    P, *_ = solve(M, J, np.array([1.0, 3.0, 4.0]), mu)
    assert not P.any()


def steep(rng):
    """Return a problem with friction so large that contacts nearly jam."""
    M, J, v, _ = make(rng, body=False)
    return M, J, v, rng.uniform(1.0, 2.0, len(J))


def test_newtons_method_goes_on_where_sweeps_stall():
    stalled = solved = 0
    for seed in range(200):
        M, J, v, mu = steep(np.random.default_rng(seed))
        P, u, _, told, (_, A, b) = solve(M, J, v, mu)
        if told[1] <= SOLVED:
            continue
        stalled += 1
        n, which, scale = 3 * len(J), np.arange(len(J)), np.abs(b).max()
        room = np.empty_like(P), np.empty(n), np.empty(n), *np.zeros((3, n, n))
        given = A, b, mu, which, P
        u = np.empty(n)
        if polish(*given, 1e-12 * scale, u, *room) <= SOLVED * scale:
            solved += 1
            assert residual_of(*given, u) <= SOLVED * scale
            check(M, J, v, mu, P, v + np.linalg.solve(M, np.einsum("mx,mxv->v", P, J)))
    assert stalled > 0
    assert solved >= 0.5 * stalled


def test_the_convex_problem_always_has_a_solution():
    for seed in range(30):
        M, J, v, mu = steep(np.random.default_rng(seed))
        P, _, _, _, (_, A, b) = solve(M, J, v, mu)
        P[:] = 0.0
        relax(A, b, mu, np.arange(len(J)), P)
        end = v + np.linalg.solve(M, np.einsum("mx,mxv->v", P, J))
        velocity = J @ end
        lift = velocity[:, 0] - mu * np.linalg.norm(velocity[:, 1:], axis=1)
        # Sweeps approach it, by a factor that is almost one where contacts nearly jam.
        assert lift.min() >= -1e-3 * np.abs(b).max()
        assert (np.linalg.norm(P[:, 1:], axis=1) <= mu * P[:, 0] * (1.0 + 1e-9)).all()
        assert 0.5 * end @ M @ end <= 0.5 * v @ M @ v


def test_a_singular_mass_matrix_is_told():
    nv = 3
    L, a, out, none = np.zeros((nv, nv)), np.empty(nv), np.empty(nv), np.zeros(nv)
    M = np.diag([1.0, 0.0, 1.0])
    assert free_velocity(M, none, NONE, NO_GAIN, none, 1.0, 0.0, none, L, a, out) == -1.0
