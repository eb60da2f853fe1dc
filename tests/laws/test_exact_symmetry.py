"""Exact sets do not depend on how an impact is written down."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference.impact_problems import numbered_pair
from tests.reference.set_checks import IMAGE, changed, resolve, same_set, speed_of

seeds = st.integers(0, 2**31)
# Problems of the series whose sets have several polytopes.
SEVERAL = (2, 9, 12, 18, 35, 47, 70, 95, 99, 122, 127, 163, 191, 194, 196)
numbers = st.sampled_from(SEVERAL)


def words(kinds):
    """Return kinds as sets of what each contact does, in no order."""
    return {frozenset(kind.split(", ")) for kind in kinds}


@settings(max_examples=15)
@given(number=numbers)
def test_contacts_may_be_permuted(number):
    problem = numbered_pair(number)
    swapped = changed(
        problem,
        J_n=problem.J_n[::-1],
        J_t=problem.J_t[::-1],
        mu=problem.mu[::-1],
        contacts=problem.contacts[::-1],
    )
    one, other = resolve(problem), resolve(swapped)
    same_set(one, other, speed_of(problem))
    assert words(one.kinds) == words(other.kinds)
    unit = problem.space.velocity_unit[:, None, None]
    assert (np.abs(one.contact_bounds() - other.contact_bounds()[::-1]) <= IMAGE * unit).all()


@settings(max_examples=15)
@given(number=numbers, which=st.integers(0, 1))
def test_tangents_may_be_mirrored(number, which):
    problem = numbered_pair(number)
    J_t = problem.J_t.copy()
    J_t[which] *= -1
    one, other = resolve(problem), resolve(changed(problem, J_t=J_t))
    same_set(one, other, speed_of(problem))
    assert one.kinds == other.kinds
    bounds = other.contact_bounds()
    bounds[which, 1] = -bounds[which, 1, ::-1]
    unit = problem.space.velocity_unit[:, None, None]
    assert (np.abs(one.contact_bounds() - bounds) <= IMAGE * unit).all()


@settings(max_examples=15)
@given(number=numbers, seed=seeds)
def test_coordinates_may_be_changed(number, seed):
    problem = numbered_pair(number)
    nv = problem.num_velocities
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.normal(size=(nv, nv)))[0]
    T = turn * rng.uniform(0.3, 3.0, nv)
    back = np.linalg.inv(T)
    M = back.T @ problem.M @ back
    image = changed(
        problem,
        M=0.5 * (M + M.T),
        J_n=problem.J_n @ back,
        J_t=problem.J_t @ back,
        v_pre=T @ problem.v_pre,
    )
    one, other = resolve(problem), resolve(image)
    assert one.kinds == other.kinds
    unit = problem.space.velocity_unit[:, None, None]
    assert (np.abs(one.contact_bounds() - other.contact_bounds()) <= IMAGE * unit).all()
    for direction in rng.normal(size=(20, nv)):
        difference = other.support(direction) - one.support(T.T @ direction)
        size = np.linalg.norm(T.T @ direction) * speed_of(problem)
        assert abs(difference) <= IMAGE * size


@settings(max_examples=15)
@given(number=numbers, scale=st.floats(-6.0, 6.0))
def test_outcomes_scale_with_the_velocity(number, scale):
    problem = numbered_pair(number)
    factor = 10.0**scale
    one, other = resolve(problem), resolve(changed(problem, v_pre=factor * problem.v_pre))
    assert one.kinds == other.kinds
    for direction in np.random.default_rng(0).normal(size=(20, problem.num_velocities)):
        size = factor * np.linalg.norm(direction) * speed_of(problem)
        assert abs(other.support(direction) - factor * one.support(direction)) <= IMAGE * size
