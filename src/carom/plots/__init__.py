"""Draw what carom computes.

Functions `plot_…(what, ax, *, options)` draw on an ax and return it; `…_overview` return a whole
figure, and `animate` writes a moving picture.

Needs matplotlib, which comes with the extra `carom[plots]`.
"""

try:
    import matplotlib  # noqa: F401
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "carom.plots needs matplotlib; install it with: pip install 'carom[plots]'",
        name="matplotlib",
    ) from error

from carom.plots.animation import animate
from carom.plots.bundle import plot_bundle, plot_spread
from carom.plots.contact_velocities import plot_outcomes
from carom.plots.motion import plot_energy, plot_impulses, plot_phase, plot_rates, plot_states
from carom.plots.motion_overview import bundle_overview, trajectory_overview
from carom.plots.outcomes_overview import outcomes_overview
from carom.plots.scene import plot_scene

__all__ = [
    "animate",
    "bundle_overview",
    "outcomes_overview",
    "plot_bundle",
    "plot_energy",
    "plot_impulses",
    "plot_outcomes",
    "plot_phase",
    "plot_rates",
    "plot_scene",
    "plot_spread",
    "plot_states",
    "trajectory_overview",
]
