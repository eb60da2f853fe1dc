"""The paper's figures and tables, one file for each kind, in the order of the paper."""

from carom.paper.exhibit import Exhibit
from carom.paper.exhibits import (
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

EXHIBITS: dict[str, Exhibit] = {
    exhibit.name: exhibit
    for exhibit in (
        scenes.BLOCK,
        direction.DIRECTION,
        routh_path.ROUTH_PATH,
        scenes.COMPASS,
        scenes.BOX,
        ball.BALL_PHASE,
        zeno.CYCLE,
        zeno.TRAJECTORY,
        impacts.BLOCK,
        impacts.COMPASS,
        impacts.BOX,
        performance.PERFORMANCE,
        sweeps.STIFFNESS,
        sweeps.ANGLE,
        scenes.RAMONE,
        impacts.RAMONE,
        scenes.STACK,
        impacts.STACK,
        parameters.PARAMETERS,
    )
}
"""By name."""
