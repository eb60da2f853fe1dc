"""The checker refuses whatever does not prove its claim."""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import carom
from carom.errors import InvalidCertificate
from carom.proofs import Certificate, Prover, check, is_valid, prove
from carom.proofs.rational import exactly, inverse_form
from tests.reference.impact_problems import random_problem

VECTORS = ("direction", "impulse_weights", "separation", "velocity")


@pytest.fixture(scope="module")
def cases():
    """Return impacts with certificates and outcomes that random motions reach."""
    out = []
    for seed in range(20):
        rng = np.random.default_rng([11, seed])
        problem = random_problem(rng, 1 + seed % 3, 1 + seed % 2, mu=0.5, num_directions=8)
        outcomes = carom.Routh(num_samples=100, num_threads=1).resolve(problem)
        prover = Prover(problem)
        out += [(problem, prover.prove(d), outcomes) for d in problem.J[:3]]
    return out


def _damage(rng, certificate):
    """Change one number or one field a little or a lot."""
    name = rng.choice([*VECTORS, "bound"])
    factor = Fraction(float(rng.choice([-1.0, 0.0, 0.5, 1.001, 1.0 - 1e-9, 3.0])))
    shift = Fraction(float(rng.choice([0.0, 1e-9, -1e-9, -1e-3, -1.0, 1.0])))
    old = getattr(certificate, name)
    if name == "bound":
        return replace(certificate, bound=old * factor + shift)
    i = rng.integers(len(old))
    return replace(certificate, **{name: (*old[:i], old[i] * factor + shift, *old[i + 1 :])})


def test_accidental_damage_is_refused(cases):
    rng, refused = np.random.default_rng(0), 0
    while refused < 1000:
        problem, certificate, _ = cases[rng.integers(len(cases))]
        damaged = _damage(rng, certificate)
        if damaged == certificate:
            continue
        with pytest.raises(InvalidCertificate, match="digest"):
            check(problem, damaged)
        refused += 1


def test_forged_certificates_are_refused_or_true(cases):
    """Whoever recomputes the digest may weaken a bound, and never strengthens it beyond truth."""
    rng, refused, accepted = np.random.default_rng(1), 0, 0
    for _ in range(1000):
        problem, certificate, outcomes = cases[rng.integers(len(cases))]
        forged = _damage(rng, certificate).sealed()
        if not is_valid(problem, forged):
            refused += 1
            continue
        accepted += 1
        d = np.array([float(x) for x in forged.direction])
        w = np.array([float(x) for x in forged.impulse_weights])
        reached = (outcomes.v_post @ d + outcomes.impulse_n @ w).max()
        scale = np.sqrt(d @ np.linalg.solve(problem.M, d)) * problem.energy_norm
        assert float(forged.bound) >= reached - 1e-8 * (scale + np.abs(w).max())
    assert refused > 500
    assert accepted > 20


def test_the_smallest_forgery_is_refused(cases):
    """Bounds are rounded up to floats, so that two floats less are too little."""
    for problem, certificate, _ in cases:
        lower = np.nextafter(np.nextafter(float(certificate.bound), -np.inf), -np.inf)
        forged = replace(certificate, bound=Fraction(float(lower))).sealed()
        with pytest.raises(InvalidCertificate, match="bound: smaller"):
            check(problem, forged)


def test_certificates_of_other_problems_are_refused(cases):
    rng = np.random.default_rng(2)
    for _ in range(100):
        problem, certificate, _ = cases[rng.integers(len(cases))]
        name = rng.choice(["M", "J_n", "J_t", "mu", "v_pre"])
        array = getattr(problem, name).copy()
        at = tuple(rng.integers(n) for n in array.shape)
        array[at] = np.nextafter(array[at], np.inf)
        if name == "M":
            array[at[::-1]] = array[at]
        other = replace(problem, **{name: array})
        with pytest.raises(InvalidCertificate, match="another impact"):
            check(other, certificate)
    flag = replace(problem, without_collision=True)
    assert not is_valid(flag, certificate)


def test_names_and_friction_directions_do_not_matter(cases):
    problem, certificate, _ = cases[0]
    names = tuple(f"foot {i}" for i in range(problem.num_contacts))
    check(replace(problem, contacts=names, num_directions=5), certificate)


def test_certificates_survive_json(cases):
    for problem, certificate, _ in cases:
        again = Certificate.from_dict(json.loads(json.dumps(certificate.to_dict())))
        assert again == certificate
        check(problem, again)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("bound", "0.5"),
        ("bound", "1/0"),
        ("bound", "9" * 10_000),
        ("direction", "1/2"),
        ("velocity", [0.5]),
        ("digest", 3),
    ],
)
def test_files_that_are_no_certificates_are_refused(cases, field, value):
    data = {**cases[0][1].to_dict(), field: value}
    with pytest.raises(InvalidCertificate, match=field):
        Certificate.from_dict(data)


def test_missing_and_unknown_fields_are_refused(cases):
    data = cases[0][1].to_dict()
    for wrong in ({**data, "more": 1}, {k: v for k, v in data.items() if k != "bound"}, [1]):
        with pytest.raises(InvalidCertificate, match="expected the fields"):
            Certificate.from_dict(wrong)


def test_each_line_of_the_proof_is_named():
    ball = carom.ImpactProblem(np.eye(2), [[0.0, 1.0]], [[1.0, 0.0]], 0.5, [0.1, -1.0])
    good = prove(ball, [1.0, 0.0])
    none = (Fraction(0),) * 2
    lines = {
        "kind": {"kind": "energy"},
        "separation: expected numbers >= -lifts": {"separation": (Fraction(-1),)},
        "lifts: expected": {"lifts": (Fraction(-1),)},
        "velocity: .* contact A": {"velocity": (Fraction(1), Fraction(0))},
        "bound: smaller": {"velocity": none, "separation": none[:1]},
        "direction: expected 2": {"direction": none[:1]},
        "expected fractions": {"bound": 2.0},
        "bound: there is none": {"bound": None},
    }
    for message, change in lines.items():
        with pytest.raises(InvalidCertificate, match=message):
            check(ball, _resealed(good, change))


def _resealed(certificate, change):
    changed = replace(certificate, **change)
    return changed if isinstance(change.get("bound"), float) else changed.sealed()


@pytest.mark.parametrize("n", [1, 2, 7])
def test_forms_of_inverse_matrices_are_exact(n):
    """For p = A x the form is x' A x."""
    rng = np.random.default_rng(n)
    root = exactly(rng.normal(size=(n, n)))
    matrix, x = root @ root.T, exactly(rng.normal(size=n))
    assert inverse_form(matrix, matrix @ x) == x @ matrix @ x


def test_indefinite_matrices_are_refused():
    with pytest.raises(InvalidCertificate, match="positive definite"):
        inverse_form(exactly(np.array([[1.0, 2.0], [2.0, 1.0]])), exactly(np.ones(2)))
