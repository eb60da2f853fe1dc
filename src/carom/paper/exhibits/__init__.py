"""The paper's figures and tables, one file for each kind, in the order of the paper."""

from importlib.util import find_spec

from carom.errors import MissingExtra
from carom.paper.exhibit import Exhibit

if find_spec("matplotlib") is None or find_spec("ppl") is None:
    raise MissingExtra.of("the paper's figures", "matplotlib pplpy", "plots,exact")

from carom.paper.exhibits import ball, impacts, scenes, sweeps, tables, unit, zeno

__all__ = ["EXHIBITS"]

EXHIBITS: dict[str, Exhibit] = {
    exhibit.name: exhibit
    for exhibit in (
        scenes.block,
        unit.direction,
        unit.routh_path,
        scenes.compass,
        scenes.box,
        ball.phase,
        zeno.cycle,
        zeno.trajectory,
        impacts.block,
        impacts.compass,
        impacts.box,
        tables.performance,
        sweeps.stiffness,
        sweeps.angle,
        scenes.ramone,
        impacts.ramone,
        scenes.stack,
        impacts.stack,
        tables.parameters,
    )
}
"""By name."""
