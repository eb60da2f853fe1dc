"""Robots of Drake: points, spheres and boxes that touch a half-space."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from carom.adapters.contact_points import ContactPoint, Contacts
from carom.adapters.engine import Restitution
from carom.adapters.frames import FrameMotion
from carom.adapters.half_space import GROUND, HalfSpace, HalfSpaceSystem
from carom.adapters.limits import Limits
from carom.adapters.loops import (
    BallConstraint,
    CouplerConstraint,
    DistanceConstraint,
    LoopConstraint,
    WeldConstraint,
)
from carom.adapters.pairs import Nearest
from carom.errors import MissingExtra
from carom.systems.quaternions import turned
from carom.systems.system import Input
from carom.typing import ArrayLike, FloatArray

try:
    from pydrake.multibody.tree import JacobianWrtVariable, MultibodyForces

    from carom.adapters.drake_plant import (
        all_constraints,
        check_context,
        check_plant,
        frame_named,
        joint_ranges,
        joints_of,
    )
    from carom.adapters.drake_scene import ScenePairs, scene_contacts
except ModuleNotFoundError as error:
    raise MissingExtra(
        'carom.adapters.drake needs Drake: pip install drake, or "carom[drake]"'
    ) from error

__all__ = [
    "BallConstraint",
    "ContactPoint",
    "CouplerConstraint",
    "DistanceConstraint",
    "DrakeSystem",
    "HalfSpace",
    "WeldConstraint",
    "scene_contacts",
]


class DrakeSystem(HalfSpaceSystem):
    """Describe a robot of Drake that touches a half-space.

    q and v are Drake's: the quaternion of a floating base is (w, x, y, z), and its velocity,
    angular part first, is in the axes of the world. The mass matrix has reflected inertia. The
    smooth force has gravity, damping of joints and all force elements, such as springs, but no
    actuators. Limits of joints are contacts without friction, "knee (low)" and "knee (high)", with
    gaps in the unit of the joint; those of ball joints in roll, pitch and yaw are left out. No
    context is changed.

    Contacts are points and spheres, since Drake's query for the nearest points gives only one for a
    pair of shapes, and none for a box and a half-space. A plant must be finalized, and have no
    joint that is locked. Distance constraints that are rigid are read from the plant; of couplers,
    balls and welds pydrake tells nothing but their number, so that they are described once more by
    `constraints`.

    Args:
        plant: `MultibodyPlant`, finalized.
        contacts: Names of frames, whose origins may touch, or `ContactPoint`s. For geometry see
            `scene_contacts`.
        context: Context of the plant, whose parameters, such as masses, are copied; the default
            one if not given.
        ground: Half-space that they touch; z <= 0 if not given.
        mu: Friction coefficient of all contacts that have none of their own.
        restitution: Coefficient of restitution of all contacts that have none of their own, or of
            some, by their names; 0 for all others, and for limits of joints that are not named.
        limits: Whether limits of joints are contacts.
        constraints: Equality constraints, as those of `carom.adapters.loops`: all of the plant's
            that are active, but for distances, or others if it has none.
        scene_graph: `SceneGraph` whose shapes may touch each other, with their own friction: all
            pairs that it does not filter out, but for those with a half-space. Each has one
            contact, where its shapes are nearest; flat faces on each other need more than that.

    Examples:
        A ball of 2 kg and radius 0.1 m lands on the ground.

        >>> from pydrake.multibody.plant import MultibodyPlant
        >>> from pydrake.multibody.tree import SpatialInertia
        >>> from carom.adapters.drake import ContactPoint, DrakeSystem
        >>> plant = MultibodyPlant(time_step=0.0)
        >>> body = plant.AddRigidBody("ball", SpatialInertia.SolidSphereWithMass(2.0, 0.1))
        >>> plant.Finalize()
        >>> system = DrakeSystem(plant, [ContactPoint("ball", radius=0.1)], mu=0.5)
        >>> q = system.stand([1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
        >>> q.round(9).tolist(), system.contacts
        ([1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.1], ('ball',))
        >>> problem = system.impact_problem(q, [0.0, 0.0, 0.0, 0.0, 0.0, -1.0])
    """

    _pair_step = 1e-3

    def __init__(
        self,
        plant: Any,
        contacts: Contacts = (),
        context: Any = None,
        *,
        ground: HalfSpace = GROUND,
        mu: float | None = None,
        restitution: Restitution = 0.0,
        limits: bool = True,
        constraints: Sequence[LoopConstraint] = (),
        scene_graph: Any = None,
    ) -> None:
        check_plant(plant)
        self._plant = plant
        self._context = plant.CreateDefaultContext()
        if context is not None:
            check_context(plant, context)
            self._context.SetTimeStateAndParametersFrom(context)
        loops = all_constraints(plant, self._context, list(constraints))
        sizes = plant.num_positions(), plant.num_velocities()
        ends = Limits.of(joint_ranges(plant) if limits else (), sizes[1])
        self._pairs = None if scene_graph is None else ScenePairs(plant, scene_graph)
        slots = () if self._pairs is None else self._pairs.slots
        super().__init__(sizes, contacts, ground, mu, restitution, ends, loops, slots)
        self._frames = [frame_named(plant, name) for name in self._frame_names]
        self._quaternions = [
            (joint.position_start(), joint.velocity_start())
            for joint in joints_of(plant)
            if joint.type_name() == "quaternion_floating"
        ]
        self._damping = np.zeros((self.nv, self.nv))
        for joint in joints_of(plant):
            own = range(joint.velocity_start(), joint.velocity_start() + joint.num_velocities())
            self._damping[own, own] = joint.GetDampingVector(self._context)

    @classmethod
    def from_scene(
        cls,
        plant: Any,
        scene_graph: Any,
        context: Any = None,
        *,
        bodies: Iterable[str] | None = None,
        restitution: Restitution = 0.0,
        limits: bool = True,
        constraints: Sequence[LoopConstraint] = (),
        pairs: bool = False,
    ) -> DrakeSystem:
        """Take ground, contacts and friction from collision geometry, as `scene_contacts` does.

        Geometry has no coefficient of restitution: its dissipation is not one. With `pairs`, shapes
        touch each other as well, and not the ground alone.
        """
        ground, contacts = scene_contacts(plant, scene_graph, bodies)
        options: Any = {"limits": limits, "constraints": constraints}
        options["scene_graph"] = scene_graph if pairs else None
        return cls(plant, contacts, context, ground=ground, restitution=restitution, **options)

    @property
    def joints(self) -> dict[str, tuple[int, int]]:
        return {
            joint.name(): (joint.position_start(), joint.velocity_start())
            for joint in joints_of(self._plant)
            if joint.num_positions() == joint.num_velocities() == 1
        }

    @property
    def base_velocities(self) -> slice:
        """Return which velocities are those of the first floating body; none if none floats."""
        bases = sorted(self._plant.GetFloatingBaseBodies(), key=int)
        if not bases:
            return slice(0, 0)
        start = int(self._plant.get_body(bases[0]).floating_velocities_start_in_v())
        return slice(start, start + 6)

    def integrate(self, q: ArrayLike, v: ArrayLike, duration: float) -> FloatArray:
        """Return the configuration (nq,) that a constant velocity leads to in a duration [s].

        Quaternions turn in closed form; other joints, whose coordinates mostly change at constant
        rates, by the midpoint rule.
        """
        at, turn = self._checked(q), duration * np.asarray(v, dtype=np.float64)
        half = self._normalized(at + 0.5 * (self._velocity_map(at) @ turn))
        end = at + self._velocity_map(half) @ turn
        for start, column in self._quaternions:
            end[start : start + 4] = turned(at[start : start + 4], turn[column : column + 3])
        return self._normalized(end)

    def input_at(self, q: ArrayLike, v: ArrayLike, t: float = 0.0) -> Input:
        """Return the damping of joints."""
        force = -self._damping @ np.asarray(v, dtype=np.float64)
        return Input(force, np.zeros_like(self._damping), self._damping)

    def _velocity_map(self, q: FloatArray) -> FloatArray:
        self._plant.SetPositions(self._context, q)
        return np.asarray(self._plant.MakeVelocityToQDotMap(self._context).toarray())

    def _potential_energy(self, q: FloatArray) -> float:
        self._plant.SetPositions(self._context, q)
        return float(self._plant.EvalPotentialEnergy(self._context))

    def _normalized(self, q: FloatArray) -> FloatArray:
        unit = q.copy()
        for start, _ in self._quaternions:
            unit[start : start + 4] /= np.linalg.norm(unit[start : start + 4]) or np.nan
        return unit

    def _nearest(self, q: FloatArray) -> Nearest:
        assert self._pairs is not None
        self._plant.SetPositions(self._context, q)
        return self._pairs.nearest(self._context)

    def _motion(self, q: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray, FrameMotion]:
        plant, context, world = self._plant, self._context, self._plant.world_frame()
        plant.SetPositions(context, q)
        plant.SetVelocities(context, v)
        M = np.array(plant.CalcMassMatrix(context))
        forces = MultibodyForces(plant)
        plant.CalcForceElementsContribution(context, forces)
        force = -plant.CalcInverseDynamics(context, np.zeros(self.nv), forces)
        poses = [frame.CalcPoseInWorld(context) for frame in self._frames]
        of, origin = JacobianWrtVariable.kV, np.zeros(3)
        asked = [(context, of, frame, origin, world, world) for frame in self._frames]
        jacobians = [plant.CalcJacobianSpatialVelocity(*each) for each in asked]
        biases = [plant.CalcBiasSpatialAcceleration(*each) for each in asked]
        linear_first = [3, 4, 5, 0, 1, 2]
        frames = FrameMotion(
            position=np.array([pose.translation() for pose in poses]).reshape(-1, 3),
            rotation=np.array([pose.rotation().matrix() for pose in poses]).reshape(-1, 3, 3),
            J=np.array(jacobians).reshape(-1, 6, self.nv)[:, linear_first],
            bias=np.array(
                [np.r_[each.translational(), each.rotational()] for each in biases]
            ).reshape(-1, 6),
        )
        return 0.5 * (M + M.T), force, frames
