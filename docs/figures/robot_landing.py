"""Draw how Solo12 lands, sags and stands when it is dropped with a controller.

Run it as `.venv/bin/python docs/figures/robot_landing.py`; the picture appears beside it. It needs
`pip install ".[pinocchio,plots]" example-robot-data`.
"""

from __future__ import annotations

from importlib.metadata import distribution
from pathlib import Path

import carom
from carom.adapters.pinocchio import ContactPoint, PinocchioSystem

DOCS = Path(__file__).parents[1]
URDF = distribution("example-robot-data").locate_file(
    "cmeel.prefix/share/example-robot-data/robots/solo_description/robots/solo12.urdf"
)
LEGS = {"FL": 1, "FR": 1, "HL": -1, "HR": -1}
BEND, DROP = 0.6, 0.1
"""How far thighs are turned, and half as far as knees are [rad]; height of the drop [m]."""

if __name__ == "__main__":
    feet = [ContactPoint(f"{leg}_FOOT", radius=0.016) for leg in LEGS]
    solo = PinocchioSystem.from_urdf(str(URDF), feet, mu=0.7)
    q = solo.neutral
    for leg, side in LEGS.items():
        q[solo.joints[f"{leg}_HFE"][0]] = side * BEND
        q[solo.joints[f"{leg}_KFE"][0]] = -2 * side * BEND
    q = solo.stand(q)
    q[2] += DROP
    held = solo.holding(q, stiffness=10.0, damping=0.3)
    v = [0.3, 0.1] + [0.0] * 16
    motion = carom.simulate(held, q, v, 0.6, carom.Routh(), time_step=1e-3)
    figure = carom.plots.spatial_overview(motion, title="Solo12, dropped from 10 cm")
    path = DOCS / "motion-solo12.png"
    figure.savefig(path, dpi=90)
    print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")
