"""Proofs about impacts that bounce hold for motions, some exactly, and resist forgery."""

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
    prove,
    prove_by_energy,
    prove_by_phases,
    prove_energy,
)
from carom.proofs.phases import fans, tightened
from tests.reference.bouncing import random_bounces
from tests.reference.bouncing_problems import bouncing_problem, falling_ball, three_balls
from tests.reference.impact_problems import random_problem

NUMBERS = ("bound", "separation", "lifts", "velocity", "pieces", "slopes", "units")
NUMBERS += ("bounces", "bounce_rates")


def size_of(problem, direction):
    """Return the largest value of a direction that the impact's energy allows."""
    return np.sqrt(direction @ np.linalg.solve(problem.M, direction)) * problem.energy_norm


def proofs_of(prover, direction, weights=None):
    """Return certificates of all kinds, with the first fan for phases of two contacts at most."""
    plain = prover.prove(direction, weights)
    lifted = prover.prove(direction, weights, lifts=True)
    some = fans(prover)[:1] if prover.problem.num_contacts <= 2 else []
    return [plain, lifted, *(tightened(prover, plain, fan) for fan in some)]


@pytest.fixture(scope="module")
def bundles():
    """Return impacts with the velocities and impulses of motions that have ended."""
    found = []
    for number in range(30):
        problem = bouncing_problem(number)
        rng = np.random.default_rng([1, number])
        out = random_bounces(problem, rng, 500, num_steps=1000)
        v = problem.v_pre + out.impulses @ problem.impulse_to_velocity.T
        found.append((problem, out, v[out.ended], out.impulses[out.ended]))
    return found


def test_reference_motions_obey_the_model(bundles):
    """Energy never rises, nothing approaches at the end, and most motions end."""
    assert sum(len(v) for _, _, v, _ in bundles) > 10_000
    for problem, out, v, _ in bundles:
        # One stretch adds rounding of some ten operations.
        assert out.worst_rise <= 1e-14
        kept = problem.kinetic_energy(v) / problem.kinetic_energy(problem.v_pre)
        assert kept.max(initial=0.0) <= 1.0 + 1e-11
        assert (v @ problem.J_n.T / problem.space.velocity_unit).min(initial=0.0) >= -1e-9


def test_bounds_hold_for_reference_motions(bundles):
    gains = []
    for problem, _, v, impulses in bundles:
        prover, m = Prover(problem), problem.num_contacts
        for d in (problem.J[0], -problem.J[-1]):
            size = size_of(problem, d)
            proved = proofs_of(prover, d)
            for each in proved:
                check(problem, each)
                assert float(each) >= (v @ d).max(initial=-np.inf) - 1e-9 * size
            gains.append((float(proved[0]) - min(map(float, proved))) / size)
        total = impulses[:, ::2].sum(axis=1)
        for each in proofs_of(prover, np.zeros(problem.num_velocities), np.ones(m)):
            if each.bound is not None:
                check(problem, each)
                assert float(each) >= total.max(initial=0.0) * (1.0 - 1e-9)
    assert min(gains) >= 0.0
    assert max(gains) > 0.1


@pytest.mark.parametrize("d", [1, 2])
def test_bounds_hold_for_random_motions(d):
    """Of 24 impacts, planar and spatial, with 1 to 5 contacts, and 600 motions each."""
    count = 0
    for number in range(100, 124):
        problem = bouncing_problem(number, d)
        outcomes = carom.Routh(600, seed=number).resolve(problem)
        count += len(outcomes)
        prover, m = Prover(problem), problem.num_contacts
        slack = 1e-9 if d == 1 else 1e-6
        for direction in (problem.J[0], -problem.J[-1]):
            for each in proofs_of(prover, direction)[1:]:
                check(problem, each)
                excess = (outcomes.v_post @ direction).max() - float(each)
                assert excess <= slack * size_of(problem, direction)
        total = outcomes.impulse_n.sum(axis=1).max()
        for each in proofs_of(prover, np.zeros(problem.num_velocities), np.ones(m))[1:]:
            if each.bound is not None:
                check(problem, each)
                assert total <= float(each) * (1.0 + slack)
    assert count > 10_000


@pytest.mark.parametrize("number", [2, 7, 3])
def test_phases_hold_for_three_and_four_contacts(number, bundles):
    problem, _, v, _ = bundles[number]
    d = problem.J[1]
    prover = Prover(problem)
    plain = prover.prove(d)
    proved = tightened(prover, plain, fans(prover)[0])
    check(problem, proved)
    assert proved.bound <= plain.bound
    assert float(proved) >= (v @ d).max() - 1e-9 * size_of(problem, d)


def test_a_ball_bounces_as_stronge_says():
    """e = 0.5, mu = 0.3: from (1, -1) to (0.55, 0.5), with an impulse of 1.5."""
    ball = falling_ball(0.5, 0.3, (1.0, -1.0))
    prover = Prover(ball)
    for d in ((1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)):
        proved = prove_by_phases(ball, d)
        check(ball, proved)
        assert float(proved) == pytest.approx(0.55 * d[0] + 0.5 * d[1], abs=1e-9)
    # Without friction's turns, momentum does as well for the normal velocity.
    for d in ((0.0, 1.0), (0.0, -1.0)):
        lifted = prover.prove(d, lifts=True)
        check(ball, lifted)
        assert float(lifted) == pytest.approx(0.5 * d[1], abs=1e-7)
    impulse = prove_by_phases(ball, [0.0, 0.0], [1.0])
    check(ball, impulse)
    assert float(impulse) == pytest.approx(1.5, abs=1e-7)


@pytest.mark.parametrize(
    ("direction", "value"), [((0, 0, 1), 1.0), ((-1, 0, 0), 1 / 3), ((1, 0, 0), 0.0)]
)
def test_three_balls_are_bounded_by_the_ends_of_their_arc(direction, value):
    """From (-1/3, 2/3, 2/3) to (0, 0, 1)."""
    balls = three_balls()
    proved = prove_by_phases(balls, np.array(direction, dtype=np.float64))
    check(balls, proved)
    assert value - 1e-15 <= float(proved) <= value + 1e-9


def test_bounds_tend_to_those_of_inelastic_impacts():
    """With hardly any restitution, lifts are worth what they are worth without."""
    block = carom.scenes.load("rocking-block").problem
    bounds = [
        float(Prover(replace(block, restitution=e)).prove(block.J[0], lifts=True))
        for e in (0.0, 1e-9)
    ]
    assert bounds[0] < 0.98 * float(prove(block, block.J[0]))
    assert bounds[1] == pytest.approx(bounds[0], rel=1e-6)


def test_contacts_without_restitution_keep_their_lifts():
    """A ball above another one: the lower contact does not bounce, the upper one does."""
    problem = three_balls(e=0.0)
    for e in ([0.5, 0.0], [0.0, 0.5]):
        mixed = replace(problem, restitution=e)
        proved = [Prover(mixed).prove(d, lifts=True) for d in (*mixed.J_n, *-mixed.J_n)]
        for each in proved:
            check(mixed, each)
            # A lift is a slope of a contact without restitution, and the others have functions.
            assert all(not lift for lift, own in zip(each.lifts, e, strict=True) if own)
            bounces = np.reshape(each.bounces or np.zeros(2), (2, -1))
            assert not bounces[np.array(e) == 0.0].any()
        forged = replace(proved[0], lifts=tuple(Fraction(own) for own in e)).sealed()
        with pytest.raises(InvalidCertificate, match="lifts"):
            check(mixed, forged)


def test_certificates_of_other_restitution_are_refused():
    rng = np.random.default_rng(4)
    for d in (1, 2):
        inelastic = random_problem(rng, 2, d, mu=0.5)
        bouncing = replace(inelastic, restitution=0.5)
        others = [replace(inelastic, restitution=e) for e in (np.nextafter(0.5, 1), [0.5, 0.4])]
        for one, strangers in ((inelastic, [bouncing]), (bouncing, [inelastic, *others])):
            for proved in proofs_of(Prover(one), one.J[0]):
                check(one, proved)
                for other in strangers:
                    with pytest.raises(InvalidCertificate, match="another impact"):
                        check(other, proved)


def test_inelastic_proofs_with_another_digest_are_refused():
    """What an inelastic proof uses is false of the bouncing impact, and the checker notices."""
    ball = falling_ball(0.0, 0.0, (0.1, -1.0))
    bouncing = replace(ball, restitution=0.5)
    lifted = Prover(ball).prove([0.0, 1.0], lifts=True)
    phases = prove_by_phases(replace(ball, mu=0.5, v_pre=[2.0, -1.0]), [-1.0, 0.0])
    assert float(lifted) < 1e-6
    assert phases.kind == "phases"
    for proved, problem in (
        (lifted, bouncing),
        (phases, replace(bouncing, mu=0.5, v_pre=[2.0, -1.0])),
    ):
        own = prove(problem, [1.0, 0.0]).problem_digest
        # The certificate has the form of one for impacts that bounce.
        rates = (Fraction(1),) * (proved.kind == "phases")
        forged = replace(proved, problem_digest=own, bounce_rates=rates)
        with pytest.raises(
            InvalidCertificate, match=r"lifts: expected|pieces: they|bound: smaller"
        ):
            check(problem, forged.sealed())
    slips = replace(ball, mu=0.5, v_pre=[2.0, -1.0])
    kept = prove_by_energy(slips, [1.0, 0.0])
    assert kept.kept
    other = replace(slips, restitution=0.5)
    assert prove_energy(Prover(other)) == {}
    own = prove(other, [1.0, 0.0]).problem_digest
    with pytest.raises(InvalidCertificate, match=r"kept: .* do not bounce"):
        check(other, replace(kept, problem_digest=own).sealed())


@pytest.mark.needs("ppl")
def test_polyhedra_are_refused_for_impacts_that_bounce():
    from carom.proofs.certificate import digest_of
    from carom.reach.certificate import check as check_cover

    block = carom.scenes.load("rocking-block").problem
    bouncing = replace(block, restitution=0.5)
    exact = carom.worst_case(block, "A normal").certificate
    check_cover(block, exact)
    with pytest.raises(InvalidCertificate, match="another impact"):
        check_cover(bouncing, exact)
    with pytest.raises(InvalidCertificate, match="restitution"):
        check_cover(bouncing, replace(exact, problem_digest=digest_of(bouncing)))


def test_inelastic_problems_keep_their_digests():
    """Of a ball of 1 kg; computed before impacts could bounce."""
    proved = prove(falling_ball(0.0, 0.5, (0.25, -1.0)), [1.0, 0.0])
    known = "c961d6218a56a0bae77c1919cd8fa7b5394388a6c0540619a501a7a95cdeab85"
    assert proved.problem_digest == known
    old = {k: v for k, v in proved.to_dict().items() if "bounce" not in k}
    assert Certificate.from_dict(old) == proved


def _damage(rng, certificate):
    names = [name for name in NUMBERS if getattr(certificate, name)]
    name = rng.choice(names)
    factor = Fraction(float(rng.choice([-1.0, 0.0, 0.5, 0.999, 1.001, 3.0])))
    shift = Fraction(float(rng.choice([0.0, 0.0, 1e-3, -1e-3, 1.0, -1.0])))
    old = getattr(certificate, name)
    if name == "bound":
        return replace(certificate, bound=old * factor + shift)
    i = rng.integers(len(old))
    return replace(certificate, **{name: (*old[:i], old[i] * factor + shift, *old[i + 1 :])})


def test_forged_certificates_are_refused_or_true(bundles):
    rng, refused, accepted = np.random.default_rng(1), 0, 0
    for problem, _, v, _ in [each for each in bundles if len(each[2])][:8]:
        d = problem.J[0]
        reached = (v @ d).max()
        for proved in proofs_of(Prover(problem), d)[1:]:
            again = Certificate.from_dict(json.loads(json.dumps(proved.to_dict())))
            assert again == proved
            for _ in range(30):
                damaged = _damage(rng, proved)
                if damaged == proved:
                    continue
                with pytest.raises(InvalidCertificate, match="digest"):
                    check(problem, damaged)
                forged = damaged.sealed()
                if is_valid(problem, forged):
                    accepted += 1
                    assert float(forged) >= reached - 1e-9 * size_of(problem, d)
                else:
                    refused += 1
    assert refused > 100
    assert accepted > 5


def test_each_line_of_the_proof_is_named():
    balls = three_balls(0.5)
    good = next(
        each
        for each in (Prover(balls).prove(d, lifts=True) for d in (*balls.J_n, *-balls.J_n))
        if each.bounces
    )
    check(balls, good)
    lines = {
        "bounce_rates: expected numbers >= 0": {
            "bounce_rates": tuple(-x for x in good.bounce_rates)
        },
        "bounce_rates: expected": {"bounce_rates": good.bounce_rates[1:]},
        "separation: expected": {"bounces": tuple(x - 100 for x in good.bounces)},
        "velocity: .* contact": {"bounces": tuple(x + 100 for x in good.bounces)},
    }
    for message, change in lines.items():
        with pytest.raises(InvalidCertificate, match=message):
            check(balls, replace(good, **change).sealed())
    mixed = replace(balls, restitution=[0.5, 0.0])
    own = prove(mixed, mixed.J_n[0]).problem_digest
    strange = replace(good, problem_digest=own, bounces=(Fraction(1),) * len(good.bounces))
    with pytest.raises(InvalidCertificate, match="bounces: expected none"):
        check(mixed, strange.sealed())
