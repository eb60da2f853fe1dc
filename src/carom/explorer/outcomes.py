"""One outcome of an impact: where it is, how it comes about, and what follows."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from carom.errors import CaromError
from carom.explorer import drawings
from carom.explorer.hulls import nearest_weights
from carom.explorer.subjects import Case
from carom.laws.routh import Routh
from carom.motion.trajectory import Trajectory
from carom.outcomes.kinds import describe_kinds
from carom.outcomes.outcome_set import OutcomeSet
from carom.outcomes.path import ImpactPath
from carom.outcomes.polyhedral import PolyhedralSet
from carom.problem import ImpactProblem
from carom.typing import FloatArray

ONE_SAMPLE = partial(Routh, num_threads=1)
"""The law by which samples are drawn: one thread, since threads cost more than few samples."""
MOST_STRETCHES = 200
"""Maximum number of points on a path that is sent to a page."""
FRAMES = 60
"""Number of pictures of a second of motion."""
SMALL = 1e-6
"""How far an outcome may be from the end of its path, as a share of the impact's speed."""


def at_point(outcomes: OutcomeSet, rows: FloatArray, point: FloatArray) -> FloatArray:
    """Return an outcome that a plane shows at a point, or next to it.

    In a polytope it is a convex combination of vertices; of several that are seen there, any one.
    """
    if isinstance(outcomes, PolyhedralSet) and outcomes.is_complete:
        corners = [each.vertices for each in outcomes.polytopes]
        found = [nearest_weights(each @ rows.T - point) @ each for each in corners]
    else:
        inner = outcomes.inner if isinstance(outcomes, PolyhedralSet) else outcomes
        if inner is None:
            raise CaromError("there are no samples in this set")
        found = [*inner.v_post]
    seen = np.array(found) @ rows.T
    return np.asarray(found[int(np.linalg.norm(seen - point, axis=1).argmin())])


NO_OUTCOME = (
    "No order of pushes leads here: this is not in the set, even if a classical law ends like it."
)
NO_PATH = "No motion that ends here is known; the set may hold it all the same."


def describe_outcome(case: Case, outcomes: OutcomeSet, v: FloatArray) -> dict[str, Any]:
    """Return where an outcome is, the order of events in words, and how bodies go on."""
    problem = case.problem
    before = problem.kinetic_energy(problem.v_pre)
    told: dict[str, Any] = {"path": None, "words": None}
    try:
        path = _path(outcomes, v)
        told = {"path": _thinned(path.v @ case.rows.T), "words": path.describe().split("\n")}
    except CaromError:
        is_outside = outcomes.is_complete and not outcomes.contains(v, outcome_tolerance(problem))
        told["message"] = NO_OUTCOME if is_outside else NO_PATH
    return {
        "type": "outcome",
        "v": v.tolist(),
        "at": (case.rows @ v).tolist(),
        "kind": describe_kinds(problem, v[None])[0],
        "energy": problem.kinetic_energy(v) / before if before > 0.0 else None,
        "arrows": drawings.arrows(case, v),
        "ghosts": drawings.ghosts(case, v),
        **told,
    }


def _path(outcomes: OutcomeSet, v: FloatArray) -> ImpactPath:
    return outcomes.path_to(v, outcome_tolerance(outcomes.problem))


def outcome_tolerance(problem: ImpactProblem) -> float:
    """Return how far from the set a velocity of the page may be, which has fewer digits."""
    return max(1e-9, SMALL * float(np.linalg.norm(problem.v_pre)))


def _thinned(points: FloatArray) -> list[list[float]]:
    """Return at most MOST_STRETCHES points of a path, both ends among them."""
    count = min(len(points), MOST_STRETCHES)
    return points[np.linspace(0, len(points) - 1, count).round().astype(int)].tolist()


def describe_motion(case: Case, motion: Trajectory) -> dict[str, Any]:
    """Return pictures of a motion, and its impacts."""
    assert case.system is not None
    end = motion.end_time
    times = np.linspace(0.0, end, 1 + max(1, round(FRAMES * end)))
    poses = [case.system.body_poses(q).tolist() for q in motion.at(t=times).q]
    impacts = [{"time": each.start, "contacts": each.contacts} for each in motion.impacts]
    return {
        "type": "motion",
        "times": times.tolist(),
        "poses": poses,
        "impacts": impacts,
        "status": motion.status,
        "message": motion.message,
    }
