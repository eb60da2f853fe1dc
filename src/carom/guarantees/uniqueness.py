"""Tell whether the step of an impact has one outcome only, and show two where it has more.

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

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, combinations, product
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from carom.contact_space import ContactSpace
from carom.guarantees.step import MARGIN, Modes, Step
from carom.kernels.tolerances import RESIDUAL, SINGULAR
from carom.stepping.lcp import step_lcp
from carom.stepping.pieces import can_try_all_modes, mode_name, modes_and_impulses
from carom.typing import FloatArray

if TYPE_CHECKING:
    from carom.problem import ImpactProblem

MOST_MODES = 20_000
"""So many choices of modes are tried, which takes seconds: six contacts in the plane, two or three
in space."""

MOST_PAIRS = 40_000
"""So many pairs of modes are compared, which takes seconds: three contacts in the plane."""


@dataclass(frozen=True, eq=False)
class AmbiguousStep:
    """Show one step that has two outcomes.

    Attributes:
        v: (nv,) velocity before, of the same energy as the problem's.
        lambda_max: (m,) caps [N s].
        v_post: (2, nv) two velocities after.
        impulses: (2, m, 1 + d) the impulses that lead there [N s].
        modes: Names of all contacts' modes, for each of the two.
        residual: The larger relative residual of the two in the step LCP.

    Examples:
        The walker's leading foot may lift at once, or press and stick.

        >>> import carom
        >>> from carom.guarantees.uniqueness import step_uniqueness
        >>> found = step_uniqueness(carom.scenes.load("compass-gait").problem).ambiguity
        >>> sorted(modes[0] for modes in found.modes), found.residual < 1e-9
        (['compressing, sticking', 'free'], True)
        >>> found.v_post.shape, found.impulses.shape
        ((2, 4), (2, 2, 2))
    """

    v: FloatArray
    lambda_max: FloatArray
    v_post: FloatArray
    impulses: FloatArray
    modes: tuple[tuple[str, ...], tuple[str, ...]]
    residual: float


@dataclass(frozen=True, eq=False)
class Uniqueness:
    """Tell whether steps have one outcome [HalmPosa, assump:uniqueLCPoutcome].

    Attributes:
        is_unique: True if that is sure.
        ambiguity: A step with two outcomes, if one was found.
        reason: What the verdict rests on, or why there is none.

    Examples:
        >>> import carom
        >>> from carom.guarantees.uniqueness import step_uniqueness
        >>> answer = step_uniqueness(carom.scenes.load("rocking-block").problem)
        >>> answer.is_unique, answer.is_decided, answer.reason
        (True, True, 'no two choices of modes lead to different velocities')
    """

    is_unique: bool
    ambiguity: AmbiguousStep | None
    reason: str

    @property
    def is_decided(self) -> bool:
        """Tell whether it is known."""
        return self.is_unique or self.ambiguity is not None


def step_uniqueness(problem: ImpactProblem) -> Uniqueness:
    """Decide whether every step of a problem has one outcome, whatever the velocity and the caps.

    Args:
        problem: The impact; its velocity plays no part.

    Raises:
        InvalidProblem: There are too many solutions of a step to be listed.

    Examples:
        >>> import carom
        >>> from carom.guarantees.uniqueness import step_uniqueness
        >>> step_uniqueness(carom.scenes.load("rocking-block").problem).is_unique
        True
        >>> step_uniqueness(carom.scenes.load("compass-gait").problem).reason
        'two outcomes were found with impulses at A only'
    """
    doubtful: list[set[int]] = []
    tried = 0
    for chosen in _sets(problem.num_contacts):
        step = Step(_subset(problem.space, chosen))
        tried += prod(len(modes) for modes in step.fixing)
        if tried > MOST_MODES:
            reason = f"{len(chosen)} contacts have too many choices of modes to try them all"
            return Uniqueness(False, None, reason)
        signs = {modes: step.sign(modes) for modes in product(*step.fixing)}
        failing = [modes for modes, sign in signs.items() if sign <= 0]
        for modes in failing:
            found = _look_into(problem, chosen, step, modes, signs[modes])
            if found is not None and _holds(problem, found):
                return _ambiguous(problem, chosen, found)
        if failing:
            doubtful.append(set(chosen))
    if not doubtful:
        return Uniqueness(True, None, "all choices of modes have a positive determinant")
    return _compare_pairs(problem, doubtful)


def _compare_pairs(problem: ImpactProblem, doubtful: list[set[int]]) -> Uniqueness:
    """Decide by all pairs of modes, for sets of contacts that determinants do not clear."""
    tried = 0
    is_clear = True
    for chosen in _sets(problem.num_contacts):
        if not any(part <= set(chosen) for part in doubtful):
            continue
        step = Step(_subset(problem.space, chosen))
        tried += prod(len(pairs) for pairs in step.pairs)
        if tried > MOST_PAIRS:
            reason = f"{len(chosen)} contacts have too many pairs of modes to compare them all"
            return Uniqueness(False, None, reason)
        for choice in product(*step.pairs):
            first, second = zip(*choice, strict=True)
            found = _of_pair(problem, chosen, step, first, second)
            if found is not None and _holds(problem, found):
                return _ambiguous(problem, chosen, found)
            is_clear = is_clear and found is None
    if not is_clear:
        return Uniqueness(False, None, "two outcomes were found, but rounding may have made them")
    return Uniqueness(True, None, "no two choices of modes lead to different velocities")


def _holds(problem: ImpactProblem, found: AmbiguousStep) -> bool:
    """Tell whether two outcomes are solutions, and really two."""
    difference = problem.kinetic_energy(found.v_post[0] - found.v_post[1])
    apart = difference > MARGIN**2 * problem.kinetic_energy(found.v)
    return bool(apart and found.residual <= RESIDUAL)


def _ambiguous(problem: ImpactProblem, chosen: tuple[int, ...], found: AmbiguousStep) -> Uniqueness:
    others = "" if len(chosen) == problem.num_contacts else " only"
    names = ", ".join(problem.contacts[i] for i in chosen)
    return Uniqueness(False, found, f"two outcomes were found with impulses at {names}{others}")


def _sets(m: int) -> Iterator[tuple[int, ...]]:
    """Yield all sets of contacts but the empty one, small ones first."""
    return chain.from_iterable(combinations(range(m), size) for size in range(1, m + 1))


def _subset(space: ContactSpace, chosen: tuple[int, ...]) -> ContactSpace:
    """Return some of the contacts alone."""
    contacts = list(chosen)
    rows = np.arange(len(space.A)).reshape(-1, space.width)[contacts].ravel()
    A = np.ascontiguousarray(space.A[np.ix_(rows, rows)])
    units = space.velocity_unit[contacts], space.impulse_unit[contacts]
    return ContactSpace(A, space.mu[contacts], space.directions, *units)


def _look_into(
    problem: ImpactProblem, chosen: tuple[int, ...], step: Step, modes: Modes, sign: int
) -> AmbiguousStep | None:
    """Look for two outcomes where modes hold that have no positive determinant.

    Those with a negative one have further solutions beside them; if it is zero, the modes
    themselves may have several.
    """
    if sign == 0:
        return _of_pair(problem, chosen, step, modes, modes)
    x = step.point(modes, modes, apart=False, inside=True)
    if x is None or not can_try_all_modes(step.space, capped=True):
        return None
    x = x / np.abs(x).max()
    start = step.before @ x, step.caps @ x
    found, impulses = modes_and_impulses(step.space, *start)
    distance = np.abs((impulses - impulses[:1]) @ step.space.A).max(axis=1, initial=0.0)
    if distance.max(initial=0.0) <= MARGIN:
        return None
    two = [0, int(distance.argmax())]
    return _in_units(problem, chosen, start, impulses[two], found[two].tolist())


def _of_pair(
    problem: ImpactProblem, chosen: tuple[int, ...], step: Step, first: Modes, second: Modes
) -> AmbiguousStep | None:
    """Look for two outcomes in two given modes, away from their limits if possible."""
    x = step.point(first, second, apart=True, inside=False)
    if x is None:
        return None
    inner = step.point(first, second, apart=True, inside=True)
    x = x if inner is None else inner
    impulses = np.array([each @ x for each in step.impulses])
    return _in_units(problem, chosen, (step.before @ x, step.caps @ x), impulses, (first, second))


def _in_units(
    problem: ImpactProblem,
    chosen: tuple[int, ...],
    start: tuple[FloatArray, FloatArray],
    impulses: FloatArray,
    modes: Iterable[Iterable[int]],
) -> AmbiguousStep:
    """Write two dimensionless solutions of some contacts as ones of the problem.

    Args:
        problem: All contacts.
        chosen: The contacts that act.
        start: Their velocities before and their caps.
        impulses: (2, c) their impulses.
        modes: Their modes in either.
    """
    space, contacts = problem.space, list(chosen)
    shape = problem.num_contacts, space.width
    J = problem.J.reshape(*shape, -1)[contacts].reshape(-1, problem.num_velocities)
    root = np.linalg.cholesky(problem.M)
    v_c = start[0] * np.repeat(space.velocity_unit[contacts], space.width)
    # Of all v with these contact velocities the one of least energy.
    least = np.linalg.lstsq(np.linalg.solve(root, J.T).T, v_c, rcond=SINGULAR)[0]
    scale = (problem.energy_norm or 1.0) / float(np.linalg.norm(least))
    v = np.linalg.solve(root.T, least) * scale
    lambda_max = np.zeros(shape[0])
    lambda_max[contacts] = scale * start[1] * space.impulse_unit[contacts]
    applied = np.zeros((2, *shape))
    applied[:, contacts] = scale * impulses.reshape(2, -1, space.width)
    applied *= space.impulse_unit[:, None]
    v_post = v + applied.reshape(2, -1) @ problem.impulse_to_velocity.T
    A = problem.J @ problem.impulse_to_velocity
    lcp = step_lcp(A, problem.mu, space.directions, problem.contact_velocity(v), lambda_max)
    assert lcp.contacts is not None
    residual = max(lcp.residual(lcp.contacts.variables(impulse)) for impulse in applied)
    names = np.full((2, shape[0]), "no impulse", dtype=object)
    for row, own in zip(names, modes, strict=True):
        for i, mode in zip(contacts, own, strict=True):
            name = mode_name(mode, space.directions)
            # Without friction one mode stands for all directions.
            row[i] = name if problem.mu[i] > 0.0 else name.split(",")[0]
    return AmbiguousStep(
        v, lambda_max, v_post, applied, (tuple(names[0]), tuple(names[1])), residual
    )
