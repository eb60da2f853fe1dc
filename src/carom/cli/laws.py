"""Impact laws by the names that the command line gives them."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from carom.laws.law import ImpactLaw

BUDGET = 10.0
"""Of the exact law, for one impact [s]."""

# Each changes no result, or cannot be written down.
NO_SETTINGS = ("num_threads", "points", "progress")


def make_law(name: str, **settings: Any) -> ImpactLaw:
    """Return a law with some settings, and defaults for the others."""
    from carom import AnitescuPotra, Routh, RouthExact, RouthSingle, Sequential

    if name == "routh":
        return Routh(**settings)
    if name == "exact":
        return RouthExact(**({"max_seconds": BUDGET} | settings))
    if name == "anitescu-potra":
        return AnitescuPotra(**settings)
    if name == "sequential":
        return Sequential(**settings)
    return RouthSingle(**settings)


def law_settings(law: ImpactLaw) -> dict[str, Any]:
    """Return the settings of a law that bear on its results; None was left to the law."""
    assert dataclasses.is_dataclass(law)
    return {
        field.name: getattr(law, field.name)
        for field in dataclasses.fields(law)
        if field.name not in NO_SETTINGS
    }
