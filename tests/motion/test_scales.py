"""Fast spins, far places, heavy neighbours and short inputs change nothing that they should not."""

import math

import numpy as np
import pytest

import carom
from carom.systems import (
    FLOOR,
    Body,
    Disc,
    HalfPlane,
    PlanarSystem,
    PlaneContact,
    Polygon,
    Prismatic,
    Revolute,
)

LAW = carom.AnitescuPotra()
G = 9.81
SLOPE = math.pi / 4


def lowest_gap(motion, num=4001):
    times = np.linspace(motion.start_time, motion.end_time, num)
    return min(motion.system.gap(q).min() for q in motion.at(t=times).q)


@pytest.mark.parametrize("rate", [10.0, 50.0, 120.0, 300.0, 1000.0])
@pytest.mark.parametrize("height", [0.9, 2.0])
def test_spinning_box_does_not_fall_through_the_floor(rate, height):
    # In flight positions are polynomials of time, and steps are long; corners go round meanwhile.
    box = Body.box("box", 0.4, 0.2, 1.0)
    (outline,) = box.outline
    assert isinstance(outline, Polygon)
    contacts = [
        PlaneContact(name, Disc("box", corner), FLOOR, 0.5)
        for name, corner in zip("ABCD", outline.points, strict=True)
    ]
    system = PlanarSystem([box], contacts)
    motion = carom.simulate(system, [0.0, height, 0.1], [0.0, 0.0, rate], 0.8, LAW)
    assert motion.status == "finished"
    assert motion.impacts
    assert lowest_gap(motion) > -1e-9


def on_a_slope(mu, *others, contacts=()):
    """Return a point on a slope of 45 degrees, beside bodies that have nothing to do with it."""
    plane = HalfPlane((0.0, 0.0), (-math.sin(SLOPE), math.cos(SLOPE)))
    point = PlaneContact("point", Disc("point"), plane, mu)
    return PlanarSystem([Body.point("point", 1.0), *others], [point, *contacts])


NEIGHBOURS = {
    "pivot over a floor": (
        [Body.rod("rod", 1.0, 1.0, joints=(Revolute(),), placement=(5.0, 3.0))],
        [PlaneContact("tip", Disc("rod", (0.0, -1.0)), FLOOR, 0.5)],
        [0.0],
        [0.0],
    ),
    "heavy body at rest": (
        [Body.point("heavy", 1e9, joints=(Prismatic((0.0, 1.0)),))],
        [PlaneContact("heavy", Disc("heavy"), FLOOR, 0.5)],
        [0.0],
        [0.0],
    ),
    "flywheel": (
        [Body.disc("wheel", 1.0, 1.0, joints=(Revolute(),), placement=(9.0, 5.0))],
        [PlaneContact("wheel", Disc("wheel", (0.5, 0.0)), FLOOR, 0.5)],
        [0.0],
        [1e4],
    ),
}


@pytest.mark.parametrize("name", NEIGHBOURS)
def test_neighbours_do_not_hold_a_body_on_a_slope(name):
    bodies, contacts, q, v = NEIGHBOURS[name]
    system = on_a_slope(0.999, *bodies, contacts=contacts)
    motion = carom.simulate(system, [0.0, 0.0, *q], [0.0, 0.0, *v], 0.02, LAW)
    assert motion.status == "finished"
    assert motion.segments[0].modes[0] == "sliding -"
    slide = -G * (math.sin(SLOPE) - 0.999 * math.cos(SLOPE)) * 0.02
    along = motion.v[-1][:2] @ [math.cos(SLOPE), math.sin(SLOPE)]
    assert along == pytest.approx(slide, rel=1e-7)


def test_fast_neighbour_does_not_make_slow_motion_rest():
    fast = Body.point("fast", 1000.0, joints=(Prismatic((1.0, 0.0)),))
    ball = Body.point("ball", 1e-3)
    contact = PlaneContact("ball", Disc("ball"), FLOOR, 0.5)
    system = PlanarSystem([ball, fast], [contact])
    motion = carom.simulate(system, [0.0, 0.0, 0.0], [1e-3, 1e-3, 100.0], 1e-4, LAW)
    assert motion.segments[0].modes == ("free",)
    np.testing.assert_allclose(motion.v[-1][:2], [1e-3, 1e-3 - G * 1e-4], atol=1e-12)


@pytest.mark.parametrize("height", [10.0, 100.0, 1000.0])
def test_wobbling_block_comes_to_rest_on_a_high_floor(height):
    scene = carom.scenes.load("zeno-block")
    (block,) = scene.system.bodies
    floor = HalfPlane((0.0, height))
    contacts = [
        PlaneContact(pair.name, pair.disc, floor, pair.mu) for pair in scene.system.contact_pairs
    ]
    system = PlanarSystem([block], contacts)
    q = scene.q + np.array([0.0, height, 0.0])
    motion = carom.simulate(system, q, scene.v, 3.0, carom.Sequential(), max_steps=3000)
    assert motion.status == "finished"
    assert motion.segments[-1].modes == ("sticking", "sticking")
    # The rounding of a height of 1 km is that of a hop of some microseconds.
    assert motion.segments[-1].start == pytest.approx(2.671421398, abs=1e-5)


def test_short_inputs_need_a_short_step():
    cart = Body.point("cart", 1.0, joints=(Prismatic((1.0, 0.0)),))
    push = PlanarSystem([cart], [], inputs=lambda t, *_: [100.0 if 0.5 < t < 0.51 else 0.0])
    motion = carom.simulate(push, [0.0], [0.0], 1.0, LAW, max_step=2e-3)
    assert motion.v[-1][0] == pytest.approx(1.0, abs=1e-6)


def test_accumulation_that_is_cut_short_takes_its_share_of_the_impulse():
    scene = carom.scenes.load("zeno-block")

    def move(duration):
        return carom.simulate(scene.system, scene.q, scene.v, duration, carom.Sequential())

    whole = move(3.0).impacts[-1]
    cut = move(whole.t + 0.25 * whole.duration).impacts[-1]
    assert cut.kind == "accumulation"
    share = (cut.impulse[1] - cut.impulse[0]) / (whole.impulse[1] - whole.impulse[0])
    # The last hops have few digits, so that the two series differ by some percent.
    np.testing.assert_allclose(share[:, 0], 0.25, rtol=0.05)


class Idle(carom.ImpactLaw):
    """Let nothing act."""

    def resolve(self, problem):
        return carom.Routh(num_samples=1).resolve(problem)

    def draw_path(self, problem, seed):
        rest = carom.ImpactProblem(
            problem.M, problem.J_n, problem.J_t, problem.mu, np.zeros(problem.num_velocities)
        )
        return carom.Routh(num_samples=1).draw_path(rest, seed)


@pytest.mark.parametrize("name", ["painleve-rod", "rocking-block"])
def test_law_that_does_nothing_ends_the_motion(name):
    scene = carom.scenes.load(name)
    motion = carom.simulate(scene.system, scene.q, scene.v, 0.1, Idle(), max_impacts=50)
    assert motion.status in ("impact not resolved", "stalled", "finished")


@pytest.mark.parametrize(
    "body", [Body("body", 0.0, 0.0), Body.point("body", 1.0, joints=(Revolute(),))]
)
def test_motion_without_inertia_is_refused(body):
    system = PlanarSystem([body], [])
    with pytest.raises(carom.InvalidProblem, match="inertia"):
        carom.simulate(system, np.zeros(system.nq), np.zeros(system.nv), 1.0, LAW)


@pytest.mark.parametrize("law", ["routh", carom.Routh, None])
def test_what_is_no_law_is_refused(law):
    scene = carom.scenes.load("rocking-block")
    with pytest.raises(carom.InvalidOption, match=r"^law: "):
        carom.simulate(scene.system, scene.q, scene.v, 1.0, law)
