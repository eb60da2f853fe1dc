"""What is measured of the outcomes at each point: numbers with labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from carom import checks
from carom.errors import InvalidOption
from carom.extremes.quantity import Quantity, parts, quantities
from carom.extremes.sets import energy_extreme
from carom.guarantees.ambiguity import ambiguity
from carom.outcomes.outcome_set import OutcomeSet
from carom.outcomes.polyhedral import PolyhedralSet
from carom.problem import ImpactProblem
from carom.proofs import Prover
from carom.sweeps.source import describe_function
from carom.typing import FloatArray

SIDES = ("least", "largest")
BOUNDS = ("reached", "proved")

Label = str | int


class Labelled(NamedTuple):
    """One measured value: an array with named dimensions and labels along them."""

    data: FloatArray
    dims: tuple[str, ...] = ()
    labels: tuple[tuple[Label, ...], ...] = ()
    unit: str = "1"


Measure = Callable[[OutcomeSet], Labelled]


@dataclass(frozen=True)
class WorstCase:
    """Measure how far outcomes go in some directions: what is reached, and what is proved.

    What is reached is the largest value in the set of outcomes. What is proved follows from the
    set where that is complete, else from a certificate by multipliers; neither looks at a clock,
    so that the bounds may be wider than those that `carom.worst_case` finds in its time.

    Args:
        directions: Names of quantities, as for `carom.worst_case`, or vectors (nv,) by name.
            Default: the least and the largest of every contact velocity.

    Examples:
        >>> import carom
        >>> from carom.sweeps import WorstCase
        >>> block = carom.scenes.load("rocking-block", speed=1.0).problem
        >>> outcomes = carom.RouthExact().resolve(block)
        >>> turn = WorstCase({"turn": [0.0, 0.0, 1.0], "lift": "A normal"})
        >>> turn("worst_case", outcomes).data.round(9).tolist()
        [[0.21, 0.21], [0.21, 0.21]]
    """

    directions: Mapping[str, Any] | Sequence[str] | None = None

    def __call__(self, name: str, outcomes: OutcomeSet) -> Labelled:
        """Return (quantity, bound): values that are reached and proved."""
        problem = outcomes.problem
        asked = self._asked(problem)
        prover = Prover(problem)
        rows = [_bounds(outcomes, each, prover) for each in asked.values()]
        units = {each.unit for each in asked.values()}
        prefix = "" if name == "worst_case" else f"{name}_"
        return Labelled(
            np.array(rows).reshape(len(rows), 2),
            (f"{prefix}quantity", "bound"),
            (tuple(asked), BOUNDS),
            units.pop() if len(units) == 1 else "",
        )

    def _asked(self, problem: ImpactProblem) -> dict[str, Quantity]:
        if self.directions is None:
            return {each.name: each for each in quantities(problem, None)[0]}
        given = self.directions
        pairs = given.items() if isinstance(given, Mapping) else [(each, each) for each in given]
        asked = {}
        for label, direction in pairs:
            found = quantities(problem, direction)[0]
            if len(found) != 1:
                raise InvalidOption(f"directions: expected one direction for {label!r}")
            asked[label] = found[0]
        for each in asked.values():
            if each.impulse_weights.any() or each.energy:
                raise InvalidOption(
                    f"directions: expected velocities, got {each.name!r}; measure the energy by "
                    f"'energy_kept', impulses by a function of your own"
                )
        return asked

    def describe(self) -> Any:
        """Return the directions as plain data."""
        given = self.directions
        if isinstance(given, Mapping):
            return {
                k: v if isinstance(v, str) else np.asarray(v).tolist() for k, v in given.items()
            }
        return None if given is None else list(given)


def _bounds(outcomes: OutcomeSet, quantity: Quantity, prover: Prover) -> tuple[float, float]:
    """Return what is reached and what is proved of one velocity."""
    found = float(outcomes.support(quantity.direction))
    if outcomes.is_complete:
        return found, found
    proved = float(prover.prove(quantity.direction))
    if isinstance(outcomes, PolyhedralSet):
        # An outer set contains all outcomes: it proves, and its samples reach.
        inner = outcomes.inner
        reached = np.nan if inner is None else float(inner.support(quantity.direction))
        return reached, min(found, proved)
    return found, proved


def _contact_bounds(outcomes: OutcomeSet) -> Labelled:
    problem = outcomes.problem
    labels = (problem.contacts, tuple(parts(problem)), SIDES)
    data = np.asarray(outcomes.contact_bounds())
    return Labelled(data, ("contact", "component", "side"), labels, "m/s")


def _spread(outcomes: OutcomeSet) -> Labelled:
    data, dims, labels, unit = _contact_bounds(outcomes)
    return Labelled(data[..., 1] - data[..., 0], dims[:2], labels[:2], unit)


def _kinds(outcomes: OutcomeSet) -> Labelled:
    return Labelled(np.ones(len(outcomes.kinds), dtype=bool), ("kind",), (outcomes.kinds,))


def _energy_kept(outcomes: OutcomeSet) -> Labelled:
    """Return the least and the largest share of the kinetic energy that is kept."""
    problem = outcomes.problem
    before = float(problem.kinetic_energy(problem.v_pre)) or 1.0
    if isinstance(outcomes, PolyhedralSet) and outcomes.is_complete:
        ends = np.array([energy_extreme(outcomes, sign) for sign in (-1, 1)])
        energies = problem.kinetic_energy(ends)
    else:
        points = outcomes.inner if isinstance(outcomes, PolyhedralSet) else outcomes
        energies = np.full(2, np.nan) if points is None else problem.kinetic_energy(points.v_post)
    return Labelled(np.array([energies.min(), energies.max()]) / before, ("side",), (SIDES,))


def _complete(outcomes: OutcomeSet) -> Labelled:
    return Labelled(np.array(outcomes.is_complete))


def _ambiguity(outcomes: OutcomeSet) -> Labelled:
    return Labelled(np.array(ambiguity(outcomes).relative_distance))


MEASURES: dict[str, tuple[Measure, str]] = {
    "contact_bounds": (_contact_bounds, "least and largest contact velocity after the impact"),
    "spread": (_spread, "largest minus least contact velocity after the impact"),
    "kinds": (_kinds, "whether a kind of outcome is possible"),
    "energy_kept": (_energy_kept, "share of the kinetic energy that is kept"),
    "complete": (_complete, "whether no outcome can be missing"),
    "ambiguity": (_ambiguity, "largest distance of two outcomes, as a share of |v_pre|"),
}
"""Measures by name, and what they are in words; `worst_case` stands for `WorstCase()`."""

WORST_CASE = "worst_case"
NAMES = (*MEASURES, WORST_CASE)

Chosen = dict[str, Any]
"""Measures of a sweep: None for one of `MEASURES`, else a `WorstCase` or a function."""


def check_measures(measures: Any) -> Chosen:
    """Return the measures that a user names."""
    given: list[Any] = [measures] if isinstance(measures, str) or callable(measures) else measures
    pairs = given.items() if isinstance(given, Mapping) else [(_name(each), each) for each in given]
    chosen: Chosen = {}
    for name, measure in pairs:
        if not isinstance(name, str) or not name.isidentifier() or name in chosen:
            raise InvalidOption(f"measures: expected names that differ, got {name!r}")
        if isinstance(measure, str):
            checks.choice("measures", measure, NAMES)
            if measure != name:
                raise InvalidOption(f"measures: {measure} cannot be named {name}")
            chosen[name] = WorstCase() if measure == WORST_CASE else None
        elif callable(measure):
            chosen[name] = measure
        else:
            raise InvalidOption(f"measures: expected a name or a function, got {measure!r}")
    if not chosen:
        raise InvalidOption(f"measures: expected one or more of {', '.join(NAMES)}, or a function")
    return chosen


def _name(measure: Any) -> Any:
    if isinstance(measure, WorstCase):
        return WORST_CASE
    return measure if isinstance(measure, str) else getattr(measure, "__name__", None)


def describe(chosen: Chosen) -> dict[str, Any]:
    """Return measures as plain data."""
    return {
        name: {"worst_case": measure.describe()}
        if isinstance(measure, WorstCase)
        else measure and describe_function(measure)
        for name, measure in chosen.items()
    }


def measure(chosen: Chosen, outcomes: OutcomeSet) -> dict[str, Labelled]:
    """Return all measures of a set of outcomes."""
    found = {}
    for name, each in chosen.items():
        if each is None:
            found[name] = MEASURES[name][0](outcomes)
        elif isinstance(each, WorstCase):
            found[name] = each(name, outcomes)
        else:
            found[name] = _own(name, each(outcomes))
    return found


def _own(name: str, value: Any) -> Labelled:
    """Return what a user's function measured, with labels."""
    labels: tuple[tuple[Label, ...], ...]
    dims: tuple[str, ...]
    if isinstance(value, Mapping):
        labels, dims = (tuple(map(str, value)),), (f"{name}_part",)
        value = list(value.values())
    else:
        shape = np.shape(value)
        labels = tuple(tuple(range(n)) for n in shape)
        dims = tuple(f"{name}_{k}" for k in range(len(shape)))
    data = np.asarray(value)
    if data.dtype.kind != "b":
        data = checks.numbers(f"measure {name}", value)
    return Labelled(data, dims, labels, "")


def words(name: str) -> str:
    """Return what a measure is, in words."""
    if name in MEASURES:
        return MEASURES[name][1]
    return "largest value, reached and proved" if name == WORST_CASE else name
