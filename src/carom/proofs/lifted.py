"""Check a bound on the energy that planar impacts without restitution keep, in rationals.

Let f_k be linear forms of the velocity v: first the contact velocities J v in given units, then
further ones, each a given combination of these. Let x be their positive and negative parts
(f_k^+, f_k^-) >= 0, let N be a symmetric matrix, and let

    V(v) = v' M v + x' N x.

At the end no contact approaches, so that x has no normal f_k^-. If N has no entry < 0 among the
other coordinates, then |v+|_M^2 <= V(v+). If also V does not rise, then |v+|_M^2 <= V(v-).

While contact i with n_i <= 0 acts with friction -s mu_i, forms change at rates r_k per unit of
normal impulse, v' M v at the rate 2 (n_i - s mu_i t_i), and x' N x almost everywhere at the rate
2 sum_k r_k sum_l g_kl x_l, where g_kl is N_(k+)l if f_k > 0, -N_(k-)l if f_k < 0, and any number if
f_k = 0, because then r_k, summed over all that acts, vanishes almost everywhere. For tangential
velocities that vanish we choose numbers h_kl, the same whichever contacts act; for all others one
of the two signs. So V does not rise if for every contact i, for either s, and for every sector of
the plane of (n_i, t_i) between lines on which forms of these two vanish that has n_i <= 0 and
s t_i >= 0, and for the ray n_i <= 0, t_i = 0 (i sticks, with friction between those of both s),

    2 (n_i - s mu_i t_i) + 2 sum_k r_k sum_l g_kl x_l <= 0

for all x >= 0 that can occur and all choices of g. The signs of the forms of contact i follow from
the sector. For others we take the largest of what the signs, and h at tangents, give, for each l
on its own. What then stands before each x_l must be <= 0, after multiples of
f_k^+ - f_k^- - (the combination of contact velocities that f_k is) = 0 were added for the further
forms, and of combinations of contact velocities that are zero because rows of J depend on each
other, with multipliers for each i, s and sector.

Numbers of a solver miss this by a little: let b >= 0 be the largest of what stands before any x_l.
Then V rises by at most b sum_l x_l per unit of normal impulse, sum_l x_l = sum_k |f_k|, and |f_k|
is at most the length |f_k|_{M^-1} times |v|_M, which does not rise. If a velocity z has
J_n,i z - mu_i |J_t,i z| >= 1 for all i, then the sum of normal impulses is at most z' M (v+ - v-),
and that at most 2 |z|_M |v-|_M. So

    |v+|_M^2 <= V(v-) + 2 b |z|_M (sum_k |f_k|_{M^-1}) v-' M v-.

Lengths are rounded up to fractions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from carom.errors import InvalidCertificate
from carom.problem import ImpactProblem
from carom.proofs.certificate import Certificate
from carom.proofs.rational import as_array, exactly, inverse_form, root_above

Numbers = NDArray[Any]
"""Arrays of floats or fractions."""


def sizes(problem: ImpactProblem, certificate: Certificate) -> dict[str, int]:
    """Return how many numbers each part of a proof must have; multipliers are counted later."""
    names = ("units", "forms", "relations", "quadratic", "sticking", "multipliers", "velocity")
    if certificate.kept == ():
        return {"kept": 0} | {f"kept_{name}": 0 for name in names}
    if problem.num_tangents != 1:
        raise InvalidCertificate("kept: proofs of energy are for planar contacts")
    if problem.bounces:
        raise InvalidCertificate("kept: proofs of energy are for impacts that do not bounce")
    width = 2 * problem.num_contacts
    forms, relations, multipliers = (
        len(value) if isinstance(value, tuple) else 0
        for value in (
            certificate.kept_forms,
            certificate.kept_relations,
            certificate.kept_multipliers,
        )
    )
    places = 2 * (width + forms // width)
    return {
        "kept": 1,
        "kept_units": width,
        "kept_forms": forms // width * width,
        "kept_relations": relations // width * width,
        "kept_quadratic": places * (places + 1) // 2,
        "kept_sticking": problem.num_contacts * places,
        "kept_multipliers": multipliers,
        "kept_velocity": problem.num_velocities,
    }


def proved_energy(problem: ImpactProblem, certificate: Certificate) -> Fraction | None:
    """Return the number that v+' M v+ is proved not to exceed, None if nothing is claimed.

    Raises:
        InvalidCertificate: The claim is not proved.
    """
    if certificate.kept == ():
        return None
    width = 2 * problem.num_contacts
    units = as_array(certificate.kept_units)
    if any(unit <= 0 for unit in units):
        raise InvalidCertificate("kept_units: expected numbers > 0")
    relations = as_array(certificate.kept_relations).reshape(-1, width)
    if (relations @ (exactly(problem.J) / units[:, None])).any():
        raise InvalidCertificate("kept_relations: expected combinations that are zero")
    further = as_array(certificate.kept_forms).reshape(-1, width)
    setting = exact_setting(problem, further, units, relations)
    count = sum(1 for _ in setting.situations()), len(setting.equations)
    if len(certificate.kept_multipliers) != count[0] * count[1]:
        raise InvalidCertificate(f"kept_multipliers: expected {count[0] * count[1]} fractions")
    quadratic = unpacked(as_array(certificate.kept_quadratic))
    sticking = as_array(certificate.kept_sticking).reshape(problem.num_contacts, -1)
    multipliers = as_array(certificate.kept_multipliers).reshape(count)
    if weakest_entry(setting, quadratic) < 0:
        raise InvalidCertificate("kept_quadratic: expected entries >= 0 where contacts separate")
    worst = worst_coefficient(setting, quadratic, sticking, multipliers)
    rise = largest_rise(problem, setting, worst, as_array(certificate.kept_velocity))
    if certificate.kept[0] < energy_function(problem, setting, quadratic) + rise:
        raise InvalidCertificate("kept: smaller than what the function of the energy proves")
    return certificate.kept[0]


def largest_rise(problem: ImpactProblem, setting: Setting, worst: Fraction, z: Numbers) -> Fraction:
    """Return by how much V can rise if the largest coefficient is not <= 0.

    Raises:
        InvalidCertificate: The velocity z, which bounds impulses, is none that does.
    """
    if worst <= 0:
        return Fraction(0)
    normal, tangent = exactly(problem.J_n) @ z, exactly(problem.J_t[:, 0]) @ z
    if (normal - setting.mu * np.abs(tangent) < 1).any():
        raise InvalidCertificate("kept_velocity: expected J_n z >= mu |J_t z| + 1")
    rows = setting.forms / setting.units
    squares = ((rows @ setting.delassus) * rows).sum(axis=1)
    mass, start = exactly(problem.M), exactly(problem.v_pre)
    length: Any = z @ mass @ z
    lengths = sum(map(root_above, squares), Fraction(0)) * root_above(length)
    return Fraction(2 * worst * lengths * (start @ mass @ start))


def exact_setting(
    problem: ImpactProblem, further: Numbers, units: Numbers, relations: Numbers
) -> Setting:
    """Return the setting of a problem in fractions."""
    width = 2 * problem.num_contacts
    forms = np.full((width + len(further), width), Fraction(0), dtype=object)
    forms[:width] += np.eye(width, dtype=int)
    forms[width:] = further
    delassus = inverse_form(exactly(problem.M), exactly(problem.J).T)
    return Setting(forms, units, delassus, exactly(problem.mu), relations)


def energy_function(problem: ImpactProblem, setting: Setting, quadratic: Numbers) -> Fraction:
    """Return V(v-)."""
    start = exactly(problem.v_pre)
    x = setting.lifted(exactly(problem.J) @ start)
    return Fraction(start @ exactly(problem.M) @ start + x @ quadratic @ x)


@dataclass(frozen=True, eq=False)
class Setting:
    """Forms of an impact and the situations in which a contact can act.

    Args:
        forms: (K, 2 m) combinations of contact velocities in their units; first the identity.
        units: (2 m,) units of the contact velocities.
        delassus: (2 m, 2 m) changes of contact velocities by impulses.
        mu: (m,) friction.
        relations: (q, 2 m) combinations of contact velocities in their units that are zero.
    """

    forms: Numbers
    units: Numbers
    delassus: Numbers
    mu: Numbers
    relations: Numbers

    @property
    def m(self) -> int:
        """Return the number of contacts."""
        return len(self.mu)

    @property
    def equations(self) -> Numbers:
        """Return the coefficients (further forms + q, K) of what is zero."""
        further = len(self.forms) - 2 * self.m
        left = np.concatenate([-self.forms[2 * self.m :], self.relations])
        right = np.zeros((len(left), further), dtype=left.dtype)
        right[:further] = np.eye(further, dtype=int)
        return np.hstack([left, right])

    def situations(self) -> Iterator[tuple[int, int, dict[int, int], bool]]:
        """Yield contact, sign of friction, signs of the contact's forms, and whether it sticks."""
        for i in range(self.m):
            sectors = self._sectors(i)
            for s in (1, -1):
                for signs in sectors:
                    if signs[2 * i] < 0 and signs[2 * i + 1] == s:
                        yield i, s, signs, False
                at_rest = self._signs(i, (-1, 0))
                yield i, s, {k: sign or 1 for k, sign in at_rest.items()} | {2 * i + 1: 0}, True

    def rates(self, i: int, s: int) -> Numbers:
        """Return the rates r (K,) of all forms."""
        change = self.delassus[:, 2 * i] - s * self.mu[i] * self.delassus[:, 2 * i + 1]
        return np.asarray(self.forms @ (change / self.units))

    def lifted(self, contact_velocities: Numbers) -> Numbers:
        """Return x (2 K,), positive parts at even places."""
        values = self.forms @ (contact_velocities / self.units)
        return np.stack(
            [np.maximum(values, 0 * values), np.maximum(-values, 0 * values)], 1
        ).ravel()

    def energy_rate(self, i: int, s: int, place: int) -> Any:
        """Return what stands before x_place in 2 (n_i - s mu_i t_i)."""
        k, sign = place // 2, 1 - 2 * (place % 2)
        if k == 2 * i:
            return 2 * sign * self.units[k]
        if k == 2 * i + 1:
            return -2 * s * self.mu[i] * sign * self.units[k]
        return 0 * self.units[0]

    def occurs(self, signs: dict[int, int], place: int) -> bool:
        """Return whether x_place can differ from zero where forms have the given signs."""
        k, sign = place // 2, 1 - 2 * (place % 2)
        return signs.get(k, sign) == sign

    def is_final(self, place: int) -> bool:
        """Return whether x_place can differ from zero at the end."""
        k, negative = divmod(place, 2)
        return not (negative and k < 2 * self.m and k % 2 == 0)

    def _own(self, i: int) -> list[int]:
        """Return the forms of contact i's velocity alone."""
        others = [j for j in range(2 * self.m) if j // 2 != i]
        return [k for k, row in enumerate(self.forms) if row.any() and not row[others].any()]

    def _signs(self, i: int, c: tuple[Any, Any]) -> dict[int, int]:
        values = {
            k: self.forms[k, 2 * i] * c[0] + self.forms[k, 2 * i + 1] * c[1] for k in self._own(i)
        }
        return {k: int(x > 0) - int(x < 0) for k, x in values.items()}

    def _sectors(self, i: int) -> list[dict[int, int]]:
        """Return the signs of contact i's forms in all sectors between their lines."""
        rays = []
        for k in self._own(i):
            a, b = self.forms[k, 2 * i : 2 * i + 2]
            if b and a:
                # The ray n = -1, t = a / b lies on the line a n + b t = 0.
                rays.append(a / b)
        rays = sorted({*rays, 0 * self.units[0]})
        middles = [rays[0] - 1, *((p + q) / 2 for p, q in pairwise(rays))]
        return [self._signs(i, (-1, t)) for t in (*middles, rays[-1] + 1)]


def worst_coefficient(
    setting: Setting,
    quadratic: Numbers,
    sticking: Numbers,
    multipliers: Numbers,
) -> Any:
    """Return the largest number before any x_l in any situation, which must be <= 0.

    Args:
        setting: Forms and situations.
        quadratic: N (2 K, 2 K).
        sticking: h (m, 2 K) of tangential velocities that vanish.
        multipliers: (situations, further forms + relations).
    """
    m, worst = setting.m, None
    for number, (i, s, signs, _) in enumerate(setting.situations()):
        rates = setting.rates(i, s)
        slopes = np.stack([rates[:, None] * quadratic[::2], -rates[:, None] * quadratic[1::2]])
        resting = rates[1 : 2 * m : 2, None] * sticking
        relation = multipliers[number] @ setting.equations
        for place in range(2 * len(setting.forms)):
            if not setting.occurs(signs, place):
                continue
            fixed = signs | {place // 2: 1 - 2 * (place % 2)}
            total = setting.energy_rate(i, s, place)
            total = total + (1 - 2 * (place % 2)) * relation[place // 2]
            for k in range(len(setting.forms)):
                total = total + 2 * _slope(k, fixed, slopes[:, k, place], resting[:, place], m)
            worst = total if worst is None or total > worst else worst
    return worst


def _slope(k: int, fixed: dict[int, int], sides: Numbers, resting: Numbers, m: int) -> Any:
    """Return the largest r_k g_kl that the known signs allow."""
    tangent = k < 2 * m and k % 2 == 1
    sign = fixed.get(k)
    if sign is None:
        return max(*sides, resting[k // 2]) if tangent else max(sides)
    if sign == 0:
        return resting[k // 2]
    return sides[0] if sign > 0 else sides[1]


def weakest_entry(setting: Setting, quadratic: Numbers) -> Any:
    """Return the least entry of N among coordinates of the end, which must be >= 0."""
    final = [place for place in range(len(quadratic)) if setting.is_final(place)]
    entries = [quadratic[a, b] for a in final for b in final if a // 2 != b // 2 or a == b]
    return min(entries)


def unpacked(values: Numbers) -> Numbers:
    """Return the symmetric matrix whose rows up to the diagonal are given."""
    size = round((np.sqrt(8 * len(values) + 1) - 1) / 2)
    out = np.zeros((size, size), dtype=values.dtype)
    rows, columns = np.tril_indices(size)
    out[rows, columns] = values
    out[columns, rows] = values
    return out
