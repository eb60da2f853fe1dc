"""The Lipschitz constant of a step: never exceeded, and attained; and the sample sizes from it."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

import carom
from carom.errors import InvalidOption
from carom.guarantees.lipschitz import Lipschitz, Steepest, step_lipschitz
from carom.guarantees.uniqueness import step_uniqueness
from carom.stepping.lcp import solve, step_lcp
from tests.reference.impact_problems import random_problem
from tests.reference.set_checks import in_other_units
from tests.reference.two_outcomes import random_pair_or_single

FloatArray = NDArray[np.float64]

ROUNDING = 1e-7


def after_step(problem: carom.ImpactProblem, x: FloatArray) -> FloatArray:
    """Return v' for x = (v, lambda_max), by Lemke's algorithm."""
    v, lambda_max = np.split(x, [problem.num_velocities])
    A = problem.J @ problem.impulse_to_velocity
    v_c = problem.contact_velocity(v)
    lcp = step_lcp(A, problem.mu, problem.space.directions, v_c, lambda_max)
    solution = solve(lcp)
    assert solution.is_solved
    return v + problem.impulse_to_velocity @ lcp.contacts.impulses(solution.x).ravel()


class Norms:
    """Norms of changes of v', and of x = (v, lambda_max), plain and by energy."""

    def __init__(self, problem: carom.ImpactProblem, lipschitz: Lipschitz) -> None:
        self.nv = problem.num_velocities
        self.root = np.linalg.cholesky(problem.M).T
        self.weight = lipschitz.impulse_weight

    def plain(self, dv: FloatArray, dx: FloatArray) -> float:
        return float(np.linalg.norm(dv) / np.linalg.norm(dx))

    def energy(self, dv: FloatArray, dx: FloatArray) -> float:
        before = np.append(self.root @ dx[: self.nv], self.weight * dx[self.nv :])
        return float(np.linalg.norm(self.root @ dv) / np.linalg.norm(before))


def random_x(rng: np.random.Generator, problem: carom.ImpactProblem) -> FloatArray:
    """Return a velocity and caps of comparable size, over some decades."""
    root = np.linalg.cholesky(problem.M)
    v = np.linalg.solve(root.T, rng.normal(size=problem.num_velocities))
    weight = np.sqrt(np.diag(problem.J_n @ np.linalg.solve(problem.M, problem.J_n.T)))
    return np.concatenate([v, 10.0 ** rng.uniform(-2, 1, problem.num_contacts) / weight])


@cache
def unique_problem(number: int) -> carom.ImpactProblem:
    """Return a problem with unique steps: number 0 is a scene, 1 in space, the others random."""
    if number == 0:
        return carom.scenes.load("rocking-block").problem
    if number == 1:
        rng = np.random.default_rng(22)
        return random_problem(rng, 1, 2, nv=5, mu=0.2, num_directions=4)
    return next(
        problem
        for problem in (random_pair_or_single([21, number, i]) for i in range(100))
        if step_uniqueness(problem).is_unique
    )


NUMBERS = [*range(14), *(pytest.param(n, marks=pytest.mark.slow) for n in range(14, 200))]


@pytest.mark.parametrize("number", NUMBERS)
def test_it_is_never_exceeded(number):
    problem = unique_problem(number)
    lipschitz = step_lipschitz(problem)
    norms = Norms(problem, lipschitz)
    rng = np.random.default_rng([23, number])
    for _ in range(60):
        first = random_x(rng, problem)
        # Near and far pairs; near ones mostly share a piece, far ones mostly do not.
        second = first + 10.0 ** rng.uniform(-4, 0) * (random_x(rng, problem) - first)
        dv = after_step(problem, first) - after_step(problem, second)
        assert norms.plain(dv, first - second) <= lipschitz.L * (1.0 + ROUNDING)
        assert norms.energy(dv, first - second) <= lipschitz.L_energy * (1.0 + ROUNDING)


@pytest.mark.parametrize("number", NUMBERS)
def test_it_is_attained(number):
    problem = unique_problem(number)
    lipschitz = step_lipschitz(problem)
    norms = Norms(problem, lipschitz)

    def difference(steepest: Steepest) -> tuple[FloatArray, FloatArray]:
        middle = np.append(steepest.v, steepest.lambda_max)
        half = 0.1 * steepest.direction
        return (
            after_step(problem, middle + half) - after_step(problem, middle - half),
            2.0 * half,
        )

    plain = norms.plain(*difference(lipschitz.steepest))
    energy = norms.energy(*difference(lipschitz.steepest_by_energy))
    assert plain == pytest.approx(lipschitz.L, rel=ROUNDING)
    assert energy == pytest.approx(lipschitz.L_energy, rel=ROUNDING)


def test_it_is_at_least_one():
    for number in range(14):
        lipschitz = step_lipschitz(unique_problem(number))
        assert min(lipschitz.L, lipschitz.L_energy) >= 1.0


def test_a_ball_without_friction():
    """The steepest step is v_n' = v_n + cap / mass."""
    ball = carom.ImpactProblem(4.0 * np.eye(2), [[0.0, 1.0]], [[1.0, 0.0]], 0.0, [0.0, -1.0])
    lipschitz = step_lipschitz(ball)
    assert pytest.approx(math.sqrt(1.0 + 1.0 / 16.0)) == lipschitz.L
    assert pytest.approx(math.sqrt(2.0)) == lipschitz.L_energy
    assert lipschitz.steepest.modes[0].startswith("compressing")


def test_by_energy_it_does_not_depend_on_coordinates_and_units():
    problem = carom.scenes.load("rocking-block").problem
    other = in_other_units(problem, 24)
    assert step_lipschitz(other).L_energy == pytest.approx(step_lipschitz(problem).L_energy)
    assert pytest.approx(step_lipschitz(problem).L) != step_lipschitz(other).L


def test_ambiguous_steps_have_none():
    problem = carom.scenes.load("compass-gait").problem
    assert step_lipschitz(problem) is None
    assert step_lipschitz(problem, step_uniqueness(problem)) is None


def with_constant(L: float, m: int) -> Lipschitz:
    steepest = Steepest(L, np.zeros(2), np.zeros(m), np.zeros(2 + m), ("free",) * m)
    return Lipschitz(steepest, steepest, np.linspace(1.0, 2.0, m))


@pytest.mark.parametrize(
    ("L", "m", "num_steps", "h", "epsilon", "delta"),
    [
        (1.0, 1, 1, 1.0, 1.0, 0.1),
        (1.0, 1, 1, 0.1, 3.0, 0.1),
        (1.5, 1, 3, 0.5, 2.0, 0.05),
        (2.0, 2, 2, 0.3, 1.5, 0.01),
        (1.2, 3, 2, 0.4, 2.5, 0.5),
    ],
)
def test_samples_are_those_of_the_paper_where_that_is_a_number(L, m, num_steps, h, epsilon, delta):
    n = num_steps * m
    omega = float(math.ceil(h * L**num_steps * math.sqrt(n) / (epsilon / 3.0))) ** -n
    samples = 1
    # The bound of [HalmPosa, prop:epsilonnet] itself, sample by sample.
    while samples < 10**6 and (1.0 - omega) ** samples / omega > delta:
        samples += 1
    result = with_constant(L, m).log10_samples(epsilon, delta, num_steps, h)
    assert 10.0**result == pytest.approx(samples, rel=1e-9)


def test_so_many_samples_meet_every_cell():
    """The event of the proof, for two steps of one contact: each of 5 x 5 cells gets a sample."""
    delta = 0.1
    samples = round(10.0 ** with_constant(1.0, 1).log10_samples(0.9, delta, 2, 1.0))
    cells = math.ceil(math.sqrt(2.0) / 0.3)
    rng = np.random.default_rng(25)
    drawn = rng.integers(cells, size=(2000, samples, 2)) @ [cells, 1]
    complete = [len(np.unique(row)) == cells**2 for row in drawn]
    assert 1.0 - delta <= np.mean(complete) < 1.0


def test_samples_are_a_logarithm_where_they_are_no_number():
    """M ~ (N m ln K - ln delta) K^(N m), with K = h L^N sqrt(N m) / epsilon'."""
    result = with_constant(3.0, 2).log10_samples(0.01, 0.05, 200, 1.0)
    log_K = 200 * math.log(3.0) + math.log(math.sqrt(400) * 300)
    expected = math.log10(400 * log_K - math.log(0.05)) + 400 * log_K / math.log(10.0)
    assert result == pytest.approx(expected, rel=1e-12)
    assert result > 3e4


def test_samples_join_smoothly_where_numbers_become_logarithms():
    lipschitz = with_constant(1.0, 1)
    epsilons = 3.0 * np.exp(-np.linspace(35.9, 36.1, 21))
    logs = [lipschitz.log10_samples(float(epsilon), 0.1, 1, 1.0) for epsilon in epsilons]
    steps = np.diff(logs)
    np.testing.assert_allclose(steps, steps.mean(), rtol=1e-2)


def test_samples_by_energy_weigh_each_contact():
    """Without growth: K_i = ceil(h w_i sqrt(n) / epsilon')."""
    lipschitz = with_constant(1.0, 2)
    result = lipschitz.log10_samples(3.0, 0.1, 1, 1.0, by_energy=True)
    omega = 1.0 / (math.ceil(math.sqrt(2.0)) * math.ceil(2.0 * math.sqrt(2.0)))
    assert 10.0**result == pytest.approx(math.ceil(math.log(0.1 * omega) / math.log(1.0 - omega)))


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("epsilon", (0.0, 0.1, 1, 1.0)),
        ("epsilon", (math.nan, 0.1, 1, 1.0)),
        ("delta", (1.0, 0.0, 1, 1.0)),
        ("delta", (1.0, 1.0, 1, 1.0)),
        ("num_steps", (1.0, 0.1, 0, 1.0)),
        ("step_impulse", (1.0, 0.1, 1, math.inf)),
    ],
)
def test_wrong_numbers_are_named(field, values):
    with pytest.raises(InvalidOption, match=f"^{field}: "):
        with_constant(2.0, 1).log10_samples(*values)
