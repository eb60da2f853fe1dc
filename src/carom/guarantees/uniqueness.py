"""Decide whether the step of an impact has one outcome only, and show two where it has more.

[HalmPosa, assump:uniqueLCPoutcome]: for every velocity v and all caps lambda_max >= 0, every
solution of the step LCP leads to the same velocity v'. Two things decide it.

Determinants: modes say that E v_c' = 0 and leave impulses B xi open (docs/pieces.md). If all
K = E A B have a positive determinant, the step is unique, since its map has degree one; if the
contacts are independent, any other determinant makes it ambiguous. Where rows of J depend, A stands
for the limit of A + eps: then K must have the rank of A B and of E A, so that impulses which it
leaves open move nothing and steps stay Lipschitz in the limit, and its determinant must go to zero
from above.

Linear programs, where determinants fail: two solutions with the same v and lambda_max are a point
of a cone, one for each pair of modes, in which a point with two different v' is sought. Contact
velocities are J v' there: ones that the system can have, and modes need not fix the impulse.

A contact with cap 0 takes no part. So sets of contacts are gone through, small ones first: two
outcomes of some contacts alone are two of all.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, product
from math import inf, prod

import numpy as np

from carom.contact_space import ContactSpace
from carom.guarantees.step import MARGIN, Modes, Step
from carom.kernels.pieces import num_frictions
from carom.kernels.tolerances import RESIDUAL, SINGULAR
from carom.outcomes.kinds import describe_mode
from carom.problem import ImpactProblem
from carom.stepping.lcp import step_lcp
from carom.stepping.pieces import can_try_all_modes, mode_name, modes_and_impulses
from carom.typing import FloatArray

MOST_MODES = 20_000
"""Choices of modes that are tried at most: six contacts in the plane, two or three in space."""
MOST_PAIRS = 40_000
"""Maximum number of pairs of modes that are compared: three contacts in the plane."""


@dataclass(frozen=True, eq=False)
class AmbiguousStep:
    """Hold one step that has two outcomes.

    Attributes:
        v: (nv,) velocity before, of the same energy as the problem's.
        lambda_max: (m,) caps [N s].
        v_post: (2, nv) two velocities after.
        impulses: (2, m, 1 + d) impulses that lead there [N s].
        modes: Modes of all contacts by name, for each of the two; the same twice where one choice
            of modes leaves the velocity open.
        residual: Larger relative residual of the two in the step LCP.
    """

    v: FloatArray
    lambda_max: FloatArray
    v_post: FloatArray
    impulses: FloatArray
    modes: tuple[tuple[str, ...], tuple[str, ...]]
    residual: float


@dataclass(frozen=True, eq=False)
class Uniqueness:
    """Hold whether steps have one outcome [HalmPosa, assump:uniqueLCPoutcome].

    Attributes:
        is_unique: True if that was shown.
        ambiguity: Step with two outcomes, if one was found.
        reason: What the verdict rests on, or why there is none.
    """

    is_unique: bool
    ambiguity: AmbiguousStep | None
    reason: str

    @property
    def is_decided(self) -> bool:
        """Return whether it is known."""
        return self.is_unique or self.ambiguity is not None


def step_uniqueness(problem: ImpactProblem, max_seconds: float = inf) -> Uniqueness:
    """Decide whether every step has one outcome, whatever the velocity and the caps.

    Raises InvalidProblem where a step has too many solutions to be listed.
    """
    # Compiled once per machine, which is no part of the budget.
    single = _subset(problem.space, [0])
    modes_and_impulses(single, np.zeros(single.width), np.zeros(1))
    end = time.monotonic() + max_seconds
    doubtful: list[set[int]] = []
    planned = 0
    for part in _parts(problem):
        planned += prod(len(modes) for modes in part.step.fixing)
        for modes in product(*part.step.fixing):
            why_not = _too_much(problem, planned, MOST_MODES, "choices of modes", end)
            if why_not is not None:
                return Uniqueness(False, None, why_not)
            if (sign := part.step.sign(modes)) <= 0:
                found = part.look_into(modes, sign)
                if found is not None and _holds(problem, found):
                    return part.verdict(found)
                if set(part.chosen) not in doubtful:
                    doubtful.append(set(part.chosen))
    if not doubtful:
        return Uniqueness(True, None, "all choices of modes have a positive determinant")
    return _compare_pairs(problem, doubtful, end)


def _compare_pairs(
    problem: ImpactProblem, doubtful: list[set[int]], end: float = inf
) -> Uniqueness:
    """Decide by all pairs of modes, for sets of contacts that determinants do not clear."""
    planned = 0
    is_clear = True
    for part in _parts(problem):
        if not any(each <= set(part.chosen) for each in doubtful):
            continue
        planned += part.step.num_pairs
        # In front of the loop, too: a list of all pairs may be too long to be made.
        for choice in part.step.pairs() if planned <= MOST_PAIRS else [()]:
            why_not = _too_much(problem, planned, MOST_PAIRS, "pairs of modes", end)
            if why_not is not None:
                return Uniqueness(False, None, why_not)
            found = part.of_pair(*zip(*choice, strict=True))
            if found is not None and _holds(problem, found):
                return part.verdict(found)
            is_clear = is_clear and found is None
    if not is_clear:
        return Uniqueness(False, None, "two outcomes were found, but rounding may have made them")
    return Uniqueness(True, None, "no two choices of modes lead to different velocities")


def _too_much(problem: ImpactProblem, planned: int, most: int, what: str, end: float) -> str | None:
    """Return why nothing more is tried, if so."""
    m = problem.num_contacts
    if planned > most:
        return f"{m} contacts have more than {most:,} {what} to try"
    return f"{m} contacts take longer than the budget" if time.monotonic() > end else None


def _holds(problem: ImpactProblem, found: AmbiguousStep) -> bool:
    """Return whether two outcomes are solutions, and really two."""
    difference = problem.kinetic_energy(found.v_post[0] - found.v_post[1])
    apart = difference > MARGIN**2 * problem.kinetic_energy(found.v)
    return bool(apart and found.residual <= RESIDUAL)


def _subset(space: ContactSpace, contacts: list[int]) -> ContactSpace:
    """Return some of the contacts alone."""
    rows = np.arange(len(space.A)).reshape(-1, space.width)[contacts].ravel()
    A = np.ascontiguousarray(space.A[np.ix_(rows, rows)])
    units = space.velocity_unit[contacts], space.impulse_unit[contacts]
    return ContactSpace(A, space.mu[contacts], space.directions, *units)


def _parts(problem: ImpactProblem) -> Iterator[_Part]:
    """Yield all sets of contacts but the empty one, small ones first."""
    for size in range(1, problem.num_contacts + 1):
        for chosen in combinations(range(problem.num_contacts), size):
            yield _Part(problem, list(chosen))


class _Part:
    """Some contacts of an impact that act, while the others do not."""

    def __init__(self, problem: ImpactProblem, chosen: list[int]) -> None:
        self.problem, self.chosen = problem, chosen
        self.step = Step(_subset(problem.space, chosen))

    def verdict(self, found: AmbiguousStep) -> Uniqueness:
        """Return the verdict on two outcomes that hold."""
        names = ", ".join(self.problem.contacts[i] for i in self.chosen)
        others = "" if len(self.chosen) == self.problem.num_contacts else " only"
        return Uniqueness(False, found, f"two outcomes were found with impulses at {names}{others}")

    def look_into(self, modes: Modes, sign: int) -> AmbiguousStep | None:
        """Look for two outcomes where modes hold that have no positive determinant."""
        if sign == 0:
            # These modes themselves may have several solutions; others have further ones beside.
            return self.of_pair(modes, modes)
        step = self.step
        x = step.point(modes, modes, apart=False, inside=True)
        if x is None or not can_try_all_modes(step.space, capped=True):
            return None
        x = x / np.abs(x).max()
        found, impulses = modes_and_impulses(step.space, step.before @ x, step.caps @ x)
        distance = np.abs((impulses - impulses[:1]) @ step.space.A).max(axis=1, initial=0.0)
        if distance.max(initial=0.0) <= MARGIN:
            return None
        two = [0, int(distance.argmax())]
        return self._in_units(x, impulses[two], found[two].tolist())

    def of_pair(self, first: Modes, second: Modes) -> AmbiguousStep | None:
        """Look for two outcomes in two given modes, away from their limits if possible."""
        x = self.step.point(first, second, apart=True, inside=False)
        if x is None:
            return None
        if (inner := self.step.point(first, second, apart=True, inside=True)) is not None:
            x = inner
        impulses = np.array([each @ x for each in self.step.impulses])
        return self._in_units(x, impulses, (first, second))

    def _in_units(
        self, x: FloatArray, impulses: FloatArray, modes: Iterable[Iterable[int]]
    ) -> AmbiguousStep:
        """Write two dimensionless solutions (2, c), from x and in `modes`, as the problem's."""
        problem, space, contacts = self.problem, self.problem.space, self.chosen
        shape = problem.num_contacts, space.width
        J = problem.J.reshape(*shape, -1)[contacts].reshape(-1, problem.num_velocities)
        root = np.linalg.cholesky(problem.M)
        v_c = (self.step.before @ x) * np.repeat(space.velocity_unit[contacts], space.width)
        # Of all v with these contact velocities the one of least energy.
        least = np.linalg.lstsq(np.linalg.solve(root, J.T).T, v_c, rcond=SINGULAR)[0]
        scale = (problem.energy_norm or 1.0) / float(np.linalg.norm(least))
        v = np.linalg.solve(root.T, least) * scale
        lambda_max = np.zeros(shape[0])
        lambda_max[contacts] = scale * (self.step.caps @ x) * space.impulse_unit[contacts]
        applied = np.zeros((2, *shape))
        applied[:, contacts] = scale * impulses.reshape(2, -1, space.width)
        applied *= space.impulse_unit[:, None]
        v_post = v + applied.reshape(2, -1) @ problem.impulse_to_velocity.T
        A = problem.J @ problem.impulse_to_velocity
        lcp = step_lcp(A, problem.mu, space.directions, problem.contact_velocity(v), lambda_max)
        assert lcp.contacts is not None
        residual = max(lcp.residual(lcp.contacts.variables(impulse)) for impulse in applied)
        one, other = map(self._mode_names, v_post, modes)
        return AmbiguousStep(v, lambda_max, v_post, applied, (one, other), residual)

    def _mode_names(self, v_post: FloatArray, modes: Iterable[int]) -> tuple[str, ...]:
        """Name what every contact does in a solution, those without a cap included."""
        problem = self.problem
        v_n = problem.contact_velocity(v_post)[:, 0] / problem.space.velocity_unit
        none, directions = np.zeros(1 + problem.num_tangents), problem.space.directions
        frictions = int(num_frictions(*reversed(directions.shape)))
        names = [describe_mode([int(x > MARGIN)], none) for x in v_n]
        for i, mode in zip(self.chosen, modes, strict=True):
            names[i] = mode_name(mode, directions)
            if problem.mu[i] == 0.0 and mode > 0:
                # Without friction one mode stands for all directions.
                names[i] = "closed" if mode <= frictions else "compressing"
        return tuple(names)
