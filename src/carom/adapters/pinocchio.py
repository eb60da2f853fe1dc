"""Robots of Pinocchio: points, spheres and boxes that touch a half-space."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np

from carom.adapters.contact_points import ContactPoint, Contacts
from carom.adapters.engine import Restitution
from carom.adapters.frames import FrameMotion
from carom.adapters.half_space import GROUND, UNIT, HalfSpace, HalfSpaceSystem
from carom.adapters.limits import Limits
from carom.adapters.loops import (
    BallConstraint,
    CouplerConstraint,
    DistanceConstraint,
    WeldConstraint,
)
from carom.adapters.pairs import Nearest
from carom.errors import InvalidFile, InvalidOption, MissingExtra
from carom.systems.solids import NO_FACES, NO_VERTICES, Solid, pose, pose_along
from carom.typing import ArrayLike, FloatArray

try:
    import pinocchio as pin

    from carom.adapters.pinocchio_model import complete_inertia, described, frame_id, joint_ranges
    from carom.adapters.pinocchio_shapes import GeometryPairs, collision_points
except ModuleNotFoundError as error:
    raise MissingExtra(
        'carom.adapters.pinocchio needs Pinocchio: pip install pin, or "carom[pinocchio]"'
    ) from error

__all__ = [
    "BallConstraint",
    "ContactPoint",
    "CouplerConstraint",
    "DistanceConstraint",
    "HalfSpace",
    "PinocchioSystem",
    "WeldConstraint",
    "collision_points",
]

FREE_FLYER = "JointModelFreeFlyer"


MOMENT = 1e-6
"""Half the step of the central difference that gives velocities to draw [s]."""


class PinocchioSystem(HalfSpaceSystem):
    """Describe a robot of Pinocchio that touches a half-space.

    q and v are Pinocchio's: the quaternion of a floating base is (x, y, z, w), and its velocity,
    linear part first, is in the axes of the base. The mass matrix has the rotors' inertia:
    `model.armature`, or where that is zero `model.rotorInertia` times the square of
    `model.rotorGearRatio`. Gravity is `model.gravity`. Limits of joints are contacts without
    friction, "knee (low)" and "knee (high)", with gaps in the unit of the joint. Joints that mimic
    others move as these let them. Not modelled: friction and damping in joints.

    Args:
        model: `pinocchio.Model`, which is copied.
        contacts: Names of frames, whose origins may touch, or `ContactPoint`s. For geometry see
            `collision_points`.
        ground: Half-space that they touch; z <= 0 if not given.
        mu: Friction coefficient of all contacts that have none of their own.
        restitution: Coefficient of restitution of all contacts that have none of their own, or of
            some, by their names; 0 for all others, and for limits of joints that are not named.
        limits: Whether limits of joints are contacts.
        constraints: Equality constraints, such as closed loops: Pinocchio's constraint models of
            points and frames, or those of `carom.adapters.loops`, between frames and joints.
        geometry: `pinocchio.GeometryModel` whose collision pairs may touch: parts of the robot, and
            shapes that stand in the world. Each pair has one contact, where its shapes are nearest;
            corners of a box and ends of a capsule have one each over a half-space. Flat faces on
            each other need more than that: give points, or use MuJoCo.

    Examples:
        A ball of 2 kg and radius 0.1 m, whose centre is 0.1 m above the ground.

        >>> import pinocchio as pin
        >>> from carom.adapters.pinocchio import ContactPoint, PinocchioSystem
        >>> model = pin.buildModelFromXML('''<robot name="ball"><link name="ball"><inertial>
        ...   <mass value="2"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/>
        ... </inertial></link></robot>''', pin.JointModelFreeFlyer())
        >>> system = PinocchioSystem(model, [ContactPoint("ball", radius=0.1)], mu=0.5)
        >>> q = [0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 1.0]
        >>> system.nq, system.nv, system.contacts, system.gap(q).tolist()
        (7, 6, ('ball',), [0.0])
        >>> system.stand(system.neutral).round(9).tolist()
        [0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 1.0]
        >>> problem = system.impact_problem(q, [0.0, 0.0, -1.0, 0.0, 0.0, 0.0])
    """

    def __init__(
        self,
        model: Any,
        contacts: Contacts = (),
        *,
        ground: HalfSpace = GROUND,
        mu: float | None = None,
        restitution: Restitution = 0.0,
        limits: bool = True,
        constraints: Sequence[Any] = (),
        geometry: Any = None,
    ) -> None:
        if not isinstance(model, pin.Model):
            raise InvalidOption(f"model: expected a pinocchio.Model, got {model!r}")
        self._model = model.copy()
        complete_inertia(self._model)
        loops = [described(self._model, i, each) for i, each in enumerate(constraints)]
        ends = Limits.of(joint_ranges(model) if limits else (), model.nv)
        sizes = model.nq, model.nv
        self._pairs = None if geometry is None else GeometryPairs(model, geometry)
        slots = () if self._pairs is None else self._pairs.slots
        super().__init__(sizes, contacts, ground, mu, restitution, ends, loops, slots)
        self._data = self._model.createData()
        self._frames = [frame_id(self._model, name) for name in self._frame_names]

    @classmethod
    def from_urdf(
        cls,
        path: str | PathLike[str],
        feet: Contacts = (),
        *,
        shapes: Sequence[str] = (),
        free_flyer: bool = True,
        package_dirs: str | Sequence[str] | None = None,
        ground: HalfSpace = GROUND,
        mu: float | None = None,
        restitution: Restitution = 0.0,
        limits: bool = True,
        constraints: Sequence[Any] = (),
        mimic: bool = False,
    ) -> PinocchioSystem:
        """Read a robot from a URDF file.

        Args:
            path: Path of the file.
            feet: Names of links or other frames whose origins may touch, or `ContactPoint`s.
            shapes: Names of links whose collision shapes, which must be spheres, boxes, capsules or
                meshes, may touch as well. For them all meshes of the file are read.
            free_flyer: Whether the base floats.
            package_dirs: Folders in which `package://` addresses of meshes are looked up.
            ground: As in `PinocchioSystem`.
            mu: As in `PinocchioSystem`.
            restitution: As in `PinocchioSystem`.
            limits: As in `PinocchioSystem`.
            constraints: As in `PinocchioSystem`.
            mimic: Whether joints mimic others where the file says so; else they move freely.

        Raises:
            InvalidFile: The file cannot be read.
        """
        if not Path(path).is_file():
            raise InvalidFile(f"path: there is no file {fspath(path)!r}")
        root = (pin.JointModelFreeFlyer(),) if free_flyer else ()
        given = [feet] if isinstance(feet, str | ContactPoint) else list(feet)
        try:
            model = pin.buildModelFromUrdf(fspath(path), *root, mimic=mimic)
            if shapes:
                geometry = pin.buildGeomFromUrdf(
                    model, fspath(path), pin.GeometryType.COLLISION, package_dirs=package_dirs
                )
        except (RuntimeError, ValueError) as error:
            raise InvalidFile(f"path: cannot read {fspath(path)!r}: {error}") from error
        if shapes:
            given += collision_points(model, geometry, shapes)
        options: Any = {"limits": limits, "constraints": constraints}
        return cls(model, given, ground=ground, mu=mu, restitution=restitution, **options)

    @property
    def neutral(self) -> FloatArray:
        """Return the configuration (nq,) in which all joints are at zero."""
        return np.asarray(pin.neutral(self._model), dtype=np.float64)

    @property
    def joints(self) -> dict[str, tuple[int, int]]:
        # The first one is the world.
        found = zip(list(self._model.names)[1:], list(self._model.joints)[1:], strict=True)
        return {name: (j.idx_q, j.idx_v) for name, j in found if (j.nq, j.nv) == (1, 1)}

    @property
    def base_velocities(self) -> slice:
        """Return which velocities are those of the floating base; none if it is fixed."""
        floats = self._model.njoints > 1 and self._model.joints[1].shortname() == FREE_FLYER
        return slice(0, 6 if floats else 0)

    def solids(self) -> list[Solid]:
        """Return a skeleton, for drawing: a sphere per joint, and links to the joints before it.

        Points that may touch are joined to their joint as well.
        """
        starts, ends = self._bones(self.neutral)
        lengths = np.linalg.norm(ends - starts, axis=1)
        radius = 0.12 * float(np.median(lengths[lengths > 0.0])) if lengths.any() else 0.05
        shape: Any = {"vertices": NO_VERTICES, "faces": NO_FACES, "color": (0.55, 0.62, 0.7)}
        joints = [
            Solid(name, "sphere", np.array([radius, 0.0, 0.0]), **shape)
            for name in list(self._model.names)[1:]
        ]
        bones = [
            Solid(f"link {i}", "capsule", np.array([0.6 * radius, 0.5 * length, 0.0]), **shape)
            for i, length in enumerate(lengths)
        ]
        return joints + bones

    def placements(self, q: ArrayLike) -> FloatArray:
        """Return the poses (n, 4, 4) of all solids at a configuration."""
        starts, ends = self._bones(q)
        joints = [pose(place.translation, place.rotation) for place in list(self._data.oMi)[1:]]
        return np.array(joints + [pose_along(*pair) for pair in zip(starts, ends, strict=True)])

    def contact_places(self, q: ArrayLike) -> FloatArray:
        """Return where contacts are (m, 3) [m]; limits are at their joints."""
        self._place(q)
        places = [
            self._data.oMf[frame_id(self._model, point.frame)].act(point.offset)
            - point.radius * self.ground.normal
            for point in self.points
        ]
        if self._pairs is not None:
            nearest = self._nearest(self._checked(q))
            places += [*(0.5 * (nearest.one + nearest.other))]
            self._place(q)
        starts = [joint.idx_v for joint in self._model.joints]
        for velocity in self._limits.velocity.tolist():
            own = max(
                (i for i, start in enumerate(starts) if start <= velocity), key=starts.__getitem__
            )
            places.append(np.array(self._data.oMi[own].translation))
        return np.array(places)

    def contact_motions(self, q: ArrayLike, v: ArrayLike) -> FloatArray:
        """Return the velocities (m, 3) of the points in contact, or of their spheres' centres.

        Those of limits are zero.
        """
        # For drawing only, where central differences are more than enough.
        before, after = (self.contact_places(self.integrate(q, v, t)) for t in (-MOMENT, MOMENT))
        motions = (after - before) / (2.0 * MOMENT)
        motions[self.num_body_contacts :] = 0.0
        return motions

    def integrate(self, q: ArrayLike, v: ArrayLike, duration: float) -> FloatArray:
        """Return the configuration (nq,) that a constant velocity leads to."""
        step = duration * np.asarray(v, dtype=np.float64)
        return np.asarray(pin.integrate(self._model, self._checked(q), step), dtype=np.float64)

    def _nearest(self, q: FloatArray) -> Nearest:
        assert self._pairs is not None
        return self._pairs.nearest(self._model, self._data, q)

    def _place(self, q: ArrayLike) -> None:
        """Move joints and frames to a configuration."""
        pin.forwardKinematics(self._model, self._data, self._checked(q))
        pin.updateFramePlacements(self._model, self._data)

    def _bones(self, q: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return the ends (n, 3) of lines from joints to those before them, and to contacts."""
        places = self.contact_places(q)
        at, parents = [np.array(x.translation) for x in self._data.oMi], self._model.parents
        frames = [self._model.frames[frame_id(self._model, x.frame)] for x in self.points]
        lines = [(at[parents[i]], at[i]) for i in range(1, len(at)) if parents[i] > 0]
        lines += [(at[f.parentJoint], x) for f, x in zip(frames, places, strict=False)]
        starts, ends = np.array(lines).transpose(1, 0, 2)
        return starts, ends

    def _velocity_map(self, q: FloatArray) -> FloatArray:
        return np.array(pin.tangentMap(self._model, q)).reshape(self.nq, self.nv)

    def _potential_energy(self, q: FloatArray) -> float:
        return float(pin.computePotentialEnergy(self._model, self._data, q))

    def _normalized(self, q: FloatArray) -> FloatArray:
        unit = np.array(pin.normalize(self._model, q), dtype=np.float64)
        # A quaternion of zeros is left as it is.
        return unit if pin.isNormalized(self._model, unit, UNIT) else np.full_like(unit, np.nan)

    def _motion(self, q: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray, FrameMotion]:
        model, data, aligned = self._model, self._data, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        # Pinocchio returns a matrix with one column as a vector.
        M = np.array(pin.crba(model, data, q)).reshape(self.nv, self.nv)
        # Some versions fill the upper half alone.
        M = np.triu(M) + np.triu(M, 1).T
        force = -np.array(pin.nonLinearEffects(model, data, q, v))
        pin.computeJointJacobians(model, data, q)
        # Without joint acceleration, and therefore without gravity: what is left is dJ/dt v.
        pin.forwardKinematics(model, data, q, v, np.zeros(self.nv))
        pin.updateFramePlacements(model, data)
        jacobians = [pin.getFrameJacobian(model, data, i, aligned) for i in self._frames]
        biases = [
            pin.getFrameClassicalAcceleration(model, data, i, aligned).vector for i in self._frames
        ]
        frames = FrameMotion(
            position=np.array([data.oMf[i].translation for i in self._frames]).reshape(-1, 3),
            rotation=np.array([data.oMf[i].rotation for i in self._frames]).reshape(-1, 3, 3),
            J=np.array(jacobians).reshape(-1, 6, self.nv),
            bias=np.array(biases).reshape(-1, 6),
        )
        return M, force, frames
