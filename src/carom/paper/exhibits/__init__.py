"""The paper's figures and tables, one file for each kind, in the order of the paper."""

from importlib.util import find_spec

from carom.errors import MissingExtra
from carom.paper.exhibit import Exhibit

if find_spec("matplotlib") is None or find_spec("ppl") is None:
    raise MissingExtra.of("the paper's figures", "matplotlib pplpy", "plots,exact")

from carom.paper.exhibits import impacts, motions, scenes, sweeps, tables, unit

__all__ = ["EXHIBITS"]

_BEFORE = (scenes.block, unit.direction, unit.routh_path, scenes.compass, scenes.box)
_MOTIONS = (motions.phase, motions.cycle, motions.trajectory)
_EXAMPLES = (impacts.block, impacts.compass, impacts.box, tables.performance)
_SWEEPS = (sweeps.stiffness, sweeps.angle)
_LARGER = (scenes.ramone, impacts.ramone, scenes.stack, impacts.stack, tables.parameters)

EXHIBITS: dict[str, Exhibit] = {
    each.name: each for each in (*_BEFORE, *_MOTIONS, *_EXAMPLES, *_SWEEPS, *_LARGER)
}
"""By name."""
