"""Restitution of robots: given as an argument, and taken into impacts and files."""

import gymnasium
import mujoco
import numpy as np
import pinocchio as pin
import pytest
from pydrake.multibody.plant import MultibodyPlant
from pydrake.multibody.tree import SpatialInertia

import carom
from carom.adapters.drake import DrakeSystem
from carom.adapters.gymnasium import SetValuedImpacts
from carom.adapters.half_space import ContactPoint
from carom.adapters.mujoco import MujocoSystem, impact_problem
from carom.adapters.pinocchio import PinocchioSystem
from carom.errors import InvalidOption

BOX = """<mujoco><worldbody>
  <geom name="floor" type="plane" size="1 1 1"/>
  <body name="box" pos="0 0 0.2"><freejoint/>
    <geom type="box" size="0.1 0.1 0.2" {extra}/></body>
</worldbody></mujoco>"""
CORNERS = tuple(f"floor/box ({corner})" for corner in ("---", "+--", "-+-", "++-"))
DOWN = [0.2, 0.0, -1.0, 0.0, 0.0, 0.0]
ENDS = (ContactPoint("bar", (-0.5, 0.0, 0.0)), ContactPoint("bar", (0.5, 0.0, 0.0), name="tip"))


def box(extra=""):
    return mujoco.MjModel.from_xml_string(BOX.format(extra=extra))


def pinocchio_bar(contacts, **options):
    model = pin.buildModelFromXML(
        """<robot name="bar"><link name="bar"><inertial><mass value="2"/>
        <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/>
        </inertial></link></robot>""",
        pin.JointModelFreeFlyer(),
    )
    return PinocchioSystem(model, contacts, mu=0.5, **options)


def drake_bar(contacts, **options):
    plant = MultibodyPlant(time_step=0.0)
    plant.AddRigidBody("bar", SpatialInertia.SolidSphereWithMass(2.0, 0.1))
    plant.Finalize()
    return DrakeSystem(plant, contacts, mu=0.5, **options)


engines = pytest.mark.parametrize("make", [pinocchio_bar, drake_bar], ids=["pinocchio", "drake"])


@engines
def test_points_of_robots_bounce_as_they_are_told(make):
    assert make(ENDS).restitution.tolist() == [0.0, 0.0]
    assert make(ENDS, restitution=0.5).restitution.tolist() == [0.5, 0.5]
    assert make(ENDS, restitution={"tip": 0.5}).restitution.tolist() == [0.0, 0.5]
    own = (ENDS[0], ContactPoint("bar", (0.5, 0.0, 0.0), name="tip", restitution=0.9))
    assert make(own, restitution=0.5).restitution.tolist() == [0.5, 0.9]
    with pytest.raises(InvalidOption, match="no contact is named 'toe'; there are: bar, tip"):
        make(ENDS, restitution={"toe": 0.5})
    with pytest.raises(InvalidOption, match="restitution: expected a number from 0 to 1"):
        ContactPoint("bar", restitution=2.0)


@engines
def test_impacts_of_robots_have_their_restitution_and_copies_that_differ_are_kept(make):
    copy = ContactPoint("bar", (0.5, 0.0, 0.0), name="copy")
    system = make((*ENDS, copy), restitution={"tip": 0.5, "copy": 0.5})
    q = system.stand(
        np.array(pin.neutral(system._model)) if make is pinocchio_bar else [1] + [0] * 6
    )
    v = np.zeros(6)
    v[2 if make is pinocchio_bar else 5] = -1.0
    problem = system.impact_problem(q, v)
    assert problem.contacts == ("bar", "tip")
    assert problem.restitution.tolist() == [0.0, 0.5]
    other = make((*ENDS, copy), restitution={"tip": 0.5}).impact_problem(q, v)
    assert other.restitution.tolist() == [0.0, 0.5, 0.0]


@pytest.mark.parametrize("extra", ["", 'solref="-1000 -5"', 'solref="0.02 0.3"'])
def test_mujoco_contacts_do_not_bounce_unless_told_whatever_their_solref(extra):
    model = box(extra)
    assert not MujocoSystem(model).restitution.any()
    data = mujoco.MjData(model)
    data.qvel[:] = DOWN
    assert not impact_problem(model, data).bounces


def test_mujoco_impacts_have_the_restitution_given(tmp_path):
    model = box()
    data = mujoco.MjData(model)
    data.qvel[:] = DOWN
    assert impact_problem(model, data, restitution=0.5).restitution.tolist() == [0.5] * 4
    problem = impact_problem(model, data, restitution={CORNERS[1]: 0.25, CORNERS[2]: 1.0})
    assert problem.contacts == CORNERS
    assert problem.restitution.tolist() == [0.0, 0.25, 1.0, 0.0]
    for name in ("impact.npz", "impact.json"):
        problem.save(tmp_path / name)
        assert carom.load(tmp_path / name) == problem
    with pytest.raises(InvalidOption, match="no contact is named 'foot'"):
        MujocoSystem(model, restitution={"foot": 0.5})


def test_environments_hand_restitution_on():
    env = SetValuedImpacts(gymnasium.make("Walker2d-v5"), restitution=0.5)
    assert env.system.restitution.tolist() == [0.5] * len(env.system.contacts)
    env.close()
