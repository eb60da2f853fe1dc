"""Planar systems: a tree of bodies in one-dof joints, with disc and half-plane contacts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import final

import numpy as np

from carom import checks
from carom.errors import CaromError, InvalidOption, InvalidProblem
from carom.kernels import planar as kernels
from carom.systems.planar_bodies import Body, Frame, Prismatic, Vector2, pair
from carom.systems.planar_contacts import Contact, DiscContact
from carom.systems.system import Dynamics, OnePassSystem
from carom.typing import ArrayLike, FloatArray

GRAVITY: Vector2 = (0.0, -9.81)
"""Acceleration of gravity where nothing else is said [m/s^2]."""

Inputs = Callable[[float, FloatArray, FloatArray], ArrayLike]
"""Generalized forces (nv,) that act on the joints, as a function of t, q and v."""


@final
class PlanarSystem(OnePassSystem):
    """Join planar bodies into a tree and let them touch.

    Coordinates are the joints of the bodies, in the order given; velocities are their rates, so
    that nq = nv and Γ is the identity.

    Args:
        bodies: The bodies, parents first.
        contacts: What may touch what.
        gravity: Acceleration of gravity [m/s^2].
        inputs: Forces on the joints (nv,) as a function of t, q and v; None for no forces.

    Attributes:
        contact_pairs: What may touch what; `contacts` are their names. The rest is as given.

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
        gravity: Vector2 = GRAVITY,
        inputs: Inputs | None = None,
    ) -> None:
        """Check the tree and the contacts."""
        self.bodies = tuple(bodies)
        self.contact_pairs = tuple(contacts)
        self.gravity = pair("gravity", gravity)
        self.inputs = inputs
        _check_tree(self.bodies)
        _check_contacts(self.bodies, self.contact_pairs)
        count = sum(len(body.joints) for body in self.bodies)
        if count == 0:
            raise InvalidProblem("nothing can move: give at least one body a joint")
        names, mu = ([getattr(pair, of) for pair in self.contact_pairs] for of in ("name", "mu"))
        super().__init__(count, count, names, mu)
        self._tree = _arrays(self.bodies, self.contact_pairs, self.gravity)

    def velocity_map(self, q: ArrayLike) -> FloatArray:
        """Return the identity, (nq, nv), whatever `q`."""
        return np.eye(self.nv)

    def potential_energy(self, q: ArrayLike) -> float:
        """Return -Σ m g·c, with c the bodies' centres of mass [J]."""
        placed = zip(self.bodies, self.frames(q).values(), strict=True)
        return -float(
            sum(body.mass * np.dot(self.gravity, frame.point(body.com)) for body, frame in placed)
        )

    def dynamics(self, q: ArrayLike, v: ArrayLike | None = None, t: float = 0.0) -> Dynamics:
        """Return everything at one state and time, from one pass over the bodies."""
        n, m = self.nv, len(self.contact_pairs)
        q = self._checked("q", q)
        rates = np.zeros(n) if v is None else self._checked("v", v)
        pose, bias, J = self._place(q, rates)
        M, force = np.empty((n, n)), np.empty(n)
        kernels.inertia(self._tree, pose, bias, J, M, force)
        phi, J_n, J_t = np.empty(m), np.empty((m, n)), np.empty((m, n))
        contact_bias = np.empty((m, 2))
        wrong = kernels.touch(self._tree, rates, pose, bias, J, phi, J_n, J_t, contact_bias)
        if wrong >= 0:
            raise InvalidProblem(
                f"contact {self.contacts[wrong]!r} has no normal: the centres of its discs coincide"
            )
        if self.inputs is not None:
            force += self._checked("inputs", self.inputs(t, q, rates), InvalidProblem)
        return Dynamics(M, force, phi, J_n, J_t[:, None, :], contact_bias)

    def body_poses(self, q: ArrayLike) -> FloatArray:
        """Return (x [m], y [m], angle [rad]) of every body's frame, (bodies, 3)."""
        return self._place(self._checked("q", q), np.zeros(self.nv))[0][:, :3]

    def frames(self, q: ArrayLike) -> dict[str, Frame]:
        """Return every body's frame at `q`, by name."""
        return {
            body.name: Frame((float(x), float(y)), float(angle))
            for body, (x, y, angle) in zip(self.bodies, self.body_poses(q), strict=True)
        }

    def _place(self, q: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        b = len(self.bodies)
        pose, bias, J = np.empty((b, 4)), np.empty((b, 2)), np.empty((b, 3, self.nv))
        kernels.place(self._tree, q, v, pose, bias, J)
        return pose, bias, J

    def _checked(
        self, name: str, value: ArrayLike, error: type[CaromError] = InvalidOption
    ) -> FloatArray:
        # A short way for arrays: motions ask many thousand times.
        if (
            isinstance(value, np.ndarray)
            and (value.dtype, value.shape) == (np.float64, (self.nv,))
            and np.isfinite(value).all()
        ):
            return np.ascontiguousarray(value)
        return checks.vector(name, value, self.nv, error)


def _arrays(
    bodies: tuple[Body, ...], contacts: tuple[Contact, ...], gravity: Vector2
) -> kernels.Tree:
    """Lay a system out for the kernels."""
    index = {body.name: i for i, body in enumerate(bodies)}
    joints = [joint for body in bodies for joint in body.joints]
    discs = [contact if isinstance(contact, DiscContact) else None for contact in contacts]
    planes = [None if isinstance(contact, DiscContact) else contact.plane for contact in contacts]
    none = (0.0, 0.0)
    return kernels.Tree(
        parent=np.array(
            [kernels.WORLD if body.parent is None else index[body.parent] for body in bodies]
        ),
        placement=_pairs(body.placement for body in bodies),
        first_joint=np.cumsum([0] + [len(body.joints) for body in bodies]),
        com=_pairs(body.com for body in bodies),
        mass=np.array([body.mass for body in bodies]),
        inertia=np.array([body.inertia for body in bodies]),
        joint=np.where(
            [isinstance(joint, Prismatic) for joint in joints], kernels.PRISMATIC, kernels.REVOLUTE
        ),
        axis=_pairs(joint.axis if isinstance(joint, Prismatic) else none for joint in joints),
        body=np.array([index[contact.disc.body] for contact in contacts], dtype=np.int64),
        center=_pairs(contact.disc.center for contact in contacts),
        radius=np.array([contact.disc.radius for contact in contacts], dtype=np.float64),
        other=np.array(
            [index[pair.other.body] if pair else kernels.WORLD for pair in discs], dtype=np.int64
        ),
        other_center=_pairs(
            plane.point if plane else pair.other.center if pair else none
            for plane, pair in zip(planes, discs, strict=True)
        ),
        other_radius=np.array([pair.other.radius if pair else 0.0 for pair in discs]),
        normal=_pairs(plane.normal if plane else none for plane in planes),
        gravity=np.array(gravity),
    )


def _pairs(vectors: Iterable[Vector2]) -> FloatArray:
    return np.array(list(vectors), dtype=np.float64).reshape(-1, 2)


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


def _check_unique(names: Sequence[str], what: str) -> None:
    for name, count in Counter(names).items():
        if count > 1:
            raise InvalidProblem(f"two {what} are named {name!r}; names must be unique")
