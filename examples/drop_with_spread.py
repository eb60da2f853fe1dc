"""A drop with spread: a block that lands flat fans out, one that lands on a corner does not.

Run it as `python drop_with_spread.py [figure.png]`.
"""

import math
import sys

import numpy as np
from matplotlib.figure import Figure

import carom

HEIGHT = 0.05  # of the lowest corner, at the start [m]
DURATION, NUM_MOTIONS = 0.24, 10
ANGLE = 2  # the place of the angle among the coordinates (x, y, angle)


def drop(tilt: float) -> carom.Bundle:
    """Let go of the block at rest, tilted by an angle [rad], as often as NUM_MOTIONS."""
    system = carom.scenes.load("rocking-block").system
    q = np.array([0.0, 0.0, tilt])
    q[1] = HEIGHT - system.gap(q).min()
    # One sample: each motion draws one outcome of each impact. The seed makes it repeatable. So
    # few motions are done before more processes would have started.
    law = carom.Routh(num_samples=1)
    options = {"seed": 7, "num_processes": 1}
    return carom.simulate_many(system, q, np.zeros(3), DURATION, law, NUM_MOTIONS, **options)


def main(figure: str = "drop_with_spread.png") -> dict[str, carom.Bundle]:
    bundles = {"lands flat": drop(0.0), "lands on a corner": drop(math.radians(2.0))}
    times = np.linspace(0.0, DURATION, 7)
    print(f"{'time [s]':22}", "".join(f"{t:9.2f}" for t in times))
    for label, bundle in bundles.items():
        # The largest minus the smallest angle of all motions, at each time.
        spread = np.degrees(bundle.spread(times)[:, ANGLE])
        print(f"{label:18} [°]", "".join(f"{each:9.4f}" for each in spread))
        first = bundle.trajectories[0].impacts[0]
        print(f"  first impact at {first.t:.4f} s, of {' and '.join(first.contacts)}")

    # Where two corners hit at once, nobody knows which one acts first: the motions part there.
    # One corner after the other leaves no doubt, and all motions are the same.
    drawing = Figure(figsize=(7.0, 6.0), layout="constrained")
    for ax, (label, bundle) in zip(drawing.subplots(2, 1), bundles.items(), strict=True):
        carom.plots.plot_bundle(bundle, ax, coordinate=ANGLE, label=label)
    drawing.savefig(figure)
    print(f"figure: {figure}")
    return bundles


if __name__ == "__main__":
    main(*sys.argv[1:])
