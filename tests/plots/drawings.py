"""One small drawing of every function in `carom.plots`, for tests that look at all of them.

A new function needs a drawing here, by its own name or with a dash and a word after it.
"""

import io
import tempfile
from dataclasses import replace
from functools import cache

import matplotlib.style
import numpy as np
from matplotlib.figure import Figure
from PIL import Image

import carom
from carom import plots
from carom.paper.exhibits import sweeps
from carom.systems import (
    FLOOR,
    Body,
    Box,
    Disc,
    PlanarSystem,
    PlaneContact,
    Prismatic,
    SpatialBody,
)

DPI = 60
SIZE = (5.0, 4.0)
"""Of a drawing of one ax [inch]."""
PLACE = (0.2, 0.4, 0.75, 0.56)
"""Of the ax in it: left, bottom, width and height, as shares."""
ONE = carom.Routh(num_samples=1, draw="persistent")


def render(figure: Figure) -> Image.Image:
    """Return a figure as it is written to a file, in matplotlib's own style."""
    buffer = io.BytesIO()
    with matplotlib.style.context("default"):
        figure.savefig(buffer, format="png", dpi=DPI)
    return Image.open(buffer).convert("RGB")


@cache
def draw(name: str) -> Figure:
    """Return a drawing by its name."""
    with matplotlib.style.context("default"):
        return DRAWINGS[name]()


@cache
def block():
    return carom.scenes.load("rocking-block")


@cache
def walker():
    return carom.scenes.load("compass-gait")


@cache
def block_motion():
    """A block that lands flat and rocks a few times."""
    scene = block()
    return carom.simulate(scene.system, scene.q, scene.v, 0.12, ONE)


@cache
def block_motions(num):
    scene = block()
    return carom.simulate_many(
        scene.system, scene.q, scene.v, 0.1, ONE, num, seed=1, num_processes=1
    )


@cache
def ball_motion(speed):
    """A ball that is thrown up, falls, hits and rests."""
    body = Body.point("ball", 1.0, joints=(Prismatic((0.0, 1.0)),))
    system = PlanarSystem([body], [PlaneContact("A", Disc("ball"), FLOOR, 0.0)])
    return carom.simulate(system, [0.1], [speed], 0.5, carom.RouthSingle())


@cache
def box_motion():
    """A box in space that lands on its corners, slides and rocks."""
    box = SpatialBody(Box([0.4, 0.25, 0.3]), 10.0, mu=0.6)
    q, v = [0.0, 0.0, 0.2, 1.0, 0.0, 0.0, 0.0], [0.3, 0.0, 0.0, 0.0, 1.0, 0.0]
    return carom.simulate(box, q, v, 0.3, carom.Routh(), time_step=2e-3)


@cache
def laws(name):
    """Return what every law says of a scene, by the arguments of `plot_outcomes`."""
    problem = carom.scenes.load(name).problem
    return {
        "outcomes": carom.Routh(num_samples=150, seed=1, draw="persistent").resolve(problem),
        "exact": carom.RouthExact().resolve(problem),
        "simultaneous": carom.AnitescuPotra().resolve(problem),
        "sequential": carom.Sequential().resolve(problem),
    }


def _on_ax(draw_on, place=PLACE):
    """Return a function that draws on the only ax of a new figure."""

    def drawing() -> Figure:
        figure = Figure(figsize=SIZE, dpi=DPI)
        # Not laid out by the size of its words, which one pixel more would shift as a whole.
        ax = figure.add_axes(place)
        assert draw_on(ax) is ax
        return figure

    return drawing


def _every_law(ax):
    sets = dict(laws("rocking-block"))
    return plots.plot_outcomes(sets.pop("outcomes"), ax, **sets, num_paths=15)


def _exact_alone(ax):
    return plots.plot_outcomes(laws("compass-gait")["exact"], ax, x=("B", 1), y=("B", 0))


def _scene(ax):
    return plots.plot_scene(walker().system, walker().q, ax, v=walker().v)


def _stack(ax):
    stack = carom.scenes.load("disk-stack")
    # The upper disc is lifted and turned.
    q = np.add(stack.q, [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.4, 0.5])
    return plots.plot_scene(stack.system, q, ax)


def _phases(ax):
    for speed in (0.5, -1.0):
        plots.plot_phase(ball_motion(speed), ax, coordinate=0, label=f"{speed} m/s")
    ax.legend()
    return ax


def _spread(ax):
    few, many = block_motions(3), block_motions(8)
    return plots.plot_spread({"3 motions": few, "8 motions": many}, ax, coordinate=2)


@cache
def extremes():
    """Return the extremes of a walker, one of them without a bound."""
    found = carom.worst_case(walker().problem)
    open_ended = replace(found["B tangential"], proved=np.inf, certificate=None)
    return carom.Extremes((*found[:-1], open_ended))


@cache
def extremes_of_all_units():
    names = ["A normal", "A impulse", "-B impulse", "energy kept"]
    return carom.worst_case(walker().problem, names, max_seconds=0.5)


def _sweep(ax):
    sweep = carom.paper.compliant.angle_sweep(block(), num=7)
    exact = laws("rocking-block")["exact"]
    return sweeps.plot_sweep(sweep, ax, exact=exact, label="angle [deg]")


@cache
def measured(*names):
    """Return a measure of a block over some parameters."""
    values = {"mu": [0.2, 0.6, 1.0], "height": [1.0, 2.0], "width": [0.5, 1.0]}
    law = carom.Routh(num_samples=16)
    with tempfile.TemporaryDirectory() as folder:
        over = {name: values[name] for name in names}
        how = {"law": law, "units": {"mu": "1", "height": "m", "width": "m"}, "workers": 1}
        return carom.sweep("rocking-block", over, ["ambiguity"], out=folder, **how).load()


DRAWINGS = {
    "plot_outcomes": _on_ax(_every_law),
    "plot_outcomes-exact": _on_ax(_exact_alone),
    "plot_scene": _on_ax(_scene),
    "plot_scene-stack": _on_ax(_stack),
    "plot_states": _on_ax(lambda ax: plots.plot_states(block_motion(), ax)),
    "plot_states-s": _on_ax(lambda ax: plots.plot_states(block_motion(), ax, clock="s", of="v")),
    "plot_rates": _on_ax(lambda ax: plots.plot_rates(block_motion(), ax)),
    "plot_energy": _on_ax(lambda ax: plots.plot_energy(block_motion(), ax)),
    "plot_impulses": _on_ax(lambda ax: plots.plot_impulses(block_motion(), ax)),
    "plot_impulses-space": _on_ax(lambda ax: plots.plot_impulses(box_motion(), ax)),
    "plot_forces": _on_ax(lambda ax: plots.plot_forces(box_motion(), ax)),
    "plot_gaps": _on_ax(lambda ax: plots.plot_gaps(box_motion(), ax)),
    "plot_phase": _on_ax(_phases),
    "plot_bundle": _on_ax(
        lambda ax: plots.plot_bundle(block_motions(8), ax, coordinate=2, label="blocks")
    ),
    "plot_spread": _on_ax(_spread),
    "plot_extremes": _on_ax(lambda ax: plots.plot_extremes(extremes(), ax), (0.25, 0.4, 0.7, 0.56)),
    "plot_measure": _on_ax(lambda ax: plots.plot_measure(measured("mu").ambiguity, ax)),
    "plot_measure-map": _on_ax(
        lambda ax: plots.plot_measure(measured("mu", "height").ambiguity, ax),
        (0.2, 0.4, 0.65, 0.56),
    ),
    "plot_parallel": _on_ax(
        lambda ax: plots.plot_parallel(measured("mu", "height", "width").ambiguity, ax),
        (0.2, 0.4, 0.65, 0.56),
    ),
    "plot_sweep": _on_ax(_sweep, (0.2, 0.4, 0.65, 0.56)),
    "outcomes_overview": lambda: plots.outcomes_overview(
        laws("compass-gait")["outcomes"],
        **{key: value for key, value in laws("compass-gait").items() if key != "outcomes"},
        num_paths=10,
        title="a walker",
    ),
    "spatial_overview": lambda: plots.spatial_overview(box_motion(), title="a box"),
    "trajectory_overview": lambda: plots.trajectory_overview(block_motion(), title="a block"),
    "extremes_overview": lambda: plots.extremes_overview(extremes_of_all_units(), title="a walker"),
    "bundle_overview": lambda: plots.bundle_overview(block_motions(8), title="blocks"),
}
