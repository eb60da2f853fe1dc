"""What is promised of impacts that bounce holds for their motions, and nothing else is promised."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import carom
from tests.reference.bouncing import random_bounces
from tests.reference.bouncing_problems import bouncing_problem, falling_ball

ENDS, IMPULSE, ENERGY = "the impact ends", "accrued normal impulse s", "energy does not rise"
ONE, DENSE, SINGLE = "one outcome per step", "dense sampling", "one contact"
CONE = "pointed friction cone"
CASES = [(number, d) for d in (1, 2) for number in range(5)]


@cache
def report(number, d):
    return carom.check(bouncing_problem(number, d), max_seconds=2.0)


def statements(found):
    return {each.title: each for each in found.statements}


@pytest.mark.parametrize(("number", "d"), CASES)
def test_no_motion_breaks_a_promise(number, d):
    problem, said = bouncing_problem(number, d), statements(report(number, d))
    outcomes = carom.Routh(1000, seed=number).resolve(problem)
    total = outcomes.impulse_n.sum(axis=1).max()
    if d == 1:
        rng = np.random.default_rng([2, number])
        motions = random_bounces(problem, rng, 300, num_steps=500)
        # Also of motions that have not ended.
        total = max(total, motions.impulses[:, ::2].sum(axis=1).max())
    slack = 1e-9 if d == 1 else 1e-6
    # Of a cone that is not pointed nothing is known, and of one that is all ends.
    assert (said[CONE].verdict == "holds") == (said[ENDS].verdict == "holds")
    for title, name in ((ENDS, "bound"), (IMPULSE, "proved"), (IMPULSE, "bound")):
        if name in said[title].values:
            assert total <= said[title].values[name] * (1.0 + slack)
    assert said[ENERGY].verdict == "holds"
    kept = problem.kinetic_energy(outcomes.v_post) / problem.kinetic_energy(problem.v_pre)
    assert kept.max() <= 1.0 + slack


@pytest.mark.parametrize(("number", "d"), CASES)
def test_nothing_is_promised_of_steps(number, d):
    found = report(number, d)
    said = statements(found)
    assert "number of steps" not in said
    assert SINGLE not in said
    assert said[ONE].verdict == said[DENSE].verdict == "open"
    assert "inelastic" in said[ONE].lines[0]
    assert (found.exact, found.worst, found.lipschitz, found.kappa) == (None,) * 4
    assert "inelastic" in str(found)


def test_what_one_contact_promises_without_restitution_is_false_with_it():
    """kappa |v| is 1 N s for a ball that falls with 1 m/s; with e = 0.8 it takes 1.8 N s."""
    ball = falling_ball(0.8, 0.0, (0.0, -1.0))
    inelastic = carom.check(replace(ball, restitution=0.0), max_seconds=1.0)
    assert inelastic.kappa == pytest.approx(1.0)
    said = statements(carom.check(ball, max_seconds=1.0))
    assert SINGLE not in said
    assert said[IMPULSE].values["reached"] == pytest.approx(1.8)
    assert said[ENDS].values["bound"] == pytest.approx(1.8, abs=1e-6)


def test_jams_are_not_promised_to_end():
    box = carom.ImpactProblem(
        np.diag([2.0, 2.0, 0.2]),
        [[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]],
        [[0.0, 1.0, -0.2], [0.0, 1.0, 0.2]],
        0.5,
        (-1.0, 0.3, 0.2),
        restitution=0.5,
    )
    said = statements(carom.check(box, max_seconds=1.0))
    assert said[CONE].verdict == "fails"
    assert said[ENDS].verdict == "open"
    assert "without end" in said[ENDS].lines[0]


def test_energy_counts_what_contacts_can_return():
    """Kinetic energy alone rises in restitution, by 0.32 of 0.5 J for e = 0.8."""
    found = carom.check(falling_ball(0.8, 0.0, (0.0, -1.0)), max_seconds=1.0)
    path = found.samples.path(0)
    kinetic = found.problem.kinetic_energy(path.v)
    assert np.diff(kinetic).max() == pytest.approx(0.32, abs=1e-9)
    assert found.losses.largest_change <= 1e-12
    assert found.losses.least_loss == pytest.approx(0.36, abs=1e-9)
