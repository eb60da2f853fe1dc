"""Random things that are thrown on floors, walls and each other, as strategies of Hypothesis."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st
from numpy.typing import NDArray

from carom.systems import FLOOR, Body, Disc, DiscContact, HalfPlane, PlanarSystem, PlaneContact

FloatArray = NDArray[np.float64]

PLANES = {
    "floor": (FLOOR,),
    "slope": (HalfPlane(normal=(-0.3, 1.0)),),
    "corner": (FLOOR, HalfPlane((1.5, 0.0), (-1.0, 0.0))),
    "valley": (HalfPlane(normal=(0.6, 1.0)), HalfPlane(normal=(-0.4, 1.0))),
}


class Drop(NamedTuple):
    """A system and a state from which it falls."""

    system: PlanarSystem
    q: FloatArray
    v: FloatArray


def _coordinates(low: float, high: float) -> st.SearchStrategy[float]:
    """Draw round numbers as often as others: they make things happen at once."""
    return st.one_of(
        st.integers(math.ceil(4 * low), math.floor(4 * high)).map(lambda k: k / 4),
        st.floats(low, high),
    )


@st.composite
def bodies(draw: Any, name: str) -> tuple[Body, tuple[Disc, ...]]:
    """Draw a body, and the discs that it touches with."""
    mass = draw(st.floats(0.2, 5.0))
    shape = draw(st.sampled_from(["box", "rod", "disc", "eccentric"]))
    if shape == "box":
        body = Body.box(name, draw(st.floats(0.2, 1.0)), draw(st.floats(0.2, 1.0)), mass)
        return body, tuple(Disc(name, point) for point in body.outline[0].points)
    if shape == "rod":
        body = Body.rod(name, draw(st.floats(0.3, 1.0)), mass)
        return body, tuple(Disc(name, point) for point in body.outline[0].points)
    radius = draw(st.floats(0.1, 0.5))
    if shape == "disc":
        return Body.disc(name, radius, mass), (Disc(name, radius=radius),)
    com = (0.4 * radius, 0.0)
    body = Body(name, mass, 0.4 * mass * radius**2, com=com)
    return body, (Disc(name, radius=radius),)


@st.composite
def drops(draw: Any, most_bodies: int = 2) -> Drop:
    """Draw one or two bodies over some planes, at rest on them or above, and their velocities."""
    planes = PLANES[draw(st.sampled_from(sorted(PLANES)))]
    count = draw(st.integers(1, most_bodies))
    mu = draw(st.one_of(st.just(0.0), st.floats(0.05, 2.0)))
    drawn = [draw(bodies(f"body {k}")) for k in range(count)]
    contacts = [
        PlaneContact(f"{disc.body} {i} on {j}", disc, plane, mu)
        for _, discs in drawn
        for i, disc in enumerate(discs)
        for j, plane in enumerate(planes)
    ]
    rounds = [discs[0] for _, discs in drawn if len(discs) == 1]
    if len(rounds) == 2:
        contacts.append(DiscContact("between", rounds[0], rounds[1], mu))
    system = PlanarSystem([body for body, _ in drawn], contacts)
    q = np.array(
        [
            value
            for k in range(count)
            for value in (1.2 * k + draw(_coordinates(-1, 0)), 0.0, draw(_coordinates(-2, 2)))
        ]
    )
    _raise(system, q, draw(st.sampled_from([0.0, 0.3])))
    v = np.array(
        [
            draw(_coordinates(low, high))
            for _ in range(count)
            for low, high in ((-2, 2), (-3, 1), (-4, 4))
        ]
    )
    return Drop(system, q, v)


def _raise(system: PlanarSystem, q: FloatArray, height: float) -> None:
    """Lift every body until its lowest contact with a plane that faces up is at a height."""
    for k, body in enumerate(system.bodies):
        phi = system.gap(q)
        lift = -np.inf
        for gap, pair in zip(phi, system.contact_pairs, strict=True):
            if isinstance(pair, PlaneContact) and pair.disc.body == body.name:
                up = pair.plane.normal[1]
                if up > 0.0:
                    lift = max(lift, (height * up - gap) / up)
        q[3 * k + 1] += lift
    assume(system.gap(q).min() >= -1e-12)
