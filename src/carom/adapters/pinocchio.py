"""Robots of Pinocchio: points, spheres and boxes that touch a half-space."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np

from carom.adapters.half_space import (
    ContactPoint,
    HalfSpace,
    box_corners,
    capsule_ends,
    unknown,
)
from carom.adapters.half_space_system import UNIT, FrameMotion, HalfSpaceSystem
from carom.errors import InvalidProblem, MissingExtra
from carom.typing import ArrayLike, FloatArray

try:
    import pinocchio as pin
except ModuleNotFoundError as error:
    raise MissingExtra(
        'carom.adapters.pinocchio needs Pinocchio: pip install "carom[pinocchio]"'
    ) from error

__all__ = ["ContactPoint", "HalfSpace", "PinocchioSystem", "collision_points"]

FREE_FLYER = "JointModelFreeFlyer"


class PinocchioSystem(HalfSpaceSystem):
    """Describe a robot of Pinocchio that touches a half-space.

    q and v are Pinocchio's: the quaternion of a floating base is (x, y, z, w), and its velocity,
    linear part first, is in the axes of the base. The mass matrix has the rotors' inertia
    (`model.armature`). Gravity is `model.gravity`. Friction and damping in joints, limits of joints
    and loops are not modelled; nor are contacts between parts of the robot.

    Args:
        model: `pinocchio.Model`, which is copied.
        contacts: What may touch: names of frames, whose origins are points, or `ContactPoint`s. For
            geometry see `collision_points`.
        ground: What they touch; the ground z = 0 if not given.
        mu: Friction coefficient of all contacts that have none of their own.

    Raises:
        InvalidProblem: There is no such frame, no contact or no friction coefficient, or joints of
            the model depend on each other (mimic).

    Examples:
        A ball of 2 kg and radius 0.1 m, whose centre is 0.1 m above the ground.

        >>> import pinocchio as pin
        >>> from carom.adapters.pinocchio import ContactPoint, PinocchioSystem
        >>> model = pin.Model()
        >>> joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "ball")
        >>> model.appendBodyToJoint(joint, pin.Inertia.FromSphere(2.0, 0.1), pin.SE3.Identity())
        >>> frame = model.addJointFrame(joint)
        >>> system = PinocchioSystem(model, [ContactPoint("ball", radius=0.1)], mu=0.5)
        >>> q = [0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 1.0]
        >>> system.nq, system.nv, system.contacts, system.mu.tolist(), system.gap(q).tolist()
        (7, 6, ('ball',), [0.5], [0.0])
        >>> system.velocity_map(q).shape, round(system.potential_energy(q), 3)
        ((7, 6), 1.962)
        >>> system.base_velocities, system.neutral.tolist()
        (slice(0, 6, None), [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
        >>> system.stand(system.neutral).round(9).tolist()
        [0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 1.0]
        >>> problem = system.impact_problem(q, [0.0, 0.0, -1.0, 0.0, 0.0, 0.0])
        >>> problem.contacts, problem.num_tangents, problem.contact_velocity(problem.v_pre).tolist()
        (('ball',), 2, [[-1.0, 0.0, 0.0]])
    """

    def __init__(
        self,
        model: Any,
        contacts: Iterable[str | ContactPoint],
        *,
        ground: HalfSpace | None = None,
        mu: float | None = None,
    ) -> None:
        if not isinstance(model, pin.Model):
            raise InvalidProblem(f"model: expected a pinocchio.Model, got {model!r}")
        # The first versions of Pinocchio 3 know no mimicking joints.
        mimicking = getattr(model, "mimicking_joints", ())
        if len(mimicking):
            raise InvalidProblem(
                f"model: joint {model.names[mimicking[0]]!r} mimics another one, "
                f"which is not supported; build the model without mimic joints"
            )
        super().__init__(contacts, ground, mu)
        self._model = model.copy()
        self._data = self._model.createData()
        self._frames = [_frame_id(self._model, name) for name in self._frame_names]

    @classmethod
    def from_urdf(
        cls,
        path: str | PathLike[str],
        feet: Iterable[str | ContactPoint] = (),
        *,
        shapes: Sequence[str] = (),
        free_flyer: bool = True,
        package_dirs: str | Sequence[str] | None = None,
        ground: HalfSpace | None = None,
        mu: float | None = None,
    ) -> PinocchioSystem:
        """Read a robot from a URDF file.

        Args:
            path: The file.
            feet: Names of links or other frames whose origins may touch, or `ContactPoint`s.
            shapes: Names of links whose collision shapes, which must be spheres, boxes or capsules,
                may touch as well. For them all meshes of the file are read.
            free_flyer: Whether the base floats.
            package_dirs: Folders in which `package://` addresses of meshes are looked up.
            ground: What they touch; the ground z = 0 if not given.
            mu: Friction coefficient of all contacts that have none of their own.

        Raises:
            InvalidProblem: The file cannot be read, or what `PinocchioSystem` and
                `collision_points` refuse.

        Examples:
            >>> import tempfile
            >>> from pathlib import Path
            >>> from carom.adapters.pinocchio import PinocchioSystem
            >>> urdf = '''<robot name="ball"><link name="ball">
            ...   <inertial><mass value="2"/>
            ...     <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
            ...   <collision><geometry><sphere radius="0.1"/></geometry></collision>
            ... </link></robot>'''
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     path = Path(folder, "ball.urdf")
            ...     _ = path.write_text(urdf)
            ...     system = PinocchioSystem.from_urdf(path, shapes=["ball"], mu=0.5)
            >>> system.contacts, system.gap([0.0, 0.0, 0.3, 0.0, 0.0, 0.0, 1.0]).round(9).tolist()
            (('ball_0',), [0.2])
        """
        if not Path(path).is_file():
            raise InvalidProblem(f"path: there is no file {fspath(path)!r}")
        root = (pin.JointModelFreeFlyer(),) if free_flyer else ()
        given = [feet] if isinstance(feet, str | ContactPoint) else list(feet)
        try:
            model = pin.buildModelFromUrdf(fspath(path), *root)
            if shapes:
                geometry = pin.buildGeomFromUrdf(
                    model, fspath(path), pin.GeometryType.COLLISION, package_dirs=package_dirs
                )
        except (RuntimeError, ValueError) as error:
            raise InvalidProblem(f"path: cannot read {fspath(path)!r}: {error}") from error
        if shapes:
            given += collision_points(model, geometry, shapes)
        return cls(model, given, ground=ground, mu=mu)

    @property
    def nq(self) -> int:
        """Return the number nq of configuration coordinates."""
        return int(self._model.nq)

    @property
    def nv(self) -> int:
        """Return the number nv of generalized velocities."""
        return int(self._model.nv)

    @property
    def neutral(self) -> FloatArray:
        """Return the configuration (nq,) in which all joints are at zero."""
        return np.asarray(pin.neutral(self._model), dtype=np.float64)

    @property
    def base_velocities(self) -> slice:
        """Return which velocities are those of the floating base; none if it is fixed."""
        floats = self._model.njoints > 1 and self._model.joints[1].shortname() == FREE_FLYER
        return slice(0, 6 if floats else 0)

    def velocity_map(self, q: ArrayLike) -> FloatArray:
        """Return Γ(q), (nq, nv), so that dq/dt = Γ v.

        Args:
            q: Configuration, (nq,).

        Raises:
            InvalidProblem: As in `dynamics`.
        """
        gamma = np.array(pin.tangentMap(self._model, self._checked(q)), dtype=np.float64)
        return gamma.reshape(self.nq, self.nv)

    def potential_energy(self, q: ArrayLike) -> float:
        """Return the potential energy of gravity [J].

        Args:
            q: Configuration, (nq,).

        Raises:
            InvalidProblem: As in `dynamics`.
        """
        return float(pin.computePotentialEnergy(self._model, self._data, self._checked(q)))

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
        placements = [data.oMf[i] for i in self._frames]
        frames = FrameMotion(
            position=np.array([placement.translation for placement in placements]),
            rotation=np.array([placement.rotation for placement in placements]),
            J=np.array(jacobians).reshape(-1, 6, self.nv),
            bias=np.array(biases),
        )
        return M, force, frames


def collision_points(
    model: Any, geometry_model: Any, names: Sequence[str] | None = None
) -> list[ContactPoint]:
    """Return the contacts of collision geometry: a sphere's, both of a capsule, a box's corners.

    Against a half-space nothing else of them can touch first.

    Args:
        model: `pinocchio.Model`.
        geometry_model: `pinocchio.GeometryModel` that belongs to it.
        names: Names of geometries, or of links, which stand for all their geometries; all
            geometries if not given.

    Raises:
        InvalidProblem: Nothing has such a name, or a geometry is of another kind.

    Examples:
        >>> import pinocchio as pin
        >>> from carom.adapters.pinocchio import collision_points
        >>> model = pin.buildSampleModelHumanoid()
        >>> shapes = pin.buildSampleGeometryModelHumanoid(model)
        >>> [point.name for point in collision_points(model, shapes, ["rleg_effector_body"])]
        ['rleg_effector_object+', 'rleg_effector_object-']
    """
    found = []
    objects = list(geometry_model.geometryObjects)
    links = [model.frames[each.parentFrame].name for each in objects]
    for name in [None] if names is None else names:
        chosen = [
            each
            for each, link in zip(objects, links, strict=True)
            if name in (None, each.name, link)
        ]
        if not chosen:
            known = [*dict.fromkeys(links), *(each.name for each in objects)]
            raise InvalidProblem(unknown("link with collision geometry, or geometry,", name, known))
        found += [point for each in chosen for point in _points_of(model, each)]
    return found


def _points_of(model: Any, geometry: Any) -> list[ContactPoint]:
    frame = model.frames[geometry.parentFrame]
    # Both are placed in their joint; a ContactPoint is placed in its frame.
    placement = frame.placement.actInv(geometry.placement)
    shape, kind = geometry.geometry, type(geometry.geometry).__name__
    rotation, center = placement.rotation, placement.translation
    if kind == "Sphere":
        return [ContactPoint(frame.name, center, shape.radius, geometry.name)]
    if kind == "Box":
        return box_corners(frame.name, geometry.name, rotation, center, shape.halfSide)
    if kind == "Capsule":
        half, radius = shape.halfLength, shape.radius
        return capsule_ends(frame.name, geometry.name, rotation, center, half, radius)
    raise InvalidProblem(
        f"geometry {geometry.name!r} is a {kind}, and only spheres, boxes and capsules are "
        f"supported; name others, or give ContactPoints of its frame {frame.name!r}"
    )


def _frame_id(model: Any, name: str) -> int:
    found = [i for i, frame in enumerate(model.frames) if frame.name == name]
    if not found:
        raise InvalidProblem(unknown("frame", name, (frame.name for frame in model.frames)))
    # A joint and its link may share a name. In a URDF file they then share their place as well.
    first = model.frames[found[0]]
    for i in found[1:]:
        other = model.frames[i]
        if other.parentJoint != first.parentJoint or other.placement != first.placement:
            raise InvalidProblem(f"{len(found)} frames are named {name!r}; rename all but one")
    return found[0]
