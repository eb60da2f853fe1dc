"""Draw what carom computes: functions that take an ax and return it.

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
from carom.plots.contact_velocities import contact_velocities
from carom.plots.motion import plot_energy, plot_impulses, plot_phase, plot_rates, plot_states
from carom.plots.motion_overview import bundle_overview, trajectory_overview
from carom.plots.overview import overview
from carom.plots.scene import plot_scene

__all__ = [
    "animate",
    "bundle_overview",
    "contact_velocities",
    "overview",
    "plot_bundle",
    "plot_energy",
    "plot_impulses",
    "plot_phase",
    "plot_rates",
    "plot_scene",
    "plot_spread",
    "plot_states",
    "trajectory_overview",
]
