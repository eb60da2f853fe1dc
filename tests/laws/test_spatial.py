"""Impacts in space, judged by physics and by symmetry, and what can be asked of their sets."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure

import carom
from carom.contact_space import friction_directions
from carom.guarantees.uniqueness import step_uniqueness
from tests.reference.impact_problems import random_problem
from tests.reference.set_checks import changed, resolve, same_set, speed_of
from tests.reference.spatial_problems import (
    box,
    distance,
    ellipsoid,
    flat_feet,
    on_feet,
    rates,
    turn,
    with_tangents,
)

ROUNDING = 1e-9
"""Of the impact's own velocity, impulse and energy; a few hundred roundings."""

IMAGE = 1e-6
"""Of the impact's speed, between samples and their images: pieces of several contacts magnify the
rounding of the data."""

MIRROR = np.diag([1.0, -1.0])
seeds = st.integers(0, 2**31)


def check_physics(problem, outcomes):
    """Assert what holds of every outcome: all end, none approaches, no energy, friction cone."""
    assert outcomes.num_unfinished == 0
    assert (outcomes.contact_velocities[..., 0] >= -ROUNDING * problem.space.velocity_unit).all()
    before = problem.kinetic_energy(problem.v_pre)
    assert (problem.kinetic_energy(outcomes.v_post) <= before * (1.0 + ROUNDING)).all()
    slack = ROUNDING * problem.space.impulse_unit * (1.0 + problem.mu)
    assert (outcomes.impulse_n >= -slack).all()
    friction = np.linalg.norm(outcomes.impulse_t, axis=-1)
    assert (friction <= problem.mu * outcomes.impulse_n + slack).all()
    if outcomes.origin.takes_steps:
        check_polygon(problem, outcomes, slack)
    impulses = np.concatenate([outcomes.impulse_n[..., None], outcomes.impulse_t], axis=-1)
    change = impulses.reshape(len(outcomes), -1) @ problem.J
    momentum = (outcomes.v_post - problem.v_pre) @ problem.M
    assert np.abs(change - momentum).max() <= ROUNDING * (1.0 + np.abs(change).max())


def check_polygon(problem, outcomes, slack):
    """Assert that each edge of the polygon bounds the friction that points across it."""
    k = problem.num_directions
    corners = friction_directions(2, k)
    across = corners + np.roll(corners, -1, axis=0)
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    reach = np.cos(np.pi / k) * problem.mu * outcomes.impulse_n + slack
    assert (outcomes.impulse_t @ across.T <= reach[..., None]).all()


WAYS = [{}, {"draw": "persistent"}]
"""Exact motions with the round cone, or steps with k friction directions."""


@settings(max_examples=30)
@given(
    seed=seeds,
    m=st.integers(1, 6),
    k=st.sampled_from([3, 4, 5, 8, 16]),
    options=st.sampled_from(WAYS),
)
def test_bodies_on_feet_obey_physics(seed, m, k, options):
    problem = on_feet(np.random.default_rng(seed), m, k)
    check_physics(problem, carom.Routh(num_samples=64, seed=seed, **options).resolve(problem))


@settings(max_examples=30)
@given(seed=seeds, m=st.integers(1, 6), draw=st.sampled_from(["uniform", "subset", "persistent"]))
def test_random_problems_obey_physics(seed, m, draw):
    """With fewer velocities than rows, coincident contacts, and contacts at rest."""
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, m, 2, mu=rng.uniform(0.0, 1.5, m))
    outcomes = carom.Routh(num_samples=32, max_steps=10**4, seed=seed, draw=draw).resolve(problem)
    check_physics(problem, outcomes)


@pytest.mark.parametrize("options", WAYS, ids=["motions", "steps"])
@pytest.mark.parametrize("k", [4, 8])
@pytest.mark.parametrize("make", [box, flat_feet])
def test_dependent_contacts_obey_physics(make, k, options):
    problem = make(num_directions=k)
    assert np.linalg.matrix_rank(problem.J) == 6 < len(problem.J)
    outcomes = carom.Routh(num_samples=512, **options).resolve(problem)
    check_physics(problem, outcomes)
    path = outcomes.path(3)
    energy = problem.kinetic_energy(path.v)
    assert (np.diff(energy) <= ROUNDING * energy[0]).all()
    assert np.abs(path.v[-1] - outcomes.v_post[3]).max() <= ROUNDING


def unique_problem(seed):
    """Return two feet whose steps have one solution each, and rates for them."""
    rng = np.random.default_rng(seed)
    problem = on_feet(rng, 2, int(rng.choice([3, 4, 5, 8])), most_friction=0.5)
    problem = changed(problem, mu=problem.mu * rng.uniform(0.5, 1.5, 2))
    assume(step_uniqueness(problem).is_unique)
    return problem, rates(rng, 32, 2), rng


def check_image(problem, points, image, image_points=None, T=None, scale=1.0):
    """Assert that the outcomes of an image are the images T v of the outcomes."""
    step = float(problem.space.impulse_unit.max())
    plain = carom.Routh(points=points, step_impulse=step).resolve(problem)
    image_points = points if image_points is None else image_points
    moved = carom.Routh(points=image_points, step_impulse=scale * step).resolve(image)
    assert plain.num_unfinished == moved.num_unfinished == 0
    back = moved.v_post if T is None else np.linalg.solve(T, moved.v_post.T).T
    assert distance(problem, plain.v_post, back / scale).max() <= IMAGE


@settings(max_examples=15)
@given(seed=seeds)
def test_contacts_may_be_permuted(seed):
    problem, points, _ = unique_problem(seed)
    swapped = changed(
        problem, J_n=problem.J_n[::-1], J_t=problem.J_t[::-1], mu=problem.mu[::-1], contacts=None
    )
    other = points.reshape(len(points), -1, 2)[:, :, ::-1].reshape(points.shape)
    check_image(problem, points, swapped, other)


@settings(max_examples=15)
@given(seed=seeds)
def test_tangents_may_be_turned_by_a_symmetry_of_the_directions(seed):
    """Each contact by its own multiple of 2 pi / k; some are mirrored as well."""
    problem, points, rng = unique_problem(seed)
    k = problem.num_directions
    turns = [
        turn(2.0 * np.pi * rng.integers(k) / k) @ (MIRROR if rng.random() < 0.5 else np.eye(2))
        for _ in range(2)
    ]
    check_image(problem, points, with_tangents(problem, turns))


@settings(max_examples=15)
@given(seed=seeds)
def test_space_may_be_mirrored(seed):
    """The mirror y -> -y of a body on feet lands in the mirror of its outcomes."""
    problem, points, _ = unique_problem(seed)
    # What turns about x or z turns the other way in a mirror.
    T = np.diag([1.0, -1.0, 1.0, -1.0, 1.0, -1.0])
    mirrored = changed(
        problem,
        J_n=problem.J_n @ T,
        J_t=np.einsum("ij,mjv->miv", MIRROR, problem.J_t) @ T,
        v_pre=T @ problem.v_pre,
    )
    # It is a body on flat ground too, with its feet across.
    assert np.array_equal(mirrored.J_t[:, :, :3], problem.J_t[:, :, :3])
    check_image(problem, points, mirrored, T=T)


@settings(max_examples=15)
@given(seed=seeds)
def test_velocities_may_have_other_coordinates_and_be_scaled(seed):
    problem, points, rng = unique_problem(seed)
    T = np.linalg.qr(rng.normal(size=(6, 6)))[0] @ np.diag(rng.uniform(0.5, 2.0, 6))
    back, scale = np.linalg.inv(T), float(10.0 ** rng.uniform(-2, 2))
    other = changed(
        problem,
        M=back.T @ problem.M @ back,
        J_n=problem.J_n @ back,
        J_t=problem.J_t @ back,
        v_pre=scale * (T @ problem.v_pre),
    )
    check_image(problem, points, other, T=T, scale=scale)


@pytest.mark.parametrize("k", [3, 4, 8])
@pytest.mark.parametrize("seed", range(3))
def test_exact_sets_keep_the_symmetries_of_the_directions(seed, k):
    problem = ellipsoid(np.random.default_rng([seed, k]), k)
    exact = resolve(problem)
    for other in (turn(2.0 * np.pi / k), MIRROR):
        same_set(exact, resolve(with_tangents(problem, [other])), speed_of(problem))


def test_too_many_contacts_for_an_exact_set_are_told_at_once():
    """Their rank is six, as that of three planar contacts, but they slide in many more ways."""
    problem = box()
    with pytest.raises(carom.NotResolvedExactly, match="4 contacts in space with 8 friction"):
        carom.RouthExact().resolve(problem)
    law = carom.RouthExact(on_budget="outer", num_samples=20)
    outer = law.resolve(problem)
    assert not outer.is_complete
    samples = carom.Routh(num_samples=20, seed=1).resolve(problem)
    for v in samples.v_post:
        assert outer.contains(v, 1e-6)


def test_bounds_and_projections_of_a_set():
    problem = box()
    outcomes = carom.Routh(num_samples=500).resolve(problem)
    bounds = outcomes.contact_bounds()
    assert bounds.shape == (4, 3, 2)
    assert np.array_equal(bounds[..., 0], outcomes.contact_velocities.min(axis=0))
    rows = np.array([problem.J_n[0], problem.J_t[2, 1]])
    flat = outcomes.project(rows).points
    assert flat.shape == (len(outcomes), 2)
    assert len(outcomes) + outcomes.num_unfinished == 500
    assert np.allclose(flat[:, 1], outcomes.contact_velocities[:, 2, 2], rtol=0, atol=ROUNDING)
    assert outcomes.support(rows[1]) == pytest.approx(bounds[2, 2, 1], abs=ROUNDING)


@pytest.mark.parametrize(
    ("x", "y", "labels"),
    [
        (("A", 2), ("B", 0), ("tangential velocity 2 of A", "normal velocity of B")),
        (("D", 1), ("D", 2), ("tangential velocity 1 of D", "tangential velocity 2 of D")),
    ],
)
def test_a_pair_of_contact_velocities_is_drawn(x, y, labels):
    problem = box()
    outcomes = carom.Routh(num_samples=50).resolve(problem)
    ax = carom.plots.plot_outcomes(outcomes, Figure().subplots(), x=x, y=y, num_paths=0)
    assert (ax.get_xlabel(), ax.get_ylabel()) == tuple(f"{label} [m/s]" for label in labels)
    drawn = np.vstack(
        [line.get_xydata() for line in ax.lines] + [c.get_offsets() for c in ax.collections]
    )
    for v in outcomes.contact_velocities:
        point = [v["ABCD".index(name), number] for name, number in (x, y)]
        assert np.abs(drawn - point).max(axis=1).min() <= 1e-9


def test_a_tangent_that_is_not_there_is_refused():
    outcomes = carom.Routh(num_samples=10).resolve(box())
    with pytest.raises(carom.InvalidOption):
        carom.plots.plot_outcomes(outcomes, Figure().subplots(), x=("A", 3))


@pytest.mark.parametrize("number", [531, 1035, 1056, 1665])
def test_samples_end_where_contacts_nearly_rest_beside_large_caps(number):
    """Rounding of what is large then spoils a step; other caps lead on."""
    rng = np.random.default_rng([99, number])
    m = int(rng.integers(1, 9))
    problem = on_feet(rng, m, int(rng.choice([3, 4, 5, 8, 12])))
    outcomes = carom.Routh(num_samples=64, max_steps=10**4, seed=number).resolve(problem)
    assert outcomes.num_unfinished == 0
    check_physics(problem, outcomes)


def test_check_tells_at_once_that_many_contacts_in_space_are_too_many():
    """Beyond any budget it would list what 51^4 cells lead to."""
    report = carom.check(box(), max_seconds=0.5)
    assert report.worst is None
