"""Whether a step has one outcome: against chance, against the definition, and by hand."""

from __future__ import annotations

import time

import numpy as np
import pytest

import carom
from carom.guarantees import uniqueness
from carom.guarantees.step import Step
from carom.guarantees.uniqueness import AmbiguousStep, step_uniqueness
from carom.kernels import overlap
from carom.stepping.lcp import step_lcp
from carom.stepping.pieces import Pieces
from tests.reference.impact_problems import random_problem
from tests.reference.set_checks import in_other_units
from tests.reference.two_outcomes import (
    find_two_outcomes,
    find_two_outcomes_by_supports,
    is_unique_by_definition,
    random_pair_or_single,
)

FRICTIONS = ("sticking", "sliding +", "sliding -")
TABLE = {"free", "idle", *(f"{n}, {f}" for n in ("closed", "compressing") for f in FRICTIONS)}
"""Modes of docs/notation.md."""


def assert_holds(problem: carom.ImpactProblem, step: AmbiguousStep) -> None:
    """Check two outcomes from nothing but the problem's own arrays."""
    A = problem.J @ np.linalg.solve(problem.M, problem.J.T)
    v_c = problem.contact_velocity(step.v)
    lcp = step_lcp(A, problem.mu, problem.space.directions, v_c, step.lambda_max)
    assert (step.lambda_max >= 0.0).all()
    for impulse, v_post in zip(step.impulses, step.v_post, strict=True):
        assert lcp.residual(lcp.contacts.variables(impulse)) <= 1e-9
        moved = np.linalg.solve(problem.M, problem.J.T @ impulse.ravel())
        np.testing.assert_allclose(step.v + moved, v_post, rtol=0, atol=1e-9 * np.abs(step.v).max())
    speed = np.sqrt(2.0 * problem.kinetic_energy(step.v))
    assert speed == pytest.approx(problem.energy_norm, rel=1e-9)
    difference = np.sqrt(2.0 * problem.kinetic_energy(step.v_post[0] - step.v_post[1]))
    assert difference > 1e-7 * speed


def check_against_chance(seeds: range, tries: int) -> None:
    """A unique step is never seen with two outcomes; an ambiguous one is shown, and mostly seen."""
    ambiguous = seen = unique = 0
    for seed in seeds:
        problem = random_pair_or_single([1, seed])
        verdict = step_uniqueness(problem)
        assert verdict.is_decided, seed
        found = find_two_outcomes(problem, np.random.default_rng([2, seed]), tries)
        if verdict.is_unique:
            assert not found, seed
            unique += 1
        else:
            assert_holds(problem, verdict.ambiguity)
            ambiguous += 1
            seen += found
    assert unique > 0.3 * len(seeds)
    assert seen > 0.9 * ambiguous > 0.2 * len(seeds)


def test_verdicts_agree_with_a_search_by_chance():
    check_against_chance(range(120), 60)


@pytest.mark.slow
def test_a_thousand_verdicts_agree_with_a_search_by_chance():
    check_against_chance(range(1000, 2000), 200)


@pytest.mark.parametrize("count", [12, pytest.param(150, marks=pytest.mark.slow)])
def test_verdicts_agree_with_a_search_by_all_supports(count):
    for seed in range(count):
        problem = random_pair_or_single([3, seed])
        rng = np.random.default_rng([4, seed])
        if find_two_outcomes_by_supports(problem, rng, 20):
            assert step_uniqueness(problem).ambiguity is not None


def test_verdicts_agree_with_the_definition_for_one_contact():
    for seed in range(30):
        rng = np.random.default_rng([5, seed])
        mu = rng.uniform(0.0, 2.0) * (seed % 5 > 0)
        problem = random_problem(rng, 1, 1, nv=int(rng.integers(1, 4)), mu=mu)
        assert step_uniqueness(problem).is_unique == is_unique_by_definition(problem)


@pytest.mark.slow
def test_verdicts_agree_with_the_definition_for_two_contacts():
    for seed in range(50):
        problem = random_pair_or_single([6, seed])
        assert step_uniqueness(problem).is_unique == is_unique_by_definition(problem), seed


def test_verdicts_agree_with_the_signs_of_pieces_and_with_pairs():
    """For independent contacts a step is unique just if no piece is negative, whatever decides."""
    signs = set()
    for seed in range(25):
        rng = np.random.default_rng([7, seed])
        m = 1 + seed % 2
        mu = rng.uniform(0.05, 1.5, m)
        problem = random_problem(rng, m, 1, nv=2 * m + seed % 3, mu=mu, duplicates=False)
        pieces = Pieces.all(problem.space)
        assert len(pieces) == 7**m
        is_positive = bool((pieces.sign > 0).all())
        signs.add(is_positive)
        assert step_uniqueness(problem).is_unique == is_positive
        by_pairs = uniqueness._compare_pairs(problem, [{i} for i in range(m)])
        assert by_pairs.is_decided
        assert by_pairs.is_unique == is_positive
    assert signs == {True, False}


def test_negative_pieces_of_independent_contacts_have_an_interior():
    problem = carom.scenes.load("compass-gait").problem
    pieces = Pieces.all(problem.space)
    negative = np.flatnonzero(pieces.sign < 0)
    assert len(negative) == 13
    u = np.empty(pieces.C.shape[2])
    for p in negative:
        assert overlap.interior_point(pieces.C, pieces.num_conditions, np.array([p]), 2, u)


@pytest.mark.parametrize("k", [3, 4, 8])
def test_verdicts_in_space_agree_with_a_search_by_chance(k):
    verdicts = set()
    for seed in range(12):
        rng = np.random.default_rng([8, k, seed])
        mu = rng.uniform(0.0, 1.5)
        problem = random_problem(rng, 1, 2, nv=int(rng.integers(2, 7)), mu=mu, num_directions=k)
        verdict = step_uniqueness(problem)
        found = find_two_outcomes(problem, rng, 100)
        verdicts.add(verdict.is_unique)
        if verdict.is_unique:
            assert not found
        elif verdict.is_decided:
            assert_holds(problem, verdict.ambiguity)
    assert verdicts == {True, False}


def on_a_rigid_body(mu: float) -> carom.ImpactProblem:
    """Return two feet of a body in space, which cannot move apart: J has dependent rows."""
    feet = np.array([[1.0, 0.0, -1.0], [-1.0, 0.0, -1.0]])
    J_n, J_t = [], []
    for x, y, z in feet:
        spin = np.array([[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]])
        J_n.append([0.0, 0.0, 1.0, *spin[2]])
        J_t.append([[1.0, 0.0, 0.0, *spin[0]], [0.0, 1.0, 0.0, *spin[1]]])
    M = np.diag([1.0, 1.0, 1.0, 0.5, 0.6, 0.7])
    v = np.array([0.2, 0.1, -1.0, 0.0, 0.0, 0.0])
    return carom.ImpactProblem(M, J_n, J_t, mu, v, num_directions=4)


def test_dependent_contacts_in_space_are_decided_where_friction_is_small_or_large():
    assert np.linalg.matrix_rank(on_a_rigid_body(0.1).J) == 5
    for mu in (0.0, 0.1, 0.5):
        assert step_uniqueness(on_a_rigid_body(mu)).is_unique
        assert not find_two_outcomes(on_a_rigid_body(mu), np.random.default_rng(9), 100)
    assert not step_uniqueness(on_a_rigid_body(1.2)).is_decided
    rough = on_a_rigid_body(3.0)
    assert_holds(rough, step_uniqueness(rough).ambiguity)


def slanted_rod(mu: float) -> carom.ImpactProblem:
    """Return one contact with A = [[1, -0.8], [-0.8, 1]], for which mu = 1.25 is the limit."""
    return carom.ImpactProblem(
        M=np.eye(2), J_n=[[1.0, 0.0]], J_t=[[-0.8, 0.6]], mu=mu, v_pre=[-1.0, 0.0]
    )


def test_one_planar_contact_is_unique_below_painleves_limit():
    assert step_uniqueness(slanted_rod(0.0)).is_unique
    assert step_uniqueness(slanted_rod(1.2)).is_unique
    assert step_uniqueness(slanted_rod(1.25 - 1e-6)).is_unique
    for mu in (1.25 + 1e-6, 1.3, 50.0):
        verdict = step_uniqueness(slanted_rod(mu))
        assert verdict.is_decided
        assert_holds(slanted_rod(mu), verdict.ambiguity)


def test_at_painleves_limit_itself_a_resting_contact_has_many_outcomes():
    """There friction undoes what the normal impulse does: any impulse leaves v_n = 0 as it is."""
    problem = slanted_rod(1.25)
    verdict = step_uniqueness(problem)
    assert_holds(problem, verdict.ambiguity)
    step = verdict.ambiguity
    assert problem.contact_velocity(step.v)[0, 0] == pytest.approx(0.0, abs=1e-12)
    assert step.modes[0] == step.modes[1]


def test_an_ambiguous_step_made_by_hand():
    """With mu = 1.3 and v_c = (0.02, -1): nothing happens, or the full cap of 1 drives it in."""
    problem = slanted_rod(1.3)
    v_c, cap = np.array([[0.02, -1.0]]), np.array([1.0])
    lcp = step_lcp(problem.space.A, problem.mu, problem.space.directions, v_c, cap)
    for impulse in ([[0.0, 0.0]], [[1.0, 1.3]]):
        assert lcp.residual(lcp.contacts.variables(np.array(impulse))) <= 1e-12
    assert not step_uniqueness(problem).is_unique


def two_at_one_place(mu: tuple[float, float]) -> carom.ImpactProblem:
    return carom.ImpactProblem(
        M=np.eye(2), J_n=[[0.0, 1.0]] * 2, J_t=[[1.0, 0.0]] * 2, mu=mu, v_pre=[1.0, -1.0]
    )


def test_contacts_at_one_place_are_unique_if_they_have_the_same_friction():
    """Impulses are then open and the velocity is not; with other friction it is open as well."""
    for mu in (0.0, 1e-3, 0.5, 1e4):
        assert step_uniqueness(two_at_one_place((mu, mu))).is_unique
    # Rounding leaves this one open; it must not invent two outcomes.
    assert step_uniqueness(two_at_one_place((1e5, 1e5))).ambiguity is None
    for mu in ((0.0, 0.8), (0.2, 0.8), (0.5, 0.5001), (0.5, 1e5)):
        rougher = two_at_one_place(mu)
        assert_holds(rougher, step_uniqueness(rougher).ambiguity)


def test_a_peg_between_two_walls_is_ambiguous():
    """Any squeeze goes with any friction against its sliding, but not without friction."""
    walls = {"M": np.eye(2), "J_n": [[1.0, 0.0], [-1.0, 0.0]], "J_t": [[0.0, 1.0]] * 2}
    rough = carom.ImpactProblem(**walls, mu=0.1, v_pre=[-1.0, 1.0])
    verdict = step_uniqueness(rough)
    assert_holds(rough, verdict.ambiguity)
    smooth = carom.ImpactProblem(**walls, mu=0.0, v_pre=[-1.0, 1.0])
    assert step_uniqueness(smooth).is_unique


@pytest.mark.parametrize(
    ("name", "is_unique"),
    [
        ("rocking-block", True),
        ("zeno-block", True),
        ("compass-gait", False),
        ("ramone", False),
        ("box-wall", False),
        ("disk-stack", False),
        ("painleve-rod", False),
    ],
)
def test_scenes(name, is_unique):
    """The paper names the compass gait and RAMone; box and wall and the discs have it as well."""
    problem = carom.scenes.load(name).problem
    verdict = step_uniqueness(problem)
    assert verdict.is_decided
    assert verdict.is_unique == is_unique
    if not is_unique:
        assert_holds(problem, verdict.ambiguity)


def test_the_rocking_block_is_unique_by_definition():
    assert is_unique_by_definition(carom.scenes.load("rocking-block").problem)


def test_too_many_contacts_are_left_open():
    rng = np.random.default_rng(10)
    problem = random_problem(rng, 7, 1, nv=16, mu=0.05, duplicates=False)
    verdict = step_uniqueness(problem)
    assert not verdict.is_decided
    assert not verdict.is_unique
    assert verdict.reason == "7 contacts have more than 20,000 choices of modes to try"


def test_a_reason_counts_all_contacts():
    """It named the size of the set of contacts that was looked at when the budget ended."""
    for m in (7, 8):
        problem = random_problem(np.random.default_rng(10), m, 1, nv=18, mu=0.05, duplicates=False)
        assert step_uniqueness(problem).reason.startswith(f"{m} contacts have more than")
        assert step_uniqueness(problem, 0.0).reason.startswith(f"{m} contacts take longer")


def test_of_many_contacts_two_that_are_ambiguous_suffice():
    rng = np.random.default_rng(11)
    problem = random_problem(rng, 9, 1, nv=6, mu=1.5, duplicates=False)
    verdict = step_uniqueness(problem)
    assert_holds(problem, verdict.ambiguity)
    assert (verdict.ambiguity.lambda_max > 0.0).sum() <= 2
    named = {mode for modes in verdict.ambiguity.modes for mode in modes}
    assert named <= TABLE
    assert {"idle", "free"} & named


def test_without_friction_modes_have_no_direction():
    problem = two_at_one_place((0.0, 0.8))
    for modes in step_uniqueness(problem).ambiguity.modes:
        assert modes[0] in ("free", "idle", "closed", "compressing")
        assert modes[1] in TABLE


@pytest.mark.parametrize("name", ["rocking-block", "box-wall", "compass-gait"])
def test_verdicts_do_not_depend_on_coordinates_and_units(name):
    problem = carom.scenes.load(name).problem
    other = in_other_units(problem, 12)
    verdict = step_uniqueness(other)
    assert verdict.is_decided
    assert verdict.is_unique == step_uniqueness(problem).is_unique


def test_a_problem_at_rest_has_a_verdict():
    rest = carom.ImpactProblem(np.eye(2), [[1.0, 0.0]], [[-0.8, 0.6]], 1.5, [0.0, 0.0])
    step = step_uniqueness(rest).ambiguity
    assert np.sqrt(2.0 * rest.kinetic_energy(step.v)) == pytest.approx(1.0)
    assert step.residual <= 1e-9


def test_many_friction_directions_do_not_hang():
    """Lists of all pairs of modes had twelve million entries, and a budget was not looked at."""
    rng = np.random.default_rng(13)
    problem = random_problem(rng, 1, 2, nv=3, mu=0.5, num_directions=1000)
    step_uniqueness(problem, 0.0)
    start = time.perf_counter()
    verdict = step_uniqueness(problem, 1.0)
    assert time.perf_counter() - start < 5.0
    assert verdict.is_decided or verdict.reason.startswith("1 contact")


def test_pairs_are_counted_without_being_listed():
    rng = np.random.default_rng(14)
    for d, mu in ((1, [0.5, 0.0]), (2, [0.5, 0.2]), (2, [0.0, 0.3])):
        step = Step(random_problem(rng, 2, d, mu=np.array(mu), num_directions=4).space)
        assert step.num_pairs == sum(1 for _ in step.pairs())
