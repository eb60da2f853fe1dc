"""Robots of Drake: points, spheres and boxes that touch a half-space."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from carom.adapters.engine import Restitution
from carom.adapters.frames import FrameMotion
from carom.adapters.half_space import (
    GROUND,
    ContactPoint,
    Contacts,
    HalfSpace,
    HalfSpaceSystem,
    names_of,
    shape_points,
)
from carom.adapters.limits import Limits, Range
from carom.adapters.loops import (
    BallConstraint,
    CouplerConstraint,
    DistanceConstraint,
    LoopConstraint,
    WeldConstraint,
)
from carom.adapters.pairs import Nearest
from carom.errors import InvalidOption, InvalidProblem, MissingExtra
from carom.systems.quaternions import turned
from carom.systems.system import Input
from carom.typing import ArrayLike, FloatArray

try:
    from pydrake.geometry import Box, Capsule, Role, Sphere
    from pydrake.geometry import HalfSpace as GroundShape
    from pydrake.multibody.plant import CalcContactFrictionFromSurfaceProperties, MultibodyPlant
    from pydrake.multibody.tree import BodyIndex, FrameIndex, JacobianWrtVariable, MultibodyForces

    from carom.adapters.drake_pairs import ScenePairs
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

RATES = ("revolute", "prismatic", "screw", "universal", "planar")
"""Types of joints whose velocities are the rates of their coordinates."""


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
        _check_plant(plant)
        self._plant = plant
        self._context = plant.CreateDefaultContext()
        if context is not None:
            _check_context(plant, context)
            self._context.SetTimeStateAndParametersFrom(context)
        loops = _all_constraints(plant, self._context, list(constraints))
        sizes = plant.num_positions(), plant.num_velocities()
        ends = Limits.of(_ranges(plant) if limits else (), sizes[1])
        self._pairs = None if scene_graph is None else _pairs_of(plant, scene_graph)
        slots = () if self._pairs is None else self._pairs.slots
        super().__init__(sizes, contacts, ground, mu, restitution, ends, loops, slots)
        self._frames = [_frame(plant, name) for name in self._frame_names]
        self._quaternions = [
            (joint.position_start(), joint.velocity_start())
            for joint in _joints(plant)
            if joint.type_name() == "quaternion_floating"
        ]
        self._damping = np.zeros((self.nv, self.nv))
        for joint in _joints(plant):
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

    def _coordinate(self, joint: str) -> tuple[int, int]:
        own = {each.name(): each for each in _joints(self._plant)}
        names_of("joint", joint, own)
        found = own[joint]
        if (found.num_positions(), found.num_velocities()) != (1, 1):
            raise InvalidProblem(
                f"constraints: expected joints of one coordinate, and {joint!r} has "
                f"{found.num_positions()}"
            )
        return found.position_start(), found.velocity_start()

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


def scene_contacts(
    plant: Any, scene_graph: Any, bodies: Iterable[str] | None = None
) -> tuple[HalfSpace, list[ContactPoint]]:
    """Return the ground of a scene, and the contacts of collision geometry with it.

    A sphere has one contact, a capsule two, a box its corners: against a half-space nothing else of
    them can touch first. Pairs that the scene filters out are left out. Dynamic friction is
    combined as in Drake's time stepping.

    Args:
        plant: `MultibodyPlant`, finalized.
        scene_graph: `SceneGraph` that it is registered with.
        bodies: Names of the bodies whose geometry may touch; all if not given.
    """
    _check_plant(plant)
    inspector = scene_graph.model_inspector()
    ground_id = _ground(inspector)
    pose = inspector.GetPoseInFrame(ground_id)
    ground = HalfSpace(pose.translation(), pose.rotation().matrix()[:, 2])
    names = _body_names(plant)
    chosen = names_of("body", names.values() if bodies is None else bodies, names.values())
    contacts = []
    for shape_id in inspector.GetAllGeometryIds(Role.kProximity):
        body = plant.GetBodyFromFrameId(inspector.GetFrameId(shape_id))
        is_pair = shape_id != ground_id and not inspector.CollisionFiltered(shape_id, ground_id)
        if body is not None and names[body.index()] in chosen and is_pair:
            mu = _combined_friction(inspector, shape_id, ground_id)
            contacts += _points_of(inspector, shape_id, names[body.index()], mu)
    return ground, contacts


def _check_plant(plant: Any) -> None:
    if not isinstance(plant, MultibodyPlant):
        raise InvalidOption(f"plant: expected a MultibodyPlant of doubles, got {plant!r}")
    if not plant.is_finalized():
        raise InvalidProblem("plant: expected one that is finalized; call plant.Finalize() first")


def _all_constraints(plant: Any, context: Any, given: list[LoopConstraint]) -> list[LoopConstraint]:
    """Return the constraints of a plant: distances that it tells, and those that are given."""
    active = [
        each for each in plant.GetConstraintIds() if plant.GetConstraintActiveStatus(context, each)
    ]
    distances = plant.GetDistanceConstraintParams(context)
    untold = [each for each in active if each not in distances]
    if len(untold) and len(given) != len(untold):
        raise InvalidProblem(
            f"plant: {len(untold)} of its constraints are couplers, balls, welds or tendons, of "
            f"which pydrake does not tell between what, and {len(given)} are given; describe each "
            f"by constraints=[...] of carom.adapters.loops"
        )
    read: list[LoopConstraint] = []
    for number, each in enumerate(id for id in active if id in distances):
        read.append(_distance(plant, distances[each], f"distance {number + 1}"))
    return read + given


def _pairs_of(plant: Any, scene_graph: Any) -> ScenePairs:
    return ScenePairs(plant, scene_graph, _body_names(plant), _combined_friction)


def _distance(plant: Any, found: Any, name: str) -> DistanceConstraint:
    if np.isfinite(found.stiffness()):
        raise InvalidProblem(
            f"plant: {name} has a stiffness of {found.stiffness():g} N/m, and carom's constraints "
            f"are rigid; replace it by a LinearSpringDamper, or leave its stiffness out"
        )
    names = _body_names(plant)
    return DistanceConstraint(
        names[found.bodyA()],
        names[found.bodyB()],
        found.p_AP(),
        found.p_BQ(),
        distance=found.distance(),
        name=name,
    )


def _ranges(plant: Any) -> list[Range]:
    """Return the ranges of all joints whose velocities are the rates of their coordinates."""
    ranges = []
    for joint in _joints(plant):
        if joint.type_name() not in RATES:
            continue
        low, high, count = (
            joint.position_lower_limits(),
            joint.position_upper_limits(),
            len(joint.position_lower_limits()),
        )
        for k in range(count):
            name = joint.name() if count == 1 else f"{joint.name()}[{k}]"
            at = joint.position_start() + k, joint.velocity_start() + k
            slides = joint.type_name() == "prismatic" or (joint.type_name() == "planar" and k < 2)
            unit = "m" if slides else "rad"
            ranges.append(Range(name, *at, float(low[k]), float(high[k]), unit))
    return ranges


def _check_context(plant: Any, context: Any) -> None:
    try:
        # Drake ends the program if it copies from a context of another plant.
        plant.ValidateContext(context)
    except (RuntimeError, TypeError) as error:
        raise InvalidOption(
            "context: expected one of this plant, from plant.CreateDefaultContext() or "
            "plant.GetMyContextFromRoot(...)"
        ) from error
    for joint in _joints(plant):
        if joint.num_velocities() and joint.is_locked(context):
            raise InvalidProblem(
                f"context: joint {joint.name()!r} is locked, which is not supported; unlock it, or "
                f"weld it in the plant"
            )


def _ground(inspector: Any) -> Any:
    """Return the half-space that is fixed to the world."""
    found = [
        shape_id
        for shape_id in inspector.GetAllGeometryIds(Role.kProximity)
        if isinstance(inspector.GetShape(shape_id), GroundShape)
        and inspector.GetFrameId(shape_id) == inspector.world_frame_id()
    ]
    if len(found) != 1:
        raise InvalidProblem(
            f"scene_graph: expected one HalfSpace with collision geometry at the world's body, got "
            f"{len(found)}; register one, or give contacts and ground by hand"
        )
    return found[0]


def _combined_friction(inspector: Any, one: Any, other: Any) -> float:
    frictions = []
    for shape_id in (one, other):
        properties = inspector.GetProximityProperties(shape_id)
        if not properties.HasProperty("material", "coulomb_friction"):
            raise InvalidProblem(
                f"geometry {inspector.GetName(shape_id)!r} has no friction; add a CoulombFriction "
                f"to its ProximityProperties"
            )
        frictions.append(properties.GetProperty("material", "coulomb_friction"))
    return float(CalcContactFrictionFromSurfaceProperties(*frictions).dynamic_friction())


def _points_of(inspector: Any, shape_id: Any, frame: str, mu: float) -> list[ContactPoint]:
    pose, shape = inspector.GetPoseInFrame(shape_id), inspector.GetShape(shape_id)
    name = f"{frame}::{inspector.GetName(shape_id).split('::')[-1]}"
    if isinstance(shape, Sphere):
        half, radius = (0.0, 0.0, 0.0), shape.radius()
    elif isinstance(shape, Box):
        half, radius = tuple(np.array(shape.size()) / 2.0), 0.0
    elif isinstance(shape, Capsule):
        half, radius = (0.0, 0.0, shape.length() / 2.0), shape.radius()
    else:
        raise InvalidProblem(
            f"geometry {name!r} is a {type(shape).__name__}, and only spheres, boxes and capsules "
            f"are supported; choose bodies, or give ContactPoints of its frame {frame!r}"
        )
    owner = ContactPoint(frame, pose.translation(), radius, name, mu)
    return shape_points(owner, pose.rotation().matrix(), half)


def _joints(plant: Any) -> list[Any]:
    return [plant.get_joint(i) for i in plant.GetJointIndices()]


def _body_names(plant: Any) -> dict[Any, str]:
    """Return the names of bodies by index, with those of their models where two are the same."""
    bodies = [plant.get_body(BodyIndex(i)) for i in range(plant.num_bodies())]
    count = Counter(body.name() for body in bodies)
    return {
        body.index(): body.scoped_name().get_full() if count[body.name()] > 1 else body.name()
        for body in bodies
    }


def _frame(plant: Any, name: str) -> Any:
    frames = [plant.get_frame(FrameIndex(i)) for i in range(plant.num_frames())]
    full = {frame.scoped_name().get_full(): frame for frame in frames}
    found = {long: frame for long, frame in full.items() if name in (long, frame.name())}
    if len(found) > 1:
        raise InvalidOption(
            f"{len(found)} frames are named {name!r}; use one of {', '.join(found)}"
        )
    if not found:
        names_of("frame", name, (frame.name() for frame in frames))
    return next(iter(found.values()))
