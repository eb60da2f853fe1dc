"""Planar systems: a tree of bodies in one-dof joints, with disc and half-plane contacts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import final

import numpy as np

from carom import checks
from carom.errors import InvalidProblem
from carom.kernels import planar as kernels
from carom.kernels.jit import Late
from carom.systems.constraints import Constraints, no_constraints
from carom.systems.one_pass import OnePassSystem
from carom.systems.planar_bodies import Body, Frame, Prismatic, Vector2, pair
from carom.systems.planar_contacts import Contact, DiscContact
from carom.systems.planar_pins import Pin, pin_constraints
from carom.systems.system import Dynamics, Input
from carom.typing import ArrayLike, FloatArray

GRAVITY: Vector2 = (0.0, -9.81)
"""Acceleration of gravity where nothing else is said [m/s^2]."""

Inputs = Callable[[float, FloatArray, FloatArray], ArrayLike]
"""Generalized forces (nv,) that act on the joints, as a function of t, q and v."""

PATIENCE = 30
"""Number of looks at a system before it is compiled for: an impact or two take fewer."""

_look_round = Late(kernels.look_round, PATIENCE)


@final
class PlanarSystem(OnePassSystem):
    """Join planar bodies into a tree and let them touch.

    Coordinates are the joints of the bodies, in the order given; velocities are their rates, so
    that nq = nv and Γ is the identity.

    Args:
        bodies: The bodies, parents first.
        contacts: What may touch what.
        pins: Pins that close loops.
        gravity: Acceleration of gravity [m/s^2].
        inputs: Forces on the joints (nv,) as a function of t, q and v; None for no forces.

    Attributes:
        contact_pairs: What may touch what; `contacts` are their names. The rest is as given.
        tree: The system as arrays, for kernels.

    Examples:
        A box of 2 kg, half a metre above the floor.

        >>> from carom.systems import FLOOR, Body, Disc, PlanarSystem, PlaneContact
        >>> box = Body.box("box", width=0.4, height=1.0, mass=2.0)
        >>> corners = zip(("left", "right"), box.outline[0].points)
        >>> contacts = [PlaneContact(name, Disc("box", at), FLOOR, mu=0.5) for name, at in corners]
        >>> system = PlanarSystem([box], contacts)
        >>> system.nq, system.nv, system.contacts, system.mu.tolist()
        (3, 3, ('left', 'right'), [0.5, 0.5])
        >>> q = [0.0, 1.0, 0.0]
        >>> system.gap(q).tolist(), system.frames(q)["box"].point((0.0, -0.5))
        ([0.5, 0.5], (0.0, 0.5))
        >>> system.normal_jacobian(q).round(6).tolist()
        [[0.0, 1.0, -0.2], [0.0, 1.0, 0.2]]
    """

    def __init__(
        self,
        bodies: Sequence[Body],
        contacts: Sequence[Contact],
        *,
        pins: Sequence[Pin] = (),
        gravity: Vector2 = GRAVITY,
        inputs: Inputs | None = None,
    ) -> None:
        """Check the tree, the contacts and the pins."""
        self.bodies = tuple(bodies)
        self.contact_pairs = tuple(contacts)
        self.pins = tuple(pins)
        self.gravity = pair("gravity", gravity)
        self.inputs = inputs
        _check_tree(self.bodies)
        _check_contacts(self.bodies, self.contact_pairs)
        _check_pins(self.bodies, self.pins)
        self.constraints = tuple(row for pin in self.pins for row in pin.rows)
        count = sum(len(body.joints) for body in self.bodies)
        if count == 0:
            raise InvalidProblem("nothing can move: give at least one body a joint")
        names, mu, restitution = (
            [getattr(pair, of) for pair in self.contact_pairs]
            for of in ("name", "mu", "restitution")
        )
        super().__init__(count, count, names, mu, restitution)
        self._kind = np.dtype(np.float64), (count,)
        self.tree = _arrays(self.bodies, self.contact_pairs, self.gravity)

    # A fact rather than a question.
    constraints: tuple[str, ...] = ()

    def velocity_map(self, q: ArrayLike) -> FloatArray:
        """Return the identity, (nq, nv), whatever `q`."""
        return np.eye(self.nv)

    def potential_energy(self, q: ArrayLike) -> float:
        """Return -Σ m g·c, with c the bodies' centres of mass [J]."""
        return float(kernels.potential_energy(self.tree, self._vector("q", q)))

    def open_dynamics(self, q: ArrayLike, v: ArrayLike | None = None, t: float = 0.0) -> Dynamics:
        """Return everything at one state and time without pins, from one pass over the bodies."""
        q = self._vector("q", q)
        rates = np.zeros(self.nv) if v is None else self._vector("v", v)
        here, _ = self._look_round(q, rates)
        if self.inputs is not None:
            given = self.inputs(t, q, rates)
            here.force[:] += checks.vector("inputs", given, self.nv, InvalidProblem)
        return here

    def constraint_state(self, q: ArrayLike, v: ArrayLike | None = None) -> Constraints:
        """Return residuals [m], Jacobian and bias of the pins; at rest without `v`."""
        if not self.pins:
            return no_constraints(self.nv)
        rates = np.zeros(self.nv) if v is None else self._vector("v", v)
        _, frames = self._look_round(self._vector("q", q), rates)
        index = {body.name: i for i, body in enumerate(self.bodies)}
        return pin_constraints(self.pins, index, frames)

    def _look_round(self, q: FloatArray, rates: FloatArray) -> tuple[Dynamics, FloatArray]:
        """Return the equations of motion without inputs, and the frames of all bodies."""
        n, m = self.nv, len(self.contacts)
        M, force, phi, bias = np.empty((n, n)), np.empty(n), np.empty(m), np.empty((m, 2))
        J_n, J_t = np.empty((m, n)), np.empty((m, n))
        frames = np.empty((len(self.bodies) + 2, 3, 2 + n))
        wrong = _look_round(1, self.tree, q, rates, frames, M, force, phi, J_n, J_t, bias)
        if wrong == m:
            checks.vector("q", q, self.nv)
            checks.vector("v", rates, self.nv)
        if wrong >= 0:
            raise InvalidProblem(
                f"contact {self.contacts[wrong]!r} has no normal: the centres of its discs coincide"
            )
        return Dynamics(M, force, phi, J_n, J_t[:, None], bias), frames

    def input_at(self, q: ArrayLike, v: ArrayLike, t: float = 0.0) -> Input:
        """Return the force of the inputs."""
        if self.inputs is None:
            return Input(np.zeros(self.nv))
        given = self.inputs(t, self._vector("q", q), self._vector("v", v))
        return Input(checks.vector("inputs", given, self.nv, InvalidProblem))

    def body_poses(self, q: ArrayLike) -> FloatArray:
        """Return (x [m], y [m], angle [rad]) of every body's frame, (bodies, 3)."""
        return np.asarray(kernels.poses(self.tree, checks.vector("q", q, self.nv)))

    def frames(self, q: ArrayLike) -> dict[str, Frame]:
        """Return every body's frame at `q`, by name."""
        return {
            body.name: Frame((float(x), float(y)), float(angle))
            for body, (x, y, angle) in zip(self.bodies, self.body_poses(q), strict=True)
        }

    def _vector(self, name: str, value: ArrayLike) -> FloatArray:
        """Return a vector (nv,), or refuse what came, but for an array that is not finite."""
        # A short way for arrays: motions ask many thousand times. Read-only ones, as a scene's, are
        # copied, since kernels would be compiled once more for them.
        if isinstance(value, np.ndarray) and (value.dtype, value.shape) == self._kind:
            return np.ascontiguousarray(value) if value.flags.writeable else value.copy()
        return checks.vector(name, value, self.nv)


def _arrays(
    bodies: tuple[Body, ...], contacts: tuple[Contact, ...], gravity: Vector2
) -> kernels.Tree:
    """Lay a system out for the kernels."""
    index = {body.name: i for i, body in enumerate(bodies)}
    rows = [
        (
            kernels.WORLD if body.parent is None else index[body.parent],
            *(len(body.joints), *body.placement, *body.com, body.mass, body.inertia),
        )
        for body in bodies
    ]
    joints = [
        (kernels.PRISMATIC, *joint.axis)
        if isinstance(joint, Prismatic)
        else (kernels.REVOLUTE, 0.0, 0.0)
        for body in bodies
        for joint in body.joints
    ]
    pairs = [
        (
            *(index[contact.disc.body], *contact.disc.center, contact.disc.radius),
            *(
                (index[contact.other.body], *contact.other.center, contact.other.radius, 0.0, 0.0)
                if isinstance(contact, DiscContact)
                else (kernels.WORLD, *contact.plane.point, 0.0, *contact.plane.normal)
            ),
        )
        for contact in contacts
    ]
    return kernels.Tree(_table(rows, 8), _table(joints, 3), _table(pairs, 10), np.array(gravity))


def _table(rows: Iterable[tuple[float, ...]], width: int) -> FloatArray:
    return np.array(list(rows), dtype=np.float64).reshape(-1, width)


def _check_tree(bodies: tuple[Body, ...]) -> None:
    names = [body.name for body in bodies]
    _check_unique(names, "bodies")
    for index, body in enumerate(bodies):
        if body.parent is not None and body.parent not in names[:index]:
            raise InvalidProblem(
                f"parent {body.parent!r} of body {body.name!r} is not a body listed before it; "
                f"those are {names[:index]}"
            )


def _check_contacts(bodies: tuple[Body, ...], contacts: tuple[Contact, ...]) -> None:
    _check_unique([contact.name for contact in contacts], "contacts")
    names = [body.name for body in bodies]
    for contact in contacts:
        for body in contact.bodies:
            if body not in names:
                raise InvalidProblem(
                    f"contact {contact.name!r} is on unknown body {body!r}; bodies are {names}"
                )


def _check_pins(bodies: tuple[Body, ...], pins: tuple[Pin, ...]) -> None:
    _check_unique([pin.name for pin in pins], "pins")
    names = [body.name for body in bodies]
    for pin in pins:
        for body in (pin.body, pin.other):
            if body is not None and body not in names:
                raise InvalidProblem(
                    f"pin {pin.name!r} is on unknown body {body!r}; bodies are {names}"
                )


def _check_unique(names: Sequence[str], what: str) -> None:
    for name, count in Counter(names).items():
        if count > 1:
            raise InvalidProblem(f"two {what} are named {name!r}; names must be unique")
