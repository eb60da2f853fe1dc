"""Sliders of a page: what can be changed, from where to where, in which unit."""

from __future__ import annotations

import inspect
import math
from dataclasses import dataclass
from importlib import import_module

LENGTHS = ("m", 0.2, 3.0)
RATES = ("rad/s", -2.0, 2.0)
RANGES: dict[str, tuple[str, float, float]] = {
    **dict.fromkeys(("width", "height", "side", "leg_length", "length"), LENGTHS),
    "radius": ("m", 0.2, 2.0),
    "mass_to_foot": ("m", 0.05, 0.95),
    "mass": ("kg", 0.1, 10.0),
    "hip_mass": ("kg", 0.0, 10.0),
    "tilt": ("rad", math.radians(1.0), math.radians(89.0)),
    "leg_pitch": ("rad", math.radians(10.0), math.radians(85.0)),
    "angle": ("rad", math.radians(5.0), math.radians(175.0)),
    "pitch": ("rad", math.radians(-45.0), math.radians(45.0)),
    "trunk_pitch": ("rad", math.radians(-45.0), math.radians(45.0)),
    "leading_hip": ("rad", math.radians(-90.0), math.radians(0.0)),
    "leading_knee": ("rad", math.radians(-30.0), math.radians(0.0)),
    "trailing_hip": ("rad", math.radians(0.0), math.radians(90.0)),
    "speed": ("m/s", 0.01, 3.0),
    **dict.fromkeys(("leading_rate", "trailing_rate"), RATES),
    "pitch_rate": ("rad/s", 0.05, 3.0),
    "rate": ("rad/s", 0.0, 3.0),
}
"""Unit and range of every parameter of a scene, by its name; numbers may be typed beyond."""

PER_CONTACT = ("mu", "restitution")
"""Parameters that have a slider for each contact."""
FIXED = ("number",)
"""Parameters that have none, since contacts would come and go with them."""
MOTIONS = ("speed", "rate", "leading_rate", "trailing_rate", "pitch_rate")
"""Parameters that decide the velocity before the impact."""

USUAL_MU = 2.0
LARGEST_MU = 6.0
"""A slider of friction ends here at most: what lies above, such as "never slips", is typed."""


@dataclass(frozen=True)
class Control:
    """A number that a page can change.

    Attributes:
        key: Name of the parameter or contact.
        label: What people read.
        unit: Its unit, or "".
        low, high: Ends of the slider.
        default: Value without a change.
        moves: Whether it decides the velocity before the impact.
    """

    key: str
    label: str
    unit: str
    low: float
    high: float
    default: float
    moves: bool = False


def parameters_of(scene: str) -> dict[str, float]:
    """Return the parameters of a scene with their defaults."""
    module = import_module(f"carom.scenes.{scene.replace('-', '_')}")
    return {key: each.default for key, each in inspect.signature(module.make).parameters.items()}


def scene_controls(scene: str) -> tuple[Control, ...]:
    """Return the sliders of a scene; friction and restitution have their own, one per contact."""
    return tuple(
        Control(key, key.replace("_", " "), *RANGES[key], default, key in MOTIONS)
        for key, default in parameters_of(scene).items()
        if key not in PER_CONTACT and key not in FIXED
    )


def friction_range(mu: float) -> float:
    """Return where the slider of a friction coefficient ends."""
    return max(USUAL_MU, min(1.2 * mu, LARGEST_MU))
