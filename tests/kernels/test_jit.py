"""Kernels that are interpreted at first: the same numbers, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
from numba import config, njit

import carom
from carom.kernels import announce, pieces, planar, simultaneous
from carom.kernels.contact_coordinates import to_contact_coordinates
from carom.kernels.jit import Late, interpreted, kernel
from carom.kernels.tolerances import MATCH
from tests.reference.impact_problems import random_problem


@kernel
def _double(x):
    return 2.0 * x


@kernel
def _quadruple(x):
    return _double(_double(x))


def filled(function, given, *shapes):
    """Return what a kernel returns, and the arrays that it fills."""
    arrays = [np.zeros(shape) for shape in shapes]
    return function(*given, *arrays), *(array.tobytes() for array in arrays)


@pytest.mark.parametrize("seed", range(30))
def test_interpreted_kernels_give_the_same_bits(seed):
    rng = np.random.default_rng(seed)
    m, d = 1 + seed % 3, 1 + seed % 2
    problem = random_problem(rng, m=m, d=d, nv=m * (1 + d), duplicates=False)
    space = problem.space
    impact = space.A, space.mu, space.directions
    c = len(space.A)
    u = np.concatenate([problem.start, rng.uniform(size=m)])
    modes = np.zeros((64, m), np.int64)
    given = *impact, d == 1 and m < 3, u, MATCH, modes
    compiled = filled(pieces.solutions, given, (64, c))
    assert filled(interpreted(pieces.solutions), given, (64, c)) == compiled
    R = np.linalg.cholesky(space.A)
    given = R, *impact[1:], np.linalg.solve(R, problem.start)
    compiled = filled(simultaneous.solutions, given, (64, c))
    assert filled(interpreted(simultaneous.solutions), given, (64, c)) == compiled
    assert compiled[0][0] > 0


def test_all_that_a_kernel_calls_is_interpreted():
    assert interpreted(_quadruple)(1.5) == 6.0
    assert not getattr(_double, "signatures", ())


@pytest.mark.parametrize("name", ["compass-gait", "ramone", "disk-stack"])
def test_an_interpreted_look_at_a_system_gives_the_same_bits(name):
    system = carom.scenes.load(name).system
    rng = np.random.default_rng(0)
    b, n, m = len(system.bodies), system.nv, len(system.contacts)
    shapes = (b + 2, 3, 2 + n), (n, n), n, m, (m, n), (m, n), (m, 2)
    for _ in range(100):
        given = system.tree, *rng.normal(size=(2, n))
        compiled = filled(planar.look_round, given, *shapes)
        assert filled(interpreted(planar.look_round), given, *shapes) == compiled


def test_a_late_kernel_is_compiled_when_its_work_is_enough(monkeypatch):
    monkeypatch.setattr(Late, "is_patient", True)
    late = Late(_quadruple, 10)
    signatures = lambda: len(getattr(_quadruple, "signatures", ()))  # noqa: E731
    before = signatures()
    assert [late(5, 1.0), late(5, 1.0)] == [4.0, 4.0]
    assert signatures() == before
    assert [late(1, 1), late(1, 2)] == [4.0, 8.0]
    assert signatures() > before or not hasattr(_quadruple, "py_func")


def test_processes_that_simulate_are_not_patient(monkeypatch):
    monkeypatch.setattr(Late, "is_patient", True)
    scene = carom.scenes.load("box-wall")
    carom.simulate(scene.system, scene.q, scene.v, 1e-3, carom.Sequential())
    assert not Late.is_patient


@pytest.mark.parametrize("seed", range(10))
def test_an_interpreted_problem_has_the_same_bits(seed):
    problem = random_problem(np.random.default_rng(seed), m=1 + seed % 4, d=1 + seed % 2)
    m, d, nv = problem.J_t.shape
    c = m * (1 + d)
    given = problem.M, problem.J_n, problem.J_t, problem.mu, problem.v_pre
    shapes = (nv, nv), (c, nv), (c, nv), (c, c), (2, m), (c,)
    compiled = filled(to_contact_coordinates, given, *shapes)
    assert filled(interpreted(to_contact_coordinates), given, *shapes) == compiled
    assert compiled[0] == problem.energy_norm


def test_kernels_that_are_interpreted_are_silent():
    late = Late(_double, patience=1)
    assert late(1, np.float64(1e308)) == np.inf


@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
def test_the_first_compilation_is_announced_once(monkeypatch, capsys):
    monkeypatch.setattr(announce, "_is_due", True)

    def grow(x):
        return x + 1

    def shrink(x):
        return x - 1

    njit(grow)(1)
    assert capsys.readouterr().err == ""
    for function in (grow, shrink):
        # As if they were kernels of carom, which are not announced when found on disk.
        function.__module__ = "carom.kernels.example"
        njit(function)(1)
    assert capsys.readouterr().err == announce.LINE + "\n"
