"""How well samples fill the inside of the paper's sets, judged by the exact ones.

Extremes alone say little of the inside: `test_outcomes` asks for those.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

import carom
from tests.reference.exact_reach import exact_pieces

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

NUM_CELLS = 20
"""Along each coordinate."""

INSIDE = 0.25
"""A cell belongs to the set if a ball of this radius, in cells, lies in both. Slivers at the
boundary, which few samples can hit, do not count."""

SHARES = {"rocking-block": 1.0, "compass-gait": 1.0, "box-wall": 1.0, "ramone": 0.96}
"""Of the cells that belong to the set, so many are hit by 2^16 exact motions. They hit all of them
with each of 8 seeds, except for ramone: 98 to 99.3 %, by seed."""

STEPS_SHARE = 0.85
"""The same for steps of the paper's size, which hit all cells for rocking-block and compass-gait,
90 to 95 % for box-wall and 92 to 97 % for ramone, by seed. If one contact in six acted in every
stretch, ramone would have 68 to 75 %."""


def coordinates(name: str, problem: carom.ImpactProblem, v: FloatArray) -> FloatArray:
    """Return (n, 2) the normal and tangential velocity of B; for the block (n, 1) its pivoting.

    Only one corner of the block lifts and none slides, so the difference of its corners' normal
    velocities says all.
    """
    velocities = problem.contact_velocity(v)
    if name == "rocking-block":
        return velocities[:, :1, 0] - velocities[:, 1:, 0]
    return velocities[:, 1]


def cells_of_interval(corners: FloatArray) -> BoolArray:
    """Tell which cells (NUM_CELLS,) an interval belongs to, in units of cells."""
    start = np.arange(NUM_CELLS)
    low, high = np.maximum(start, corners.min()), np.minimum(start + 1, corners.max())
    return high - low >= 2.0 * INSIDE


def cells_of_polygon(corners: FloatArray) -> BoolArray:
    """Tell which cells (NUM_CELLS, NUM_CELLS) the hull of corners (n, 2) belongs to.

    Balls are tried around some points of each cell, which misses a few cells at the boundary.
    """
    if np.linalg.matrix_rank(corners - corners[0], tol=INSIDE) < 2:
        return np.zeros((NUM_CELLS, NUM_CELLS), np.bool_)
    edges = ConvexHull(corners).equations
    places = np.linspace(INSIDE, 1.0 - INSIDE, 9)
    along = (np.arange(NUM_CELLS)[:, None] + places).ravel()
    centres = np.stack(np.meshgrid(along, along, indexing="ij"), axis=-1)
    inside = (centres @ edges[:, :2].T + edges[:, 2] <= -INSIDE).all(axis=-1)
    return inside.reshape(NUM_CELLS, len(places), NUM_CELLS, len(places)).any(axis=(1, 3))


def cells_of_points(points: FloatArray) -> BoolArray:
    """Tell which cells points (n, 1 or 2) hit; what lies outside the grid hits none."""
    cells = np.floor(points).astype(int)
    cells = cells[((cells >= 0) & (cells < NUM_CELLS)).all(axis=1)]
    hit = np.zeros((NUM_CELLS,) * points.shape[1], np.bool_)
    hit[tuple(cells.T)] = True
    return hit


@pytest.mark.parametrize("steps", [False, True], ids=["motions", "steps"])
@pytest.mark.parametrize(
    ("name", "least"),
    [("rocking-block", 20), ("compass-gait", 100), ("box-wall", 100), ("ramone", 100)],
)
def test_samples_fill_the_inside(name, least, steps):
    """`least` is how many cells belong to the set at least: else the test would ask for nothing."""
    scene = carom.scenes.load(name)
    problem = scene.problem
    polyhedra = [
        coordinates(name, problem, corners)
        for corners in exact_pieces(
            problem.M, problem.J_n, problem.J_t[:, 0], problem.mu, problem.v_pre
        )
    ]
    everything = np.vstack(polyhedra)
    origin, unit = everything.min(axis=0), np.ptp(everything, axis=0) / NUM_CELLS
    cells_of = cells_of_interval if everything.shape[1] == 1 else cells_of_polygon
    wanted = np.any([cells_of((corners - origin) / unit) for corners in polyhedra], axis=0)
    assert wanted.sum() >= least
    step = scene.step_impulse if steps else None
    outcomes = carom.Routh(num_samples=2**16, step_impulse=step).resolve(problem)
    hit = cells_of_points((coordinates(name, problem, outcomes.v_post) - origin) / unit)
    share = STEPS_SHARE if steps else SHARES[name]
    assert (wanted & hit).sum() >= share * wanted.sum()
