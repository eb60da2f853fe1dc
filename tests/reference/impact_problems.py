"""Random impact problems, made to be as degenerate as real ones.

Robots meet the ground in special ways: a foot that already rests, two feet that close the same
gap, more contacts than degrees of freedom, friction so large that nothing slides. Problems with
Gaussian data have none of this, so it is put in on purpose.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

import carom
from carom.contact_space import friction_directions
from carom.stepping.lcp import LCP, impact_lcp, step_lcp
from tests.reference.brute_force import contact_units, unit_residual

FloatArray = NDArray[np.float64]


def random_problem(
    rng: np.random.Generator,
    m: int,
    d: int,
    *,
    nv: int | None = None,
    mu: float | FloatArray | None = None,
    at_rest: bool = True,
    duplicates: bool = True,
    approaching: bool = True,
    num_directions: int | None = None,
) -> carom.ImpactProblem:
    """Return a problem, with rows of J, masses and speeds over some decades.

    Args:
        rng: The only source of chance.
        m: Number of contacts.
        d: Tangential dimensions, 1 or 2.
        nv: Number of velocities; by default anything from 2 to 3 m + 2, so J may have full rank
            or much less.
        mu: Friction; by default from 0 to 2, or over decades up to 1e5, or 0 at some contacts.
        at_rest: Whether some contacts may rest (J v = 0 up to rounding) before the impact.
        duplicates: Whether contacts may coincide (equal rows of J).
        approaching: Whether some contact is sure to approach.
        num_directions: Friction directions in space; by default 3, 4 or 8.
    """
    if nv is None:
        nv = int(rng.integers(2, 3 * m + 3))
    J = rng.normal(size=(m, 1 + d, nv))
    if duplicates and m > 1 and rng.random() < 0.25:
        original, copy = rng.choice(m, 2, replace=False)
        J[copy] = J[original]
    J *= 10.0 ** rng.uniform(-1, 1)
    root = rng.normal(size=(nv, nv)) + np.eye(nv)
    M = (root @ root.T + 0.1 * np.eye(nv)) * 10.0 ** rng.uniform(-2, 2)
    v = rng.normal(size=nv)
    if at_rest and rng.random() < 0.5:
        v = _with_contacts_at_rest(rng, J, v)
    v *= 10.0 ** rng.uniform(-2, 2)
    J_n = J[:, 0]
    # Not the least one: where only rounding approaches, the other sign is the real impact.
    if approaching and (J_n @ v).max() > -(J_n @ v).min():
        v = -v
    return carom.ImpactProblem(
        M=M,
        J_n=J_n,
        J_t=J[:, 1:],
        mu=_random_friction(rng, m) if mu is None else mu,
        v_pre=v,
        num_directions=int(rng.choice([3, 4, 8])) if num_directions is None else num_directions,
    )


def random_caps(
    rng: np.random.Generator, problem: carom.ImpactProblem, *, zeros: bool = True
) -> FloatArray:
    """Return caps (m,) on the normal impulses [N s] over several decades, some of them zero.

    A cap of 1 in the natural unit |v|_M / sqrt(A_ii) stops a contact that has all the energy.
    """
    unit = np.sqrt(2.0 * problem.kinetic_energy(problem.v_pre) / np.diag(normal_delassus(problem)))
    caps = unit * 10.0 ** rng.uniform(-3, 1, problem.num_contacts)
    if zeros and rng.random() < 0.3:
        caps[rng.random(problem.num_contacts) < 0.5] = 0.0
    return caps


def delassus(problem: carom.ImpactProblem) -> FloatArray:
    """Return A = J M^-1 J^T (c, c), contact by contact, normal first."""
    J = np.concatenate([problem.J_n[:, None, :], problem.J_t], axis=1)
    J = J.reshape(-1, J.shape[2])
    A = J @ np.linalg.solve(problem.M, J.T)
    return 0.5 * (A + A.T)


def normal_delassus(problem: carom.ImpactProblem) -> FloatArray:
    """Return J_n M^-1 J_n^T (m, m)."""
    return problem.J_n @ np.linalg.solve(problem.M, problem.J_n.T)


@dataclass(frozen=True)
class ImpactLCP:
    """An impact LCP with what is needed to judge its solutions.

    Attributes:
        lcp: The problem, in units.
        x_unit: (n,) natural units of x.
        y_unit: (n,) natural units of y.
        velocity_unit: (c,) natural units of the contact velocities.
    """

    lcp: LCP
    x_unit: FloatArray
    y_unit: FloatArray
    velocity_unit: FloatArray

    @classmethod
    def random(cls, rng: np.random.Generator, m: int, d: int, k: int, *, capped: bool) -> ImpactLCP:
        # Steps in the middle of an impact: one contact alone may also part, and yet jam.
        approaching = rng.random() < 0.8
        problem = random_problem(rng, m, d, approaching=approaching, num_directions=max(3, k))
        return cls.of(problem, random_caps(rng, problem) if capped else None)

    @classmethod
    def of(cls, problem: carom.ImpactProblem, caps: FloatArray | None) -> ImpactLCP:
        """Assemble the LCP of a problem; without caps, of the simultaneous impact."""
        d, A = problem.num_tangents, delassus(problem)
        directions = friction_directions(d, problem.num_directions)
        v_c = problem.contact_velocity(problem.v_pre)
        if caps is None:
            lcp = impact_lcp(A, problem.mu, directions, v_c)
        else:
            lcp = step_lcp(A, problem.mu, directions, v_c, caps)
        speed = float(np.sqrt(2.0 * problem.kinetic_energy(problem.v_pre)))
        units = contact_units(A, problem.mu, d, len(directions), speed, capped=caps is not None)
        root = np.sqrt(np.diag(A)[:: 1 + d])
        return cls(lcp, *units, np.repeat(speed * root, 1 + d))

    def unit_residual(self, x: FloatArray) -> float:
        """Return the residual of x in natural units."""
        return float(unit_residual(self.lcp.W, self.lcp.w, x, self.x_unit, self.y_unit))

    def velocities_after(self, xs: list[FloatArray]) -> FloatArray:
        """Return the contact velocities (len(xs), c) in natural units."""
        contacts = self.lcp.contacts
        rows = [contacts.v_c.ravel() + contacts.A @ contacts.impulses(x).ravel() for x in xs]
        return np.array(rows).reshape(-1, len(self.velocity_unit)) / self.velocity_unit


def random_generator() -> st.SearchStrategy[np.random.Generator]:
    """Return a strategy for seeded generators: Hypothesis chooses the seed and nothing else."""
    return st.integers(0, 2**32 - 1).map(np.random.default_rng)


@st.composite
def impact_problems(
    draw: st.DrawFn,
    max_contacts: int = 3,
    dims: tuple[int, ...] = (1, 2),
    **options: object,
) -> carom.ImpactProblem:
    """Draw the number of contacts, plane or space, and a seed; the rest is `random_problem`.

    Args:
        draw: Given by Hypothesis.
        max_contacts: Largest number of contacts.
        dims: Tangential dimensions to choose from.
        options: For `random_problem`.
    """
    m = draw(st.integers(1, max_contacts))
    d = draw(st.sampled_from(dims))
    return random_problem(draw(random_generator()), m, d, **options)


def _random_friction(rng: np.random.Generator, m: int) -> FloatArray:
    kind = rng.random()
    mu = rng.uniform(0.0, 2.0, m) if kind < 0.6 else 10.0 ** rng.uniform(-2, 5, m)
    if rng.random() < 0.15:
        mu[rng.random(m) < 0.5] = 0.0
    return mu


def _with_contacts_at_rest(rng: np.random.Generator, J: FloatArray, v: FloatArray) -> FloatArray:
    """Remove from v what moves some contacts, or their normal or tangential part only."""
    m, _, nv = J.shape
    part = [slice(None), slice(0, 1), slice(1, None)][rng.integers(3)]
    for count in range(m - 1, 0, -1):
        chosen = rng.choice(m, count, replace=False)
        rows = J[chosen][:, part].reshape(-1, nv)
        remaining = v - np.linalg.pinv(rows) @ (rows @ v)
        if np.abs(J[:, 0] @ remaining).max() > 1e-6 * np.abs(J[:, 0]).max():
            return remaining
    return v


def numbered_pair(number: int) -> carom.ImpactProblem:
    """Return problem `number` of a fixed series with two planar contacts and 2 to 6 velocities.

    Friction is from 0 to 2, at some contacts exactly 0; half of the problems have a contact, or
    its normal or tangential velocity, at rest.
    """
    return _numbered(np.random.default_rng([20240607, number]), 2, 2, 6)


def numbered_triple(number: int) -> carom.ImpactProblem:
    """Return problem `number` of such a series with three contacts and 3 to 5 velocities."""
    return _numbered(np.random.default_rng([20240607, 3, number]), 3, 3, 5)


def _numbered(rng: np.random.Generator, m: int, least: int, most: int) -> carom.ImpactProblem:
    mu = rng.uniform(0.0, 2.0, m)
    if rng.random() < 0.2:
        mu[rng.random(m) < 0.6] = 0.0
    nv = int(rng.integers(least, most + 1))
    return random_problem(rng, m, 1, nv=nv, mu=mu, duplicates=False)


def hard_triple(number: int) -> carom.ImpactProblem:
    """Return problem `number` of a series with three contacts that all approach, mu up to 1."""
    rng = np.random.default_rng([20261117, number])
    nv = int(rng.integers(3, 6))
    J = rng.normal(size=(3, 2, nv))
    root = rng.normal(size=(nv, nv))
    v = rng.normal(size=nv)
    # Normals are turned so that every contact approaches.
    J[:, 0] *= -np.sign(J[:, 0] @ v)[:, None]
    M = root @ root.T + 0.1 * np.eye(nv)
    return carom.ImpactProblem(M, J[:, 0], J[:, 1:], rng.uniform(0.0, 1.0, 3), v)
