"""Bounds on how long an impact lasts, against what samples take."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import carom
from carom.guarantees.cone import pointedness
from carom.guarantees.impulse import worst_impulse
from carom.guarantees.termination import single_contact_rate, termination
from tests.reference.impact_problems import random_problem
from tests.reference.set_checks import changed

SCENES = ("rocking-block", "box-wall", "compass-gait", "disk-stack", "ramone")
PLENTY = 10**5
"""Steps that no sample takes: what ends by itself is what the theorem is about."""

seeds = st.integers(0, 2**31)


def bound_of(problem, step):
    return termination(problem, pointedness(problem), step)


def check_tail(problem, step, num_samples, selection):
    """Assert that no more samples take long than the theorem allows; return all steps."""
    bound = bound_of(problem, step)
    law = carom.Routh(num_samples, step, PLENTY, draw="uniform", selection=selection)
    outcomes = law.resolve(problem)
    assert outcomes.num_unfinished == 0
    m = problem.num_contacts
    for constant, by_energy in ((bound.c, False), (bound.c_energy, True)):
        for k in (0, 1, 5, 20, 50, 100, 200):
            steps = constant * math.ceil(problem.energy_norm) + k
            share = float((outcomes.num_steps > steps).mean())
            allowed = math.exp(-k / (m + 1) ** 2)
            assert share <= allowed
            assert bound.probability(steps, by_energy=by_energy) == pytest.approx(allowed)
    return outcomes.num_steps


@pytest.mark.parametrize("selection", ["random", "lemke"])
@pytest.mark.parametrize("name", SCENES)
def test_samples_keep_the_bound(name, selection):
    scene = carom.scenes.load(name)
    check_tail(scene.problem, scene.step_impulse, 2**14, selection)


@pytest.mark.slow
@pytest.mark.parametrize("selection", ["random", "lemke"])
@pytest.mark.parametrize("name", SCENES)
def test_many_samples_keep_the_bound(name, selection):
    scene = carom.scenes.load(name)
    check_tail(scene.problem, scene.step_impulse, 10**6, selection)


def test_small_steps_keep_the_bound_and_come_near_it():
    """With a step ten times smaller the bound is a sum over many steps, and no longer far off."""
    scene = carom.scenes.load("rocking-block")
    # Just fast enough not to lose by rounding |v| up.
    problem = changed(scene.problem, v_pre=scene.problem.v_pre * 2.999 / scene.problem.energy_norm)
    step = scene.step_impulse / 10
    steps = check_tail(problem, step, 2**14, "random")
    bound = bound_of(problem, step)
    assert steps.max() > 0.05 * bound.c_energy * math.ceil(problem.energy_norm)


@settings(max_examples=15)
@given(seed=seeds)
def test_random_impacts_keep_the_bound(seed):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, int(rng.integers(1, 4)), 1, mu=float(rng.uniform(0, 1)))
    cone = pointedness(problem)
    if cone.is_pointed:
        step = float(problem.space.impulse_unit.max()) * 10 ** rng.uniform(-1, 0)
        bound = termination(problem, cone, step)
        outcomes = carom.Routh(2**8, step, PLENTY, draw="uniform").resolve(problem)
        assert outcomes.num_unfinished == 0
        assert outcomes.num_steps.max() <= bound.steps_for(1e-9)
        assert outcomes.num_steps.max() <= bound.steps_for(1e-9, by_energy=False)
        s = outcomes.impulse_n.sum(axis=1).max()
        assert s <= bound.largest_impulse * (1 + 1e-9)


@pytest.mark.parametrize("name", SCENES)
@pytest.mark.parametrize("step", [0.01, 0.3, 7.0])
def test_constants_are_those_of_the_theorem(name, step):
    problem = carom.scenes.load(name).problem
    cone = pointedness(problem)
    found = termination(problem, cone, step)
    m = problem.num_contacts
    sigma = np.linalg.eigvalsh(problem.M).min()
    r = np.linalg.norm(cone.r)
    assert found.sigma == pytest.approx(sigma)
    assert found.r_norm == pytest.approx(r)
    assert found.c == 4 * math.ceil((m + 1) * r / (step * math.sqrt(sigma)))
    energy = math.sqrt(cone.r_energy @ np.linalg.inv(problem.M) @ cone.r_energy)
    assert found.c_energy == 4 * math.ceil((m + 1) * energy / step)
    assert found.c_energy <= found.c
    assert found.largest_impulse == pytest.approx(2 * energy * problem.energy_norm)
    assert found.energy_norm == problem.energy_norm


@settings(max_examples=30)
@given(seed=seeds, factor=st.floats(0.1, 10.0))
def test_laws_of_scale(seed, factor):
    rng = np.random.default_rng(seed)
    m, d = int(rng.integers(1, 4)), int(rng.integers(1, 3))
    problem = random_problem(rng, m, d, mu=float(rng.uniform(0, 1)))
    assume(pointedness(problem).is_pointed)
    step = float(problem.space.impulse_unit.max())
    found = bound_of(problem, step)
    faster = bound_of(changed(problem, v_pre=factor * problem.v_pre), step)
    assert faster.c == found.c
    assert faster.largest_impulse == pytest.approx(factor * found.largest_impulse)
    # r grows with the mass and sqrt(sigma) with its root; h was made to grow with the mass.
    heavier = bound_of(changed(problem, M=factor * problem.M), factor * step)
    assert abs(heavier.c * math.sqrt(factor) - found.c) <= 4 * (1 + math.sqrt(factor)) + (
        1e-6 * found.c
    )
    assert heavier.largest_impulse == pytest.approx(factor * found.largest_impulse, rel=1e-6)
    half = bound_of(problem, step / 2)
    assert found.c <= half.c <= 2 * found.c
    assert found.c_energy <= half.c_energy <= 2 * found.c_energy


@pytest.mark.parametrize("by_energy", [True, False])
@pytest.mark.parametrize("probability", [0.5, 0.05, 1e-6, 1e-30])
def test_numbers_of_steps_are_the_least(probability, by_energy):
    found = bound_of(carom.scenes.load("compass-gait").problem, 0.25)
    steps = found.steps_for(probability, by_energy=by_energy)
    assert found.probability(steps, by_energy=by_energy) <= probability
    assert found.probability(steps - 1, by_energy=by_energy) > probability
    assert found.probability(0) == 1.0


@pytest.mark.parametrize("probability", [0.0, 1.0, -1.0, float("nan")])
def test_probabilities_out_of_range_are_refused(probability):
    found = bound_of(carom.scenes.load("compass-gait").problem, 0.25)
    with pytest.raises(carom.InvalidOption, match=r"^probability: expected"):
        found.steps_for(probability)


def test_nothing_is_promised_for_a_jam():
    problem = carom.ImpactProblem(
        np.eye(2), [[1.0, 0.0], [-1.0, 0.0]], [[0.0, 1.0]] * 2, 0.5, [-1.0, 0.0]
    )
    assert bound_of(problem, 0.1) is None


class TestOneContact:
    @settings(max_examples=200)
    @given(seed=seeds)
    def test_closed_form_ends_in_time(self, seed):
        problem = random_problem(np.random.default_rng(seed), 1, 1)
        s = carom.RouthSingle().resolve(problem).impulse_n.sum()
        assert s <= single_contact_rate(problem) * problem.energy_norm * (1 + 1e-9)

    @settings(max_examples=40)
    @given(seed=seeds, k=st.integers(3, 8))
    def test_every_solution_in_space_ends_in_time(self, seed, k):
        """Friction along few directions takes less energy out than along all."""
        rng = np.random.default_rng(seed)
        mu = 10.0 ** rng.uniform(-1, 1)
        problem = random_problem(rng, 1, 2, nv=3, mu=mu, num_directions=k)
        limit = single_contact_rate(problem) * problem.energy_norm
        assert carom.Routh(64).resolve(problem).impulse_n.sum(axis=1).max() <= limit * (1 + 1e-9)
        if k <= 4:
            assert worst_impulse(problem, 20.0).s <= limit * (1 + 1e-6)

    def test_three_directions_need_their_factor(self):
        """Slip halfway between two of three directions meets half of the friction."""
        problem = carom.ImpactProblem(
            M=np.eye(3),
            J_n=[[1.0, 0.0, 0.0]],
            J_t=[[[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]],
            mu=0.3,
            v_pre=[-1.0, 0.0, 0.0],
            num_directions=3,
        )
        disc = 1.0 / 0.3
        assert single_contact_rate(problem) == pytest.approx(2 * disc)
        octagon = changed(problem, num_directions=8)
        assert single_contact_rate(octagon) == pytest.approx(disc / math.cos(math.pi / 8))

    @settings(max_examples=20)
    @given(seed=seeds, d=st.sampled_from([1, 2]))
    def test_epsilon_is_the_least(self, seed, d):
        """Over velocities in the range of M^-1 J^T with |v|_M = 1, tried densely."""
        rng = np.random.default_rng(seed)
        problem = random_problem(rng, 1, d, nv=int(rng.integers(1 + d, 6)), mu=5.0)
        epsilon = 1.0 / single_contact_rate(problem)
        J = np.vstack([problem.J_n, problem.J_t[0]])
        root = np.linalg.cholesky(problem.M)
        basis, _ = np.linalg.qr(np.linalg.solve(root, J.T))
        if d == 1:
            angles = np.linspace(0, 2 * np.pi, 200_000)
            units = np.column_stack([np.cos(angles), np.sin(angles)])
        else:
            units = rng.normal(size=(10**5, 3))
            # Where the normal velocity is zero is where the least is found.
            normal = basis.T @ np.linalg.solve(root, J[0])
            flat = units - np.outer(units @ normal, normal) / (normal @ normal)
            units = np.vstack([units, flat])
            units /= np.linalg.norm(units, axis=1, keepdims=True)
        v = np.linalg.solve(root.T, basis @ units.T)
        sums = np.abs(J[0] @ v) + np.linalg.norm(J[1:] @ v, axis=0)
        assert epsilon <= sums.min() * (1 + 1e-9)
        # What dense sampling leaves: a step of the angle times the slope.
        slope = 1e-4 if d == 1 else 5e-3
        assert sums.min() <= epsilon + slope * sums.max()

    def test_a_short_tangent_is_one(self):
        """A tangent of 1e-9 of the normal's size still makes slip cheap to keep."""
        problem = carom.ImpactProblem(np.eye(2), [[1.0, 0.0]], [[0.0, 1e-9]], 1.0, [-1.0, 0.5])
        assert single_contact_rate(problem) == pytest.approx(1e9)

    def test_without_friction_the_normal_decides(self):
        problem = carom.ImpactProblem(
            np.diag([4.0, 1.0]), [[1.0, 0.0]], [[0.0, 1.0]], 0.0, [-3.0, 0.0]
        )
        assert single_contact_rate(problem) == pytest.approx(2.0)
        s = carom.RouthSingle().resolve(problem).impulse_n.sum()
        assert s == pytest.approx(single_contact_rate(problem) * problem.energy_norm)

    def test_several_contacts_are_refused(self):
        problem = carom.scenes.load("rocking-block").problem
        with pytest.raises(carom.InvalidProblem, match="one contact, got 2"):
            single_contact_rate(problem)
