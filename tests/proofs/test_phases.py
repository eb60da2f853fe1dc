"""Proofs by phases hold for exact sets, are tighter than those by momentum, and resist forgery."""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import carom
from carom.errors import InvalidCertificate
from carom.proofs import Certificate, check, is_valid, prove, prove_by_phases
from tests.reference.impact_problems import numbered_pair, numbered_triple, random_problem
from tests.reference.set_checks import known_outcomes

NUMBERS = ("bound", "direction", "separation", "velocity", "pieces", "slopes", "units")


def largest(problem, direction):
    """Return the largest value of a direction that the impact's energy allows."""
    return np.sqrt(direction @ np.linalg.solve(problem.M, direction)) * problem.energy_norm


@pytest.mark.needs("ppl")
@pytest.mark.parametrize("number", range(20))
def test_bounds_hold_for_exact_sets_of_two_contacts(number):
    problem = numbered_pair(number)
    outcomes = known_outcomes(problem)
    for d in [*problem.J, *-problem.J]:
        proved = prove_by_phases(problem, d)
        check(problem, proved)
        assert float(proved) >= (outcomes.v_post @ d).max() - 1e-7 * largest(problem, d)
        assert proved.bound <= prove(problem, d).bound


@pytest.mark.needs("ppl")
@pytest.mark.parametrize("name", ["rocking-block", "box-wall", "ramone", "compass-gait"])
def test_bounds_hold_for_scenes(name):
    problem = carom.scenes.load(name).problem
    outcomes = known_outcomes(problem)
    for d in [*problem.J, *-problem.J]:
        proved = prove_by_phases(problem, d)
        check(problem, proved)
        assert float(proved) >= (outcomes.v_post @ d).max() - 1e-7 * largest(problem, d)


def test_three_contacts_are_bounded_much_more_tightly():
    """Half of the tangential bounds fall by a tenth of what energy allows, some by a third."""
    gains = []
    for number in range(8):
        problem = numbered_triple(number)
        d = problem.J_t[0, 0]
        before, after = (float(f(problem, d)) for f in (prove, prove_by_phases))
        gains.append((before - after) / largest(problem, d))
    assert np.median(gains) > 0.1
    assert max(gains) > 0.3


def test_one_contact_that_slips_to_the_end_is_exact():
    """A unit mass with mu = 0.5: an impulse of 1 brakes slip from 2 to 1.5, and nothing else."""
    ball = carom.ImpactProblem(np.eye(2), [[0.0, 1.0]], [[1.0, 0.0]], 0.5, [2.0, -1.0])
    upper, lower = (float(prove_by_phases(ball, [sign, 0.0])) for sign in (1.0, -1.0))
    assert upper == pytest.approx(1.5, abs=1e-6)
    assert lower == pytest.approx(-1.5, abs=1e-6)
    impulse = prove_by_phases(ball, [0.0, 0.0], [1.0])
    check(ball, impulse)
    assert float(impulse) == pytest.approx(1.0, abs=1e-6)


def test_where_phases_do_not_help_the_proof_is_by_momentum():
    space = random_problem(np.random.default_rng(0), 2, 2)
    assert prove_by_phases(space, space.J[0]) == prove(space, space.J[0])
    walls = carom.ImpactProblem(
        np.eye(2), [[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]], np.zeros((3, 2)), 0.5, [0.0, -1.0]
    )
    assert prove_by_phases(walls, [0.0, 1.0]).kind == "momentum"
    rest = replace(walls, v_pre=[0.0, 0.0])
    assert prove_by_phases(rest, [1.0, 1.0]).bound == 0


def _damage(rng, certificate):
    # Where phases do not help, the certificate is one by momentum, which has no pieces.
    name = rng.choice([name for name in NUMBERS if getattr(certificate, name)])
    factor = Fraction(float(rng.choice([-1.0, 0.0, 0.5, 0.999, 1.001, 3.0])))
    shift = Fraction(float(rng.choice([0.0, 0.0, 1e-3, -1e-3, 1.0, -1.0])))
    old = getattr(certificate, name)
    if name == "bound":
        return replace(certificate, bound=old * factor + shift)
    i = rng.integers(len(old))
    return replace(certificate, **{name: (*old[:i], old[i] * factor + shift, *old[i + 1 :])})


@pytest.mark.needs("ppl")
def test_forged_certificates_are_refused_or_true():
    """What damage leaves room for is claimed in full: bounds as low as the checker accepts."""
    rng, refused, accepted = np.random.default_rng(1), 0, 0
    for number in (0, 1, 2, 3):
        problem = numbered_pair(number)
        outcomes = known_outcomes(problem)
        for d in problem.J:
            proved = prove_by_phases(problem, d)
            for _ in range(40):
                forged = _damage(rng, proved)
                assert not is_valid(problem, forged) or forged == proved
                forged = forged.sealed()
                if not is_valid(problem, forged):
                    refused += 1
                    continue
                accepted += 1
                direction = np.array([float(x) for x in forged.direction])
                reached = (outcomes.v_post @ direction).max()
                slack = 1e-7 * (largest(problem, direction) + largest(problem, d))
                assert float(forged.bound) >= reached - slack
    assert refused > 200
    assert accepted > 5


def test_each_line_of_the_proof_is_named():
    problem = numbered_triple(1)
    good = prove_by_phases(problem, problem.J[1])
    assert good.kind == "phases"
    again = Certificate.from_dict(json.loads(json.dumps(good.to_dict())))
    assert again == good
    lines = {
        "units: expected numbers > 0": {"units": tuple(-x for x in good.units)},
        "slopes: too large": {"slopes": tuple(x + 100 for x in good.slopes)},
        "pieces: they can rise": {"velocity": (Fraction(0),) * problem.num_velocities},
        "bound: smaller": {"bound": good.bound - abs(good.bound) / 10**9},
        "pieces: expected 24": {"pieces": good.pieces[1:]},
        "pieces: expected 0": {"kind": "momentum"},
    }
    for message, change in lines.items():
        with pytest.raises(InvalidCertificate, match=message):
            check(problem, replace(good, **change).sealed())
