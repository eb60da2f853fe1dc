"""Bounds on kept energy hold for exact sets, tighten other proofs, and resist forgery."""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import carom
from carom.errors import InvalidCertificate
from carom.proofs import (
    Certificate,
    Prover,
    check,
    is_valid,
    prove_by_energy,
    prove_by_phases,
    prove_energy,
    tighten,
    tightest,
)
from tests.reference.impact_problems import numbered_pair, numbered_triple, random_problem
from tests.reference.set_checks import known_outcomes

NUMBERS = (
    "kept",
    "kept_units",
    "kept_forms",
    "kept_relations",
    "kept_quadratic",
    "kept_sticking",
    "kept_multipliers",
    "kept_velocity",
)


def prover_of(problem):
    return Prover(problem, prove_energy(Prover(problem)))


def share(problem):
    """Return the share of the kinetic energy that is proved to be the largest kept."""
    return prover_of(problem).kept_share ** 2


def reached_share(problem, v_post):
    return problem.kinetic_energy(v_post).max() / problem.kinetic_energy(problem.v_pre)


def ball(v_pre, mu):
    return carom.ImpactProblem(np.eye(2), [[0.0, 1.0]], [[1.0, 0.0]], mu, v_pre)


@pytest.mark.needs("ppl")
@pytest.mark.parametrize("number", range(12))
def test_bounds_hold_for_exact_sets_of_two_contacts(number):
    problem = numbered_pair(number)
    outcomes = known_outcomes(problem)
    prover = prover_of(problem)
    assert prover.kept_share**2 >= reached_share(problem, outcomes.v_post) - 1e-9
    for d in problem.J:
        proved = tightest(prover, d)
        check(problem, proved)
        size = np.sqrt(d @ np.linalg.solve(problem.M, d)) * problem.energy_norm
        assert float(proved) >= (outcomes.v_post @ d).max() - 1e-7 * size
        assert proved.bound <= prove_by_phases(problem, d).bound + 1e-9 * size


@pytest.mark.parametrize("number", range(8))
def test_bounds_hold_for_samples_of_three_contacts(number):
    problem = numbered_triple(number)
    v_post = carom.Routh(200).resolve(problem).v_post
    assert share(problem) >= reached_share(problem, v_post) - 1e-9


@pytest.mark.parametrize(
    ("name", "proved"), [("rocking-block", 0.27), ("box-wall", 0.072), ("compass-gait", 0.69)]
)
def test_scenes_dissipate(name, proved):
    """Reached are 0.0735, 0.0705 and 0.602 of the energy."""
    problem = carom.scenes.load(name).problem
    v_post = carom.Routh(200).resolve(problem).v_post
    assert reached_share(problem, v_post) - 1e-9 <= share(problem) < proved


def test_one_contact_is_exact():
    """Of 5, a ball that slips to the end keeps 1.5^2; one that comes to stick keeps nothing."""
    assert share(ball([2.0, -1.0], 0.5)) == pytest.approx(2.25 / 5.0, abs=1e-4)
    assert share(ball([-2.0, -1.0], 0.5)) == pytest.approx(2.25 / 5.0, abs=1e-4)
    assert share(ball([0.3, -1.0], 0.5)) < 1e-4
    assert share(ball([1.0, -1.0], 0.0)) == pytest.approx(0.5, abs=1e-4)


def test_two_balls_on_the_ground_come_to_rest():
    """The upper one hits the lower one, and what they exchange ends with both at rest."""
    balls = carom.ImpactProblem(
        np.eye(2), [[1.0, 0.0], [-1.0, 1.0]], np.zeros((2, 1, 2)), 0.0, [0.0, -1.0]
    )
    assert share(balls) < 1e-4


def test_where_no_energy_is_proved_the_proof_is_another():
    space = random_problem(np.random.default_rng(0), 2, 2)
    assert prove_by_energy(space, space.J[0]) == prove_by_phases(space, space.J[0])
    rest = replace(ball([0.0, -1.0], 0.5), v_pre=[0.0, 0.0])
    assert prove_by_energy(rest, [1.0, 0.0]).bound == 0
    box = carom.scenes.load("box-wall").problem
    hurried = prove_by_energy(box, box.J[1], seconds=0.0)
    assert hurried == prove_by_phases(box, box.J[1])


def test_certificates_are_tightened_in_turn_and_kept_without_time():
    problem = carom.scenes.load("box-wall").problem
    prover = Prover(problem)
    first = [prover.prove(row) for row in problem.J]
    assert tighten(prover, first, 0.0) == first
    better = tighten(prover, first, 60.0)
    for before, after in zip(first, better, strict=True):
        check(problem, after)
        assert after.direction == before.direction
        assert after.bound <= before.bound
    size = np.linalg.norm(prover.whiten(problem.J), axis=1) * problem.energy_norm
    gains = np.array([float(a) - float(b) for a, b in zip(first, better, strict=True)]) / size
    assert gains.max() > 0.01


def test_jammed_and_coinciding_contacts():
    walls = carom.ImpactProblem(
        np.eye(2), [[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]], np.zeros((3, 2)), 0.5, [0.0, -1.0]
    )
    check(walls, prove_by_energy(walls, [0.0, 1.0]))
    one = ball([2.0, -1.0], 0.5)
    two = carom.ImpactProblem(one.M, [*one.J_n] * 2, [*one.J_t] * 2, 0.5, one.v_pre)
    assert share(two) == pytest.approx(2.25 / 5.0, abs=1e-4)
    check(two, prove_by_energy(two, [1.0, 0.0]))


def _damage(rng, certificate):
    names = [name for name in NUMBERS if getattr(certificate, name)]
    name = rng.choice(names)
    factor = Fraction(float(rng.choice([-1.0, 0.0, 0.5, 0.999, 1.001, 3.0])))
    shift = Fraction(float(rng.choice([0.0, 0.0, 1e-3, -1e-3, 1.0, -1.0])))
    old = getattr(certificate, name)
    i = rng.integers(len(old))
    return replace(certificate, **{name: (*old[:i], old[i] * factor + shift, *old[i + 1 :])})


@pytest.mark.needs("ppl")
def test_forged_certificates_are_refused_or_true():
    rng, refused = np.random.default_rng(1), 0
    for problem in (numbered_pair(1), carom.scenes.load("box-wall").problem):
        most = problem.energy_norm**2 * reached_share(problem, known_outcomes(problem).v_post)
        proved = tightest(prover_of(problem), problem.J[1])
        assert proved.kept
        for _ in range(60):
            forged = _damage(rng, proved)
            assert not is_valid(problem, forged) or forged == proved
            if is_valid(problem, forged.sealed()):
                assert float(forged.kept[0]) >= most * (1.0 - 1e-9)
            else:
                refused += 1
    assert refused > 50


def test_each_line_of_the_proof_is_named():
    problem = carom.scenes.load("box-wall").problem
    good = prove_by_energy(problem, problem.J[1])
    check(problem, good)
    assert Certificate.from_dict(json.loads(json.dumps(good.to_dict()))) == good
    lines = {
        "kept: smaller": {"kept": (good.kept[0] * Fraction(999, 1000),)},
        "kept: expected 1": {"kept": good.kept * 2},
        "kept_units: expected numbers > 0": {"kept_units": tuple(-x for x in good.kept_units)},
        "kept_units: expected 4": {"kept_units": good.kept_units[1:]},
        "kept_forms: expected": {"kept_forms": good.kept_forms[1:]},
        "kept_relations: expected combinations": {"kept_relations": (Fraction(1),) * 4},
        "kept_multipliers: expected": {"kept_multipliers": good.kept_multipliers[1:]},
        "kept_quadratic: expected entries": {
            "kept_quadratic": (Fraction(-1), *good.kept_quadratic[1:])
        },
        "kept_velocity: expected J_n z": {
            "kept_multipliers": tuple(x + 100 for x in good.kept_multipliers),
            "kept_velocity": tuple(x * 0 for x in good.kept_velocity),
        },
        "kept_units: expected 0": {"kept": ()},
    }
    for message, change in lines.items():
        with pytest.raises(InvalidCertificate, match=message):
            check(problem, replace(good, **change).sealed())
