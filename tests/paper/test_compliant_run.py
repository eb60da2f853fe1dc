"""Springs and dampers in place of rigid contact: closed forms, physical law, how a run ends."""

import pickle
import subprocess
import sys
from functools import cache

import numpy as np
import pytest

import carom
from carom.errors import ImpactNotResolved, InvalidOption, InvalidProblem
from carom.outcomes.finite import FiniteSet
from carom.paper.compliant import run as run_module
from carom.paper.compliant.run import Run
from carom.systems import FLOOR, Body, Disc, PlanarSystem, PlaneContact, Prismatic

GRAVITY = 9.81


@cache
def block():
    return carom.scenes.load("rocking-block")


def hit(stiffness=1e6, scene=None, **options):
    scene = block() if scene is None else scene
    return carom.Compliant(stiffness, **options).run(scene.system, scene.q, scene.v)


def ball(mass=1.0, mu=0.0):
    """Return a ball that moves without turning, over the floor."""
    joints = (Prismatic((1.0, 0.0)), Prismatic((0.0, 1.0)))
    body = Body("ball", mass, 0.0, joints=joints)
    return PlanarSystem([body], [PlaneContact("floor", Disc("ball", radius=0.1), FLOOR, mu)])


def oscillator(t, speed, mass, stiffness, damping_ratio):
    """Return depth and speed of m x'' + c x' + k x = -m g from x = 0, x' = -speed."""
    roots = np.sqrt(stiffness / mass) * (
        -damping_ratio + np.array([1.0, -1.0]) * np.sqrt(damping_ratio**2 - 1.0 + 0j)
    )
    sag = -mass * GRAVITY / stiffness
    weights = np.linalg.solve([[1.0, 1.0], roots], [-sag, -speed])
    waves = weights[:, None] * np.exp(np.outer(roots, t))
    return sag + waves.sum(axis=0).real, (roots[:, None] * waves).sum(axis=0).real


@pytest.mark.parametrize("mass", [1.0, 2.5])
@pytest.mark.parametrize("damping_ratio", [0.3, 5.0])
def test_ball_moves_as_a_damped_oscillator(mass, damping_ratio):
    """A mass other than 1 kg tells c = 2 zeta sqrt(k m) from the sqrt(k / m) that is printed."""
    speed, stiffness = 0.4, 1e6
    law = carom.Compliant(stiffness, damping_ratio, mass)
    impact = law.run(ball(mass), [0.0, 0.1], [0.0, -speed])
    x, rate = oscillator(impact.t, speed, mass, stiffness, damping_ratio)
    assert impact.status == "over"
    assert impact.v_post[1] == pytest.approx(-1e-3 * mass / stiffness, rel=1e-6)
    np.testing.assert_allclose(impact.v[:, 1], rate, atol=1e-7 * speed)
    np.testing.assert_allclose(impact.q[:, 1] - 0.1, x, atol=1e-7 * np.abs(x).max())
    gained = mass * (rate + speed + GRAVITY * impact.t)
    np.testing.assert_allclose(impact.impulse[:, 0, 0], gained, atol=1e-7 * mass * speed)


def test_sliding_loses_mu_times_the_normal_impulse():
    impact = carom.Compliant().run(ball(mu=0.3), [0.0, 0.1], [1.0, -0.5])
    normal, tangent = impact.impulse[-1, 0]
    assert tangent == pytest.approx(-0.3 * normal, rel=1e-9)
    assert impact.v_post[0] == pytest.approx(1.0 + tangent, abs=1e-9)


@pytest.mark.parametrize("slip", [1e-12, -0.01, 0.1])
def test_friction_that_is_strong_enough_stops_the_slip(slip):
    impact = carom.Compliant().run(ball(mu=1.0), [0.0, 0.1], [slip, -0.5])
    assert abs(impact.v_post[0]) < 1e-10
    assert impact.impulse[-1, 0, 1] == pytest.approx(-slip, rel=1e-6, abs=1e-10)


@pytest.mark.parametrize("stiffness", [1e6, [1e7, 1e6], [1e6, 1e11]])
def test_impulses_add_up_to_the_change_of_momentum(stiffness):
    impact = hit(stiffness)
    problem = block().problem
    gained = problem.M @ (impact.v_post - impact.v[0]) + [0.0, GRAVITY * impact.t[-1], 0.0]
    # The corners turn by the angle of the block while they push.
    lever = np.abs(impact.impulse[-1]).sum() * np.abs(impact.q[:, 2]).max()
    np.testing.assert_allclose(
        impact.impulse[-1].ravel() @ problem.J, gained, rtol=0.0, atol=1e-8 + lever
    )
    assert (np.diff(impact.impulse[:, :, 0], axis=0) >= -1e-10).all()
    assert (np.abs(impact.impulse[-1, :, 1]) <= impact.impulse[-1, :, 0]).all()


@pytest.mark.parametrize("name", ["rocking-block", "compass-gait", "box-wall"])
def test_energy_never_rises(name):
    scene = carom.scenes.load(name)
    for stiffness in (1e6, [1e8, 1e6], [1e6, 1e8]):
        impact = hit(stiffness, scene)
        assert impact.status == "over"
        assert np.diff(impact.energy).max() <= 1e-12 * impact.energy[0]
        assert impact.energy[-1] < impact.energy[0]


def test_integrators_agree():
    one, other = (hit([1e9, 1e6], method=method) for method in ("BDF", "Radau"))
    np.testing.assert_allclose(one.v_post, other.v_post, rtol=0.0, atol=1e-8)
    np.testing.assert_allclose(one.impulse[-1], other.impulse[-1], rtol=0.0, atol=1e-7)
    assert one.t[-1] == pytest.approx(other.t[-1], rel=1e-6)


def test_accuracy_is_reached():
    rough, fine = hit([1e9, 1e6], rtol=1e-8), hit([1e9, 1e6], rtol=1e-12)
    np.testing.assert_allclose(rough.v_post, fine.v_post, rtol=0.0, atol=1e-6)
    assert len(rough.t) < len(fine.t)


@pytest.mark.parametrize("friction_speed", [0.1, 1.0])
def test_jacobian_is_the_derivative_of_the_rates(friction_speed):
    """The corners slip at 0.2 m/s: they slide, or stick with an eps that can be differenced."""
    scene = block()
    law = carom.Compliant([1e7, 1e6], friction_speed=friction_speed)
    run = Run(law, scene.system, scene.q, np.array(scene.v), np.array([1e7, 1e6]))
    y = np.concatenate([[0.0, -1e-6, 1e-9], [0.2, -0.1, 0.01], np.zeros(4)])
    found = run._jacobian(0.0, y)
    steps = np.concatenate([np.full(3, 1e-10), np.full(3, 1e-7), np.ones(4)])
    differences = np.array(
        [
            (run._rates(0.0, y + step * row) - run._rates(0.0, y - step * row)) / (2.0 * step)
            for step, row in zip(steps, np.eye(10), strict=True)
        ]
    ).T
    size = np.abs(differences).max(axis=0) + 1.0
    assert (differences[6::2] != 0.0).any(axis=1).all()
    np.testing.assert_allclose(found / size, differences / size, rtol=0.0, atol=5e-3)


def test_run_ends_without_the_corner_that_goes_up():
    """B never has its share: it is far away, and does not come within the longest impact."""
    scene, angle = block(), np.radians(5.0)
    q = np.array([0.0, 0.0, angle])
    q[1] -= scene.system.gap(q).min()
    impact = carom.Compliant().run(scene.system, q, [0.0, -0.4, 0.0])
    assert impact.status == "over"
    assert impact.t[-1] < 1e-3
    np.testing.assert_array_equal(impact.touched_at, [0.0, np.nan])
    np.testing.assert_array_equal(impact.impulse[-1, 1], [0.0, 0.0])
    assert impact.share_before("A", "B") == 1.0
    assert np.isnan(impact.share_before("B", "A"))


@pytest.mark.parametrize(("least_share", "comes"), [(0.01, True), (0.0, False)])
def test_a_corner_that_is_about_to_touch_is_waited_for(least_share, comes):
    scene, angle = block(), np.radians(0.01)
    q = np.array([0.0, 0.0, angle])
    q[1] -= scene.system.gap(q).min()
    impact = carom.Compliant(least_share=least_share).run(scene.system, q, scene.v)
    assert impact.status == "over"
    assert bool(np.isfinite(impact.touched_at[1])) == comes


def test_limits_end_a_run():
    assert hit(max_duration=1e-5).status == "time limit"
    assert hit(max_duration=1e-5).t[-1] == 1e-5
    assert hit(max_steps=10).status == "step limit"
    assert len(hit(max_steps=10).t) == 11


def test_integrator_that_gives_up_is_told(monkeypatch):
    class GivesUp(run_module.BDF):
        def _step_impl(self):
            return False, "no step is small enough"

    monkeypatch.setitem(run_module.METHODS, "BDF", GivesUp)
    assert hit().status == "stalled"


def test_an_integrator_that_makes_energy_is_told(monkeypatch):
    """As BDF of SciPy 1.12 did at rtol = 1e-6, where a step missed how friction turns over."""
    state = run_module.Run._state
    more = 0.0

    def faster(run, t, y):
        nq, end = run.nq, run.end_v
        return state(run, t, np.concatenate([y[:nq], y[nq:end] + more, y[end:]]))

    monkeypatch.setattr(
        run_module.Run, "_first", lambda run, dense, end, _: faster(run, end, dense(end))
    )
    assert hit().status == "over"
    more = 20.0
    assert hit().status == "energy rises"
    with pytest.raises(ImpactNotResolved, match="lower rtol"):
        hit().outcome()


def test_nothing_happens_where_nothing_approaches():
    scene = block()
    impact = carom.Compliant().run(scene.system, scene.q, -scene.v)
    assert impact.status == "over"
    np.testing.assert_array_equal(impact.t, [0.0])
    np.testing.assert_array_equal(impact.v_post, -scene.v)
    np.testing.assert_array_equal(impact.impulse, np.zeros((1, 2, 2)))


def test_sweep_tells_its_progress():
    told = []
    sweep = carom.paper.compliant.stiffness_sweep(
        block(), 3, max_ratio=100.0, progress=lambda *done: told.append(done)
    )
    assert told == [(1, 3), (2, 3), (3, 3)]
    np.testing.assert_allclose(sweep.values, [0.01, 1.0, 100.0])
    np.testing.assert_array_equal(sweep.v_post, [run.v_post for run in sweep.runs])
    np.testing.assert_allclose(
        [run.stiffness for run in sweep.runs], [[1e6, 1e8], [1e6, 1e6], [1e8, 1e6]]
    )


def test_turned_blocks_touch_with_one_corner_and_have_one_energy():
    scene = block()
    sweep = carom.paper.compliant.angle_sweep(scene, 4, max_angle=0.003)
    np.testing.assert_allclose(sweep.values, [-0.003, -0.001, 0.001, 0.003])
    for angle, run in zip(sweep.values, sweep.runs, strict=True):
        assert run.q[0, 2] == pytest.approx(np.radians(angle), rel=1e-12)
        assert abs(scene.system.gap(run.q[0]).min()) < 1e-15
        assert np.argmin(scene.system.gap(run.q[0])) == (angle < 0.0)
        assert run.energy[0] == pytest.approx(scene.system.energy(scene.q, scene.v), rel=1e-14)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"stiffness": 0.0}, "stiffness"),
        ({"stiffness": [1e6, -1.0]}, "stiffness"),
        ({"stiffness": [[1e6], [1e6, 1e6]]}, "stiffness"),
        ({"stiffness": "hard"}, "stiffness"),
        ({"damping_ratio": -1.0}, "damping_ratio"),
        ({"mass": 0.0}, "mass"),
        ({"mass": "heavy"}, "mass"),
        ({"friction_speed": np.nan}, "friction_speed"),
        ({"least_share": np.inf}, "least_share"),
        ({"method": "LSODA"}, "expected one of BDF, Radau"),
        ({"rtol": 1e-16}, "rtol: expected a number from 1e-13"),
        ({"max_duration": -1.0}, "max_duration"),
        ({"max_steps": 0}, "max_steps"),
    ],
)
def test_wrong_options_are_refused(options, words):
    with pytest.raises(InvalidOption, match=words):
        carom.Compliant(**options)


@pytest.mark.parametrize(
    ("q", "v", "error", "words"),
    [
        ([0.0, 1.1, 0.0], [0.0, -1.0, 0.0], InvalidProblem, "no contact touches"),
        ([0.0, 0.9, 0.0], [0.0, -1.0, 0.0], InvalidProblem, "contact 'A' penetrates by 0.1 m"),
        ([0.0, 1.0], [0.0, -1.0, 0.0], InvalidOption, r"q: expected shape \(3,\), got \(2,\)"),
        ([0.0, 1.0, 0.0], [0.0, -1.0], InvalidProblem, "v_pre"),
        ([0.0, 1.0, 0.0], [0.0, np.nan, 0.0], InvalidProblem, "v_pre"),
    ],
)
def test_wrong_states_are_refused(q, v, error, words):
    with pytest.raises(error, match=words):
        carom.Compliant().run(block().system, q, v)


def test_number_of_stiffnesses_is_checked():
    with pytest.raises(InvalidOption, match="each of the 2 contacts A, B, got 3"):
        hit([1e6, 1e6, 1e6])


def test_contacts_in_space_are_refused():
    class Spatial(PlanarSystem):
        def dynamics(self, q, v=None, t=0.0):
            here = super().dynamics(q, v, t)
            return here._replace(J_t=np.repeat(here.J_t, 2, axis=1))

    system = Spatial(block().system.bodies, block().system.contact_pairs)
    with pytest.raises(InvalidProblem, match="planar"):
        carom.Compliant().run(system, block().q, block().v)


@pytest.mark.parametrize("angle", [0.0, 0.005, -0.005])
def test_outcome_is_a_set_of_one(angle):
    """It ends with the velocity of the motion, and its impulses are those of the motion."""
    scene = block()
    q = np.array([0.0, scene.q[1], np.radians(angle)])
    q[1] -= scene.system.gap(q).min()
    law = carom.Compliant([1e7, 1e6], rtol=1e-8)
    motion, outcomes = (each(scene.system, q, scene.v) for each in (law.run, law.resolve))
    problem = outcomes.problem
    assert isinstance(outcomes, FiniteSet)
    assert len(outcomes) == 1
    assert outcomes.is_complete
    np.testing.assert_allclose(outcomes.v_post[0], motion.v_post, rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(outcomes.impulse_n[0], motion.impulse[-1, :, 0], rtol=1e-12)
    # Gravity acts for less than a millisecond, and the block hardly turns.
    assert np.abs(problem.v_pre - scene.v).max() < 0.02
    assert problem.kinetic_energy(outcomes.v_post[0]) < problem.kinetic_energy(problem.v_pre)
    path = outcomes.path_to(outcomes.v_post[0])
    assert path.num_steps == len(motion.t) - 1
    # The integrator may take back what is below its accuracy.
    assert (path.lambda_n >= -1e-8 * outcomes.impulse_n.max()).all()
    assert pickle.loads(pickle.dumps(outcomes)).labels == outcomes.labels


def test_contacts_that_never_touch_are_no_part_of_an_outcome():
    scene, angle = block(), np.radians(5.0)
    q = np.array([0.0, 0.0, angle])
    q[1] -= scene.system.gap(q).min()
    outcomes = carom.Compliant().resolve(scene.system, q, [0.0, -0.4, 0.0])
    assert outcomes.problem.contacts == ("A",)


def test_where_nothing_approaches_the_velocity_stays():
    scene = block()
    outcomes = carom.Compliant().resolve(scene.system, scene.q, -scene.v)
    np.testing.assert_array_equal(outcomes.v_post, [-scene.v])
    assert outcomes.num_steps.tolist() == [0]


def test_an_impact_that_does_not_end_has_no_outcome():
    scene = block()
    with pytest.raises(ImpactNotResolved, match=r"step limit\): allow more with max_duration"):
        carom.Compliant(max_steps=10).resolve(scene.system, scene.q, scene.v)


def test_no_figure_is_needed():
    """It stands beside the reproduction, which does need matplotlib and PPL."""
    code = (
        "import sys; sys.modules['matplotlib'] = sys.modules['ppl'] = None; import carom;"
        "b = carom.scenes.load('rocking-block');"
        "print(carom.Compliant(rtol=1e-3).run(b.system, b.q, b.v).status)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "over\n"


def test_unknown_contacts_are_refused():
    with pytest.raises(InvalidOption, match="expected one of A, B, got 'C'"):
        hit(max_duration=1e-6).share_before("A", "C")


@pytest.mark.parametrize(
    ("sweep", "scene", "options", "words"),
    [
        ("stiffness_sweep", "disk-stack", {}, "two contacts"),
        ("stiffness_sweep", "rocking-block", {"num": 1}, "num"),
        ("stiffness_sweep", "rocking-block", {"max_ratio": 0.0}, "max_ratio"),
        ("stiffness_sweep", "rocking-block", {"law": carom.Compliant([1e6, 1e6])}, "law"),
        ("angle_sweep", "box-wall", {}, "over a floor"),
        ("angle_sweep", "rocking-block", {"max_angle": 5.0}, "falls too slowly"),
    ],
)
def test_wrong_sweeps_are_refused(sweep, scene, options, words):
    with pytest.raises(InvalidOption, match=words):
        getattr(carom.paper.compliant, sweep)(carom.scenes.load(scene), **options)
