"""Rotors are inertia, springs and tendons are forces that keep energy, in every engine."""

import mujoco
import numpy as np
import pinocchio as pin
import pytest
from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import MultibodyPlant
from pydrake.multibody.tree import LinearSpringDamper, RevoluteSpring

from carom.adapters.drake import DrakeSystem
from carom.adapters.mujoco import MujocoSystem
from carom.adapters.pinocchio import PinocchioSystem
from tests.reference import leg

GEAR, ROTOR = 9.0, 2e-3
REFLECTED = GEAR**2 * ROTOR
STEP = 1e-5
KNEE = 2


def bent(engine):
    return leg.configuration(engine, 0.6, 0.2, 0.7)


def mujoco_rotor():
    model = leg.mujoco_model()
    model.dof_armature[KNEE] = REFLECTED
    return MujocoSystem(model)


def geared(fields):
    model = pin.buildModelFromXML(leg.URDF)
    for name, value in fields.items():
        own = getattr(model, name)
        own[KNEE] = value
        setattr(model, name, own)
    return PinocchioSystem(model, leg.CONTACT, mu=leg.MU)


def drake_plant(prepare):
    plant = MultibodyPlant(time_step=0.0)
    Parser(plant).AddModelsFromString(leg.URDF, "urdf")
    prepare(plant)
    plant.Finalize()
    return DrakeSystem(plant, leg.CONTACT, mu=leg.MU)


def drake_rotor():
    def prepare(plant):
        motor = plant.AddJointActuator("motor", plant.GetJointByName("knee"))
        motor.set_default_rotor_inertia(ROTOR)
        motor.set_default_gear_ratio(GEAR)

    return drake_plant(prepare)


ROTORS = {
    "mujoco armature": mujoco_rotor,
    "pinocchio armature": lambda: geared({"armature": REFLECTED}),
    "pinocchio rotor": lambda: geared({"rotorInertia": ROTOR, "rotorGearRatio": GEAR}),
    # Who sets both means one rotor.
    "pinocchio both": lambda: geared(
        {"armature": REFLECTED, "rotorInertia": ROTOR, "rotorGearRatio": GEAR}
    ),
    "drake": drake_rotor,
}


@pytest.mark.parametrize("name", ROTORS)
def test_a_rotor_adds_its_reflected_inertia(name):
    engine = name.split()[0]
    plain, system = leg.LEGS[engine](), ROTORS[name]()
    added = system.mass_matrix(bent(engine)) - plain.mass_matrix(bent(engine))
    assert added == pytest.approx(REFLECTED * np.diag([0.0, 0.0, 1.0]), abs=1e-12)
    # It is part of every impact: the knee gives less way.
    q, v = leg.landing(engine), [-1.0, 0.4, -2.0]
    problems = [each.impact_problem(q, v, 1e-9) for each in (plain, system)]
    stiff = [1.0 / (each.J_n[1] @ each.impulse_to_velocity[:, -2]) for each in problems]
    assert stiff[1] > stiff[0] + 0.5 * REFLECTED


def test_the_rotor_of_every_engine_is_the_same():
    found = [make().mass_matrix(bent(name.split()[0])) for name, make in ROTORS.items()]
    for M in found[1:]:
        assert pytest.approx(found[0], abs=1e-12) == M


SPRINGS = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/>
  <site name="hook" pos="0.2 0.1 1.5"/>
  <body name="a" pos="0 0 1"><joint name="one" axis="0 1 0" stiffness="3" springref="20"/>
    <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.05"/><site name="tip" pos="0.3 0 0"/>
    <body pos="0.3 0 0"><joint name="two" axis="0 1 0.2" armature="0.01"/>
      <geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.05"/><site name="end" pos="0 0 -0.3"/>
    </body></body></worldbody>
  <tendon><spatial name="cord" stiffness="40" springlength="0.3" armature="0.2">
      <site site="end"/><site site="tip"/><site site="hook"/></spatial>
    <fixed name="belt" stiffness="5"><joint joint="one" coef="1"/><joint joint="two" coef="-2"/>
    </fixed></tendon></mujoco>"""


def mujoco_springs():
    return MujocoSystem(mujoco.MjModel.from_xml_string(SPRINGS))


def drake_springs():
    def prepare(plant):
        plant.AddForceElement(RevoluteSpring(plant.GetJointByName("knee"), 0.4, 12.0))
        ends = plant.world_body(), [0.3, 0.1, 1.2], plant.GetBodyByName("shin"), [0.0, 0.0, -0.3]
        plant.AddForceElement(LinearSpringDamper(*ends, 0.5, 80.0, 0.0))

    return drake_plant(prepare)


@pytest.mark.parametrize("make", [mujoco_springs, drake_springs])
def test_springs_and_tendons_keep_energy(make):
    """With M dv/dt = force, energy does not change: springs are in both, rotors as well."""
    system, rng = make(), np.random.default_rng(0)
    for _ in range(10):
        q, v = rng.uniform(0.2, 0.8, system.nq), rng.normal(size=system.nv)
        a = np.linalg.solve(system.mass_matrix(q), system.smooth_force(q, v))

        def energy(time, q=q, v=v, a=a):
            return system.energy(system.integrate(q, v + 0.5 * time * a, time), v + time * a)

        rate = (energy(STEP) - energy(-STEP)) / (2.0 * STEP)
        assert abs(rate) < 1e-5 * max(1.0, abs(system.energy(q, v)))
        # Springs store: without them the force at rest is another one.
        slope = [
            (
                system.potential_energy(system.integrate(q, unit, STEP))
                - system.potential_energy(system.integrate(q, unit, -STEP))
            )
            / (2.0 * STEP)
            for unit in np.eye(system.nv)
        ]
        assert -system.smooth_force(q, np.zeros(system.nv)) == pytest.approx(slope, abs=1e-4)


def test_springs_are_seen():
    """By hand: a spring of a joint pulls with its stiffness."""
    plain, sprung = (
        leg.drake_leg(),
        drake_plant(
            lambda plant: plant.AddForceElement(
                RevoluteSpring(plant.GetJointByName("knee"), 0.4, 12.0)
            )
        ),
    )
    q = bent("drake")
    pull = sprung.smooth_force(q, np.zeros(3)) - plain.smooth_force(q, np.zeros(3))
    assert pull == pytest.approx([0.0, 0.0, -12.0 * 0.3], abs=1e-10)
    stored = sprung.potential_energy(q) - plain.potential_energy(q)
    assert stored == pytest.approx(0.5 * 12.0 * 0.3**2)
