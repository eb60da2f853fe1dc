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
    from carom import plots as plots
    from carom import scenes as scenes
    from carom import sweeps as sweeps
    from carom import systems as systems
    from carom.errors import (
        CaromError as CaromError,
    )
    from carom.errors import (
        ImpactNotResolved as ImpactNotResolved,
    )
    from carom.errors import (
        InvalidCertificate as InvalidCertificate,
    )
    from carom.errors import (
        InvalidFile as InvalidFile,
    )
    from carom.errors import (
        InvalidOption as InvalidOption,
    )
    from carom.errors import (
        InvalidProblem as InvalidProblem,
    )
    from carom.errors import (
        MissingExtra as MissingExtra,
    )
    from carom.errors import (
        NotResolvedExactly as NotResolvedExactly,
    )
    from carom.errors import (
        UnknownScene as UnknownScene,
    )
    from carom.explorer.play import play as play
    from carom.explorer.run import explore as explore
    from carom.extremes.extreme import Extreme as Extreme
    from carom.extremes.extreme import Extremes as Extremes
    from carom.extremes.worst_case import worst_case as worst_case
    from carom.guarantees.report import Guarantees as Guarantees
    from carom.guarantees.report import check as check
    from carom.io import load as load
    from carom.laws.anitescu_potra import AnitescuPotra as AnitescuPotra
    from carom.laws.law import ImpactLaw as ImpactLaw
    from carom.laws.post_impact import post_impact_set as post_impact_set
    from carom.laws.routh import Routh as Routh
    from carom.laws.routh_exact import RouthExact as RouthExact
    from carom.laws.routh_single import RouthSingle as RouthSingle
    from carom.laws.sequential import Sequential as Sequential
    from carom.motion.bundle import Bundle as Bundle
    from carom.motion.bundle import simulate_many as simulate_many
    from carom.motion.simulation import simulate as simulate
    from carom.motion.trajectory import Trajectory as Trajectory
    from carom.outcomes.finite import FiniteSet as FiniteSet
    from carom.outcomes.outcome_set import OutcomeSet as OutcomeSet
    from carom.outcomes.path import ImpactPath as ImpactPath
    from carom.outcomes.polyhedral import PolyhedralSet as PolyhedralSet
    from carom.outcomes.sampled import SampledSet as SampledSet
    from carom.paper.compliant.law import Compliant as Compliant
    from carom.problem import ImpactProblem as ImpactProblem
    from carom.sweeps.run import sweep as sweep
    from carom.systems.system import System as System

__version__ = "0.1.0.dev0"

_NAMES = {
    "carom.errors": (
        "CaromError",
        "ImpactNotResolved",
        "InvalidCertificate",
        "InvalidFile",
        "InvalidOption",
        "InvalidProblem",
        "MissingExtra",
        "NotResolvedExactly",
        "UnknownScene",
    ),
    "carom.explorer.play": ("play",),
    "carom.explorer.run": ("explore",),
    "carom.extremes.extreme": ("Extreme", "Extremes"),
    "carom.extremes.worst_case": ("worst_case",),
    "carom.guarantees.report": ("Guarantees", "check"),
    "carom.io": ("load",),
    "carom.laws.anitescu_potra": ("AnitescuPotra",),
    "carom.laws.law": ("ImpactLaw",),
    "carom.laws.post_impact": ("post_impact_set",),
    "carom.laws.routh": ("Routh",),
    "carom.laws.routh_exact": ("RouthExact",),
    "carom.laws.routh_single": ("RouthSingle",),
    "carom.laws.sequential": ("Sequential",),
    "carom.motion.bundle": ("Bundle", "simulate_many"),
    "carom.motion.simulation": ("simulate",),
    "carom.motion.trajectory": ("Trajectory",),
    "carom.outcomes.finite": ("FiniteSet",),
    "carom.outcomes.outcome_set": ("OutcomeSet",),
    "carom.outcomes.path": ("ImpactPath",),
    "carom.outcomes.polyhedral": ("PolyhedralSet",),
    "carom.outcomes.sampled": ("SampledSet",),
    "carom.paper.compliant.law": ("Compliant",),
    "carom.problem": ("ImpactProblem",),
    "carom.sweeps.run": ("sweep",),
    "carom.systems.system": ("System",),
}
"""Public names by the module where they live. They are loaded on first use, so that importing carom
is quick; a line here and one above, for type checkers, make a name public."""

_HOMES = {name: module for module, names in _NAMES.items() for name in names}
_HOMES |= {room: f"carom.{room}" for room in ("plots", "scenes", "sweeps", "systems")}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> object:
    """Load a public name from the module where it lives."""
    if name not in _HOMES:
        raise AttributeError(f"module 'carom' has no attribute {name!r}")
    module = import_module(_HOMES[name])
    value: object = module if module.__name__ == f"carom.{name}" else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
