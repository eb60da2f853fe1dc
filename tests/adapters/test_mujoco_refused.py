"""What the MuJoCo adapter refuses or warns of: one clear sentence each, with what to do."""

import subprocess
import sys

import mujoco
import numpy as np
import pytest

import carom
from carom.adapters.mujoco import (
    MujocoSystem,
    apply,
    engine_outcome,
    impact_problem,
)

BALL = """<mujoco><option>{option}</option>
  <asset><hfield name="hills" nrow="2" ncol="2" size="1 1 1 0.1"/></asset>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 1"/>{world}
    <body name="ball" pos="0 0 0.1"><joint name="up" type="slide" axis="0 0 1" {joint}/>
      <geom name="ball" size="0.1" {geom}/></body>
  </worldbody>{rest}</mujoco>"""


def _ball(**parts):
    text = BALL.format(**({"option": "", "world": "", "joint": "", "geom": "", "rest": ""} | parts))
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    data.qvel[:] = -1.0
    return model, data


PAIR = '<contact><pair geom1="floor" geom2="ball" friction="{} 0 0 0"/></contact>'


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (
            {"rest": PAIR.format("0.5 0.7")},
            r"friction of floor/ball differs along its two tangents \(0.5 and 0.7\)",
        ),
        (
            {"world": '<geom name="land" type="hfield" hfield="hills"/>'},
            "geom 'land' is a height field.*contype",
        ),
        pytest.param(
            {"geom": 'surfacevel="1 0 0 0 0 0"'},
            "geom 'ball' has a surface that moves",
            marks=pytest.mark.skipif(
                not hasattr(mujoco.MjModel, "geom_surfacevel"), reason="MuJoCo has none yet"
            ),
        ),
        ({"option": '<flag contact="disable"/>'}, 'remove <flag contact="disable"/>'),
        ({"option": '<flag constraint="disable"/>'}, 'remove <flag constraint="disable"/>'),
    ],
)
def test_what_is_not_supported_is_named(parts, message):
    model, data = _ball(**parts)
    with pytest.raises(carom.InvalidProblem, match=message):
        impact_problem(model, data)


def test_flexible_bodies_are_refused():
    model = mujoco.MjModel.from_xml_string(
        """<mujoco><worldbody><body name="cloth"><flexcomp name="cloth" type="grid"
        count="3 3 1" spacing="0.1 0.1 0.1" dim="2" mass="1"><edge equality="true"/></flexcomp>
        </body></worldbody></mujoco>"""
    )
    with pytest.raises(carom.InvalidProblem, match=r"flexible bodies.*remove them"):
        MujocoSystem(model)


@pytest.mark.parametrize("pose", [MujocoSystem, impact_problem], ids=["system", "impact"])
def test_a_file_is_no_model(pose):
    _, data = _ball()
    with pytest.raises(carom.InvalidOption, match=r"got 'robot.xml'; read.*from_xml_path"):
        pose("robot.xml", data)


def test_a_pair_that_is_told_twice_is_refused():
    """MuJoCo then finds its contacts twice, with both frictions."""
    both = PAIR.format("0.6 0.6") + PAIR.format("0.3 0.3")
    model, data = _ball(rest=both)
    with pytest.raises(carom.InvalidProblem, match=r"floor/ball are a <pair> 2 times.*but one"):
        impact_problem(model, data)


def test_round_friction_of_a_pair_is_taken():
    model, data = _ball(rest=PAIR.format("0.6 0.6"))
    assert impact_problem(model, data).mu.tolist() == [0.6]


def test_nothing_touches():
    model, data = _ball()
    for gap, words in ((5.7e-3, "5.7 mm"), (1.5e-3, "1.5 mm"), (0.5, "500 mm")):
        data.qpos[:] = gap
        with pytest.raises(
            carom.InvalidProblem,
            match=rf"nearest is 'floor/ball' with a gap of {words}, above gap_tolerance = 1 mm; "
            r"lower the robot with .*stand",
        ):
            impact_problem(model, data)
    # The margin is as it was.
    system = MujocoSystem(model)
    with pytest.raises(
        carom.InvalidProblem, match=r"gap of 500 mm, above gap_tolerance = 0\.001 mm"
    ):
        system.impact_problem(data.qpos, data.qvel)
    assert system.margin == 1e-3
    assert (system.model.geom_margin == 1e-3).all()
    assert np.isinf(system.gap(data.qpos)).all()


def test_no_floor_is_said():
    model = mujoco.MjModel.from_xml_string(
        """<mujoco><worldbody><geom size="0.1"/><body><joint axis="0 1 0"/><geom size="0.1"/></body>
        </worldbody></mujoco>"""
    )
    with pytest.raises(carom.InvalidProblem, match="no motion brings any two geoms together"):
        impact_problem(model, mujoco.MjData(model))
    with pytest.raises(carom.InvalidProblem, match="stand: no body can be lowered"):
        MujocoSystem(model).stand([0.0])


def test_penetration():
    model, data = _ball()
    data.qpos[:] = -0.02
    with pytest.raises(carom.InvalidProblem, match=r"penetrates by 0.02 m.*raise the tolerance"):
        impact_problem(model, data)
    assert impact_problem(model, data, gap_tolerance=0.05).num_contacts == 1


def test_tolerance_beyond_the_margin():
    model, _ = _ball()
    with pytest.raises(carom.InvalidOption, match=r"margin of 0.001 m.*larger margin"):
        MujocoSystem(model).impact_problem([0.0], [-1.0], gap_tolerance=0.01)
    with pytest.raises(carom.InvalidOption, match="margin: expected a number > 0, got 0"):
        MujocoSystem(model, margin=0)


@pytest.mark.parametrize("gap_tolerance", [-1.0, np.nan, np.inf])
def test_tolerance_out_of_range(gap_tolerance):
    with pytest.raises(carom.InvalidOption, match="gap_tolerance: expected a number >= 0"):
        impact_problem(*_ball(), gap_tolerance=gap_tolerance)


def test_states_of_a_wrong_shape():
    model, data = _ball()
    system = MujocoSystem(model)
    with pytest.raises(carom.InvalidProblem, match=r"q: expected shape \(1,\), got \(2,\)"):
        system.gap([0.0, 1.0])
    with pytest.raises(carom.InvalidProblem, match="v: expected finite numbers"):
        system.smooth_force([0.0], [np.inf])
    with pytest.raises(carom.InvalidOption, match=r"v_post: expected shape \(1,\), got \(\)"):
        apply(data, 0.0)
    with pytest.raises(carom.InvalidOption, match="v_post: expected numbers"):
        apply(data, "fast")
    assert data.qvel.tolist() == [-1.0]


def test_options_of_engine_outcome():
    model, data = _ball()
    with pytest.raises(carom.InvalidOption, match="timestep: expected a number > 0, got 0"):
        engine_outcome(model, data, timestep=0)
    with pytest.raises(carom.InvalidOption, match="timeconst: expected a number from 2e-05"):
        engine_outcome(model, data, timeconst=1e-6)


def test_geoms_without_a_name_get_that_of_their_body():
    model = mujoco.MjModel.from_xml_string(
        """<mujoco><worldbody><geom type="plane" size="1 1 1"/>
          <body name="foot"><freejoint/><geom size="0.1"/><geom size="0.1" pos="1 0 0"/></body>
        </worldbody></mujoco>"""
    )
    assert MujocoSystem(model).contacts == ("world/foot#1", "world/foot#2")


@pytest.mark.parametrize(
    ("missing", "package"), [("mujoco", "mujoco"), ("gymnasium", '"gymnasium[mujoco]"')]
)
def test_missing_package_is_named(missing, package):
    """Without the package the import fails with what to install, also in a checkout."""
    script = (
        f"import sys; sys.modules[{missing!r}] = None\n"
        f"import carom\n"
        f"try:\n    import carom.adapters.{missing}\n"
        f"except carom.MissingExtra as error:\n    print(error)"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert f'pip install {package}, or "carom[{missing}]"' in run.stdout
