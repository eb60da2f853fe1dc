"""Impacts that nothing collides in, judged by Painlevé's rod, by physics and by the exact set."""

import contextlib
import json

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import carom
from tests.reference.impact_problems import delassus
from tests.reference.random_motions import RandomMotions
from tests.reference.replay import check_path
from tests.reference.set_checks import AMPLE, ROUNDING, STEP_ERROR, largest_step, speed_of

LAWS = {
    "single": carom.RouthSingle(),
    "simultaneous": carom.AnitescuPotra(),
    "sequential": carom.Sequential(),
    "sampled": carom.Routh(num_samples=50),
    "steps": carom.Routh(num_samples=50, draw="persistent"),
    "exact": carom.RouthExact(max_seconds=AMPLE),
}
SEVERAL = {name: law for name, law in LAWS.items() if name != "single"}
ANGLE = float(np.arctan(2.0))
CRITICAL = 4.0 / 3.0
NOTHING = "no contact at rest can be driven into an impact here: leave out without_collision"
CLOSE = 1e-9
MOTION_ERROR = 1e-8
seeds = st.integers(0, 2**31)


def rod_rows(angle):
    """Return J_n and J_t (3,) of the lower end of a rod of length 2 at an angle to the floor.

    The lower end is at r = -(cos, sin) from the centre and moves with v + spin x r.
    """
    return np.array([0.0, 1.0, -np.cos(angle)]), np.array([1.0, 0.0, np.sin(angle)])


def rods(slips, mu=2.0, angle=ANGLE, spin=0.3, without_collision=True):
    """Return rods of mass 1 and inertia 1/3, each of which slides on its lower end at v_n = 0."""
    count = len(slips)
    J_n, J_t = rod_rows(angle)
    v = [np.array([slip - spin * J_t[2], -spin * J_n[2], spin]) for slip in slips]
    return carom.ImpactProblem(
        np.kron(np.eye(count), np.diag([1.0, 1.0, 1.0 / 3.0])),
        np.kron(np.eye(count), J_n[None]),
        np.kron(np.eye(count), J_t[None]),
        mu,
        np.concatenate(v),
        without_collision=without_collision,
    )


def at_rest(seed, m, nv=None, d=1, **fields):
    """Return a problem whose m contacts all have J_n v = 0, and one in three sticks."""
    rng = np.random.default_rng([20250101, seed])
    nv = 2 * m + 1 if nv is None else nv
    J = rng.normal(size=(m, 1 + d, nv))
    root = rng.normal(size=(nv, nv))
    still = np.vstack([J[:, 0], J[rng.random(m) < 0.3].reshape(-1, nv)])
    v = rng.normal(size=nv)
    v = v - np.linalg.pinv(still) @ (still @ v)
    fields = {"mu": rng.uniform(0.0, 2.0, m), "without_collision": True, **fields}
    return carom.ImpactProblem(
        M=root @ root.T + 0.1 * np.eye(nv), J_n=J[:, 0], J_t=J[:, 1:], v_pre=v, **fields
    )


def check_physics(problem, outcomes):
    """Assert non-penetration, the cone, momentum, and that energy fell."""
    speed, unit = problem.space.velocity_unit, problem.space.impulse_unit
    before = problem.kinetic_energy(problem.v_pre)
    assert (outcomes.contact_velocities[..., 0] >= -CLOSE * speed).all()
    assert (problem.kinetic_energy(outcomes.v_post) < before).all()
    assert (outcomes.impulse_n >= -CLOSE * unit).all()
    friction = np.linalg.norm(outcomes.impulse_t, axis=-1)
    assert (friction <= problem.mu * outcomes.impulse_n + CLOSE * unit * (1 + problem.mu)).all()
    impulses = np.concatenate([outcomes.impulse_n[..., None], outcomes.impulse_t], axis=-1)
    change = impulses.reshape(len(outcomes), -1) @ problem.J
    momentum = (outcomes.v_post - problem.v_pre) @ problem.M
    assert np.abs(change - momentum).max() <= CLOSE * (1 + np.abs(change).max())


def test_the_rod_is_where_the_paradox_is():
    """tan = 2: friction turns the rod into the floor from mu = 4/3 on, if it slides ahead of it."""
    A = delassus(rods([-1.0]))
    assert np.allclose(A, [[1.6, -1.2], [-1.2, 3.4]])
    assert np.isclose(A[0, 0] / abs(A[0, 1]), CRITICAL)


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("spin", [0.0, 0.3, -2.0])
def test_all_laws_agree_on_the_rod(name, spin):
    """The end is driven in, stops sliding, sticks and comes to rest in the normal direction."""
    problem = rods([-1.0], spin=spin)
    outcomes = LAWS[name].resolve(problem)
    v_c = problem.contact_velocity(outcomes.v_post)
    assert np.abs(v_c).max() <= CLOSE
    assert (problem.kinetic_energy(outcomes.v_post) < problem.kinetic_energy(problem.v_pre)).all()
    if name != "exact":
        check_physics(problem, outcomes)
        # By hand: what stops both velocities of the end.
        impulse = -np.linalg.solve(delassus(problem), [0.0, -1.0])
        assert np.allclose(outcomes.impulse_n, impulse[0], atol=CLOSE)
        assert np.allclose(outcomes.impulse_t, impulse[1], atol=CLOSE)


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize(
    "problem",
    [
        rods([1.0]),
        rods([-1.0], mu=1.0),
        rods([0.0]),
        rods([0.0], spin=0.0),
        carom.ImpactProblem(np.eye(2), [[0, 1]], [[1, 0]], 5.0, [1, 1], without_collision=True),
    ],
    ids=["slides the other way", "little friction", "sticks", "stands still", "lifts"],
)
def test_all_laws_say_that_nothing_can_act(name, problem):
    with pytest.raises(carom.ImpactNotResolved, match=NOTHING) as caught:
        LAWS[name].resolve(problem)
    assert caught.value.problem is problem
    with pytest.raises(carom.ImpactNotResolved, match=NOTHING):
        LAWS[name].draw_path(problem, 0)


def test_the_rod_is_driven_in_before_it_sticks():
    for law in (carom.Routh(num_samples=1, step_impulse=0.01), LAWS["exact"]):
        problem = rods([-1.0])
        v_n = problem.contact_velocity(law.draw_path(problem, 0).v)[:, 0, 0]
        # It slides for 1 / (3.4 * 2 - 1.2) and is driven in by 0.8 of that.
        assert v_n.min() == pytest.approx(-0.8 / 5.6, abs=0.02)


@settings(max_examples=60)
@given(
    slip=st.floats(-2.0, 2.0),
    mu=st.floats(0.0, 5.0),
    angle=st.floats(0.1, 1.5),
    spin=st.floats(-1.0, 1.0),
)
def test_one_contact_acts_just_where_friction_drives_it_in(slip, mu, angle, spin):
    problem = rods([slip], mu=mu, angle=angle, spin=spin)
    normal, cross = delassus(problem)[0]
    rate = normal - mu * np.sign(slip) * cross
    assume(abs(rate) > 1e-3)
    assume(abs(slip) > 1e-3)
    for law in LAWS.values():
        if rate > 0.0:
            with pytest.raises(carom.ImpactNotResolved, match=NOTHING):
                law.resolve(problem)
        else:
            v_post = law.resolve(problem).v_post
            assert np.abs(problem.contact_velocity(v_post)).max() <= CLOSE
            assert (problem.kinetic_energy(v_post) < problem.kinetic_energy(problem.v_pre)).all()


@pytest.mark.parametrize("name", LAWS)
def test_without_the_flag_nothing_happens(name):
    problem = rods([-1.0], without_collision=False)
    outcomes = LAWS[name].resolve(problem)
    assert outcomes.is_complete
    assert np.array_equal(outcomes.v_post, np.tile(problem.v_pre, (len(outcomes.v_post), 1)))
    assert LAWS[name].draw_path(problem, 0).num_steps == 0


@pytest.mark.parametrize("name", SEVERAL)
def test_a_collision_is_a_collision(name):
    """The flag changes no bit where something collides."""
    plain = carom.scenes.load("compass-gait").problem
    flagged = carom.ImpactProblem(
        plain.M, plain.J_n, plain.J_t, plain.mu, plain.v_pre, plain.contacts, without_collision=True
    )
    one, two = (SEVERAL[name].resolve(problem) for problem in (plain, flagged))
    assert one.v_post.tobytes() == two.v_post.tobytes()
    assert one.is_complete == two.is_complete


def test_two_rods_that_know_nothing_of_each_other():
    """Each may be driven in or be left alone, but for both left alone."""
    problem = rods([-1.0, -1.3])
    exact = LAWS["exact"].resolve(problem)
    assert exact.is_complete
    slips = np.array([piece.vertices @ problem.J_t[:, 0].T for piece in exact.polytopes])[:, 0]
    assert sorted(map(tuple, (slips + 0.0).round(9))) == [(-1.0, 0.0), (0.0, -1.3), (0.0, 0.0)]
    samples = carom.Routh(num_samples=300).resolve(problem)
    check_physics(problem, samples)
    assert len(np.unique((samples.v_post @ problem.J_t[:, 0].T).round(9), axis=0)) == 3
    assert all(exact.contains(v, ROUNDING) for v in samples.v_post)
    assert set(carom.Sequential().resolve(problem).labels) == {"A", "B"}


def check_against_the_exact_set(problem, exact, planar=True):
    """Assert that samples lie in the exact set, and that its points come about as is claimed."""
    step = float(problem.space.impulse_unit.max()) / 500
    law = carom.Routh(num_samples=100, step_impulse=step, max_steps=10**6, num_threads=1)
    samples = law.resolve(problem)
    check_physics(problem, samples)
    assert samples.num_unfinished == 0
    assert not samples.is_complete
    for v in samples.v_post:
        assert exact.contains(v, STEP_ERROR * largest_step(problem, step))
    if planar:
        motions = carom.Routh(num_samples=1000).resolve(problem)
        check_physics(problem, motions)
        assert motions.num_unfinished == 0
        for v in motions.v_post:
            assert exact.contains(v, MOTION_ERROR * speed_of(problem))
    start = ROUNDING * speed_of(problem)
    for piece in exact.polytopes:
        assert np.abs(piece.vertices - problem.v_pre).max() > start
        for v in [*piece.vertices, piece.vertices.mean(axis=0)]:
            path = exact.path_to(v, start)
            if planar:
                data = (problem.M, problem.J_n, problem.J_t[:, 0], problem.mu)
                check_path(*data, path, problem.v_pre, v)


# Some that can act, with one outcome or with many, of several kinds. In the one numbered 101 either
# contact alone can be driven in, which lifts the other: steps from nearby would end at the start.
COUPLED = [2, 7, 34, 70, 96, 101, 108, 149, 173, 205, 211]


@pytest.mark.parametrize("seed", COUPLED)
def test_two_coupled_contacts(seed):
    problem = at_rest(seed, 2)
    exact = LAWS["exact"].resolve(problem)
    assert exact.is_complete
    check_against_the_exact_set(problem, exact)


@pytest.mark.parametrize("seed", COUPLED[3:])
def test_motions_that_go_on_from_a_first_step_end_in_the_set(seed):
    """Solutions of the inclusion, from event to event and without steps, agree with the set."""
    problem = at_rest(seed, 2)
    exact = LAWS["exact"].resolve(problem)
    samples = carom.Routh(num_samples=7, step_impulse=1e-2 * problem.energy_norm).resolve(problem)
    slips = problem.contact_velocity(problem.v_pre)[:, 1]
    for i in range(len(samples)):
        path = samples.path(i)
        v = path.v[1]
        if not problem.is_colliding(v):
            assert exact.contains(v, ROUNDING * speed_of(problem))
            continue
        # The first step is one straight motion of the inclusion.
        turned = problem.contact_velocity(v)[:, 1] * slips < -CLOSE
        assert not (turned & (path.lambda_n[0] > CLOSE)).any()
        motions = RandomMotions(problem.M, problem.J_n, problem.J_t[:, 0], problem.mu, v)
        for end in motions.ends(np.random.default_rng(i), 10):
            assert exact.contains(end, ROUNDING * speed_of(problem))


@settings(max_examples=40)
@given(seed=seeds)
def test_samples_and_exact_sets_agree_on_whether_anything_can_act(seed):
    """Small first steps of subsets find a way to start wherever there is one."""
    problem = at_rest(seed, 2)
    try:
        samples = carom.Routh(num_samples=8).resolve(problem)
    except carom.ImpactNotResolved:
        with pytest.raises(carom.ImpactNotResolved, match=NOTHING):
            carom.RouthExact(max_seconds=AMPLE).resolve(problem)
    else:
        check_physics(problem, samples)
        # It may start, and take too long.
        with contextlib.suppress(carom.NotResolvedExactly):
            carom.RouthExact(max_seconds=1.0).resolve(problem)


@pytest.mark.parametrize("seed", COUPLED)
def test_outer_set_holds_the_exact_one(seed):
    problem = at_rest(seed, 2)
    exact = LAWS["exact"].resolve(problem)
    law = carom.RouthExact(max_seconds=AMPLE, max_polyhedra=1, on_budget="outer", num_samples=64)
    outer = law.resolve(problem)
    assert not outer.is_complete
    assert "it was checked that no motion leaves" in outer.notes[0]
    for v in np.vstack([exact.v_post, exact.sample(20)]):
        assert outer.contains(v, ROUNDING * speed_of(problem))


def walls(mu):
    """Return a point that slides between two walls that face each other."""
    return carom.ImpactProblem(
        np.eye(2), [[1, 0], [-1, 0]], [[0, 1], [0, 1]], mu, [0, 1], without_collision=True
    )


@pytest.mark.parametrize("name", SEVERAL)
def test_contacts_that_press_against_each_other_and_change_nothing_do_not_act(name):
    with pytest.raises(carom.ImpactNotResolved, match=NOTHING):
        SEVERAL[name].resolve(walls(0.0))


def test_contacts_may_act_without_approaching():
    """Pressed between the walls, the point may slow down by any amount."""
    problem = walls(0.5)
    exact = LAWS["exact"].resolve(problem)
    slip = exact.v_post[:, 1]
    assert (slip.min(), slip.max()) == (0.0, 1.0)
    check_against_the_exact_set(problem, exact)
    samples = carom.Routh(num_samples=12, draw="persistent").resolve(problem)
    assert (samples.num_steps == 1).all()
    assert len(np.unique(samples.v_post[:, 1].round(9))) > 1
    slips = carom.Routh(num_samples=200).resolve(problem).v_post[:, 1]
    assert (slips >= 0.0).all()
    assert (np.histogram(slips, np.linspace(0.0, 1.0, 6))[0] > 0).all()


@pytest.mark.parametrize("k", [4, 8])
def test_the_rod_in_space(k):
    """It slides along a friction direction and does as in the plane."""
    flat = rods([-1.0])
    problem = carom.ImpactProblem(
        np.diag([1.0, 1.0, 1.0 / 3.0, 1.0]),
        [[*flat.J_n[0], 0.0]],
        [[[*flat.J_t[0, 0], 0.0], [0.0, 0.0, 0.0, 1.0]]],
        2.0,
        [*flat.v_pre, 0.0],
        num_directions=k,
        without_collision=True,
    )
    for law in SEVERAL.values():
        v_c = problem.contact_velocity(law.resolve(problem).v_post)
        assert np.abs(v_c).max() <= CLOSE


def pair_in_space(seed):
    return at_rest(seed, 2, nv=7, d=2, mu=1.5, num_directions=4)


@pytest.mark.parametrize("seed", [4, 10, 12, 13])
def test_two_contacts_in_space(seed):
    problem = pair_in_space(seed)
    exact = carom.RouthExact(max_seconds=AMPLE).resolve(problem)
    check_against_the_exact_set(problem, exact, planar=False)


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 5, 6, 7, 8, 9])
def test_two_contacts_in_space_that_cannot_act(seed):
    problem = pair_in_space(seed)
    for law in (carom.RouthExact(max_seconds=AMPLE), LAWS["steps"]):
        with pytest.raises(carom.ImpactNotResolved, match=NOTHING):
            law.resolve(problem)
    # The round cone has more friction than four directions, and may let contacts act.
    with contextlib.suppress(carom.ImpactNotResolved):
        check_physics(problem, LAWS["sampled"].resolve(problem))


@pytest.mark.parametrize("count", [4, 6, 9])
def test_many_contacts_at_rest(count):
    """Beyond some contacts not every subset is tried, and then not every mode."""
    problem = rods(-1.0 - 0.1 * np.arange(count))
    samples = carom.Routh(num_samples=100).resolve(problem)
    check_physics(problem, samples)
    v_c = samples.contact_velocities
    slips = problem.contact_velocity(problem.v_pre)[:, 1]
    # Each rod that acted sticks, and each other slides on.
    stuck = np.abs(v_c[..., 1]) <= CLOSE
    assert (stuck | (np.abs(v_c[..., 1] - slips) <= CLOSE)).all()
    assert stuck.any(axis=1).all()
    assert stuck.any(axis=0).all()


class TestSamples:
    problem = rods([-1.0, -1.3, -0.7])

    @pytest.mark.parametrize("seed", [0, 1, 5])
    def test_a_sample_does_not_depend_on_their_number(self, seed):
        law = {"seed": seed, "step_impulse": 0.05}
        many = carom.Routh(num_samples=500, num_threads=2, **law).resolve(self.problem)
        few = carom.Routh(num_samples=20, num_threads=1, **law).resolve(self.problem)
        assert few.impulse_t.tobytes() == many.impulse_t[:20].tobytes()
        assert few.num_steps.tobytes() == many.num_steps[:20].tobytes()

    def test_paths_include_the_first_step(self):
        samples = carom.Routh(num_samples=40, step_impulse=0.05).resolve(self.problem)
        firsts = set()
        for i in range(len(samples)):
            path = samples.path(i)
            assert path.num_steps == samples.num_steps[i] == len(path.modes)
            assert np.array_equal(path.v[0], self.problem.v_pre)
            assert np.allclose(path.v[-1], samples.v_post[i], rtol=0, atol=CLOSE)
            assert np.allclose(path.lambda_n.sum(axis=0), samples.impulse_n[i], atol=CLOSE)
            assert np.allclose(path.lambda_t.sum(axis=0), samples.impulse_t[i], atol=CLOSE)
            assert (path.lambda_n <= path.lambda_max * (1 + CLOSE) + CLOSE).all()
            assert (np.diff(self.problem.kinetic_energy(path.v)) <= CLOSE).all()
            firsts.add(path.modes[0])
        # Three rods have seven subsets that can begin.
        assert len(firsts) == 7

    def test_points_go_with_their_samples(self):
        points = np.random.default_rng(0).uniform(size=(30, 3 * 20))
        samples = carom.Routh(points=points, step_impulse=1.0).resolve(self.problem)
        assert len(samples) == 30
        for i in (0, 7, 29):
            caps = samples.path(i).lambda_max[1:]
            assert np.allclose(caps, points[i].reshape(20, 3)[: len(caps)])

    def test_progress_is_told(self):
        told = []
        law = carom.Routh(num_samples=100, progress=lambda *state: told.append(state))
        law.resolve(self.problem)
        assert told[-1] == (100, 100)
        assert told == sorted(told)

    def test_as_many_samples_as_repay_a_trial_run(self):
        for problem in (walls(0.5), rods([-1.0, -1.3])):
            assert len(carom.Routh(num_samples=2**16).resolve(problem)) == 2**16


class TestFiles:
    @pytest.mark.parametrize("ending", [".json", ".npz"])
    @pytest.mark.parametrize("flag", [True, False])
    def test_problems_keep_it(self, tmp_path, ending, flag):
        path = tmp_path / f"rod{ending}"
        rods([-1.0], without_collision=flag).save(path)
        assert carom.load(path).without_collision is flag

    def test_files_may_leave_it_out(self, tmp_path):
        path = tmp_path / "rod.json"
        rods([-1.0]).save(path)
        fields = json.loads(path.read_text())
        assert fields.pop("without_collision") is True
        path.write_text(json.dumps(fields))
        assert carom.load(path).without_collision is False

    def test_sets_keep_it(self, tmp_path):
        exact = LAWS["exact"].resolve(rods([-1.0, -1.3]))
        exact.save(tmp_path / "set.json")
        again = carom.load(tmp_path / "set.json")
        assert again.problem.without_collision is True
        assert np.array_equal(again.v_post, exact.v_post)

    @pytest.mark.parametrize("value", [1, "yes", None, [True]])
    def test_it_is_a_bool(self, value):
        with pytest.raises(carom.InvalidProblem, match=r"^without_collision: expected True or"):
            rods([-1.0], without_collision=value)
