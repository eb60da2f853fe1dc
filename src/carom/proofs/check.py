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

That is a proof of kind "momentum". With slopes h_i >= 0, "lifts", it also uses that a contact which
separates does not act. With n_j = J_n,j v, let

    V(v, a) = k |v|_M - z' M v + sum_j h_j max(n_j, 0) + w . a.

While contact i acts, n_i <= 0, so that its own term does not change, almost everywhere. It raises
any other n_j by at most c_ij = max(0, A_nj,ni + mu_i |A_nj,ti|) per unit of normal impulse, where
A = J M^-1 J', and |v|_M does not rise. So V does not rise if

    J_n,i z >= mu_i |J_t,i z| + w_i + sum_(j != i) c_ij h_j for every contact i.

At the end max(n_j, 0) = n_j by (2), so that y may be as low as -h, and the bound holds if
bound + z' M v- - sum_j h_j max(n_j-, 0) is at least |p|_{M^-1} |v-|_M.

Planar contacts have proofs of kind "phases", which use that a contact acts only if it does not
separate, and that friction opposes slip. Let c_i = (J_n,i v, J_t,i v), let f_i be a continuous
function that is linear on each of eight sectors of the plane of c_i, and let

    V(v, a) = k |v|_M - z' M v + sum_i f_i(c_i) + w . a.

While impulses accrue, |v|_M does not rise. Almost everywhere, f_i(c_i) changes by g . c_i', where g
is the gradient of any closed sector in which c_i lies: while c_i is on a ray, c_i' is along it,
almost everywhere. So V does not rise if for every contact i and either sign s, with r_j the rate of
c_j per unit of normal impulse at contact i and friction -s mu_i,

    w_i + g . r_i + sum_(j != i) max over sectors of j (g_j . r_j) <= J_n,i z - s mu_i J_t,i z

(4) for the gradients g of i's sectors with n <= 0 and s t >= 0, where i slips or begins to, and
(5) for the mean g of the two gradients at n <= 0, t = 0, where i sticks: its friction is a mixture
of both signs, and (5) holds for both. If also (6) f_i(c) >= q_i . c wherever n >= 0, then

    d . v+ + w . a <= (d + J_n' y + M z - sum_i J_i' q_i) . v+ - z' M v+ + sum_i f_i(c_i+) + w . a,

which is at most V(v+, a) <= V(v-, 0) with k the length of the bracket. So the bound holds if
bound + z' M v- - sum_i f_i(c_i-) is at least k |v-|_M.

Either kind can use that impacts dissipate. If a certificate also proves v+' M v+ <= e, as
`lifted.py` explains, then e takes the place of v-' M v-: in (3), and with "phases" because
k |v+|_M <= k sqrt(e), while V without its first term does not rise either.

Contacts with restitution may act while they separate; `bounces.py` says what changes. (3) holds all
the same.

Floats of the problem are taken as the rational numbers that they are.
Laws count approach speeds below 1e-10 of the impact's speed as rest; the proof does not.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from carom.errors import InvalidCertificate
from carom.problem import ImpactProblem
from carom.proofs import lifted
from carom.proofs.bounces import Bounces, spread
from carom.proofs.certificate import KINDS, Certificate, digest_of
from carom.proofs.rational import Rational, as_array, exactly, inverse_form

RAYS = ((1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1))
"""Rays (n, t) between which functions of a contact's velocity are linear, in order."""

SLIPPING = {1: (2, 3), -1: (4, 5)}
"""Sectors, by their first rays, with n <= 0 and s t >= 0 for each sign s."""

STICKING = (3, 4)
"""Sectors that meet at n <= 0, t = 0."""

PARTING = {1: (0, 1), -1: (6, 7)}
"""The same for n >= 0."""

PARTING_STUCK = (7, 0)
"""Sectors that meet at n >= 0, t = 0."""


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
    lifts, bounces = as_array(certificate.lifts), Bounces.of(problem, certificate)
    _check_separation(certificate, lifts, bounces)
    z, weights = as_array(certificate.velocity), as_array(certificate.impulse_weights)
    d, y = as_array(certificate.direction), as_array(certificate.separation)
    offset = bounces.at_start(problem)
    if certificate.kind == "phases":
        pieces = Pieces.of(problem, certificate)
        _check_phases(problem, pieces, z, weights)
        d, offset = d - pieces.end_form(problem), offset + pieces.at_start(problem)
    else:
        _check_cones(problem, z, weights + raised(problem, lifts, bounces))
        normals = exactly(problem.J_n) @ exactly(problem.v_pre)
        offset += lifts @ np.maximum(normals, 0 * normals)
    kept = lifted.proved_energy(problem, certificate)
    squared, gain = energy_terms(problem, d, y, z, kept)
    room = bound + gain - offset
    if room < 0 or room**2 < squared:
        raise InvalidCertificate("bound: smaller than what the multipliers prove")


def _check_separation(certificate: Certificate, lifts: Rational, bounces: Bounces) -> None:
    """Raise an error unless multipliers of separation and lifts have the right signs."""
    bouncing, is_momentum = bounces.restitution > 0, certificate.kind == "momentum"
    # With phases, slopes take the place of multipliers below zero.
    lowest = -(lifts + bounces.slopes) if is_momentum else 0 * lifts
    for i, (y, lift) in enumerate(zip(certificate.separation, lifts, strict=True)):
        if lift < 0 or (lift and (not is_momentum or bouncing[i])):
            raise InvalidCertificate(
                f"lifts: expected numbers >= 0, none for phases or restitution, in row {i}"
            )
        if y < lowest[i]:
            raise InvalidCertificate(f"separation: expected numbers >= -lifts, not so in row {i}")


def raised(problem: ImpactProblem, lifts: Rational, bounces: Bounces) -> Rational:
    """Return by how much lifts and functions of returnable energy rise at most, (m,)."""
    m, out = len(lifts), lifts * 0
    if not (lifts.any() or bounces.coefficients.any()):
        return out
    delassus = inverse_form(exactly(problem.M), exactly(problem.J).T).reshape(
        m, -1, m, len(problem.J) // m
    )
    for i, mu in enumerate(exactly(problem.mu)):
        for j in range(m):
            normal, *tangents = delassus[j, 0, i]
            friction = spread(mu, as_array(tuple(tangents)))
            if j != i and lifts[j]:
                out[i] += lifts[j] * max(normal + friction, Fraction(0))
            rises = bounces.rises(j, normal - friction, normal + friction, own=i == j)
            out[i] += max(rises)
    return out


def _check_cones(problem: ImpactProblem, z: Rational, weights: Rational) -> None:
    for i, (normal, tangent) in enumerate(contact_slacks(problem, z, weights)):
        if normal < 0 or normal**2 < tangent:
            raise InvalidCertificate(
                f"velocity: expected J_n z >= mu |J_t z| + w, which fails at contact "
                f"{problem.contacts[i]}"
            )


def _check_phases(problem: ImpactProblem, pieces: Pieces, z: Rational, weights: Rational) -> None:
    """Raise an error unless (4) to (6) hold."""
    if any(unit <= 0 for unit in pieces.units.flat):
        raise InvalidCertificate("units: expected numbers > 0")
    for i, (values, slope) in enumerate(zip(pieces.end_values, pieces.slopes, strict=True)):
        ends = [r for r, (n, _) in enumerate(RAYS) if n >= 0]
        if any(slope @ np.array(RAYS[r], dtype=object) > values[r] for r in ends):
            raise InvalidCertificate(f"slopes: too large at contact {problem.contacts[i]}")
    needed, given = pieces.demands(problem) + weights[:, None], momentum_rates(problem, z)
    for i in range(problem.num_contacts):
        if (needed[i] > given[i]).any():
            raise InvalidCertificate(f"pieces: they can rise at contact {problem.contacts[i]}")


@dataclass(frozen=True, eq=False)
class Pieces:
    """The functions f_i of a proof by phases, in units of the contacts' velocities."""

    values: Rational  # (m, 8) on the rays
    slopes: Rational  # (m, 2) of linear functions below
    units: Rational  # (m, 2)
    restitution: Rational  # (m,)
    rates: Rational  # (m,) rho of contacts with restitution

    @classmethod
    def of(cls, problem: ImpactProblem, certificate: Certificate) -> Pieces:
        """Return the functions of a certificate."""
        values = as_array(certificate.pieces).reshape(-1, len(RAYS))
        slopes, units = as_array(certificate.slopes), as_array(certificate.units)
        e = exactly(problem.restitution)
        rates = as_array(certificate.bounce_rates) if problem.bounces else e
        return cls(values, slopes.reshape(-1, 2), units.reshape(-1, 2), e, rates)

    @cached_property
    def gradients(self) -> Rational:
        """Return the gradients (m, 8, 2); sector r is from ray r to the next."""
        (a_n, a_t), (b_n, b_t) = np.array(RAYS).T, np.roll(RAYS, -1, axis=0).T
        out = []
        for values, e in zip(self.values, self.restitution, strict=True):
            first, second = values.copy(), np.roll(values, -1)
            if e:
                # G_i vanishes where W_i = 0.
                first[6], second[1] = Fraction(0), Fraction(0)
            # Neighbouring rays have determinant 1.
            out.append(np.stack([first * b_t - second * a_t, second * a_n - first * b_n], axis=1))
        return np.array(out)

    @property
    def end_values(self) -> Rational:
        """Return the values (m, 8) on the rays with n >= 0 at the end of the impact."""
        out = self.values.copy()
        bouncing = self.restitution > 0
        out[bouncing, 1] += out[bouncing, 2]
        out[bouncing, 7] += out[bouncing, 6]
        return out

    def demands(self, problem: ImpactProblem) -> Rational:
        """Return the largest left-hand sides (m, 2) of (4) and (5) without w, s = 1 first."""
        jacobian = exactly(problem.J)
        delassus = inverse_form(exactly(problem.M), jacobian.T)
        rho = self.rates / self.units[:, 0]
        out = np.empty((problem.num_contacts, 2), dtype=object)
        for i, mu in enumerate(exactly(problem.mu)):
            for column, sign in enumerate((1, -1)):
                rates = delassus[:, 2 * i] - sign * mu * delassus[:, 2 * i + 1]
                rates = rates.reshape(-1, 2) / self.units
                total = Fraction(0)
                for j, (gradients, e) in enumerate(
                    zip(self.gradients, self.restitution, strict=True)
                ):
                    sign_of = sign if j == i else 0
                    total += max(changes(gradients, rates[j], e, rho[j], sign_of))
                out[i, column] = total
        return out

    def end_form(self, problem: ImpactProblem) -> Rational:
        """Return sum_i J_i' q_i (nv,)."""
        return (self.slopes / self.units).ravel() @ exactly(problem.J)

    def at_start(self, problem: ImpactProblem) -> Fraction:
        """Return sum_i f_i(c_i-)."""
        velocities = (exactly(problem.J) @ exactly(problem.v_pre)).reshape(-1, 2) / self.units
        total = Fraction(0)
        for c, gradients, e in zip(velocities, self.gradients, self.restitution, strict=True):
            for part, sector in parts(c, e):
                total += gradients[sector] @ part
        return total


def parts(c: Any, e: Any) -> list[tuple[Any, int]]:
    """Return where f_i is evaluated for contact velocity c when nothing is stored, and sectors.

    That is c itself without restitution, else (-P, t) and (W, t).
    """
    n, t = c
    if not e:
        return [(c, _sector(n, t, range(len(RAYS))))]
    kept = n if n >= 0 else -e * n
    toward, apart = _sector(n - kept, t, range(2, 6)), _sector(kept, t, (6, 7, 0, 1))
    return [(np.array([n - kept, t]), toward), (np.array([kept, t]), apart)]


def changes(gradients: Any, rate: Any, e: Any, rho: Any, sign: int) -> list[Any]:
    """Return what f_i may change by, per unit of normal impulse at a contact that acts.

    Args:
        gradients: Of f_i on every sector (8, 2, ...).
        rate: (2,) rate of c_i.
        e: Restitution of contact i.
        rho: The rate rho of its W_i.
        sign: Sign s of friction if contact i itself acts, else 0.
    """
    n, t = rate
    signs = (sign,) if sign else (1, -1)
    if not e:
        own = [gradients[r] for s in signs for r in SLIPPING[s]]
        others = [gradients[r] for s in signs for r in PARTING[s]]
        stuck = [(gradients[STICKING[0]] + gradients[STICKING[1]]) / 2]
        return [g[0] * n + g[1] * t for g in own + (stuck if sign else others)]
    pairs = [(gradients[a], gradients[b]) for s in signs for a in SLIPPING[s] for b in PARTING[s]]
    if sign:
        means = [(gradients[a] + gradients[b]) / 2 for a, b in (STICKING, PARTING_STUCK)]
        pairs.append((means[0], means[1]))
    taken = rho if sign else 0 * rho
    out = []
    for factor in (-e, 1):
        stored = factor * (n - taken)
        out += [a[0] * (n - stored) + b[0] * stored + (a[1] + b[1]) * t for a, b in pairs]
    return out


def momentum_rates(problem: ImpactProblem, z: Rational) -> Rational:
    """Return J_n z - s mu J_t z (m, 2), s = 1 first."""
    normal = exactly(problem.J_n) @ z
    friction = exactly(problem.mu) * (exactly(problem.J_t[:, 0]) @ z)
    return np.stack([normal - friction, normal + friction], axis=1)


def _sector(n: Any, t: Any, among: Iterable[int]) -> int:
    """Return the sector in which a contact's velocity lies."""
    for r in among:
        a, b = RAYS[r], RAYS[(r + 1) % len(RAYS)]
        if a[0] * t - a[1] * n >= 0 and n * b[1] - t * b[0] >= 0:
            return r
    raise AssertionError("sectors cover the plane")


def _check_form(problem: ImpactProblem, certificate: Certificate) -> None:
    """Raise an error unless a certificate is undamaged and fits the problem."""
    if not isinstance(certificate, Certificate):
        raise InvalidCertificate(f"expected a Certificate, got {type(certificate).__name__}")
    if certificate.kind not in KINDS:
        raise InvalidCertificate(f"kind: expected one of {KINDS}, got {certificate.kind!r}")
    if certificate.problem_digest != digest_of(problem):
        raise InvalidCertificate("problem: the certificate belongs to another impact")
    m, nv = problem.num_contacts, problem.num_velocities
    sizes = {"direction": nv, "impulse_weights": m, "separation": m, "lifts": m, "velocity": nv}
    phases = int(certificate.kind == "phases")
    if phases and problem.num_tangents != 1:
        raise InvalidCertificate("kind: phases are for planar contacts")
    sizes |= {"pieces": phases * m * len(RAYS), "slopes": phases * m * 2, "units": phases * m * 2}
    sizes |= lifted.sizes(problem, certificate)
    bounces = len(certificate.bounces) // m * m if problem.bounces and not phases else 0
    sizes |= {"bounces": bounces, "bounce_rates": m if problem.bounces and phases else bounces}
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
    problem: ImpactProblem,
    direction: Rational,
    separation: Rational,
    z: Rational,
    kept: Fraction | None = None,
) -> tuple[Fraction, Fraction]:
    """Return (p' M^-1 p) e and z' M v-, where e >= v+' M v+ is v-' M v- unless less is kept."""
    mass, start = exactly(problem.M), exactly(problem.v_pre)
    p = direction
    if separation.any() or z.any():
        p = direction + separation @ exactly(problem.J_n) + mass @ z
    momentum = mass @ start
    energy = start @ momentum if kept is None else kept
    # A robot at rest stays at rest, whatever p is.
    return (inverse_form(mass, p) * energy if start.any() else Fraction(0)), z @ momentum
