"""A disc that rolls on the lower of its two edges without slip, by Euler's equations.

Axes follow the disc but do not spin with it: e1 is horizontal, e2 goes up along the face, and
e3 = e1 x e2 is the axis of the disc. It leans by an angle from upright and heads along e1. Nothing
here is shared with carom: unknowns are lean, heading, the angular velocity along the three axes,
and where the centre is.
"""

import numpy as np
from scipy.integrate import solve_ivp


def axes(lean, heading):
    """Return e1, e2 and e3 as rows."""
    e1 = np.array([np.cos(heading), np.sin(heading), 0.0])
    side = np.array([-np.sin(heading), np.cos(heading), 0.0])
    e2 = np.cos(lean) * np.array([0.0, 0.0, 1.0]) + np.sin(lean) * side
    return np.array([e1, e2, np.cross(e1, e2)])


class Disc:
    """A solid disc of some radius and thickness [m], and gravity [m/s^2]."""

    def __init__(self, radius, height, mass, gravity=9.81):
        self.mass, self.gravity = mass, gravity
        self.across = mass / 12.0 * (3.0 * radius**2 + height**2)
        self.along = 0.5 * mass * radius**2
        # From the contact to the centre.
        self.arm = np.array([0.0, radius, 0.5 * height])

    def rates(self, t, y):
        """Return the derivative of (lean, heading, w1, w2, w3, x, y)."""
        lean, heading, w = y[0], y[1], y[2:5]
        up, r = np.array([0.0, np.cos(lean), np.sin(lean)]), self.arm
        turning = w[1] / up[1]
        frame_rate = np.array([w[0], w[1], turning * up[2]])
        inertia = np.array([self.across, self.across, self.along])
        # With N = m (dv/dt + g up) at the contact and v = w x r of the centre:
        # I dw/dt + frame_rate x I w = -r x N, in axes in which r does not change.
        columns = np.array([np.cross(r, np.cross(each, r)) for each in np.eye(3)]).T
        known = np.cross(frame_rate, inertia * w) + self.mass * np.cross(
            r, np.cross(frame_rate, np.cross(w, r)) + self.gravity * up
        )
        dw = np.linalg.solve(np.diag(inertia) + self.mass * columns, -known)
        centre = axes(lean, heading).T @ np.cross(w, r)
        return np.array([-w[0], turning, *dw, *centre[:2]])

    def roll(self, start, times):
        """Return states (n, 7) at some times."""
        given = {"rtol": 1e-13, "atol": 1e-14, "t_eval": times}
        found = solve_ivp(self.rates, (0.0, times[-1]), start, "DOP853", **given)
        assert found.success
        return found.y.T

    def steady_spin(self, lean, turning):
        """Return the spin along the axis with which a lean and a rate of heading do not change."""
        _, R, d = self.arm
        w2, f3 = turning * np.cos(lean), turning * np.sin(lean)
        side = R * w2 + d * f3
        weight = self.mass * self.gravity * (R * np.sin(lean) - d * np.cos(lean))
        moment = self.across * f3 * w2 + self.mass * w2 * d * side - weight
        return moment / (self.along * w2 + self.mass * R * side)
