"""Exact sets that are known otherwise: without friction, of one contact, of contacts at rest."""

from itertools import pairwise

import numpy as np
import pytest
from gmpy2 import mpq
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import carom
from tests.reference.impact_problems import numbered_pair, random_problem
from tests.reference.set_checks import (
    ROUNDING,
    changed,
    check_bounds,
    check_motions,
    check_samples,
    check_witnesses,
    resolve,
    same_set,
    speed_of,
)

seeds = st.integers(0, 2**31)


def frictionless(rng, p, q):
    """Return a problem without friction whose contacts approach at speeds p and q."""
    nv = int(rng.integers(2, 6))
    J = rng.normal(size=(4, nv))
    root = rng.normal(size=(nv, nv))
    v = np.linalg.pinv(J[:2]) @ [-p, -q]
    M = root @ root.T + 0.3 * np.eye(nv)
    return carom.ImpactProblem(M=M, J_n=J[:2], J_t=J[2:], mu=0.0, v_pre=v)


@settings(max_examples=40)
@given(seed=seeds, p=st.floats(0.1, 1.0), q=st.floats(0.1, 1.0))
def test_without_friction_it_is_known_in_closed_form(seed, p, q):
    """Let (a c; c b) be the Delassus matrix of the normals, p and q the speeds of approach.

    If c <= 0, every push drives the other contact in: both come to rest. If c > 0, pushes at one
    contact help the other. The ends are then the two sequential impacts, each plastic, and what
    lies between: by way of rest at both if impulses can bring that about (those of the
    simultaneous impact are not negative), else directly.
    """
    problem = frictionless(np.random.default_rng(seed), p, q)
    normal = problem.J_n @ np.linalg.solve(problem.M, problem.J_n.T)
    (a, c), (_, b) = normal
    outcomes = resolve(problem)
    assert outcomes.is_complete
    size = np.array([p, q]).max()
    ends = [np.zeros(2)]
    if c > 0:
        after_a = np.array([0.0, -q + c * p / a])
        after_b = np.array([-p + c * q / b, 0.0])
        if after_a[1] < 0:
            after_a = np.array([-c / b * after_a[1], 0.0])
        if after_b[0] < 0:
            after_b = np.array([0.0, -c / a * after_b[0]])
        can_rest = (np.linalg.solve(normal, [p, q]) >= 0).all()
        ends = [after_a, np.zeros(2), after_b] if can_rest else [after_a, after_b]
    ends = np.array(ends)
    found = outcomes.v_post @ problem.J_n.T
    slack = ROUNDING * size * np.linalg.cond(normal)
    for end in ends:
        assert np.abs(found - end).max(axis=1).min() <= slack
    # Every vertex and the middle of every polytope lies on the way from end to end.
    middles = np.array([polytope.vertices.mean(axis=0) for polytope in outcomes.polytopes])
    ways = list(pairwise(ends)) or [(ends[0], ends[0])]
    for y in np.vstack([found, middles @ problem.J_n.T]):
        assert min(_to_segment(y, *way) for way in ways) <= slack
    # Momentum: only normal impulses act, and they push.
    for v in outcomes.v_post:
        change = problem.M @ (v - problem.v_pre)
        impulse, *_ = np.linalg.lstsq(problem.J_n.T, change, rcond=None)
        assert (impulse >= -slack * np.abs(impulse).max()).all()
        assert np.abs(problem.J_n.T @ impulse - change).max() <= slack * np.abs(change).max()


def _to_segment(x, one, two):
    along = two - one
    share = np.clip((x - one) @ along / max(along @ along, 1e-300), 0.0, 1.0)
    return np.linalg.norm(x - one - share * along)


@given(seed=seeds)
def test_one_contact_is_routh_in_closed_form(seed):
    problem = random_problem(np.random.default_rng(seed), 1, 1)
    outcomes = resolve(problem)
    v = carom.RouthSingle().resolve(problem).v_post[0]
    assert outcomes.is_complete
    unit = speed_of(problem) * np.sqrt(np.linalg.cond(problem.M))
    assert np.abs(outcomes.v_post - v).max() <= ROUNDING * unit
    # With friction up to 1e5 a contact takes impulses so large that their rounding shows.
    if problem.mu[0] <= 2.0:
        check_witnesses(problem, outcomes)


@pytest.mark.parametrize("scale", [0.0, 1e-200, 1e-150, 1e100])
@pytest.mark.parametrize("number", [2, 196])
def test_velocities_may_be_zero_tiny_or_huge(number, scale):
    problem = numbered_pair(number)
    outcomes = resolve(changed(problem, v_pre=scale * problem.v_pre))
    expected = resolve(problem) if scale else outcomes
    assert outcomes.is_complete
    assert outcomes.kinds == expected.kinds
    for direction in np.eye(problem.num_velocities):
        difference = outcomes.support(direction) - scale * expected.support(direction)
        assert abs(difference) <= ROUNDING * scale * speed_of(problem)


@given(seed=seeds)
def test_where_nothing_approaches_the_velocity_stays(seed):
    problem = random_problem(np.random.default_rng(seed), 2, 1)
    leaving = np.linalg.pinv(problem.J_n) @ np.abs(problem.J_n @ problem.v_pre)
    assume((problem.J_n @ leaving >= 0).all())
    still = changed(problem, v_pre=leaving)
    outcomes = resolve(still)
    assert outcomes.is_complete
    assert len(outcomes.polytopes) == len(outcomes.kinds) == 1
    assert outcomes.v_post.tobytes() == still.v_pre.tobytes()
    assert outcomes.path_to(leaving).num_steps == 0


def test_a_foot_at_rest_up_to_rounding_is_at_rest():
    """Or half of the compass gait's outcomes would vanish."""
    problem = carom.scenes.load("compass-gait").problem
    exact = resolve(problem)
    rng = np.random.default_rng(0)
    for _ in range(3):
        noise = 1e-13 * rng.normal(size=problem.num_velocities)
        noisy = resolve(changed(problem, v_pre=problem.v_pre + noise))
        same_set(noisy, exact, speed_of(problem))
        assert noisy.kinds == exact.kinds
        assert any("taken to be zero: normal velocity of B" in note for note in noisy.notes)
    # What moves is not at rest: B leaves, and no motion brings it back but through A.
    up = np.linalg.pinv(problem.J_n) @ [0.0, 1e-6 * speed_of(problem)]
    leaving = resolve(changed(problem, v_pre=problem.v_pre + up))
    assert not any("taken to be zero: normal velocity of B" in note for note in leaving.notes)


def test_block_that_rocks_onto_its_other_corner_rocks_on():
    """Corner A is at rest exactly and B falls: what B takes lifts A, so that A cannot act.

    In closed form, as for the block that falls flat: A gets 0.7 of the speed that B had.
    """
    block = carom.scenes.load("rocking-block").problem
    about_A = carom.Sequential(order=("B", "A")).resolve(block).v_post[0]
    problem = changed(block, v_pre=-about_A)
    v_c = problem.contact_velocity(problem.v_pre)
    assert np.abs(v_c[0]).max() <= 1e-12
    assert v_c[1, 0] < 0.0
    outcomes = resolve(problem)
    check_motions(problem, outcomes, 20)
    check_witnesses(problem, outcomes)
    assert outcomes.kinds == ("A lifts, B sticks",)
    assert np.abs(outcomes.contact_bounds()[0, 0] + 0.7 * v_c[1, 0]).max() <= -ROUNDING * v_c[1, 0]


@settings(max_examples=30)
@given(seed=seeds)
def test_two_identical_contacts_are_one(seed):
    single = random_problem(np.random.default_rng(seed), 1, 1, mu=0.5)
    double = changed(
        single,
        J_n=np.repeat(single.J_n, 2, axis=0),
        J_t=np.repeat(single.J_t, 2, axis=0),
        mu=np.repeat(single.mu, 2),
        contacts=("A", "B"),
    )
    outcomes = resolve(double)
    v = carom.RouthSingle().resolve(single).v_post[0]
    unit = speed_of(single) * np.sqrt(np.linalg.cond(single.M))
    assert np.abs(outcomes.v_post - v).max() <= ROUNDING * unit
    check_witnesses(double, outcomes)


def between_walls(mu, v_pre):
    """Return a disc-like body of unit mass between two walls, with an offset between contacts."""
    return carom.ImpactProblem(
        M=np.diag([1.0, 1.0, 0.4]),
        J_n=[[1.0, 0.0, -0.3], [-1.0, 0.0, -0.3]],
        J_t=[[0.0, 1.0, -1.0], [0.0, 1.0, 1.0]],
        mu=mu,
        v_pre=v_pre,
    )


@pytest.mark.parametrize("mu", [0.2, 0.3, 5.0])
@pytest.mark.parametrize("v_pre", [(0.0, 0.0, 2.0), (0.3, -1.0, 2.0), (-1.0, 0.5, 0.0)])
def test_body_wedged_between_two_walls(mu, v_pre):
    """From mu = 0.3 the friction cone is not pointed: contacts can push against each other."""
    problem = between_walls(mu, v_pre)
    outcomes = resolve(problem)
    check_motions(problem, outcomes, 40)
    check_witnesses(problem, outcomes)
    check_bounds(problem, outcomes)


@pytest.mark.parametrize("k", [4, 8])
@pytest.mark.parametrize("seed", range(4))
def test_one_contact_in_space(k, seed):
    rng = np.random.default_rng([k, seed])
    problem = random_problem(rng, 1, 2, nv=3 + seed % 3, mu=[0.2, 0.7][seed % 2], num_directions=k)
    outcomes = resolve(problem)
    assert outcomes.is_complete
    check_samples(problem, outcomes, 50)
    for v in outcomes.v_post:
        path = outcomes.path_to(v)
        assert np.linalg.norm(path.v[-1] - v) <= ROUNDING * speed_of(problem)
        impulses = np.concatenate([path.lambda_n[..., None], path.lambda_t], axis=-1)
        change = impulses.reshape(path.num_steps, -1) @ problem.impulse_to_velocity.T
        slack = ROUNDING * speed_of(problem)
        assert np.abs(np.diff(path.v, axis=0) - change).max() <= slack
        energy = problem.kinetic_energy(path.v)
        assert (np.diff(energy) <= ROUNDING * energy[0]).all()
        angles = 2 * np.pi * np.arange(k) / k
        directions = np.column_stack([np.cos(angles), np.sin(angles)])
        # Friction lies in the polygon, and in each step takes all power that the polygon allows.
        for before, after, n, t in zip(
            path.v[:-1], path.v[1:], path.lambda_n[:, 0], path.lambda_t[:, 0], strict=True
        ):
            slip = problem.contact_velocity(0.5 * (before + after))[0, 1:]
            least = problem.mu[0] * n * (directions @ slip).min()
            assert abs(t @ slip - least) <= ROUNDING * energy[0]
            edges = np.roll(directions, -1, axis=0) + directions
            edges /= np.linalg.norm(edges, axis=1, keepdims=True)
            reach = problem.mu[0] * n * np.cos(np.pi / k)
            assert (edges @ t <= reach * (1 + ROUNDING)).all()
        assert problem.contact_velocity(path.v[-1])[0, 0] >= -slack * np.abs(problem.J_n).max()


@pytest.mark.parametrize("number", [2, 18, 191, 194, 196])
def test_contacts_in_space_that_move_in_a_plane_are_planar(number):
    """With four directions, and nothing that moves along the second tangent."""
    flat = numbered_pair(number)
    spatial = changed(
        flat,
        J_t=np.concatenate([flat.J_t, np.zeros_like(flat.J_t)], axis=1),
        num_directions=4,
    )
    same_set(resolve(spatial), resolve(flat), speed_of(flat))


def test_a_box_on_four_corners_in_space_is_sampled_at_once():
    """Twelve contact velocities have bounds with thousands of corners, which took a minute."""
    half = np.array([0.2, 0.125, 0.15])
    corners = [half * [x, y, -1] for x in (-1, 1) for y in (-1, 1)]
    rows = [np.hstack([np.eye(3), np.cross(np.eye(3), r).T]) for r in corners]
    size = 4 * half**2
    inertia = 10 / 12 * np.array([size[1] + size[2], size[0] + size[2], size[0] + size[1]])
    robot = np.diag([10.0] * 3 + [*inertia] + [1.0] * 6)
    # Legs that yield make all contact velocities independent.
    rng = np.random.default_rng(0)
    J = [np.hstack([each, rng.normal(size=(3, 6))]) for each in rows]
    problem = carom.ImpactProblem(
        robot, [j[2] for j in J], [j[:2] for j in J], 0.6, [0.3, 0.1, -1.0] + [0.0] * 9
    )
    with pytest.raises(carom.NotResolvedExactly, match="and for an outer set"):
        carom.RouthExact(on_budget="outer").resolve(problem)
    assert isinstance(carom.post_impact_set(problem), carom.SampledSet)


def nearly_dependent(independent, v_pre):
    """Return two contacts whose normals differ by a little."""
    return carom.ImpactProblem(
        M=np.eye(3),
        J_n=[[1.0, 0.0, 0.0], [1.0, 0.0, independent]],
        J_t=[[0.0, 1.0, 0.0]] * 2,
        mu=0.5,
        v_pre=v_pre,
    )


@pytest.mark.parametrize("v_pre", [(0.0, 1e-5, -1.0), (-0.5, 0.1, -1.0)])
@pytest.mark.parametrize("independent", [5e-7, 1e-8])
def test_contacts_that_are_almost_dependent_are_refused(independent, v_pre):
    problem = nearly_dependent(independent, v_pre)
    with pytest.raises(carom.NotResolvedExactly, match=r"velocity of contact . is independent"):
        resolve(problem, on_budget="outer")
    assert not carom.post_impact_set(problem).is_complete


@pytest.mark.parametrize("v_pre", [(0.0, 1e-5, -1.0), (-0.5, 0.1, -1.0)])
@pytest.mark.parametrize("independent", [1e-3, 2e-6, 1e-12, 0.0])
def test_other_contacts_neither_approach_nor_gain_energy(independent, v_pre):
    problem = nearly_dependent(independent, v_pre)
    outcomes = resolve(problem)
    assert outcomes.is_complete
    assert (outcomes.v_post @ problem.J_n.T >= -1e-9 * problem.energy_norm).all()
    before = problem.kinetic_energy(problem.v_pre)
    assert (problem.kinetic_energy(outcomes.v_post) <= before * (1.0 + ROUNDING)).all()
    check_witnesses(problem, outcomes)


@pytest.mark.parametrize(
    ("spoiled", "reason"),
    [
        (lambda v: v - 1e-6 * np.array([0.0, 1.0, 0.0]), "still approaches"),
        (lambda v: 10.0 * v, "energy rises"),
    ],
)
def test_every_complete_set_is_checked_before_it_is_returned(monkeypatch, spoiled, reason):
    """As if the search had gone wrong: the block's outcomes are moved down, or made too fast."""
    from carom.reach.inclusion import Inclusion
    from carom.reach.rational import integers

    problem = carom.scenes.load("rocking-block", speed=1.0).problem
    velocity_of = Inclusion.velocity_of

    def wrong(self, numbers, divisor):
        above, below = velocity_of(self, numbers, divisor)
        v = spoiled(np.array([float(mpq(x, below)) for x in above]))
        *spoiled_above, spoiled_below = integers([*(mpq(float(x)) for x in v), mpq(1)])
        return spoiled_above, spoiled_below

    monkeypatch.setattr(Inclusion, "velocity_of", wrong)
    with pytest.raises(carom.NotResolvedExactly, match=reason):
        resolve(problem)
