"""Draw what carom computes.

Functions `plot_…(what, ax, *, options)` draw on an ax and return it; `…_overview` return a whole
figure that belongs to no window, so that `figure.savefig("impact.png")` writes it; `animate` makes
a moving picture, and `thumbnail` a small one for notebooks.
"""

try:
    import matplotlib  # noqa: F401
except ModuleNotFoundError as error:
    from carom.errors import MissingExtra

    raise MissingExtra.of("carom.plots", "matplotlib", "plots") from error

from carom.plots.animation import animate
from carom.plots.bundle import plot_bundle, plot_spread
from carom.plots.contact_velocities import plot_outcomes
from carom.plots.extremes import plot_extremes
from carom.plots.motion import plot_energy, plot_impulses, plot_phase, plot_rates, plot_states
from carom.plots.overview import (
    bundle_overview,
    extremes_overview,
    outcomes_overview,
    thumbnail,
    trajectory_overview,
)
from carom.plots.scene import plot_scene
from carom.plots.space import plot_forces, plot_gaps, spatial_overview
from carom.plots.sweep import plot_measure, plot_parallel
from carom.plots.sweep_page import sweep_page

__all__ = [
    "animate",
    "bundle_overview",
    "extremes_overview",
    "outcomes_overview",
    "plot_bundle",
    "plot_energy",
    "plot_extremes",
    "plot_forces",
    "plot_gaps",
    "plot_impulses",
    "plot_measure",
    "plot_outcomes",
    "plot_parallel",
    "plot_phase",
    "plot_rates",
    "plot_scene",
    "plot_spread",
    "plot_states",
    "spatial_overview",
    "sweep_page",
    "thumbnail",
    "trajectory_overview",
]
