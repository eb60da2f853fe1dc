"""Compute every way in which a simultaneous rigid-body impact can end.

Names are loaded when they are first used, so that `import carom` is quick.

Examples:
    A block lands flat on its corners A and B.

    >>> import carom
    >>> outcomes = carom.post_impact_set(carom.scenes.load("rocking-block").problem)
    >>> for kind in outcomes.kinds:
    ...     print(kind)
    A lifts, B sticks
    A sticks, B lifts
    A sticks, B sticks
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from carom import plots, scenes, systems
    from carom.errors import (
        CaromError,
        ImpactNotResolved,
        InvalidFile,
        InvalidOption,
        InvalidProblem,
        MissingExtra,
        NotResolvedExactly,
        UnknownScene,
    )
    from carom.guarantees.report import Guarantees, check
    from carom.io import load
    from carom.laws.anitescu_potra import AnitescuPotra
    from carom.laws.law import ImpactLaw
    from carom.laws.post_impact import post_impact_set
    from carom.laws.routh import Routh
    from carom.laws.routh_exact import RouthExact
    from carom.laws.routh_single import RouthSingle
    from carom.laws.sequential import Sequential
    from carom.motion.bundle import Bundle, simulate_many
    from carom.motion.simulation import simulate
    from carom.motion.trajectory import Trajectory
    from carom.outcomes.finite import FiniteSet
    from carom.outcomes.outcome_set import OutcomeSet
    from carom.outcomes.path import ImpactPath
    from carom.outcomes.polyhedral import PolyhedralSet
    from carom.outcomes.sampled import SampledSet
    from carom.paper.compliant.law import Compliant
    from carom.problem import ImpactProblem
    from carom.systems.system import System

__version__ = "0.1.0.dev0"

_HOMES = {
    "AnitescuPotra": "carom.laws.anitescu_potra",
    "Bundle": "carom.motion.bundle",
    "CaromError": "carom.errors",
    "Compliant": "carom.paper.compliant.law",
    "FiniteSet": "carom.outcomes.finite",
    "Guarantees": "carom.guarantees.report",
    "ImpactLaw": "carom.laws.law",
    "ImpactNotResolved": "carom.errors",
    "ImpactPath": "carom.outcomes.path",
    "ImpactProblem": "carom.problem",
    "InvalidFile": "carom.errors",
    "InvalidOption": "carom.errors",
    "InvalidProblem": "carom.errors",
    "MissingExtra": "carom.errors",
    "NotResolvedExactly": "carom.errors",
    "OutcomeSet": "carom.outcomes.outcome_set",
    "PolyhedralSet": "carom.outcomes.polyhedral",
    "Routh": "carom.laws.routh",
    "RouthExact": "carom.laws.routh_exact",
    "RouthSingle": "carom.laws.routh_single",
    "SampledSet": "carom.outcomes.sampled",
    "Sequential": "carom.laws.sequential",
    "System": "carom.systems.system",
    "Trajectory": "carom.motion.trajectory",
    "UnknownScene": "carom.errors",
    "check": "carom.guarantees.report",
    "load": "carom.io",
    "plots": "carom.plots",
    "post_impact_set": "carom.laws.post_impact",
    "scenes": "carom.scenes",
    "simulate": "carom.motion.simulation",
    "simulate_many": "carom.motion.bundle",
    "systems": "carom.systems",
}
"""Where public names live. They are loaded on first use, so that `import carom` is quick."""

__all__ = [
    "AnitescuPotra",
    "Bundle",
    "CaromError",
    "Compliant",
    "FiniteSet",
    "Guarantees",
    "ImpactLaw",
    "ImpactNotResolved",
    "ImpactPath",
    "ImpactProblem",
    "InvalidFile",
    "InvalidOption",
    "InvalidProblem",
    "MissingExtra",
    "NotResolvedExactly",
    "OutcomeSet",
    "PolyhedralSet",
    "Routh",
    "RouthExact",
    "RouthSingle",
    "SampledSet",
    "Sequential",
    "System",
    "Trajectory",
    "UnknownScene",
    "check",
    "load",
    "plots",
    "post_impact_set",
    "scenes",
    "simulate",
    "simulate_many",
    "systems",
]


def __getattr__(name: str) -> object:
    """Load a public name from the module where it lives."""
    if name not in _HOMES:
        raise AttributeError(f"module 'carom' has no attribute {name!r}")
    module = import_module(_HOMES[name])
    value: object = module if module.__name__.endswith(f".{name}") else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
