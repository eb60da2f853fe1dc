"""The wobbling block of the paper's Zeno example, by quadrature [HalmPosa, Section 4.3].

Over one half cycle the block is a pendulum about a corner, with the angular velocity going from w0
to -w0. With w in place of time nothing is singular at the apex: dt = dw / (dw/dt), and energy tells
the angle that goes with w.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from scipy.integrate import quad


class HalfCycle(NamedTuple):
    """One pendulum motion, and the impact that ends it."""

    duration: float
    """Of the pendulum motion [s]."""
    normal: float
    """Normal impulse of the pivot meanwhile [N s]."""
    impact: float
    """Normal impulse of the impact at the other corner [N s]."""


class Wobble(NamedTuple):
    """A uniform block with no slip at the corners that it turns about."""

    width: float = 1.0
    height: float = 2.0
    mass: float = 1.0
    gravity: float = 9.81

    @property
    def radius(self) -> float:
        """Distance of a corner from the centre."""
        return math.hypot(self.width, self.height) / 2

    @property
    def inertia(self) -> float:
        """Moment of inertia about a corner."""
        return self.mass * (self.width**2 + self.height**2) / 3

    @property
    def reduction(self) -> float:
        """Share of the angular velocity that an impact leaves: momentum about the new pivot."""
        own = self.mass * (self.width**2 + self.height**2) / 12
        return (own + self.mass * (self.height**2 - self.width**2) / 4) / self.inertia

    def sine(self, rate: float, first: float) -> float:
        """Return the sine of the diagonal's angle where the rate has fallen from `first`."""
        rise = self.inertia * (first**2 - rate**2) / (2 * self.mass * self.gravity)
        return (self.height / 2 + rise) / self.radius

    def apex(self, first: float) -> float:
        """Return the largest angle of the block [rad]."""
        return math.asin(self.sine(0.0, first)) - math.atan2(self.height, self.width)

    def half_cycle(self, first: float) -> HalfCycle:
        """Integrate a half cycle that starts with a rate [rad/s]."""
        m, g, r = self.mass, self.gravity, self.radius

        def slowing(rate: float) -> float:
            return m * g * r * math.sqrt(1.0 - self.sine(rate, first) ** 2) / self.inertia

        def force(rate: float) -> float:
            # Normal force: weight and what accelerates the centre, at r sin above the floor.
            sine = self.sine(rate, first)
            up = -r * math.sqrt(1.0 - sine**2) * slowing(rate) - r * sine * rate**2
            return m * (g + up)

        duration = quad(lambda w: 1.0 / slowing(w), -first, first, epsabs=0, epsrel=1e-13)[0]
        normal = quad(lambda w: force(w) / slowing(w), -first, first, epsabs=0, epsrel=1e-13)[0]
        return HalfCycle(duration, normal, m * (1.0 + self.reduction) * first * self.width / 2)

    def half_cycles(self, first: float, count: int) -> list[HalfCycle]:
        """Return the half cycles one after another."""
        return [self.half_cycle(first * self.reduction**i) for i in range(count)]
