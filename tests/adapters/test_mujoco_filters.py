"""Which contacts of a MuJoCo model there are: by its filters, pairs, margins and gaps."""

import mujoco
import numpy as np
import pytest

from carom.adapters.mujoco import MujocoSystem, impact_problem

# Arm and hand overlap, as neighbours do; two balls touch each other and the floor.
SCENE = """<mujoco><option {margin}><flag {flag}/></option>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 1" {geom}/>
    <body name="shoulder" pos="0 0 3"><geom name="shoulder" size="0.1"/>
      <body name="arm" pos="0 0 0.5"><joint axis="0 1 0"/><geom name="arm" size="0.2" mass="1"/>
        <body name="hand" pos="0 0 0.2"><joint axis="1 0 0"/><geom name="hand" size="0.1" mass="1"/>
        </body></body></body>
    <body name="a" pos="1 0 0.1"><freejoint/><geom name="a" size="0.1" {geom}/></body>
    <body name="b" pos="1.2 0 0.1"><freejoint/><geom name="b" size="0.1" {geom}/></body>
  </worldbody>{contact}</mujoco>"""
PAIR = '<pair geom1="b" geom2="a" margin="{}" gap="{}" friction="0.3 0.3 0 0 0" condim="{}"/>'
EXCLUDE = '<exclude body1="b" body2="a"/>'


def _model(flag="", geom="", margin="", contact=""):
    if contact:
        contact = f"<contact>{contact}</contact>"
    return mujoco.MjModel.from_xml_string(
        SCENE.format(flag=flag, geom=geom, margin=margin, contact=contact)
    )


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"flag": 'filterparent="disable"'},
        {"contact": EXCLUDE},
        {"contact": EXCLUDE + PAIR.format(0, 0, 3)},
        {"geom": 'contype="2" conaffinity="0"'},
        {"geom": 'contype="2" conaffinity="2"'},
    ],
    ids=["plain", "parents", "exclude", "pair", "masks", "apart"],
)
def test_pairs_are_those_that_mujoco_finds_in_any_pose(options):
    """With margins of 20 m all pairs that can collide do."""
    model = _model(**options)
    system = MujocoSystem(model, margin=20.0)
    model.geom_margin[:] = model.pair_margin[:] = model.body_margin[:] = 20.0
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    names = {i: model.geom(i).name for i in range(model.ngeom)}
    found = {"/".join(names[i] for i in sorted(contact.geom)) for contact in data.contact}
    assert set(system.contacts) == found
    assert np.isfinite(system.gap(model.qpos0)).all()


def _landing(model):
    """Return the impact of two balls that touch but for a ten-thousandth, and come down."""
    data = mujoco.MjData(model)
    data.qpos[-7 * 2 + 2], data.qpos[-7 + 2], data.qpos[-7] = 0.1001, 0.1001, 1.2001
    data.qvel[-12 + 2] = data.qvel[-6 + 2] = -1.0
    return impact_problem(model, data)


@pytest.mark.parametrize(
    "options",
    [
        {"geom": 'margin="0"'},
        {"geom": 'margin="0.5"'},
        {"geom": 'margin="0.5" gap="0.5"'},
        {"contact": PAIR.format(0, 0, 3)},
        {"contact": PAIR.format(0.1, 0.1, 3)},
        {"flag": 'override="enable"', "margin": 'o_margin="0"'},
        {"flag": 'override="enable"', "margin": 'o_margin="0.1"'},
    ],
)
def test_margins_and_gaps_of_the_model_do_not_decide_who_touches(options):
    problem = _landing(_model(**options))
    assert problem.contacts == ("floor/a", "floor/b", "a/b")
    up = problem.contact_velocity(problem.v_pre)[:, 0]
    assert up == pytest.approx([-1.0, -1.0, 0.0], abs=1e-12)


@pytest.mark.parametrize(("condim", "mu"), [(1, 0.0), (3, 0.3), (4, 0.3), (6, 0.3)])
def test_friction_of_a_pair_is_its_own(condim, mu):
    assert _landing(_model(contact=PAIR.format(0, 0, condim))).mu.tolist() == [1.0, 1.0, mu]


@pytest.mark.parametrize(
    ("flag", "mu"), [('override="enable"', [0.2, 0.2, 0.2]), ("", [1.0, 1.0, 0.3])]
)
def test_friction_that_overrides_all_others(flag, mu):
    """Where it is switched on."""
    model = _model(flag=flag, margin='o_friction="0.2 0.2"', contact=PAIR.format(0, 0, 3))
    assert _landing(model).mu.tolist() == mu


def test_mocap_bodies_are_where_the_data_has_them():
    model = mujoco.MjModel.from_xml_string(
        """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/>
        <body name="hand" mocap="true" pos="0 0 5"><geom type="box" size="0.1 0.1 0.1"/></body>
        <body name="ball" pos="0 0 0.1"><freejoint/><geom size="0.1"/></body>
        </worldbody></mujoco>"""
    )
    data = mujoco.MjData(model)
    data.qvel[2] = -1.0
    assert impact_problem(model, data).contacts == ("floor/ball",)
    data.mocap_pos[0] = 0.0, 0.0, 0.3
    assert impact_problem(model, data).contacts == ("floor/ball", "hand/ball")


def test_overlap_that_no_motion_changes_takes_no_part():
    """A wheel turns in a post, as deep as ever, while its rim hits a ball."""
    model = mujoco.MjModel.from_xml_string(
        """<mujoco><worldbody><geom name="post" size="0.1"/>
        <body name="wheel"><joint axis="0 1 0"/><geom name="hub" size="0.05"/>
          <geom name="rim" size="0.1" pos="1 0 0"/></body>
        <body name="ball" pos="1 0 0.2"><freejoint/><geom size="0.1"/></body>
        </worldbody></mujoco>"""
    )
    data = mujoco.MjData(model)
    data.qvel[3] = -1.0
    assert impact_problem(model, data).contacts == ("rim/ball",)
