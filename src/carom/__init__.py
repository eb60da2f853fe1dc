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
    from carom import compliant, lcp, plots, scenes, systems
    from carom.compliant.law import Compliant
    from carom.errors import (
        CaromError,
        ImpactNotResolved,
        InvalidProblem,
        MissingExtra,
        NotResolvedExactly,
        UnknownScene,
    )
    from carom.guarantees.report import Guarantees, check
    from carom.impact.anitescu_potra import AnitescuPotra
    from carom.impact.exact import RouthExact
    from carom.impact.files import load_problem, save_problem
    from carom.impact.law import ImpactLaw
    from carom.impact.post_impact import post_impact_set
    from carom.impact.problem import ImpactProblem
    from carom.impact.routh import Routh
    from carom.impact.routh_single import RouthSingle
    from carom.impact.sequential import Sequential
    from carom.impact.set_files import load_set, save_set
    from carom.motion.bundle import Bundle, simulate_many
    from carom.motion.files import load_trajectory, save_trajectory
    from carom.motion.simulation import simulate
    from carom.motion.trajectory import Trajectory
    from carom.outcomes.outcome_set import OutcomeSet
    from carom.outcomes.path import ImpactPath
    from carom.outcomes.polyhedral import PolyhedralSet
    from carom.outcomes.sampled import SampledSet
    from carom.systems.system import System

__version__ = "0.1.0.dev0"

_HOMES = {
    "AnitescuPotra": "carom.impact.anitescu_potra",
    "Bundle": "carom.motion.bundle",
    "CaromError": "carom.errors",
    "Compliant": "carom.compliant.law",
    "Guarantees": "carom.guarantees.report",
    "ImpactLaw": "carom.impact.law",
    "ImpactNotResolved": "carom.errors",
    "ImpactPath": "carom.outcomes.path",
    "ImpactProblem": "carom.impact.problem",
    "InvalidProblem": "carom.errors",
    "MissingExtra": "carom.errors",
    "NotResolvedExactly": "carom.errors",
    "OutcomeSet": "carom.outcomes.outcome_set",
    "PolyhedralSet": "carom.outcomes.polyhedral",
    "Routh": "carom.impact.routh",
    "RouthExact": "carom.impact.exact",
    "RouthSingle": "carom.impact.routh_single",
    "SampledSet": "carom.outcomes.sampled",
    "Sequential": "carom.impact.sequential",
    "System": "carom.systems.system",
    "Trajectory": "carom.motion.trajectory",
    "UnknownScene": "carom.errors",
    "check": "carom.guarantees.report",
    "compliant": "carom.compliant",
    "lcp": "carom.lcp",
    "load_problem": "carom.impact.files",
    "load_set": "carom.impact.set_files",
    "load_trajectory": "carom.motion.files",
    "plots": "carom.plots",
    "post_impact_set": "carom.impact.post_impact",
    "save_problem": "carom.impact.files",
    "save_set": "carom.impact.set_files",
    "save_trajectory": "carom.motion.files",
    "scenes": "carom.scenes",
    "simulate": "carom.motion.simulation",
    "simulate_many": "carom.motion.bundle",
    "systems": "carom.systems",
}

__all__ = [
    "AnitescuPotra",
    "Bundle",
    "CaromError",
    "Compliant",
    "Guarantees",
    "ImpactLaw",
    "ImpactNotResolved",
    "ImpactPath",
    "ImpactProblem",
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
    "compliant",
    "lcp",
    "load_problem",
    "load_set",
    "load_trajectory",
    "plots",
    "post_impact_set",
    "save_problem",
    "save_set",
    "save_trajectory",
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
