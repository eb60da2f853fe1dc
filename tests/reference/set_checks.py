"""Checks of an exact set by what was found without it, shared by the tests of the exact law."""

import numpy as np

import carom
from tests.reference.exact_reach import exact_contact_bounds
from tests.reference.random_motions import RandomMotions
from tests.reference.replay import check_path

ROUNDING = 1e-8
"""Of the impact's speed. Data are rounded to 1e-12, of which random M and J make up to 1e-9;
motions that are followed from event to event take 1e-11 for zero, hundreds of times."""

SHARE = 1 / 2000
"""Step of the samples that a set is compared with, as a share of the default one."""

STEP_ERROR = 1.0
"""Steps of `Routh` are implicit: where slip turns, or a contact closes, within a step, the friction
of its end acts during all of it, which errs by a part of what one step can do, however small the
step. In 200 problems the worst was 0.07 of that; it may err by all."""

IMAGE = 1e-7
"""Of the impact's speed, between a set and its image under a change of coordinates: the data are
rounded before and after."""

AMPLE = 60.0
"""Seconds for what takes less than one: how busy the machine is shall not decide."""


def resolve(problem, **options):
    """Return the exact set, with time enough and few samples inside an outer set."""
    options = {"max_seconds": AMPLE, "num_samples": 256, **options}
    return carom.RouthExact(**options).resolve(problem)


def speed_of(problem):
    """Return |v_pre|."""
    return float(np.linalg.norm(problem.v_pre))


def changed(problem, **changes):
    """Return a problem with some fields changed."""
    names = ("M", "J_n", "J_t", "mu", "v_pre", "contacts", "num_directions", "without_collision")
    return carom.ImpactProblem(**{name: getattr(problem, name) for name in names} | changes)


def in_other_units(problem, seed):
    """Return the same impact in other coordinates, with other units of mass and length."""
    T = np.random.default_rng(seed).normal(size=problem.M.shape)
    return changed(
        problem,
        M=1e3 * T.T @ problem.M @ T,
        J_n=1e-2 * problem.J_n @ T,
        J_t=1e-2 * problem.J_t @ T,
        v_pre=np.linalg.solve(T, problem.v_pre),
    )


def largest_step(problem, step):
    """Return by how much one step of all contacts can change the velocity."""
    push = problem.impulse_to_velocity.reshape(problem.num_velocities, problem.num_contacts, -1)
    size = np.linalg.norm(push, axis=0)
    return step * float((size[:, 0] + problem.mu * size[:, 1:].sum(axis=1)).sum())


def check_motions(problem, outcomes, count):
    """Assert that solutions of the inclusion end in the set."""
    motions = RandomMotions(problem.M, problem.J_n, problem.J_t[:, 0], problem.mu, problem.v_pre)
    ends = motions.ends(np.random.default_rng(0), count)
    assert len(ends) >= count / 2
    for v in ends:
        assert outcomes.contains(v, ROUNDING * speed_of(problem))


def check_samples(problem, outcomes, num_samples=200, share=SHARE):
    """Assert that samples with a small step lie in the set, up to what a step can do."""
    step = share * float(problem.space.impulse_unit.max())
    law = carom.Routh(num_samples=num_samples, step_impulse=step, max_steps=10**6, num_threads=1)
    samples = law.resolve(problem)
    assert samples.num_unfinished == 0
    for v in samples.v_post:
        assert outcomes.contains(v, STEP_ERROR * largest_step(problem, step))


def check_witnesses(problem, outcomes):
    """Assert that every vertex, and a point inside every polytope, comes about as is claimed."""
    middles = [polytope.vertices.mean(axis=0) for polytope in outcomes.polytopes]
    for v in np.vstack([outcomes.v_post, middles]):
        path = outcomes.path_to(v, ROUNDING * speed_of(problem))
        check_path(problem.M, problem.J_n, problem.J_t[:, 0], problem.mu, path, problem.v_pre, v)


def check_bounds(problem, outcomes):
    """Compare with the independent method; tell whether that one came to an end."""
    try:
        reference = exact_contact_bounds(
            *(problem.M, problem.J_n, problem.J_t[:, 0], problem.mu, problem.v_pre),
            grid=1e-12,
            budget_seconds=2.0,
        )
    except TimeoutError:
        return False
    unit = problem.space.velocity_unit[:, None, None]
    assert (np.abs(outcomes.contact_bounds() - reference) <= ROUNDING * unit).all()
    return True


def same_set(one, other, size, tol=IMAGE):
    """Assert that two sets have the same support in many directions, kinds and bounds."""
    assert one.is_complete
    assert other.is_complete
    rng = np.random.default_rng(0)
    for direction in rng.normal(size=(20, len(one.v_post[0]))):
        length = size * np.linalg.norm(direction)
        assert abs(one.support(direction) - other.support(direction)) <= tol * length
    for v in np.vstack([one.v_post, one.sample(20, rng=0)]):
        assert other.contains(v, tol * size)
    for v in np.vstack([other.v_post, other.sample(20, rng=0)]):
        assert one.contains(v, tol * size)


def known_outcomes(problem):
    """Return the exact set of an impact, or samples, which are outcomes too, if none is found."""
    try:
        return carom.RouthExact(max_seconds=1.0).resolve(problem)
    except carom.NotResolvedExactly:
        return carom.Routh().resolve(problem)
