"""Robots on the command line: MJCF and URDF in place of a scene."""

import json

import numpy as np
import pytest

import carom
from carom.cli import main

BLOCK = """<mujoco>
  <option gravity="0 0 -9.81"/>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 1" friction="1"/>
    <body name="block" pos="0 0 1">
      <joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>
      <joint type="hinge" axis="0 -1 0"/>
      <geom name="block" type="box" size="0.5 0.1 1" mass="1" friction="1"/>
      <inertial pos="0 0 0" mass="1" diaginertia="0.4 0.4166666666666667 0.4"/>
    </body>
  </worldbody>
  <keyframe><key name="falls" qpos="0 0 0" qvel="0 -1 0"/></keyframe>
</mujoco>"""
TABLE = """<robot name="table"><link name="top">
  <inertial><mass value="4"/>
    <inertia ixx="0.2" iyy="0.3" izz="0.4" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><geometry><box size="0.6 0.4 0.2"/></geometry></collision>
</link></robot>"""


@pytest.fixture
def block(tmp_path):
    path = tmp_path / "block.xml"
    path.write_text(BLOCK)
    return str(path)


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.urdf"
    path.write_text(TABLE)
    return str(path)


def outcomes(capsys, *arguments):
    assert main(["outcomes", *arguments, "--json", "--samples", "200"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    "state", [["--keyframe", "falls"], ["--keyframe", "0"], ["--qvel", "0,-1,0"]]
)
def test_block_of_mujoco_is_the_block_of_the_paper(block, capsys, state):
    """It lifts a corner with 0.21 of its speed at most, as by hand."""
    found = outcomes(capsys, "--mjcf", block, *state)
    assert found["problem"]["source"] == block
    assert len(found["problem"]["contacts"]) == 2
    assert found["problem"]["num_tangents"] == 1
    for contact in found["laws"]["exact"]["contacts"].values():
        assert contact["normal"] == pytest.approx([0.0, 0.21], abs=1e-9)


@pytest.mark.parametrize("spin", ["-1e-3", "-1.e-3", "-.001", "-1E-03"])
def test_negative_numbers_are_no_options(block, capsys, spin):
    found = outcomes(capsys, "--mjcf", block, "--qvel", f"-0. -1. {spin}")
    v_c = np.array(found["problem"]["contact_velocities"])[:, 0]
    np.testing.assert_allclose(sorted(v_c), [-1.0005, -0.9995], atol=1e-12)


def test_table_lands_on_four_corners(table, capsys):
    arguments = ["--urdf", table, "--shapes", "top", "--mu", "0.5", "--directions", "4"]
    state = ["--qpos", "0,0,0.1,0,0,0,1", "--qvel", "0,0,-1,0,0,0"]
    found = outcomes(capsys, *arguments, *state)
    assert len(found["problem"]["contacts"]) == 4
    v_c = np.array(found["problem"]["contact_velocities"])
    np.testing.assert_allclose(v_c, [[-1.0, 0.0, 0.0]] * 4, atol=1e-12)
    assert found["problem"]["kinetic_energy"] == pytest.approx(2.0)
    assert found["laws"]["routh"]["num_unfinished"] == 0


def test_stand_moves_the_base_to_the_ground(table, capsys):
    corners = ["--urdf", table, "--feet", "top", "--mu", "0.5", "--stand"]
    state = ["--qpos", "0,0,3,0,0,0,1", "--qvel", "0,0,-1,0,0,0"]
    found = outcomes(capsys, *corners, *state)
    assert found["problem"]["contacts"] == ["top"]


def test_stand_lowers_a_robot_of_mujoco(block, capsys):
    """From 5.7 mm above the floor, where nothing touches."""
    state = ["--qpos", "0,0.0057,0", "--qvel", "0,-1,0"]
    assert main(["outcomes", "--mjcf", block, *state]) == 2
    assert "'floor/block (---)' with a gap of 5.7 mm" in capsys.readouterr().err
    found = outcomes(capsys, "--mjcf", block, *state, "--stand")
    assert found["problem"]["contacts"] == ["floor/block (---)", "floor/block (+--)"]


ARM = """<robot name="arm"><link name="world"/><link name="bar"><inertial><mass value="2"/>
    <origin xyz="0 0 -0.5"/>
    <inertia ixx="0.2" iyy="0.2" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="tip"/><joint name="fixed" type="fixed"><parent link="bar"/><child link="tip"/>
    <origin xyz="0 0 -1"/></joint>
  <joint name="hinge" type="revolute"><parent link="world"/><child link="bar"/>
    <origin xyz="0 0 1"/><axis xyz="0 1 0"/>
    <limit lower="0" upper="1" effort="1" velocity="1"/></joint></robot>"""


def test_limits_take_part_unless_left_out(tmp_path, capsys):
    """A bar that hangs to the floor, at the end of its hinge's range."""
    path = tmp_path / "arm.urdf"
    path.write_text(ARM)
    arm = ["--urdf", str(path), "--feet", "tip", "--mu", "0.5", "--fixed-base"]
    # Its tip moves level at the bottom, so that only the hinge may give way there.
    moved = [*arm, "--qpos", "0", "--qvel", "-1"]
    found = outcomes(capsys, *moved)
    assert found["problem"]["contacts"] == ["hinge (low)"]
    assert main(["outcomes", *moved, "--no-limits"]) == 2
    assert "no contact touches" in capsys.readouterr().err


def test_check_takes_robots_too(block, capsys):
    assert main(["check", "--mjcf", block, "--keyframe", "falls", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["source"] == block


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], "expected one of SCENE|FILE, --mjcf and --urdf, got none"),
        (["rocking-block", "--mjcf", "{block}"], "got --mjcf and SCENE|FILE"),
        (["rocking-block", "--keyframe", "a"], "--keyframe: does not apply to SCENE|FILE"),
        (["--mjcf", "nowhere.xml"], "there is no file 'nowhere.xml'"),
        (["--mjcf", "{table}x"], "there is no file"),
        (["--mjcf", "{block}", "--feet", "a"], "--feet: does not apply to --mjcf"),
        (["--mjcf", "{block}", "--keyframe", "up"], "there is no 'up'; the file has: falls"),
        (["--mjcf", "{block}", "--qpos", "1"], "qpos"),
        (["--mjcf", "{block}", "--qpos", "0,3,0"], "no contact touches"),
        (["--mjcf", "{block}", "--qpos", "0,-0.1,0"], "penetrates by 0.1 m at the start"),
        (["--urdf", "{table}"], "name what touches, with --feet or --shapes"),
        (["--urdf", "{table}", "--feet", "toe", "--mu", "1"], "toe"),
        (["--urdf", "{table}", "--feet", "top"], "mu"),
        (["--urdf", "{table}", "--feet", "top", "--mu", "1", "--fixed-base"], "cannot move"),
        (["--mjcf", "{block}", "--qvel", "0,-inf,0"], "qvel: expected finite numbers"),
        (["--urdf", "{block}", "--feet", "top", "--mu", "1"], "block.xml"),
    ],
)
def test_refuses_in_one_line(block, table, arguments, expected, capsys):
    given = [each.format(block=block, table=table) for each in arguments]
    assert main(["outcomes", *given]) == 2
    err = capsys.readouterr().err
    assert expected in err
    assert err.count("\n") == 1


def test_broken_model_is_refused(tmp_path, capsys):
    path = tmp_path / "broken.xml"
    path.write_text("<mujoco><worldbody>")
    assert main(["outcomes", "--mjcf", str(path)]) == 2
    assert "MuJoCo cannot read it" in capsys.readouterr().err


def test_names_the_extra_that_is_missing(block, capsys, monkeypatch):
    def missing(*_):
        raise carom.MissingExtra.of("robots", "mujoco", "mujoco")

    monkeypatch.setattr("carom.adapters.mujoco.load_state", missing)
    assert main(["outcomes", "--mjcf", block]) == 2
    assert 'pip install "carom[mujoco]"' in capsys.readouterr().err


LEG = """<robot name="leg"><link name="top"><inertial><mass value="4"/>
    <inertia ixx="0.2" iyy="0.3" izz="0.4" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><geometry><box size="0.6 0.4 0.2"/></geometry></collision></link>
  <link name="arm"><inertial><origin xyz="0 0 0.1"/><mass value="1"/>
    <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="hinge" type="revolute"><parent link="top"/><child link="arm"/>
    <origin xyz="0 0 0.1"/><axis xyz="0 1 0"/><limit lower="-2" upper="2" effort="9" velocity="9"/>
  </joint></robot>"""


FLAT = "0,0,0.1,0,0,0,1,0"
"""It lies on four corners of its top, with the arm upright."""


def motion(capsys, *arguments):
    assert main(["simulate", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_robot_of_mujoco_moves(block, capsys):
    found = motion(capsys, "--mjcf", block, "--keyframe", "falls", "--duration", "0.1")
    assert found["status"] == "finished"
    assert found["time_step"] == 1e-3
    assert found["scene"] == "block.xml"
    (first, *_) = found["impacts"]
    assert first["kind"] == "collision"
    assert first["t"] == 0.0
    assert len(first["contacts"]) == 2


def test_a_robot_of_a_urdf_file_is_dropped(tmp_path, capsys):
    path = tmp_path / "leg.urdf"
    path.write_text(LEG)
    given = ["--urdf", str(path), "--shapes", "top", "--mu", "0.5", "--drop", "0.1"]
    given += ["--qpos", FLAT]
    found = motion(capsys, *given, "--hold", "50,2", "--duration", "0.3")
    assert found["status"] == "finished"
    assert found["impacts"][0]["t"] == pytest.approx(np.sqrt(2.0 * 0.1 / 9.81), abs=1e-6)
    assert len(found["impacts"][0]["contacts"]) == 4
    # The arm is held upright; without a controller it would fall over.
    assert abs(found["end"]["q"][-1]) <= 0.05


def test_files_of_a_robots_motion(tmp_path, capsys):
    path = tmp_path / "leg.urdf"
    path.write_text(LEG)
    given = ["--urdf", str(path), "--shapes", "top", "--mu", "0.5", "--drop", "0.01"]
    given += ["--qpos", FLAT]
    out = tmp_path / "out"
    assert main(["simulate", *given, "--duration", "0.1", "--out", str(out), "--animate"]) == 0
    capsys.readouterr()
    assert {x.name for x in out.iterdir()} == {
        *("summary.txt", "motion.json", "trajectory.npz", "motion.png", "motion.html"),
    }
    assert carom.load(out / "trajectory.npz").layout.num_tangents == 2


def test_only_a_base_that_floats_is_lifted(block, capsys):
    assert main(["simulate", "--mjcf", block, "--drop", "0.1"]) == 2
    assert "--drop: lifts a base that floats" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "expected one of SCENE, --mjcf and --urdf, got none"),
        (["zeno-block", "--drop", "0.1"], "--drop: does not apply to SCENE"),
        (["--mjcf", "nowhere.xml"], "--mjcf: there is no file 'nowhere.xml'"),
        (["zeno-block", "--mjcf", "a.xml"], "got --mjcf and SCENE"),
    ],
)
def test_what_cannot_move_is_told(capsys, arguments, words):
    assert main(["simulate", *arguments]) == 2
    assert words in capsys.readouterr().err


def test_two_gains_hold_a_robot(block, capsys):
    assert main(["simulate", "--mjcf", block, "--hold", "5"]) == 2
    assert "--hold: expected two gains" in capsys.readouterr().err
