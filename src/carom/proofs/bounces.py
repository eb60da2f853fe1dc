"""Functions of the energy that contacts can still return, for proofs about impacts that bounce.

With restitution a contact may act while it separates, as long as it has energy E_i to return:

    E_i' = l_i (e_i^2 max(-n_i, 0) - max(n_i, 0)),  l_i > 0 only if n_i <= 0 or E_i > 0.

For contacts with e_i = 0 that is E_i = 0, and all that `check.py` says of them holds as it stands.
For the others let rho >= 0, and let

    W_i(n_i, E_i) = sqrt(s n_i^2 + 2 rho E_i) with s = 1 where n_i >= 0, and s = e_i^2 elsewhere.

Let r_j be the rate of n_i per unit of normal impulse at contact j, with the friction that acts.
Where W_i > 0, its rate per unit of normal impulse at contact j is

    x (r_j - rho [j is i]) / W_i, with x = n_i where n_i >= 0 and x = e_i^2 n_i elsewhere,

because E_i changes by -x while contact i acts. As |n_i| <= W_i where n_i >= 0 and e_i |n_i| <= W_i
elsewhere, the factor x / W_i is from 0 to 1 where n_i >= 0 and from -e_i to 0 elsewhere. So W_i is
Lipschitz wherever it is positive, hence everywhere, and its rate is zero almost everywhere it
vanishes. For any number h, h W_i rises by no more than

    max(0, h q) where n_i >= 0, and max(0, -e_i h q) where n_i <= 0, with q = r_j - rho [j is i],

per unit of normal impulse at contact j. Mixtures of frictions have no more than the largest of
their parts. At the end W_i = n_i, because no contact approaches and nothing is left to return; at
the start E_i = 0. So terms h W_i, with h of either sign and several rho each, may stand in V of
`check.py`, where they give and cost what these bounds say. For rho = r_i, a contact that acts alone
pays nothing, and n_i+ = e_i |n_i-| follows.

The first term of V is k sqrt(|v|_M^2 + 2 sum E_i), which does not rise, has the value k |v|_M at
both ends, and is the reason why (3) of `check.py` holds.

With phases, f_i is a function of P_i = W_i - n_i >= 0, W_i and t_i, with one rho each, in place of
c_i: f_i = F(P_i, t_i) + G(W_i, t_i) with G(0, t) = 0. F has the values on the rays with n <= 0, at
n = -P, and G those on the rays with n > 0, at n = W. With one factor x / W_i, from -e_i to 1, for
all that acts, W_i changes by that times q, and P_i by as much less r_j. A contact that acts has
P_i > 0, or rests with W_i = 0, where all rates of W_i and P_i vanish almost everywhere. So (4) must
hold for pairs of gradients of F and G with s t >= 0, and (5) for the pair of means where t = 0,
both for the factors -e_i and 1; and the largest changes of other f_j are over pairs on one side of
t = 0. In (6), f_i(c) is F(0, t) + G(n, t).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from carom.errors import InvalidCertificate
from carom.problem import ImpactProblem
from carom.proofs.certificate import Certificate
from carom.proofs.rational import Rational, as_array, exactly, root_above
from carom.typing import FloatArray

LEAST_RATE = 1e-6
"""Share of a contact's inverse mass below which a rate is no use for W_i."""


@dataclass(frozen=True, eq=False)
class Bounces:
    """The terms h W_i of a proof, exactly.

    Args:
        coefficients: (m, b) numbers h.
        rates: (m, b) numbers rho.
        restitution: (m,) numbers e.
    """

    coefficients: Rational
    rates: Rational
    restitution: Rational

    @classmethod
    def of(cls, problem: ImpactProblem, certificate: Certificate) -> Bounces:
        """Return the terms of a certificate, or raise InvalidCertificate."""
        m, e = problem.num_contacts, exactly(problem.restitution)
        coefficients = as_array(certificate.bounces).reshape(m, -1)
        rates = as_array(certificate.bounce_rates).reshape(m, -1)
        if any(rate < 0 for rate in rates.flat):
            raise InvalidCertificate("bounce_rates: expected numbers >= 0")
        if coefficients[e == 0].any():
            raise InvalidCertificate("bounces: expected none at contacts without restitution")
        return cls(coefficients, rates, e)

    @classmethod
    def none(cls, problem: ImpactProblem) -> Bounces:
        """Return no terms."""
        empty = np.empty((problem.num_contacts, 0), dtype=object)
        return cls(empty, empty, exactly(problem.restitution))

    @property
    def numbers(self) -> dict[str, Any]:
        """Return the terms as fields of a certificate, none if all are zero."""
        if not self.coefficients.any():
            return {"bounces": (), "bounce_rates": ()}
        return {
            "bounces": tuple(self.coefficients.ravel()),
            "bounce_rates": tuple(self.rates.ravel()),
        }

    @property
    def slopes(self) -> Rational:
        """Return the sums (m,) of h: at the end the terms are these times normal velocities."""
        zero = np.full(len(self.coefficients), Fraction(0), dtype=object)
        return zero + self.coefficients.sum(axis=1)

    def at_start(self, problem: ImpactProblem) -> Fraction:
        """Return the sum of h W_i before the impact."""
        normals = exactly(problem.J_n) @ exactly(problem.v_pre)
        values = (n if n >= 0 else -e * n for n, e in zip(normals, self.restitution, strict=True))
        return sum((h * x for h, x in zip(self.slopes, values, strict=True)), Fraction(0))

    def rises(
        self, i: int, low: Fraction, high: Fraction, *, own: bool
    ) -> tuple[Fraction, Fraction]:
        """Return by how much the terms of contact i rise, where n_i >= 0 and where n_i <= 0.

        Args:
            i: The contact.
            low: Least rate of n_i, per unit of normal impulse at the contact that acts.
            high: The largest.
            own: Whether that contact is i.
        """
        above, below = Fraction(0), Fraction(0)
        for h, rho in zip(self.coefficients[i], self.rates[i], strict=True):
            if h:
                taken = rho if own else Fraction(0)
                first, second = rise(h, low - taken, high - taken, self.restitution[i])
                above, below = above + first, below + second
        return above, below


def rise(h: Any, low: Any, high: Any, e: Any) -> tuple[Any, Any]:
    """Return the largest rates of h W where n >= 0 and where n <= 0, for q from low to high."""
    zero = 0 * h
    return max(h * low, h * high, zero), max(-e * h * low, -e * h * high, zero)


def spread(mu: Fraction, tangents: Rational) -> Fraction:
    """Return the largest rate that friction adds, from the rates of tangential impulses."""
    return mu * root_above(sum((x * x for x in tangents), Fraction(0)))


def own_rates(problem: ImpactProblem) -> FloatArray:
    """Return numbers rho (m, b) that may serve: rates at which n_i grows while i acts alone.

    Without friction, while it sticks or slips across the normal; and with friction that raises or
    lowers it the most. Where two are the same, or one is not positive, the first takes its place.
    """
    m, width = problem.num_contacts, 1 + problem.num_tangents
    blocks = (problem.J @ problem.impulse_to_velocity).reshape(m, width, m, width)
    normal = np.array([blocks[i, 0, i, 0] for i in range(m)])
    tilt = np.array([np.linalg.norm(blocks[i, 0, i, 1:]) for i in range(m)]) * problem.mu
    rates = normal[:, None] + tilt[:, None] * np.array([0.0, 1.0, -1.0])
    rates = np.where(rates > LEAST_RATE * normal[:, None], rates, normal[:, None])
    return rates if (rates != normal[:, None]).any() else normal[:, None]
