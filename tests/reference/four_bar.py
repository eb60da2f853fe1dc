"""A four-bar linkage that floats and lands on its lower bar, and the same bars without joints.

Without joints every bar has three coordinates, and all four pins are constraints whose forces are
solved for: nothing of it is shared with the closed linkage.
"""

import numpy as np

from carom.systems import FLOOR, Body, Disc, Pin, PlanarSystem, PlaneContact, Revolute

WIDE, LONG, RIGHT, TOP, RADIUS, GRAVITY = 0.6, 0.4, 0.45, 0.5, 0.02, 9.81
"""Lengths of the lower bar, the left and the right leg and the upper bar [m]; feet; gravity."""
MASS = {"top": 4.0, "left": 0.5, "bottom": 1.0, "right": 0.5}
INERTIA = {"top": 0.15, "left": 0.01, "bottom": 0.05, "right": 0.01}
CENTRE = {"top": (0.0, 0.0), "left": (0.0, -0.2), "bottom": (0.3, 0.0), "right": (0.0, -0.2)}
"""Centres of mass in the bars' frames [m]."""
PINS = (
    ("top", (-0.3, 0.0), "left", (0.0, 0.0)),
    ("left", (0.0, -LONG), "bottom", (0.0, 0.0)),
    ("top", (TOP - 0.3, 0.0), "right", (0.0, 0.0)),
    ("right", (0.0, -RIGHT), "bottom", (WIDE, 0.0)),
)
FEET = {"left foot": (0.0, 0.0), "right foot": (WIDE, 0.0)}
"""Points of the lower bar that land [m]."""


def linkage(mu=0.5, restitution=0.0):
    """Return the linkage: a tree of four bars, closed by a pin between right and bottom."""
    hinge = (Revolute(),)
    carried = {
        "top": {},
        "left": {"parent": "top", "placement": (-0.3, 0.0), "joints": hinge},
        "bottom": {"parent": "left", "placement": (0.0, -LONG), "joints": hinge},
        "right": {"parent": "top", "placement": (TOP - 0.3, 0.0), "joints": hinge},
    }
    bars = [
        Body(name, MASS[name], INERTIA[name], com=CENTRE[name], **own)
        for name, own in carried.items()
    ]
    feet = [
        PlaneContact(name, Disc("bottom", at, RADIUS), FLOOR, mu=mu, restitution=restitution)
        for name, at in FEET.items()
    ]
    one, point, other, other_point = PINS[3]
    return PlanarSystem(bars, feet, pins=[Pin("pin", one, point, other, other_point)])


def pose(lean, height=0.0, tilt=0.0):
    """Return q with a left leg that leans, and with feet at a height, turned by a tilt.

    In the axes of the lower bar: hinges of the upper bar are on a circle about each foot, and their
    distance is known.
    """
    left = LONG * np.array([-np.sin(lean), np.cos(lean)])
    across = np.array([WIDE, 0.0]) - left
    apart = np.linalg.norm(across)
    along = (TOP**2 - RIGHT**2 + apart**2) / (2.0 * apart)
    off = np.sqrt(TOP**2 - along**2)
    right = left + (along * across + off * np.array([-across[1], across[0]])) / apart
    top = np.arctan2(*(right - left)[::-1])
    stance = np.arctan2(WIDE - right[0], right[1])
    turn = np.array([[np.cos(tilt), -np.sin(tilt)], [np.sin(tilt), np.cos(tilt)]])
    middle = left + 0.3 * np.array([np.cos(top), np.sin(top)])
    x, y = turn @ middle + [0.0, height + RADIUS]
    return np.array([x, y, top + tilt, lean - top, -lean, stance - top])


def bars(system, q):
    """Return (x, y, angle) of the centres of mass of all bars, (4, 3)."""
    frames = system.frames(q)
    return np.array([[*frames[name].point(CENTRE[name]), frames[name].angle] for name in MASS])


def bar_rates(system, q, step=1e-6):
    """Return the Jacobian (12, 6) of `bars`, by central differences."""
    sides = [
        [bars(system, q + sign * step * unit).ravel() for unit in np.eye(6)] for sign in (1, -1)
    ]
    return (np.array(sides[0]) - np.array(sides[1])).T / (2.0 * step)


def free_inertia():
    """Return the mass matrix (12, 12) of the bars without joints."""
    return np.diag([x for name in MASS for x in (MASS[name], MASS[name], INERTIA[name])])


def _row(name, at, places):
    """Return the position and the Jacobian (2, 12) of a point of a bar's frame."""
    i = list(MASS).index(name)
    x, y, angle = places[i]
    offset = np.array(at) - CENTRE[name]
    c, s = np.cos(angle), np.sin(angle)
    arm = np.array([c * offset[0] - s * offset[1], s * offset[0] + c * offset[1]])
    J = np.zeros((2, 12))
    J[:, 3 * i : 3 * i + 3] = [[1.0, 0.0, -arm[1]], [0.0, 1.0, arm[0]]]
    return np.array([x, y]) + arm, J


def pin_rows(places):
    """Return gaps (8,) [m] and Jacobian (8, 12) of all pins: the first end less the second."""
    ends = [(_row(one, at, places), _row(other, there, places)) for one, at, other, there in PINS]
    gaps = np.concatenate([a[0] - b[0] for a, b in ends])
    return gaps, np.vstack([a[1] - b[1] for a, b in ends])


def foot_rows(places):
    """Return the rows (2, 2, 12) of the feet, normal first: matter at the lowest point."""
    rows = []
    for at in FEET.values():
        _, J = _row("bottom", at, places)
        J = J.copy()
        # A turn of the bar rolls the disc's lowest point, which is below its centre.
        J[0, 3 * list(MASS).index("bottom") + 2] += RADIUS
        rows.append([J[1], J[0]])
    return np.array(rows)


def explicit(places, push, rates=None):
    """Return how free bars change their velocity, and impulses of all pins (8,), for a push (12,).

    With `rates` (12,) pushes are forces, the change is an acceleration, and pins stay closed.
    """
    M, (_, G) = free_inertia(), pin_rows(places)
    target = np.zeros(8)
    if rates is not None:
        # Points on a bar that turns accelerate towards its centre: dG/dt v by a small step.
        step = 1e-6
        sides = [pin_rows(places + s * step * rates.reshape(4, 3))[1] @ rates for s in (1, -1)]
        target = -(sides[0] - sides[1]) / (2.0 * step)
    matrix = np.block([[M, -G.T], [G, np.zeros((8, 8))]])
    found = np.linalg.solve(matrix, np.concatenate([push, target]))
    return found[:12], found[12:]


def mjcf(mu=0.5):
    """Return the linkage as MJCF in the plane of x and z, with the same coordinates."""

    def inertia(name):
        x, z = CENTRE[name]
        turn = INERTIA[name]
        return f'<inertial pos="{x} 0 {z}" mass="{MASS[name]}" diaginertia="{turn} {turn} {turn}"/>'

    # Angles are counter-clockwise as seen from where y points to: about -y.
    hinge = '<joint name="{}" axis="0 -1 0"/>'
    feet = "".join(
        f'<geom name="{name}" size="{RADIUS}" pos="{x} 0 {z}" friction="{mu}"/>'
        for name, (x, z) in FEET.items()
    )
    bottom = (
        f'<body name="bottom" pos="0 0 {-LONG}">{hinge.format("bottom")}{inertia("bottom")}{feet}'
        f'<site name="there" pos="{WIDE} 0 0"/></body>'
    )
    left = (
        f'<body name="left" pos="-0.3 0 0">{hinge.format("left")}{inertia("left")}{bottom}</body>'
    )
    right = (
        f'<body name="right" pos="{TOP - 0.3} 0 0">{hinge.format("right")}{inertia("right")}'
        f'<site name="here" pos="0 0 {-RIGHT}"/></body>'
    )
    slides = '<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>'
    return f"""<mujoco><worldbody>
      <geom name="floor" type="plane" size="9 9 1" friction="{mu}"/>
      <body name="top">{slides}{hinge.format("turn")}{inertia("top")}{left}{right}</body>
    </worldbody><equality><connect name="pin" site1="here" site2="there"/></equality></mujoco>"""
