"""The paper's figures and tables, one file for each kind, in the order of the paper."""

from carom.reproduce.exhibit import Exhibit
from carom.reproduce.exhibits import (
    ball,
    direction,
    impacts,
    parameters,
    performance,
    routh_path,
    scenes,
    sweeps,
    zeno,
)

__all__ = ["EXHIBITS"]

_FOUND = {
    exhibit.name: exhibit
    for module in (
        ball,
        direction,
        impacts,
        parameters,
        performance,
        routh_path,
        scenes,
        sweeps,
        zeno,
    )
    for exhibit in module.EXHIBITS
}
_ORDER = (
    "rocking-block-outcomes",
    "set-valued-direction",
    "routh-path",
    "compass-gait-outcomes",
    "box-wall-outcomes",
    "ball-phase",
    "zeno-cycle",
    "zeno-trajectory",
    "rocking-block-evolution",
    "compass-gait-evolution",
    "box-wall-evolution",
    "performance",
    "stiffness-sweep",
    "angle-sweep",
    "ramone-outcomes",
    "ramone-evolution",
    "disk-stack-outcomes",
    "disk-stack-evolution",
    "parameters",
)
EXHIBITS: dict[str, Exhibit] = {name: _FOUND[name] for name in _ORDER}
"""By name."""
