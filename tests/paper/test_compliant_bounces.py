"""Springs that return a share of their work, judged by energy, rigid laws, published numbers."""

import numpy as np
import pytest

import carom
from carom.errors import InvalidOption
from carom.systems import FLOOR, Body, Disc, DiscContact, PlanarSystem, PlaneContact, Prismatic
from tests.paper.test_compliant_run import GRAVITY, ball, block, hit

RATIOS = (1e-3, 1e-1, 1.0, 1e1, 1e3)
RESTITUTIONS = ((1.0, 1.0), (0.8, 0.8), (0.3, 0.9))


def cradle():
    """Return three equal balls of 1 kg side by side on a line, and where they touch."""
    discs = [Disc(name, radius=0.1) for name in ("1", "2", "3")]
    bodies = [Body(disc.body, 1.0, 0.0, joints=(Prismatic((1.0, 0.0)),)) for disc in discs]
    contacts = [DiscContact(name, discs[i + 1], discs[i], 0.0) for i, name in enumerate(("A", "B"))]
    return PlanarSystem(bodies, contacts, gravity=(0.0, 0.0)), [0.0, 0.2, 0.4]


def box(width, height, mu):
    """Return a uniform box of 1 kg over the floor, with its lower corners A and B."""
    inertia = (width**2 + height**2) / 12.0
    corners = [Disc("box", (x * width / 2.0, -height / 2.0)) for x in (-1.0, 1.0)]
    contacts = [
        PlaneContact(name, corner, FLOOR, mu) for name, corner in zip("AB", corners, strict=True)
    ]
    return PlanarSystem([Body("box", 1.0, inertia)], contacts, gravity=(0.0, 0.0))


@pytest.mark.parametrize("e", [1.0, 0.8, 0.3, 0.05])
@pytest.mark.parametrize("mass", [1.0, 2.5])
def test_a_ball_bounces_with_e_times_its_speed(e, mass):
    speed, mu = 0.5, 0.3
    law = carom.Compliant(1e9, mass=mass, restitution=e)
    impact = law.run(ball(mass, mu), [0.0, 0.1], [1.0, -speed])
    assert impact.status == "over"
    # Gravity acts for as long as the contact, about 0.1 ms.
    weight = 2.0 * GRAVITY * impact.t[-1]
    assert impact.v_post[1] == pytest.approx(e * speed, abs=weight)
    assert impact.v_post[0] == pytest.approx(1.0 - mu * (1.0 + e) * speed, abs=weight)
    assert impact.force[-1, 0] == pytest.approx(0.0, abs=1e-6 * impact.force.max())


def test_the_spring_is_linear_on_both_ways():
    """Half a period of each stiffness, k and k / e^2, makes a quarter and e times a quarter."""
    k, e, speed = 1e6, 0.5, 0.5
    impact = carom.Compliant(k, restitution=e).run(ball(), [0.0, 0.1], [0.0, -speed])
    quarter = 0.5 * np.pi / np.sqrt(k)
    assert impact.t[-1] == pytest.approx((1.0 + e) * quarter, rel=0.02)
    assert impact.force.max() == pytest.approx(np.sqrt(k) * speed, rel=0.02)


@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize("e", RESTITUTIONS)
def test_energy_with_what_springs_can_return_never_rises(ratio, e):
    scene = block()
    law = carom.Compliant([1e6 * ratio, 1e6], restitution=e)
    impact = law.run(scene.system, scene.q, scene.v)
    assert impact.status == "over"
    assert np.diff(impact.energy).max() <= 1e-9 * impact.energy[0]
    assert (impact.system.dynamics(impact.q[-1]).J_n @ impact.v_post >= -1e-6).all()
    outcomes = impact.outcome()
    assert outcomes.problem.restitution.tolist() == list(e)
    limit = outcomes.problem.mu * outcomes.impulse_n
    assert (np.abs(outcomes.impulse_t[..., 0]) <= limit * (1.0 + 1e-9)).all()


@pytest.mark.parametrize("ratio", [0.1, 1.0, 10.0, 1e3])
def test_a_damped_corner_beside_one_that_bounces(ratio):
    impact = hit([1e6 * ratio, 1e6], restitution=[0.5, 0.0])
    assert impact.status == "over"
    assert not impact.force[:, 1].any()
    assert impact.force[:, 0].max() > 0.0
    assert np.diff(impact.energy).max() <= 1e-9 * impact.energy[0]


def test_three_balls_on_equal_linear_springs():
    """Linear springs: (-0.13026, 0.15023, 0.98003), not the sequential outcome."""
    system, q = cradle()
    impact = carom.Compliant(1e6, restitution=1.0).run(system, q, [1.0, 0.0, 0.0])
    np.testing.assert_allclose(impact.v_post, [-0.13026, 0.15023, 0.98003], atol=1e-5)


@pytest.mark.parametrize("ratio", RATIOS)
def test_three_elastic_balls_stay_on_the_circle(ratio):
    """Momentum and energy are kept; stiff first, one after the other; stiff last, all at once."""
    system, q = cradle()
    law = carom.Compliant([1e6 * ratio, 1e6], restitution=1.0)
    v = law.run(system, q, [1.0, 0.0, 0.0]).v_post
    assert v.sum() == pytest.approx(1.0, abs=1e-8)
    assert v @ v == pytest.approx(1.0, abs=1e-6)
    problem = system.impact_problem(np.array(q), [1.0, 0.0, 0.0])
    bounces = carom.ImpactProblem(
        problem.M, problem.J_n, problem.J_t, 0.0, problem.v_pre, restitution=1.0
    )
    sequential = carom.Sequential().resolve(bounces).v_post[0]
    together = carom.AnitescuPotra().resolve(bounces).v_post[0]
    # Between the ends of the arc, in the order of the third ball's speed.
    assert together[2] - 0.05 <= v[2] <= sequential[2] + 1e-6
    if ratio == max(RATIOS):
        np.testing.assert_allclose(v, sequential, atol=0.05)


def test_a_block_rocks_back_as_the_bistiffness_model_has_it():
    """Published for equal stiffness: a block 1 x 0.5 that turns about A and lands on B, e = 0.8."""
    system = box(1.0, 0.5, 0.0)
    law = carom.Compliant(1e8, restitution=0.8)
    v = law.run(system, [0.0, 0.25, 0.0], [0.0, -2.06538, -4.13076]).v_post
    np.testing.assert_allclose(v[1:], [1.85376, -0.49727], atol=2e-3)


@pytest.mark.parametrize("slip", [2.0, 0.4, 0.1, -0.5])
@pytest.mark.parametrize("angle", [-20.0, 20.0, 50.0])
def test_one_stiff_contact_follows_stronges_law(slip, angle):
    """Sliding, slip that stops in compression or restitution, slip that reverses."""
    system = box(0.4, 1.0, 0.4)
    q = np.array([0.0, 0.0, np.radians(angle)])
    q[1] -= system.gap(q).min()
    outcomes = carom.Compliant(1e10, restitution=0.6).resolve(system, q, [slip, -1.0, 0.2])
    assert outcomes.problem.num_contacts == 1
    rigid = carom.RouthSingle().resolve(outcomes.problem)
    np.testing.assert_allclose(outcomes.v_post, rigid.v_post, atol=1e-3)


@pytest.mark.parametrize("given", [-0.1, 1.5, np.nan, [0.5, 2.0], "much"])
def test_wrong_restitution_is_refused(given):
    with pytest.raises(InvalidOption, match="restitution"):
        carom.Compliant(restitution=given)


def test_number_of_coefficients_is_checked():
    scene = block()
    with pytest.raises(InvalidOption, match=r"restitution: .* each of the 2 contacts A, B, got 3"):
        carom.Compliant(restitution=[0.5] * 3).run(scene.system, scene.q, scene.v)


@pytest.mark.parametrize("name", ["compass-gait", "box-wall", "ramone"])
def test_robots_land_on_springs_that_return(name):
    """Feet that stick take up friction anew, at once, whenever a spring turns."""
    impact = hit(1e7, carom.scenes.load(name), restitution=0.6)
    assert impact.status == "over"
    assert np.diff(impact.energy).max() <= 1e-9 * impact.energy[0]
    assert impact.energy[-1] < impact.energy[0]
