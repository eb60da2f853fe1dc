"""The sampled law, judged by physics: energy, non-penetration, friction cone, caps, symmetry."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import qmc

import carom
from carom.stepping.pieces import Pieces
from tests.reference.impact_problems import random_problem
from tests.reference.ladder import ladder
from tests.reference.replay import check_path

# Of the impact's own velocity and energy; a few hundred roundings.
ROUNDING = 1e-9
seeds = st.integers(0, 2**31)
draws = st.sampled_from(["uniform", "subset", "persistent"])
laws = st.sampled_from(
    [
        {},
        {"extremes": 0.0},
        *({"max_steps": 500, "draw": draw} for draw in ("uniform", "subset", "persistent")),
    ]
)


def draw_problem(seed, m=None, d=1):
    rng = np.random.default_rng(seed)
    m = int(rng.integers(1, 4)) if m is None else m
    return random_problem(rng, m, d)


def check_physics(problem, outcomes):
    """Assert what holds of every finished sample of every law."""
    speed = problem.space.velocity_unit
    before = problem.kinetic_energy(problem.v_pre)
    v_c = outcomes.contact_velocities
    assert (v_c[..., 0] >= -ROUNDING * speed).all()
    assert (problem.kinetic_energy(outcomes.v_post) <= before * (1 + ROUNDING) + 1e-300).all()
    unit = problem.space.impulse_unit
    assert (outcomes.impulse_n >= -ROUNDING * unit).all()
    friction = np.linalg.norm(outcomes.impulse_t, axis=-1)
    # The sum of impulses lies in the cone, because each does and the cone is convex.
    slack = ROUNDING * unit * (1 + problem.mu)
    assert (friction <= problem.mu * outcomes.impulse_n + slack).all()
    impulses = np.concatenate([outcomes.impulse_n[..., None], outcomes.impulse_t], axis=-1)
    change = impulses.reshape(len(outcomes), -1) @ problem.J
    momentum = (outcomes.v_post - problem.v_pre) @ problem.M
    assert np.abs(change - momentum).max() <= ROUNDING * (1 + np.abs(change).max())


@given(seed=seeds, options=laws)
def test_planar_samples_obey_physics(seed, options):
    problem = draw_problem(seed)
    outcomes = carom.Routh(num_samples=256, seed=seed, **options).resolve(problem)
    check_physics(problem, outcomes)


@pytest.mark.parametrize("options", [{}, {"max_steps": 500}], ids=["motions", "steps"])
@pytest.mark.parametrize("seed", range(12))
def test_spatial_samples_obey_physics(seed, options):
    problem = draw_problem(seed, m=1 + seed % 3, d=2)
    outcomes = carom.Routh(num_samples=32, seed=seed, **options).resolve(problem)
    check_physics(problem, outcomes)


@given(seed=seeds)
def test_every_piece_of_a_motion_obeys_the_inclusion(seed):
    """Samples that are random and samples that search, piece by piece."""
    problem = draw_problem(seed, m=2)
    outcomes = carom.Routh(num_samples=256, seed=seed).resolve(problem)
    assert "samples search" in outcomes.notes[0]
    data = problem.M, problem.J_n, problem.J_t[:, 0], problem.mu
    for i in (0, len(outcomes) // 2, len(outcomes) - 1):
        path = outcomes.path(i)
        assert path.num_steps == len(path.modes)
        check_path(*data, path, problem.v_pre, outcomes.v_post[i])


@given(seed=seeds, draw=draws)
def test_every_step_of_a_path_solves_its_lcp(seed, draw):
    """Step by step: caps, cone, complementarity, dissipation, all from the recorded path."""
    problem = draw_problem(seed, m=2)
    outcomes = carom.Routh(num_samples=8, max_steps=500, seed=seed, draw=draw).resolve(problem)
    speed, unit = problem.space.velocity_unit, problem.space.impulse_unit
    for i in range(len(outcomes)):
        path = outcomes.path(i)
        assert path.num_steps == outcomes.num_steps[i] == len(path.modes)
        assert np.allclose(path.v[0], problem.v_pre, rtol=0, atol=0)
        assert np.allclose(path.v[-1], outcomes.v_post[i], rtol=0, atol=ROUNDING)
        energies = problem.kinetic_energy(path.v)
        assert (np.diff(energies) <= ROUNDING * energies[0]).all()
        assert (path.lambda_n >= -ROUNDING * unit).all()
        assert (path.lambda_n <= path.lambda_max + ROUNDING * unit).all()
        after = problem.contact_velocity(path.v[1:])
        v_n, v_t = after[..., 0], after[..., 1]
        below = path.lambda_max - path.lambda_n > 1e-8 * unit
        pushing = path.lambda_n > 1e-8 * unit
        # Below its cap a contact has stopped approaching; one that pushes does not part.
        assert (v_n[below] >= -1e-7 * np.broadcast_to(speed, v_n.shape)[below]).all()
        assert (v_n[pushing] <= 1e-7 * np.broadcast_to(speed, v_n.shape)[pushing]).all()
        sliding = np.abs(v_t) > 1e-7 * speed
        friction = -problem.mu * path.lambda_n * np.sign(v_t)
        error = np.abs(path.lambda_t[..., 0] - friction)
        assert (error[sliding] <= 1e-7 * (1 + np.abs(friction[sliding]))).all()


@pytest.mark.parametrize("options", [{}, {"extremes": 0.0}, {"draw": "persistent"}], ids=str)
@pytest.mark.parametrize("name", ["rocking-block", "compass-gait", "ramone", "disk-stack"])
def test_same_bits_on_one_thread_and_two_and_in_any_chunking(name, options, monkeypatch):
    problem = carom.scenes.load(name).problem
    options = options | {"num_samples": 40_000 if name != "disk-stack" else 2_000}
    one = carom.Routh(**options, seed=7, num_threads=1).resolve(problem)
    two = carom.Routh(**options, seed=7, num_threads=2).resolve(problem)
    assert one.v_post.tobytes() == two.v_post.tobytes()
    monkeypatch.setattr("carom.stepping.parallel.SMALLEST_CHUNK", 555)
    monkeypatch.setattr("carom.stepping.parallel.LARGEST_CHUNK", 777)
    chunks = carom.Routh(**options, seed=7, num_threads=2).resolve(problem)
    assert one.v_post.tobytes() == chunks.v_post.tobytes()
    other = carom.Routh(**options, seed=8).resolve(problem)
    assert one.v_post.tobytes() != other.v_post.tobytes()


@pytest.mark.parametrize("options", [{"extremes": 0.0}, {"draw": "persistent"}], ids=str)
@pytest.mark.parametrize("name", ["rocking-block", "compass-gait", "ramone", "disk-stack"])
def test_a_shorter_run_is_the_beginning_of_a_longer_one(name, options):
    """It prepares its search for pieces otherwise."""
    problem = carom.scenes.load(name).problem
    long = carom.Routh(num_samples=2_000, seed=7, **options).resolve(problem)
    short = carom.Routh(num_samples=300, seed=7, **options).resolve(problem)
    assert short.v_post.tobytes() == long.v_post[: len(short)].tobytes()


@pytest.mark.parametrize("name", ["rocking-block", "compass-gait", "ramone", "disk-stack"])
def test_random_samples_come_first_and_do_not_depend_on_those_that_search(name):
    problem = carom.scenes.load(name).problem
    random = carom.Routh(num_samples=2_000, seed=7, extremes=0.0).resolve(problem)
    assert random.notes == ()
    for extremes in (0.1, 0.25, 1.0):
        law = carom.Routh(num_samples=2_000, seed=7, extremes=extremes)
        outcomes = law.resolve(problem)
        num_random = law.replay(problem).sampler.num_random
        assert 0 <= num_random - (1 - extremes) * 2_000 < len(problem.J) * 2
        assert f"{2_000 - num_random:,} of 2,000 samples search" in outcomes.notes[0]
        same = random.v_post[:num_random].tobytes() == outcomes.v_post[:num_random].tobytes()
        assert same
        # What is searched for is found: no range is narrower, some are wider.
        low, high = np.moveaxis(outcomes.contact_bounds(), -1, 0)
        assert (low <= outcomes.contact_velocities[:num_random].min(axis=0, initial=np.inf)).all()
        assert (high >= outcomes.contact_velocities[:num_random].max(axis=0, initial=-np.inf)).all()


@given(seed=seeds)
def test_one_contact_is_routh_without_error(seed):
    """Rates of one contact do not matter, so that all motions are one."""
    problem = draw_problem(seed, m=1)
    exact = carom.RouthSingle().resolve(problem)
    motions = carom.Routh(num_samples=64, seed=seed).resolve(problem)
    assert len(motions) == 64
    apart = problem.kinetic_energy(motions.v_post - exact.v_post)
    assert (apart <= ROUNDING**2 * problem.kinetic_energy(problem.v_pre)).all()


@given(seed=seeds)
def test_one_contact_is_routh_in_closed_form(seed):
    """With small steps every draw leads to Routh's single outcome."""
    problem = draw_problem(seed, m=1)
    exact = carom.RouthSingle().resolve(problem)
    step = 1e-3 * float(problem.space.impulse_unit[0])
    law = carom.Routh(num_samples=4, step_impulse=step, max_steps=10**6, seed=seed)
    sampled = law.resolve(problem)
    # The implicit step errs by no more than a step's worth of velocity, and of friction.
    scale = np.abs(problem.impulse_to_velocity).sum(axis=1).max() * step * (1 + problem.mu[0])
    assert np.abs(sampled.v_post - exact.v_post).max() <= 4 * scale


@given(seed=seeds)
def test_contacts_may_be_permuted(seed):
    """The outcomes of each sample's own points follow the contacts; all steps are unique here."""
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, 2, 1, mu=rng.uniform(0.0, 0.3, 2), duplicates=False)
    swapped = carom.ImpactProblem(
        problem.M, problem.J_n[::-1], problem.J_t[::-1], problem.mu[::-1], problem.v_pre
    )
    points = rng.uniform(size=(16, 2 * 400))
    mirrored = points.reshape(16, 400, 2)[:, :, ::-1].reshape(16, 800)
    assume(not _has_several_solutions(problem))
    first = carom.Routh(points=points).resolve(problem)
    second = carom.Routh(points=mirrored).resolve(swapped)
    assert np.allclose(first.v_post, second.v_post, rtol=0, atol=1e-7 * _speed(problem))


@given(seed=seeds)
def test_tangents_may_be_mirrored_coordinates_changed_and_velocity_scaled(seed):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, 2, 1, mu=rng.uniform(0.0, 0.3, 2), duplicates=False)
    assume(not _has_several_solutions(problem))
    points = rng.uniform(size=(16, 2 * 400))
    plain = carom.Routh(points=points, step_impulse=_step(problem)).resolve(problem)
    T = np.linalg.qr(rng.normal(size=problem.M.shape))[0] @ np.diag(
        rng.uniform(0.5, 2.0, len(problem.M))
    )
    inverse = np.linalg.inv(T)
    scale = rng.uniform(0.1, 10.0)
    other = carom.ImpactProblem(
        inverse.T @ problem.M @ inverse,
        problem.J_n @ inverse,
        -problem.J_t @ inverse,
        problem.mu,
        scale * (T @ problem.v_pre),
    )
    moved = carom.Routh(points=points, step_impulse=scale * _step(problem)).resolve(other)
    expected = scale * plain.v_post @ T.T
    assert moved.v_post.shape == expected.shape
    size = scale * _speed(problem) * np.linalg.norm(T)
    assert np.allclose(moved.v_post, expected, rtol=0, atol=1e-6 * size)


def test_points_take_the_place_of_draws():
    problem = carom.scenes.load("rocking-block").problem
    points = qmc.Sobol(20, seed=0).random(256)
    outcomes = carom.Routh(points=points, step_impulse=0.3).resolve(problem)
    assert len(outcomes) + outcomes.num_unfinished == 256
    path = outcomes.path(3)
    caps = 0.3 * points.reshape(256, 10, 2)[3, : path.num_steps]
    assert np.allclose(path.lambda_max, caps)


def test_unfinished_samples_are_counted_and_kept():
    problem = carom.scenes.load("rocking-block").problem
    outcomes = carom.Routh(num_samples=500, step_impulse=0.3, max_steps=2).resolve(problem)
    assert len(outcomes) + outcomes.num_unfinished == 500
    assert outcomes.num_unfinished > 0
    assert outcomes.v_unfinished.shape == (outcomes.num_unfinished, 3)
    assert problem.is_colliding(outcomes.v_unfinished).all()
    assert f"{outcomes.num_unfinished:,} of 500 samples" in outcomes.summary()
    assert not problem.is_colliding(outcomes.v_post).any()


def test_small_steps_may_be_many():
    """By default a sample gets the steps that it needs; a number that is given is kept."""
    problem = ladder()
    outcomes = carom.Routh(num_samples=200, step_impulse=0.01).resolve(problem)
    assert outcomes.num_unfinished == 0
    assert outcomes.num_steps.max() > 1000
    few = carom.Routh(num_samples=200, step_impulse=0.01, max_steps=1000).resolve(problem)
    assert few.num_unfinished > 100
    assert few.num_steps.max() <= 1001
    head = few.summary().splitlines()[0]
    assert f"{few.num_unfinished} of 200 samples did not end, so that ranges are biased" in head
    assert "biased" not in outcomes.summary()


def test_no_sample_ends():
    problem = carom.scenes.load("rocking-block").problem
    with pytest.raises(carom.ImpactNotResolved, match="raise max_steps") as caught:
        carom.Routh(num_samples=10, step_impulse=1e-6, max_steps=2).resolve(problem)
    assert caught.value.problem is problem


def test_last_small_step_ends_what_is_almost_over():
    """Algorithm 2: with a generous epsilon the last step ends samples that are not over."""
    problem = carom.scenes.load("rocking-block").problem
    options = {"num_samples": 500, "step_impulse": 0.3, "max_steps": 2, "seed": 3}
    without = carom.Routh(**options).resolve(problem)
    generous = carom.Routh(**options, epsilon=1.0).resolve(problem)
    assert generous.num_unfinished < without.num_unfinished
    psi_cap = 1.0 / 3.0 / (np.linalg.norm(_basis(problem), 2) * 2 * (1 + 1) + 1)
    longest = max(range(len(generous)), key=lambda i: generous.num_steps[i])
    path = generous.path(longest)
    assert path.num_steps == 3
    assert np.allclose(path.lambda_max[2], psi_cap)


def test_not_colliding_stays_as_it_is():
    problem = carom.ImpactProblem(np.eye(2), [[0.0, 1.0]], [[1.0, 0.0]], mu=0.5, v_pre=[1.0, 0.0])
    outcomes = carom.Routh(num_samples=10).resolve(problem)
    assert np.array_equal(outcomes.v_post, np.tile(problem.v_pre, (10, 1)))
    assert outcomes.is_complete


def test_lemke_selection_takes_one_solution_only():
    """On RAMone a solver's habit finds one kind of outcome of the three that there are."""
    scene = carom.scenes.load("ramone")
    options = {"num_samples": 2000, "step_impulse": scene.step_impulse, "draw": "uniform"}
    fair = carom.Routh(**options).resolve(scene.problem)
    habit = carom.Routh(**options, selection="lemke").resolve(scene.problem)
    check_physics(scene.problem, habit)
    wide = np.ptp(fair.contact_bounds()[1], axis=1)
    narrow = np.ptp(habit.contact_bounds()[1], axis=1)
    assert (narrow <= 0.5 * wide).any()


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("num_samples", 0),
        ("num_samples", 1.5),
        ("max_steps", 0),
        ("seed", -1),
        ("num_threads", 0),
        ("draw", "gauss"),
        ("selection", "best"),
        ("step_impulse", 0.0),
        ("step_impulse", np.nan),
        ("epsilon", -1.0),
        ("points", [[0.5, 1.5]]),
        ("points", [0.5]),
        ("extremes", -0.1),
        ("extremes", 1.1),
        ("extremes", np.nan),
    ],
)
def test_options_out_of_range_are_refused_by_name(option, value):
    with pytest.raises(carom.InvalidOption, match=f"^{option}: expected"):
        carom.Routh(**{option: value})


def test_points_must_fit_the_contacts():
    problem = carom.scenes.load("rocking-block").problem
    with pytest.raises(carom.InvalidOption, match="multiple of 2"):
        carom.Routh(points=[[0.1, 0.2, 0.3]]).resolve(problem)


@pytest.mark.parametrize("options", [{}, {"draw": "persistent"}], ids=str)
def test_progress_is_told(options):
    problem = carom.scenes.load("rocking-block").problem
    told = []
    law = carom.Routh(20_000, progress=lambda *state: told.append(state), **options)
    law.resolve(problem)
    assert told[-1] == (20_000, 20_000)
    assert [done for done, _ in told] == sorted(done for done, _ in told)


@pytest.mark.slow
def test_million_samples_stay_within_memory():
    """2^20 samples of a two-contact scene add at most 300 MB beyond what is returned."""
    script = (
        "import resource, carom\n"
        "problem = carom.scenes.load('compass-gait').problem\n"
        "carom.Routh(num_samples=2**14).resolve(problem)\n"
        "base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "outcomes = carom.Routh(num_samples=2**20).resolve(problem)\n"
        "peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "print((peak - base) / 1024 - outcomes.v_post.nbytes / 2**20)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=dict(os.environ)
    )
    assert run.returncode == 0, run.stderr
    assert float(run.stdout) <= 300.0


def _basis(problem):
    """M^-1 J_bar^T of Algorithm 2, written out."""
    directions = problem.space.directions
    J_D = np.vstack([directions @ tangents for tangents in problem.J_t])
    return np.linalg.solve(problem.M, np.vstack([problem.J_n, J_D]).T)


def _speed(problem):
    return float(np.linalg.norm(problem.v_pre)) + 1e-300


def _step(problem):
    return float(problem.space.impulse_unit.max())


def _has_several_solutions(problem):
    """Tell whether some step of this problem may have several solutions."""
    return bool((Pieces.all(problem.space).sign < 0).any())
