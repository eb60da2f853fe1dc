"""Check a certificate in rational arithmetic, with no solver and no tolerance.

Why valid numbers prove the claim. Every outcome v+ of an impact has impulses with

    (1) M (v+ - v-) = sum_i J_n,i' a_i + J_t,i' b_i, with a_i >= 0 and |b_i| <= mu_i a_i (Coulomb),
    (2) J_n v+ >= 0, because the impact ends when no contact approaches,
    (3) v+' M v+ <= v-' M v-, because no rate of the impact adds energy.

Let y >= 0, and let z be a velocity with J_n,i z >= mu_i |J_t,i z| + w_i for every contact i. Then

    z' M (v+ - v-) = sum_i a_i J_n,i z + b_i . J_t,i z >= sum_i a_i (J_n,i z - mu_i |J_t,i z|)
                  >= w . a                                                    by (1),
    d . v+ + w . a <= d . v+ + y . J_n v+ + z' M (v+ - v-) = p . v+ - z' M v-  by (2),

with p = d + J_n' y + M z, and (p . v+)^2 <= (p' M^-1 p) (v-' M v-) by (3) and the inequality of
Cauchy and Schwarz. So the bound holds if bound + z' M v- >= 0 and its square is at least that.

The proof asks nothing of the order in which impulses act, so that it also covers impacts that
begin without collision. Floats of the problem are taken as the rational numbers that they are.
Laws count approach speeds below 1e-10 of the impact's speed as rest; the proof does not.
"""

from __future__ import annotations

from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from carom.errors import InvalidCertificate
from carom.problem import ImpactProblem
from carom.proofs.certificate import KIND, Certificate, Exact, digest_of

Rational = NDArray[Any]
"""Arrays of fractions."""


def is_valid(problem: ImpactProblem, certificate: Certificate) -> bool:
    """Return whether a certificate proves its claim about an impact.

    Args:
        problem: The impact.
        certificate: The claim and its proof.
    """
    try:
        check(problem, certificate)
    except InvalidCertificate:
        return False
    return True


def check(problem: ImpactProblem, certificate: Certificate) -> None:
    """Check that a certificate proves its claim about an impact.

    Args:
        problem: The impact.
        certificate: The claim and its proof.

    Raises:
        InvalidCertificate: The certificate is damaged, belongs to another impact, or its numbers do
            not prove its bound; the message names what fails.
    """
    _check_form(problem, certificate)
    bound = certificate.bound
    if bound is None:
        raise InvalidCertificate(f"bound: there is none: {certificate.reason}")
    for i, multiplier in enumerate(certificate.separation):
        if multiplier < 0:
            raise InvalidCertificate(f"separation: expected numbers >= 0, got one < 0 in row {i}")
    z, weights = as_array(certificate.velocity), as_array(certificate.impulse_weights)
    for i, (normal, tangent) in enumerate(contact_slacks(problem, z, weights)):
        if normal < 0 or normal**2 < tangent:
            raise InvalidCertificate(
                f"velocity: expected J_n z >= mu |J_t z| + w, which fails at contact "
                f"{problem.contacts[i]}"
            )
    forms = as_array(certificate.direction), as_array(certificate.separation)
    squared, gain = energy_terms(problem, *forms, z)
    room = bound + gain
    if room < 0 or room**2 < squared:
        raise InvalidCertificate("bound: smaller than what the multipliers prove")


def _check_form(problem: ImpactProblem, certificate: Certificate) -> None:
    """Raise an error unless a certificate is undamaged and fits the problem."""
    if not isinstance(certificate, Certificate):
        raise InvalidCertificate(f"expected a Certificate, got {type(certificate).__name__}")
    if certificate.kind != KIND:
        raise InvalidCertificate(f"kind: expected {KIND!r}, got {certificate.kind!r}")
    m, nv = problem.num_contacts, problem.num_velocities
    sizes = {"direction": nv, "impulse_weights": m, "separation": m, "velocity": nv}
    numbers: list[Any] = [] if certificate.bound is None else [certificate.bound]
    for name, size in sizes.items():
        value = getattr(certificate, name)
        if not isinstance(value, tuple) or len(value) != size:
            raise InvalidCertificate(f"{name}: expected {size} fractions, got something else")
        numbers += value
    if not all(type(x) is Fraction for x in numbers):
        raise InvalidCertificate("expected fractions, got other numbers")
    if certificate.digest != certificate.content_digest():
        raise InvalidCertificate("digest: the certificate was changed after it was made")
    if certificate.problem_digest != digest_of(problem):
        raise InvalidCertificate("problem: the certificate belongs to another impact")


def contact_slacks(
    problem: ImpactProblem, z: Rational, weights: Rational
) -> list[tuple[Fraction, Fraction]]:
    """Return J_n z - w and |mu J_t z|^2 for every contact."""
    normals = exactly(problem.J_n) @ z - weights
    tangents = exactly(problem.J_t) @ z
    friction = exactly(problem.mu)
    return [
        (normal, mu**2 * sum((x * x for x in tangent), Fraction(0)))
        for normal, tangent, mu in zip(normals, tangents, friction, strict=True)
    ]


def energy_terms(
    problem: ImpactProblem, direction: Rational, separation: Rational, z: Rational
) -> tuple[Fraction, Fraction]:
    """Return (p' M^-1 p) (v-' M v-) and z' M v-."""
    mass, start = exactly(problem.M), exactly(problem.v_pre)
    p = direction + separation @ exactly(problem.J_n) + mass @ z
    momentum = mass @ start
    energy = start @ momentum
    # A robot at rest stays at rest, whatever p is.
    return (inverse_form(mass, p) * energy if start.any() else Fraction(0)), z @ momentum


def inverse_form(matrix: Rational, p: Rational) -> Fraction:
    """Return p' matrix^-1 p, and verify that the matrix is positive definite.

    Bareiss's elimination, which stays in integers, of the matrix bordered by p: the determinant of
    that is -det(matrix) times the result, and the pivots are the leading minors.
    """
    n = len(p)
    scale, scale_p = (lcm(*(x.denominator for x in each.flat)) for each in (matrix, p))
    rows = np.zeros((n + 1, n + 1), dtype=object)
    rows[:n, :n] = _as_integers(matrix * scale)
    rows[:n, n] = rows[n, :n] = _as_integers(p * scale_p)
    last = 1
    for k in range(n):
        pivot = rows[k, k]
        if pivot <= 0:
            raise InvalidCertificate("problem: the mass matrix is not positive definite")
        below = slice(k + 1, None)
        rows[below, below] = (
            rows[below, below] * pivot - np.outer(rows[below, k], rows[k, below])
        ) // last
        last = pivot
    # The border was scaled by scale_p twice, the matrix by scale once for its inverse.
    return Fraction(-rows[n, n] * scale, last * scale_p**2)


def as_array(values: Exact) -> Rational:
    """Return fractions as an array."""
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out


def exactly(values: NDArray[np.float64]) -> Rational:
    """Return floats as the rational numbers that they are."""
    flat = as_array(tuple(Fraction(x) for x in values.ravel().tolist()))
    return flat.reshape(values.shape)


def _as_integers(values: Rational) -> Rational:
    return as_array(tuple(x.numerator for x in values.flat)).reshape(values.shape)
