"""Proofs that use that contacts which separate do not act hold for motions, and are tighter."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import carom
from carom.proofs import Prover, check, is_valid
from tests.reference.impact_problems import hard_triple, random_problem
from tests.reference.spatial_problems import ellipsoid, on_feet


def problems():
    rng = np.random.default_rng(5)
    found = [hard_triple(0), hard_triple(2), on_feet(rng, 2), on_feet(rng, 3), ellipsoid(rng)]
    return [*found, *(random_problem(rng, m, d) for m in (1, 2, 3) for d in (1, 2))]


@pytest.mark.parametrize("number", range(len(problems())))
def test_samples_lie_within_bounds_that_are_no_looser(number):
    problem = problems()[number]
    v = carom.Routh(2000, seed=1).resolve(problem).v_post
    prover = Prover(problem)
    for d in (sign * row for row in problem.J for sign in (1.0, -1.0)):
        plain, lifted = prover.prove(d), prover.prove(d, lifts=True)
        check(problem, lifted)
        assert lifted.bound <= plain.bound
        slack = 1e-7 * float(np.linalg.norm(prover.whiten(d))) * problem.energy_norm
        assert (v @ d).max() <= float(lifted) + slack


@pytest.mark.parametrize("seed", range(5))
def test_one_contact_in_space_does_not_separate(seed):
    problem = ellipsoid(np.random.default_rng(seed))
    prover = Prover(problem)
    size = float(np.linalg.norm(prover.whiten(problem.J_n[0]))) * problem.energy_norm
    assert float(prover.prove(problem.J_n[0], lifts=True)) <= 1e-9 * size
    assert float(prover.prove(problem.J_n[0])) > 1e-3 * size


def test_lifts_are_paid_for():
    problem = hard_triple(2)
    prover = Prover(problem)
    good = next(c for c in (prover.prove(d, lifts=True) for d in problem.J) if any(c.lifts))
    raised = tuple(x + 1 for x in good.lifts)
    lowered = tuple(x - 1 for x in good.separation)
    # Larger lifts let separation be lower, and ask more of the velocity.
    forged = replace(good, lifts=raised, separation=lowered, bound=good.bound - Fraction(1))
    assert is_valid(problem, good)
    assert not is_valid(problem, forged.sealed())
    assert not is_valid(problem, replace(good, lifts=tuple(0 * x for x in raised)).sealed())
