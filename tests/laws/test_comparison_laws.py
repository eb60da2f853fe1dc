"""The classical laws, judged by their own equations."""

import numpy as np
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

import carom
from tests.reference.impact_problems import random_problem

seeds = st.integers(0, 2**31)
ROUNDING = 1e-8


@given(seed=seeds, m=st.integers(1, 3), d=st.integers(1, 2))
def test_simultaneous_outcomes_satisfy_complementarity(seed, m, d):
    """0 <= impulse_n _|_ J_n v+ >= 0, and friction of full size opposes every slip."""
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, min(m, 2) if d == 2 else m, d, num_directions=4)
    outcomes = carom.AnitescuPotra().resolve(problem)
    speed, unit = problem.space.velocity_unit, problem.space.impulse_unit
    assert len(outcomes) >= 1
    v_c = outcomes.contact_velocities
    assert (v_c[..., 0] >= -ROUNDING * speed).all()
    assert (outcomes.impulse_n >= -ROUNDING * unit).all()
    assert (np.minimum(v_c[..., 0] / speed, outcomes.impulse_n / unit) <= ROUNDING).all()
    power = (v_c[..., 1:] * outcomes.impulse_t).sum(axis=-1)
    directions = problem.space.directions
    # Maximal dissipation: no corner of the friction polygon opposes the slip better.
    slack = ROUNDING * speed * unit * (1 + problem.mu)
    best = (problem.mu * outcomes.impulse_n)[..., None] * (v_c[..., 1:] @ directions.T)
    assert (np.abs(power - best.min(axis=-1)) <= slack).all()
    energy = problem.kinetic_energy(outcomes.v_post)
    assert (energy <= problem.kinetic_energy(problem.v_pre) * (1 + ROUNDING)).all()


def test_simultaneous_on_many_contacts_is_honest_about_completeness():
    problem = random_problem(np.random.default_rng(0), 8, 1, duplicates=False)
    assert carom.AnitescuPotra().resolve(problem).is_complete
    many = random_problem(np.random.default_rng(1), 12, 1, duplicates=False)
    outcomes = carom.AnitescuPotra(num_trials=4).resolve(many)
    assert not outcomes.is_complete
    assert (outcomes.contact_velocities[..., 0] >= -ROUNDING * many.space.velocity_unit).all()


@given(seed=seeds)
def test_sequences_end_apart_with_less_energy(seed):
    problem = random_problem(np.random.default_rng(seed), 2, 1)
    try:
        outcomes = carom.Sequential().resolve(problem)
    except carom.ImpactNotResolved:
        reject()  # every order lets the contacts rattle on, which another test is about
    speed = problem.space.velocity_unit
    assert (outcomes.contact_velocities[..., 0] >= -ROUNDING * speed).all()
    energy = problem.kinetic_energy(outcomes.v_post)
    assert (energy <= problem.kinetic_energy(problem.v_pre) * (1 + ROUNDING)).all()
    assert len(outcomes.labels) == len(outcomes)


@given(seed=seeds)
def test_one_contact_in_sequence_is_the_simultaneous_one(seed):
    problem = random_problem(np.random.default_rng(seed), 1, 1)
    together = carom.AnitescuPotra().resolve(problem).v_post
    sequence = carom.Sequential().resolve(problem).v_post
    assert np.allclose(np.sort(together, axis=0), np.sort(sequence, axis=0), atol=1e-12)


def test_sequence_names_its_contacts():
    block = carom.scenes.load("rocking-block").problem
    assert carom.Sequential(order=("B", "A")).resolve(block).labels == ("B → A",)
    assert set(carom.Sequential().resolve(block).labels) == {"A → B", "B → A"}


@pytest.mark.parametrize("order", [("A",), ("A", "C"), ("A", "B", "C"), ()])
def test_orders_that_do_not_fit(order):
    block = carom.scenes.load("rocking-block").problem
    with pytest.raises(carom.InvalidOption, match=r"^order: expected each of A, B"):
        carom.Sequential(order=order).resolve(block)


def test_sequence_that_does_not_end_says_so():
    stack = carom.scenes.load("disk-stack").problem
    with pytest.raises(carom.ImpactNotResolved, match="did not end; raise max_impacts"):
        carom.Sequential(order=("A", "B", "C", "D", "E"), max_impacts=5).resolve(stack)


def test_orders_that_do_not_end_are_told_beside_those_that_do():
    rng = np.random.default_rng(5)
    problem = random_problem(rng, 3, 1, mu=0.5, at_rest=False, duplicates=False)
    steps = carom.Sequential().resolve(problem).num_steps
    assert steps.min() < 10 < steps.max()
    some = carom.Sequential(max_impacts=10).resolve(problem)
    assert some.num_unfinished == len(some.unfinished) > 0
    assert len(some) > 0
    assert not some.is_complete
    assert problem.is_colliding(some.v_unfinished).all()
    assert "did not end" in some.summary()


def rod(angle, mu, v_pre):
    """A rod of length 2 and mass 1 that hits the floor with its lower end."""
    x, y = np.cos(angle), np.sin(angle)
    return carom.ImpactProblem(
        np.diag([1.0, 1.0, 1.0 / 3.0]), [[0.0, 1.0, -x]], [[1.0, 0.0, y]], mu, v_pre
    )


@pytest.mark.parametrize(
    ("mu", "v_pre", "label"),
    [
        (2.0, [0.0, -1.0, 0.0], "sticks"),
        (2.0, [0.5, -1.0, 0.0], "slides +, then sticks"),
        (0.1, [5.0, -1.0, 0.0], "slides +"),
        (0.1, [-5.0, -1.0, 0.0], "slides -"),
        (0.1, [0.05, -1.0, 0.0], "slides +, then slides -"),
        (0.1, [0.0, -1.0, 0.0], "slides -"),
    ],
)
def test_single_contact_phases(mu, v_pre, label):
    """Sticking, sliding, slip that stops, and slip that reverses."""
    problem = rod(np.radians(45.0), mu, v_pre)
    outcome = carom.RouthSingle().resolve(problem)
    assert outcome.labels == (label,)
    v_c = outcome.contact_velocities[0, 0]
    assert abs(v_c[0]) <= 1e-12
    if label.endswith("sticks"):
        assert abs(v_c[1]) <= 1e-12


@given(seed=seeds)
def test_single_contact_against_fine_integration(seed):
    """Explicit Euler steps of Routh's inclusion, with regularized friction, end nearby."""
    problem = random_problem(np.random.default_rng(seed), 1, 1, mu=0.7, at_rest=False)
    A = problem.space.A
    v = problem.start.copy()
    h = 2e-4
    while v[0] < 0.0:
        friction = -problem.mu[0] * np.clip(v[1] / (5 * h), -1.0, 1.0)
        v = v + h * (A @ [1.0, friction])
    exact = problem.contact_velocity(carom.RouthSingle().resolve(problem).v_post)[0, 0]
    assert np.allclose(v, exact / problem.space.velocity_unit[0], atol=0.02 * (1 + np.abs(A).max()))


def test_single_contact_refuses_more():
    with pytest.raises(carom.InvalidProblem, match="one planar contact"):
        carom.RouthSingle().resolve(carom.scenes.load("rocking-block").problem)
