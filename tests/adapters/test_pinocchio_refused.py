"""What the adapter to Pinocchio refuses, each with one clear error."""

import subprocess
import sys

import numpy as np
import pinocchio as pin
import pytest

import carom
from carom.adapters.pinocchio import (
    ContactPoint,
    HalfSpace,
    PinocchioSystem,
    collision_points,
)
from tests.reference import real_robots

ball = real_robots.ball


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PinocchioSystem(ball(), ["foot"], mu=1), "no frame is named 'foot'; there are"),
        (lambda: PinocchioSystem(ball(), [], mu=1), "expected at least one frame or ContactPoint"),
        (lambda: PinocchioSystem(ball(), [3], mu=1), "expected names of frames or ContactPoints"),
        (lambda: PinocchioSystem(ball(), ["ball"]), "'ball' has no friction coefficient"),
        (lambda: PinocchioSystem(ball(), ["ball"], mu=-1.0), "mu: expected a number >= 0"),
        (lambda: PinocchioSystem(ball(), ["ball"] * 2, mu=1), "got 'ball' repeatedly"),
        (lambda: PinocchioSystem("ball", ["ball"], mu=1), "expected a pinocchio.Model"),
        (lambda: ContactPoint("ball", radius=-0.1), "radius: expected a number >= 0"),
        (lambda: ContactPoint("ball", offset=(0, 0)), r"offset: expected shape \(3,\), got \(2,\)"),
        (lambda: ContactPoint(""), "expected the name of a frame"),
        (lambda: HalfSpace(normal=(0, 0, 0)), "normal: expected a direction, got zero"),
        (lambda: HalfSpace(point=(0, 0, np.nan)), "expected finite numbers, got nan"),
    ],
)
def test_refuses_what_is_wrong(make, message):
    with pytest.raises(carom.InvalidOption, match=message):
        make()


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda s: s.gap([0.0] * 6), r"q: expected shape \(7,\), got \(6,\)"),
        (lambda s: s.gap([np.inf, 0, 0, 0, 0, 0, 1]), "q: expected finite numbers, got inf"),
        (lambda s: s.gap([0.0, 0, 0, 0, 0, 0, 2]), "expected quaternions of unit length"),
        (lambda s: s.gap([0.0] * 7), "expected quaternions of unit length"),
        (lambda s: s.smooth_force([0, 0, 0, 0, 0, 0, 1], [0]), r"v: expected shape \(6,\)"),
        (
            lambda s: s.impact_problem([0, 0, 1, 0, 0, 0, 1], np.zeros(6)),
            r"the nearest is 'ball' with a gap of 0.9 m, .*with q = system.stand\(q\)",
        ),
        (
            lambda s: s.impact_problem([0, 0, 0.05, 0, 0, 0, 1], np.zeros(6)),
            "contact 'ball' penetrates by 0.05 m at the start",
        ),
        (
            lambda s: s.impact_problem([0, 0, 0.1, 0, 0, 0, 1], [0, 0, -1]),
            r"v: expected shape \(6,\), got \(3,\)",
        ),
    ],
)
def test_refuses_a_wrong_question(ask, message):
    system = PinocchioSystem(ball(), [ContactPoint("ball", radius=0.1)], mu=0.5)
    with pytest.raises(carom.InvalidProblem, match=message):
        ask(system)


def test_refuses_to_stand_on_what_is_not_there():
    system = PinocchioSystem(ball(), [ContactPoint("ball", radius=0.1)], mu=0.5)
    with pytest.raises(carom.InvalidOption, match="no contact is named 'foot'"):
        system.stand([0, 0, 0, 0, 0, 0, 1], ["foot"])
    with pytest.raises(carom.InvalidOption, match="expected at least one contact"):
        system.stand([0, 0, 0, 0, 0, 0, 1], [])


def test_refuses_other_geometry(tmp_path):
    model, shapes = real_robots.model("anymal_b"), real_robots.shapes("anymal_b")
    with pytest.raises(carom.InvalidProblem, match="'LF_ADAPTER_0' is a Cylinder, and only"):
        collision_points(model, shapes, ["LF_ADAPTER"])
    with pytest.raises(carom.InvalidOption, match=r"no link with collision geometry.*'foot'"):
        collision_points(model, shapes, ["foot"])
    broken = tmp_path / "broken.urdf"
    broken.write_text("<robot")
    with pytest.raises(carom.InvalidFile, match="cannot read"):
        PinocchioSystem.from_urdf(broken, ["foot"], mu=1.0)
    with pytest.raises(carom.InvalidFile, match=r"there is no file 'no\.urdf'"):
        PinocchioSystem.from_urdf("no.urdf", ["foot"], mu=1.0)


def test_refuses_frames_that_share_a_name():
    model = ball()
    away = pin.SE3(np.eye(3), np.array([0.0, 0.0, 1.0]))
    model.addFrame(pin.Frame("ball", 1, 1, away, pin.FrameType.OP_FRAME))
    with pytest.raises(carom.InvalidOption, match="2 frames are named 'ball'"):
        PinocchioSystem(model, ["ball"], mu=0.5)


def test_without_pinocchio_the_error_names_the_extra():
    code = (
        "import sys; sys.modules['pinocchio'] = None\n"
        "import carom\n"
        "try:\n    import carom.adapters.pinocchio\n"
        "except carom.MissingExtra as error:\n    print(error)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 'pip install pin, or "carom[pinocchio]"' in run.stdout
