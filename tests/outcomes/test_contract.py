"""Every kind of set, of every law, answers the same questions in the same types."""

import copy
import dataclasses
import multiprocessing
import pickle

import numpy as np
import pytest

import carom
from carom.outcomes.outcome_set import Projection
from carom.outcomes.points import PointSet
from tests.reference.impact_problems import random_problem

TINY = 1e-9

LAWS = {
    "routh": carom.Routh(num_samples=300),
    "routh-paper": carom.Routh(num_samples=200, draw="uniform", step_impulse=0.05, seed=3),
    "routh-points": carom.Routh(points=np.random.default_rng(0).uniform(size=(64, 40))),
    "routh-until": carom.Routh(num_samples=300, until=(0.05, 0.1, 0.1)),
    "exact": carom.RouthExact(),
    "outer": carom.RouthExact(max_polyhedra=2, on_budget="outer", num_samples=100),
    "simultaneous": carom.AnitescuPotra(),
    "sequential": carom.Sequential(),
    "sequential-order": carom.Sequential(order=("B", "A")),
    "sequential-poisson": carom.Sequential(rule="poisson", compress_first=True),
    "sequential-newton": carom.Sequential(rule="newton"),
}

# Laws that know restitution.
BOUNCING = ("simultaneous", "sequential", "sequential-poisson", "sequential-newton")

PROBLEMS = {
    "walker": carom.scenes.load("compass-gait").problem,
    "block": carom.scenes.load("rocking-block").problem,
}

CASES = {
    **{f"{name}-{where}": (law, p) for name, law in LAWS.items() for where, p in PROBLEMS.items()},
    **{
        f"{name}-{where}-bounces": (LAWS[name], dataclasses.replace(p, restitution=(0.7, 0.4)))
        for name in BOUNCING
        for where, p in PROBLEMS.items()
    },
    "one-contact": (
        carom.RouthSingle(),
        carom.ImpactProblem(
            np.diag([2.0, 2.0, 0.1]), [[0, 1, 0.3]], [[1, 0, 0.2]], 0.4, [1, -1, 0]
        ),
    ),
    "one-contact-bounces": (
        carom.RouthSingle(),
        carom.ImpactProblem(
            np.diag([2.0, 2.0, 0.1]), [[0, 1, 0.3]], [[1, 0, 0.2]], 0.4, [1, -1, 0], restitution=0.6
        ),
    ),
    # Ten independent velocities, whose outer set has thousands of vertices.
    "many-velocities": (
        carom.RouthExact(max_seconds=0.2, on_budget="outer", num_samples=100),
        random_problem(np.random.default_rng(5), 5, 1, nv=10, mu=0.5, duplicates=False),
    ),
    "nothing-happens": (
        carom.RouthExact(),
        carom.ImpactProblem(np.eye(2), [[0, 1]], [[1, 0]], 0.5, [1, 1]),
    ),
    "space": (
        carom.Routh(num_samples=50),
        carom.ImpactProblem(np.eye(3), [[0, 0, 1]], [[[1, 0, 0], [0, 1, 0]]], 0.5, [1, 0.5, -1]),
    ),
}


@pytest.fixture(scope="module", params=CASES.values(), ids=CASES.keys())
def outcomes(request):
    law, problem = request.param
    return law.resolve(problem)


def same(one, other):
    """Assert that two values are equal to the last bit, through all their fields."""
    assert type(one) is type(other)
    if dataclasses.is_dataclass(one):
        for field in dataclasses.fields(one):
            if field.metadata.get("saved", True):
                same(getattr(one, field.name), getattr(other, field.name))
    elif isinstance(one, np.ndarray):
        assert one.dtype == other.dtype
        assert one.shape == other.shape
        assert one.tobytes() == other.tobytes()
    elif isinstance(one, tuple):
        assert len(one) == len(other)
        for mine, theirs in zip(one, other, strict=True):
            same(mine, theirs)
    else:
        assert one == other


def check_answers(one, other):
    """Assert that two sets give the same answers, paths included."""
    same(one.kinds, other.kinds)
    same(one.contact_bounds(), other.contact_bounds())
    assert one.summary() == other.summary()
    same(one.sample(5, rng=1), other.sample(5, rng=1))
    v = path_end(one)
    same(one.path_to(v), other.path_to(v))


def path_end(outcomes):
    """Return an outcome to which the set knows a path."""
    inner = getattr(outcomes, "inner", None)
    return (outcomes if inner is None else inner).v_post[0]


def test_fields(outcomes):
    nv = outcomes.problem.num_velocities
    assert isinstance(outcomes, carom.OutcomeSet)
    assert outcomes.v_post.shape == (len(outcomes.v_post), nv)
    assert type(outcomes.law) is str
    assert type(outcomes.is_complete) is bool
    for texts in (outcomes.kinds, outcomes.notes):
        assert type(texts) is tuple
        assert all(type(text) is str for text in texts)
    assert outcomes.kinds == tuple(sorted(outcomes.kinds))
    shape = (len(outcomes.v_post), outcomes.problem.num_contacts, 1 + outcomes.problem.num_tangents)
    assert outcomes.contact_velocities.shape == shape


def test_contains_and_distance_take_one_velocity_or_a_batch(outcomes):
    points = np.vstack([outcomes.v_post[:5], outcomes.problem.v_pre + 7.0])
    distances, inside = outcomes.distance(points), outcomes.contains(points)
    assert distances.shape == inside.shape == (len(points),)
    assert inside.dtype == np.bool_
    for v, distance, is_inside in zip(points, distances, inside, strict=True):
        assert type(outcomes.distance(v)) is float
        assert outcomes.distance(v) == distance
        assert outcomes.contains(v) is bool(is_inside)
        assert (v in outcomes) is bool(is_inside)
    assert distances[:-1].max() < TINY
    assert distances[-1] > 1.0
    assert outcomes.distance(points[None]).shape == (1, len(points))
    with pytest.raises(carom.InvalidOption, match="contains"):
        _ = points in outcomes
    with pytest.raises(carom.InvalidOption, match=r"^v: expected shape"):
        outcomes.distance(points[:, 1:])


def test_support_is_attained_at_the_maximizer(outcomes):
    directions = np.random.default_rng(0).normal(size=(6, outcomes.problem.num_velocities))
    supports, ends = outcomes.support(directions), outcomes.maximizer(directions)
    assert supports.shape == (6,)
    assert ends.shape == directions.shape
    for direction, support, end in zip(directions, supports, ends, strict=True):
        assert type(outcomes.support(direction)) is float
        assert outcomes.support(direction) == pytest.approx(support)
        assert direction @ outcomes.maximizer(direction) == pytest.approx(support)
        assert direction @ end == pytest.approx(support)
        assert (outcomes.v_post @ direction).max() <= support + TINY


def test_contact_bounds_hold_all_velocities(outcomes):
    bounds = outcomes.contact_bounds()
    assert bounds.shape == (*outcomes.contact_velocities.shape[1:], 2)
    assert (outcomes.contact_velocities >= bounds[..., 0] - TINY).all()
    assert (outcomes.contact_velocities <= bounds[..., 1] + TINY).all()


def test_samples_lie_in_the_set_and_follow_their_generator(outcomes):
    drawn = outcomes.sample(20, rng=3)
    assert drawn.shape == (20, outcomes.problem.num_velocities)
    assert outcomes.contains(drawn).all()
    same(drawn, outcomes.sample(20, rng=np.random.default_rng(3)))
    assert outcomes.sample(0).shape == (0, outcomes.problem.num_velocities)
    with pytest.raises(carom.InvalidOption, match=r"^n: expected an integer"):
        outcomes.sample(-1)


def test_projections_have_one_type(outcomes):
    rows = np.vstack([outcomes.problem.J_n[0], outcomes.problem.J_t[0, 0]])
    seen = outcomes.project(rows)
    assert type(seen) is Projection
    assert (len(seen.points) == 0) != (len(seen.polytopes) == 0)
    flat = np.asarray(seen)
    assert flat.shape[1] == 2
    for direction in ([1, 0], [0, 1], [-1, -1]):
        assert (flat @ direction).max() == pytest.approx(outcomes.support(direction @ rows))
    with pytest.raises(carom.InvalidOption, match=r"^rows: expected shape"):
        outcomes.project(rows[:, 1:])


def test_paths_lead_from_v_pre_to_the_outcome(outcomes):
    v = path_end(outcomes)
    path = outcomes.path_to(v)
    assert type(path) is carom.ImpactPath
    problem = outcomes.problem
    assert np.array_equal(path.v[0], problem.v_pre)
    assert np.abs(path.v_post - v).max() <= 1e-6
    # Replayed by hand: nothing but the impulses changes the velocity.
    total = np.concatenate([path.lambda_n[..., None], path.lambda_t], axis=2).sum(axis=0).ravel()
    expected = problem.v_pre + np.linalg.solve(problem.M, problem.J.T @ total)
    assert np.abs(expected - v).max() <= 1e-6
    limit = problem.mu * path.lambda_n
    assert (np.linalg.norm(path.lambda_t, axis=2) <= limit + TINY).all()
    energy = problem.kinetic_energy(path.v)
    if problem.bounces:
        # Restitution returns energy meanwhile; where there is more at the end, notes say so.
        rises = any("kinetic energy rises by" in note for note in outcomes.notes)
        assert energy[-1] <= energy[0] + TINY or rises
    else:
        assert (np.diff(energy) <= TINY).all()
    assert path.describe() == str(path)
    assert path.describe().splitlines()[-1].startswith(("then ", "nothing acts: "))
    with pytest.raises(carom.CaromError):
        outcomes.path_to(problem.v_pre + 7.0)


def test_as_a_numpy_user_expects_or_with_the_reason(outcomes):
    if not isinstance(outcomes, PointSet):
        with pytest.raises(TypeError, match="infinitely many"):
            len(outcomes)
        with pytest.raises(TypeError, match=r"outcomes\.sample"):
            np.asarray(outcomes)
    else:
        assert len(outcomes) == len(outcomes.v_post) == len(list(outcomes))
        assert np.array_equal(np.asarray(outcomes), outcomes.v_post)
        assert np.asarray(outcomes, dtype=np.float32).dtype == np.float32
        assert all(state.shape == outcomes.impulse_n.shape for state in outcomes.contact_states)
        assert (sum(map(np.asarray, outcomes.contact_states)) == 1).all()
    assert outcomes
    assert hash(outcomes) == hash(outcomes)


def test_summary_and_notebook(outcomes):
    assert outcomes.summary().splitlines()[0] in outcomes.summary()
    page = outcomes._repr_html_()
    for name in outcomes.problem.contacts:
        assert f"<td>{name}</td>" in page
    assert len(repr(outcomes).splitlines()) == 1


def test_names_are_escaped_in_a_notebook():
    problem = dataclasses.replace(PROBLEMS["block"], contacts=("<script>", "B&C"))
    page = carom.AnitescuPotra().resolve(problem)._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "<script>" not in problem._repr_html_()


def test_copies_and_pickles_are_the_same(outcomes):
    for again in (
        copy.copy(outcomes),
        copy.deepcopy(outcomes),
        pickle.loads(pickle.dumps(outcomes)),
    ):
        same(again, outcomes)
        check_answers(again, outcomes)


@pytest.mark.parametrize("ending", [".json", ".npz"])
def test_files_keep_every_bit(outcomes, ending, tmp_path):
    path = tmp_path / f"set{ending}"
    outcomes.save(path)
    again = carom.load(path)
    same(again, outcomes)
    check_answers(again, outcomes)


def test_tables_have_one_row_per_velocity(outcomes):
    table = outcomes.to_dataframe()
    assert len(table) == len(outcomes.v_post)
    assert np.array_equal(table["v0"], outcomes.v_post[:, 0])
    name = outcomes.problem.contacts[0]
    assert np.array_equal(table[f"{name} normal"], outcomes.contact_velocities[:, 0, 0])
    assert set(table["kind"]) <= {*outcomes.kinds, *(p.kind for p in polytopes(outcomes))}


def polytopes(outcomes):
    return getattr(outcomes, "polytopes", ())


def _support(outcomes):
    """Run in another process."""
    return outcomes.support(outcomes.problem.J_n[0]), outcomes.path_to(path_end(outcomes)).v


def test_sets_go_to_processes_that_are_spawned():
    sets = [law.resolve(PROBLEMS["block"]) for law in LAWS.values()]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        answers = pool.map(_support, sets)
    for (support, v), outcomes in zip(answers, sets, strict=True):
        assert support == outcomes.support(outcomes.problem.J_n[0])
        assert np.array_equal(v, outcomes.path_to(path_end(outcomes)).v)


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS.keys())
def test_laws_and_problems_compare_copy_and_pickle(law):
    for again in (copy.deepcopy(law), pickle.loads(pickle.dumps(law))):
        assert again == law
        assert hash(again) == hash(law)
        assert repr(again) == repr(law)
    for problem in PROBLEMS.values():
        again = pickle.loads(pickle.dumps(problem))
        assert again == problem
        assert hash(again) == hash(problem)
        assert again != dataclasses.replace(problem, mu=0.123)


@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS.keys())
@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS.keys())
def test_a_drawn_velocity_is_the_end_of_a_drawn_path(law, problem):
    if not law.resolve(problem).is_complete and isinstance(law, carom.RouthExact):
        with pytest.raises(carom.ImpactNotResolved):
            law.draw_velocity(problem, rng=0)
        return
    for rng in range(3):
        seed = int(np.random.default_rng(rng).integers(2**53 - 1))
        v = law.draw_velocity(problem, rng=rng)
        np.testing.assert_allclose(v, law.draw_path(problem, seed).v[-1], rtol=0.0, atol=1e-12)
    generator = np.random.default_rng(5)
    again = np.random.default_rng(5)
    assert np.array_equal(law.draw_velocity(problem, generator), law.draw_velocity(problem, again))


def test_repr_of_a_law_shows_what_differs_from_its_defaults():
    assert repr(carom.Routh()) == "Routh()"
    assert repr(carom.Routh(2**10, seed=3)) == "Routh(num_samples=1024, seed=3)"
    assert repr(carom.RouthExact(on_budget="outer")) == "RouthExact(on_budget='outer')"
    assert "points=array(64, 40)" in repr(LAWS["routh-points"])
