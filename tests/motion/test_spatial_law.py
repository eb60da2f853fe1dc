"""Forces of given modes in space: the same as a linear system of all unknowns gives."""

import numpy as np
import pytest

from carom.motion.spatial_law import LEAST_SLIP, SLIDING, SpatialLaw
from carom.motion.sustained import FREE, SMOOTH, STICKING
from carom.systems.system import Dynamics


def state(rng, m, nv=12):
    """Return the dynamics of a random state whose contacts are at rest along their normals."""
    root = rng.normal(size=(nv, nv))
    J = rng.normal(size=(m, 3, nv))
    return Dynamics(
        root @ root.T + nv * np.eye(nv),
        rng.normal(size=nv) * 20.0,
        np.zeros(m),
        J[:, 0],
        J[:, 1:],
        rng.normal(size=(m, 3)),
    )


def solved(here, modes, mu, u):
    """Return forces (m, 3) and dv/dt by one system for all of them."""
    m, nv = len(modes), len(here.force)
    J = np.concatenate([here.J_n[:, None], here.J_t], axis=1).reshape(3 * m, nv)
    rows, right = np.zeros((3 * m, nv + 3 * m)), np.zeros(3 * m)
    for i, mode in enumerate(modes):
        for k in range(3):
            row = rows[3 * i + k]
            keeps = mode == STICKING or (mode != FREE and k == 0)
            if keeps:
                row[:nv], right[3 * i + k] = J[3 * i + k], -here.bias[i, k]
            else:
                row[nv + 3 * i + k] = 1.0
                if mode == SLIDING:
                    row[nv + 3 * i] = mu[i] * u[i, k - 1]
    whole = np.vstack([np.hstack([here.M, -J.T]), rows])
    x = np.linalg.solve(whole, np.concatenate([here.force, right]))
    return x[nv:].reshape(m, 3), x[:nv]


@pytest.mark.parametrize("seed", range(6))
def test_forces_solve_the_equations_of_their_modes(seed):
    rng = np.random.default_rng(seed)
    m = 3
    here, mu = state(rng, m), rng.uniform(0.1, 0.5, m)
    modes = rng.choice([FREE, STICKING, SLIDING, SMOOTH], m)
    turn = rng.uniform(0.0, 2.0 * np.pi, m)
    u = np.column_stack([np.cos(turn), np.sin(turn)])
    law = SpatialLaw(modes, mu, np.ones(m, bool), aims=u)
    found = law.judge(here, np.zeros(12))
    force, acceleration = solved(here, modes, mu, u)
    np.testing.assert_allclose(found.force, force, atol=1e-9)
    np.testing.assert_allclose(found.acceleration, acceleration, atol=1e-9)
    assert found.is_kept
    # Margins have the signs of the conditions.
    sticks = np.flatnonzero(modes == STICKING)
    depth = mu * force[:, 0] - np.hypot(force[:, 1], force[:, 2])
    assert (np.sign(found.margins[sticks, 1]) == np.sign(depth[sticks])).all()
    closed = modes != FREE
    assert (np.sign(found.margins[closed, 0]) == np.sign(force[closed, 0])).all()


def test_slip_tells_its_direction_once_it_is_seen():
    rng = np.random.default_rng(0)
    here, v = state(rng, 1), rng.normal(size=12)
    slip = here.J_t[0] @ v
    along = slip / np.hypot(*slip)
    law = SpatialLaw(np.array([SLIDING]), np.ones(1), np.zeros(1, bool), aims=along[None])
    aims = np.array([[0.6, 0.8]])
    far = SpatialLaw(law.modes, law.mu, law.resting, aims=aims)
    # While modes are chosen the aim counts; afterwards the slip does.
    np.testing.assert_allclose(far.directions(here, v), aims)
    begun = law.settled(here, v, centered=False)
    np.testing.assert_allclose(begun.directions(here, v)[0], along)
    # What has gone through zero is continued.
    np.testing.assert_allclose(begun.directions(here, -v)[0], along)


def test_velocity_is_projected_and_slip_begins():
    rng = np.random.default_rng(1)
    here, v = state(rng, 3), 1e-6 * rng.normal(size=12)
    modes, aims = np.array([STICKING, SLIDING, FREE]), np.array([[0, 0], [0.6, -0.8], [0, 0.0]])
    law = SpatialLaw(modes, np.full(3, 0.4), np.ones(3, bool), aims=aims)
    after = law.project(here, v)
    np.testing.assert_allclose(here.J_n[:2] @ after, 0.0, atol=1e-18)
    np.testing.assert_allclose(here.J_t[0] @ after, 0.0, atol=1e-18)
    np.testing.assert_allclose(here.J_t[1] @ after, LEAST_SLIP * aims[1], atol=1e-18)
