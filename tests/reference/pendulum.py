"""Kane's double pendulum, whose tip strikes the ground while it slides."""

import numpy as np

import carom


def striking_pendulum(restitution: float = 0.5, mu: float = 0.7) -> carom.ImpactProblem:
    """Return two rods of 1 kg and 1 m that hang from a hinge at 20° and 30° to the vertical.

    They turn back with 0.1 and 0.2 rad/s, and the tip of the second one hits a horizontal floor.
    The tip is at (sin a + sin b, -cos a - cos b) from the hinge.
    """
    a, b = np.radians([20.0, 30.0])
    # Centres of mass: 1/3 about an end, plus the second rod that hangs on the tip of the first.
    coupling = 0.5 * np.cos(a - b)
    return carom.ImpactProblem(
        M=[[1.0 / 3.0 + 1.0, coupling], [coupling, 1.0 / 3.0]],
        J_n=[[np.sin(a), np.sin(b)]],
        J_t=[[np.cos(a), np.cos(b)]],
        mu=mu,
        v_pre=[-0.1, -0.2],
        contacts=("tip",),
        restitution=restitution,
    )
