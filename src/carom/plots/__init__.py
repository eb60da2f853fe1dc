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

from carom.plots.contact_velocities import contact_velocities
from carom.plots.overview import overview

__all__ = ["contact_velocities", "overview"]
