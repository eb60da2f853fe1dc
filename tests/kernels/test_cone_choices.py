"""Choices of modes in space: each solves its contacts, and what sweeps find is among them."""

import numpy as np
import pytest

from carom.kernels.cone_choices import choices_that_may_hold
from carom.kernels.cones import sweep_cones
from carom.kernels.sustained import FREE, PLUS, STICKING

OPTIONS = np.array([STICKING, PLUS, FREE])


def problem(rng, count, nv=9):
    """Return a Delassus matrix and accelerations, of contacts that press more often than not."""
    J = rng.normal(size=(3 * count, nv)) + np.kron(rng.normal(size=(count, 1)), np.ones((3, nv)))
    b = rng.normal(size=3 * count) * 4.0
    b[::3] -= 6.0
    return J @ J.T, b


def tried(A, b, mu, slip, x=None):
    """Return choices of modes and directions, with friction x to begin against for a hint."""
    count = len(mu)
    hint = np.zeros((count, 2)) if x is None else -x.reshape(-1, 3)[:, 1:]
    hint = hint / np.maximum(np.linalg.norm(hint, axis=1), 1e-300)[:, None]
    table, counts = np.tile(OPTIONS, (count, 1)), np.full(count, 3)
    for i in np.flatnonzero(slip.any(axis=1)):
        table[i], counts[i] = [PLUS, FREE, FREE], 2
    return choices_that_may_hold(A, b, mu, slip, table, counts, hint)


def forces_of(A, b, mu, modes, aims):
    """Solve the equations of one choice of modes by itself."""
    rows, columns = [], []
    for i, (mode, u) in enumerate(zip(modes, aims, strict=True)):
        if mode == FREE:
            continue
        drag = mu[i] * u if mode == PLUS else np.zeros(2)
        column = np.zeros(len(b))
        column[3 * i : 3 * i + 3] = 1.0, *-drag
        rows.append(3 * i)
        columns.append(column)
        for k in (1, 2) if mode == STICKING else ():
            rows.append(3 * i + k)
            columns.append(np.eye(len(b))[3 * i + k])
    G = np.array(columns).reshape(-1, len(b)).T
    return G @ np.linalg.solve(A[rows] @ G, -b[rows])


def worst(A, b, mu, slip, x):
    """Return by how much Coulomb's law fails, with the round cone."""
    a, fails = A @ x + b, [0.0]
    for i in range(len(mu)):
        n, t = x[3 * i], x[3 * i + 1 : 3 * i + 3]
        a_n, a_t = a[3 * i], a[3 * i + 1 : 3 * i + 3]
        fails += [-n, -a_n, abs(min(n, a_n)), np.hypot(*t) - mu[i] * n]
        if slip[i].any():
            fails.append(np.abs(t + mu[i] * n * slip[i]).max())
        else:
            # Friction takes the most power that its disc allows.
            fails.append(mu[i] * n * np.hypot(*a_t) + t @ a_t)
    return max(fails)


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("slips", [False, True])
def test_every_choice_solves_and_sweeps_find_one_of_them(count, slips):
    rng = np.random.default_rng(count)
    settled = 0
    for _ in range(40):
        A, b = problem(rng, count)
        mu, slip = rng.uniform(0.05, 0.8, count), np.zeros((count, 2))
        if slips:
            turn = rng.uniform(0.0, 2.0 * np.pi)
            slip[0] = np.cos(turn), np.sin(turn)
        x = np.zeros(3 * count)
        sweep_cones(A, b, mu, slip, x)
        modes, aims = tried(A, b, mu, slip, x)
        found = [forces_of(A, b, mu, *each) for each in zip(modes, aims, strict=True)]
        for other in found:
            assert worst(A, b, mu, slip, other) <= 1e-5 * np.abs(b).max()
        if worst(A, b, mu, slip, x) <= 1e-9:
            settled += 1
            assert min(np.abs(x - other).max() for other in found) <= 1e-6 * np.abs(x).max()
    assert settled >= 30


def test_painleve_in_space_has_none_or_several():
    # Large friction and a contact whose slip lifts it: forces of a slip that has begun are
    # (b_n / own) with own = A_nn - mu A_nt u, which is negative here.
    A = np.array([[1.0, 1.5, 0.4], [1.5, 4.0, 0.0], [0.4, 0.0, 4.0]])
    mu, slip = np.array([0.9]), np.array([[0.8, 0.6]])
    assert A[0, 0] - mu[0] * A[0, 1:] @ slip[0] < 0.0
    modes, _ = tried(A, np.array([-1.0, 0.0, 0.0]), mu, slip)
    assert len(modes) == 0
    modes, _ = tried(A, np.array([1.0, 0.0, 0.0]), mu, slip)
    assert sorted(modes[:, 0].tolist()) == [FREE, PLUS]


def test_slip_begins_along_its_acceleration():
    # By itself, pulled along a direction in which mobility differs from that across it.
    A = np.diag([1.0, 2.0, 0.5])
    b, mu = np.array([-10.0, 30.0, 10.0]), np.array([0.5])
    modes, aims = tried(A, b, mu, np.zeros((1, 2)))
    ((mode,),) = modes.tolist()
    assert mode == PLUS
    u = aims[0, 0]
    a = A @ forces_of(A, b, mu, modes[0], aims[0]) + b
    assert u[0] * a[2] - u[1] * a[1] == pytest.approx(0.0, abs=1e-9)
    assert u @ a[1:] > 0.0


def test_aims_that_are_given_are_turned_the_rest_of_the_way():
    A = np.diag([1.0, 2.0, 0.5])
    b, mu = np.array([-10.0, 30.0, 10.0]), np.array([0.5])
    _, expected = tried(A, b, mu, np.zeros((1, 2)))
    start = np.array([[1.0, 0.0]])
    one = np.ones(1, np.int64)
    table = np.full((1, 3), PLUS)
    _, aims = choices_that_may_hold(A, b, mu, np.zeros((1, 2)), table, one, start)
    np.testing.assert_allclose(aims, expected, atol=1e-9)
