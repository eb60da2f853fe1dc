"""Robots of example-robot-data in Drake, and small scenes, shared by tests."""

import re
from functools import cache

from pydrake.geometry import HalfSpace
from pydrake.math import RigidTransform, RotationMatrix
from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import AddMultibodyPlantSceneGraph, CoulombFriction, MultibodyPlant
from pydrake.systems.framework import DiagramBuilder

from carom.adapters.drake import DrakeSystem
from tests.reference import real_robots


@cache
def plant(name):
    """Return Drake's model of a robot, with the rotors of `real_robots.model`."""
    # Without a scene: Drake does not read the meshes of these files.
    made = MultibodyPlant(time_step=0.0)
    parser = Parser(made)
    package = real_robots.SHARE / "example-robot-data"
    parser.package_map().Add("example-robot-data", str(package))
    # Fingers of Talos follow each other, which are constraints in Drake, and nothing in Pinocchio.
    text = re.sub("<mimic[^>]*/>", "", real_robots.path(name).read_text(encoding="utf-8"))
    parser.AddModelsFromString(text, "urdf")
    other = real_robots.model(name)
    joints = [made.get_joint(i) for i in made.GetJointIndices()]
    for joint in [each for each in joints if each.num_velocities() == 1]:
        # Which Pinocchio does not have.
        joint.set_default_damping(0.0)
        inertia = float(other.armature[other.joints[other.getJointId(joint.name())].idx_v])
        if inertia > 0.0:
            actuator = made.AddJointActuator(f"motor_{joint.name()}", joint)
            actuator.set_default_rotor_inertia(inertia)
            actuator.set_default_gear_ratio(1.0)
    made.Finalize()
    return made


@cache
def system(name):
    """Return a robot as carom's adapter sees it, as that of `real_robots`."""
    return DrakeSystem(plant(name), real_robots.contacts(name), mu=real_robots.MU, limits=False)


def diagram(shapes, *, ground=True, tilt=0.0):
    """Return a plant, its scene and both joined: floating bodies with a shape each, over a ground.

    Args:
        shapes: Shape, inertia and friction coefficient of each body by its name.
        ground: Whether there is a half-space, through (0, 0, 0.1).
        tilt: Of the ground about x [rad].
    """
    builder = DiagramBuilder()
    made, scene_graph = AddMultibodyPlantSceneGraph(builder, time_step=0.0)
    for name, (shape, inertia, mu) in shapes.items():
        body = made.AddRigidBody(name, inertia)
        friction = CoulombFriction(mu, mu)
        made.RegisterCollisionGeometry(body, RigidTransform(), shape, "shape", friction)
    if ground:
        _add_ground(made, tilt, 0.1)
    made.Finalize()
    return made, scene_graph, builder.Build()


@cache
def _kept():
    """Return a list of what must live as long as the tests: parts do not keep their diagram."""
    return []


def scene(shapes, **options):
    """Return plant and scene of `diagram`."""
    made, scene_graph, whole = diagram(shapes, **options)
    _kept().append(whole)
    return made, scene_graph


ANYMAL_FEET = ("LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT")


@cache
def anymal():
    """Return the plant and the scene of ANYmal over ground with a tilt of 0.1 rad."""
    builder = DiagramBuilder()
    made, scene_graph = AddMultibodyPlantSceneGraph(builder, time_step=0.0)
    parser = Parser(made)
    parser.package_map().Add("example-robot-data", str(real_robots.SHARE / "example-robot-data"))
    parser.AddModels(str(real_robots.path("anymal_b")))
    _add_ground(made, 0.1, 0.0)
    made.Finalize()
    _kept().append(builder.Build())
    return made, scene_graph


def anymal_pose(system):
    """Return a configuration with bent legs."""
    made, _ = anymal()
    context = made.CreateDefaultContext()
    for joint, angle in real_robots.bent_legs("anymal_b").items():
        made.GetJointByName(joint).set_angle(context, angle)
    q = made.GetPositions(context)
    assert len(q) == system.nq
    return q


def _add_ground(made, tilt, height):
    place = RigidTransform(RotationMatrix.MakeXRotation(tilt), [0.0, 0.0, height])
    friction, world = CoulombFriction(0.6, 0.6), made.world_body()
    made.RegisterCollisionGeometry(world, place, HalfSpace(), "ground", friction)
