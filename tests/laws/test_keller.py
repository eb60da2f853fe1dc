"""One contact in space has one outcome, that of Keller's equation, however it is sampled."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import carom
from carom import stepping
from tests.reference.cone_errors import turning_exact_motions
from tests.reference.coulomb_cone import follow_round_cone, round_cone_outcome
from tests.reference.impact_problems import random_problem
from tests.reference.spatial_problems import distance, ellipsoid, on_feet, turn

EXACT = 1e-8
"""Of the impact's speed: samples of the default law, against a reference integrated to 1e-12."""

CURVED = 0.5
"""Slip that turns by more than this is curved [rad]."""

SAME = 1e-8
"""Of the impact's speed: what tangents may change that are turned."""


def impact(number, kind):
    """Return impact `number` of a series."""
    rng = np.random.default_rng([20261117, number])
    if kind == "ellipsoid":
        return ellipsoid(rng)
    return random_problem(rng, 1, 2)


@pytest.mark.parametrize("kind", ["ellipsoid", "random"])
def test_all_samples_equal_the_equation(kind):
    worst = spread = 0.0
    for number in range(50):
        problem = impact(number, kind)
        samples = carom.Routh(64).resolve(problem)
        assert not samples.unfinished
        truth = round_cone_outcome(problem)
        worst = max(worst, float(distance(problem, samples.v_post, truth).max()))
        spread = max(spread, float(distance(problem, samples.v_post, samples.v_post[0]).max()))
    assert worst < 1e-6
    # Samples are integrated in stretches of their own, to a tolerance.
    assert spread < 1e-7


@cache
def curved(count, is_at_rest):
    """Return ellipsoids whose slip turns far, with outcomes and motions of the reference.

    Where the contact comes to rest, its outcome does not depend on how it got there.
    """
    found, number = [], 0
    while len(found) < count:
        problem = ellipsoid(np.random.default_rng([7, number]))
        truth, motion = follow_round_cone(problem)
        number += 1
        if motion.turn > CURVED and ("sticks" in motion.phases) == is_at_rest:
            found.append((problem, truth, motion))
    return found


def test_samples_follow_slip_that_turns():
    for problem, truth, _ in curved(100, is_at_rest=False):
        samples = carom.Routh(16, num_threads=1).resolve(problem)
        assert samples.num_unfinished == 0
        assert distance(problem, samples.v_post, truth).max() <= EXACT


def test_slip_of_the_curved_ones_turns_about():
    """In space slip hardly ever reverses through zero: it turns, sharply, by up to 180°."""
    turns = np.degrees([motion.turn for *_, motion in curved(100, is_at_rest=False)])
    assert (turns > 90.0).sum() >= 5
    assert np.median(turns) > 40.0


def test_paths_follow_slip_up_to_rest():
    """Wherever a path is, the reference is there after the same normal impulse."""
    for problem, _, motion in curved(20, is_at_rest=True):
        assert motion.phases[-1] == "sticks"
        path = carom.Routh().draw_path(problem, seed=0)
        sums = path.lambda_n[:, 0].cumsum()
        for impulse, v in zip(sums[:-1], path.v[1:-1], strict=True):
            assert distance(problem, v, round_cone_outcome(problem, impulse)).max() <= EXACT


def reversing(count):
    """Return bodies that move in a plane, somewhere in space, and slide back from rest."""
    found, number = [], 0
    while len(found) < count:
        rng = np.random.default_rng([11, number])
        number += 1
        root = rng.normal(size=(2, 2))
        M = np.eye(3)
        M[:2, :2] = root @ root.T + 0.05 * np.eye(2)
        J_t = turn(rng.uniform(0.0, 2.0 * np.pi)) @ np.eye(3)[[0, 2]]
        v = [rng.normal(), -1.0, 0.0]
        problem = carom.ImpactProblem(M, [[0, 1, 0]], [J_t], rng.uniform(0.0, 1.0), v)
        truth, motion = follow_round_cone(problem)
        if "leaves rest" in motion.phases and motion.phases[0] == "slips":
            found.append((problem, truth))
    return found


def test_slip_that_reverses_through_zero():
    for problem, truth in reversing(20):
        samples = carom.Routh(16, num_threads=1).resolve(problem)
        assert distance(problem, samples.v_post, truth).max() <= EXACT


def ends(problem, accuracy, count):
    """Return where random motions end that are integrated with another accuracy."""
    sampler = replace(stepping.prepare_motions(problem, 0, count, 0.0), accuracy=accuracy)
    totals, statuses, _ = sampler.run(count, 1, None)
    assert (statuses == stepping.FINISHED).all()
    return problem.velocity_after(totals * np.repeat(problem.space.impulse_unit, 3))


def test_errors_fall_with_the_accuracy_of_the_integration():
    medians = []
    for accuracy in (1e-4, 1e-6, 1e-8):
        errors = [
            distance(problem, ends(problem, accuracy, 4), truth).max()
            for problem, truth, _ in curved(100, is_at_rest=False)
        ]
        medians.append(np.median(errors))
        assert max(errors) <= accuracy
    assert (np.diff(np.log10(medians)) <= -1.0).all(), medians


@pytest.mark.parametrize("m", [2, 3, 4])
def test_motions_of_several_contacts_converge(m):
    """The same plan leads to the same end, also where contacts aim to stop together.

    Ends where all sticks do not depend on the way, and some motions are on an edge between two ways
    to go on, so nine in ten are compared.
    """
    errors = []
    for number in range(6):
        problem = on_feet(np.random.default_rng([5, m, number]), m)
        finest = ends(problem, 1e-10, 40)
        rough = [ends(problem, accuracy, 40) for accuracy in (1e-4, 1e-6, 1e-8)]
        errors.append([distance(problem, v, finest) for v in rough])
    apart = np.concatenate(errors, axis=1)
    worst_of_most = np.quantile(apart, 0.9, axis=1)
    assert (worst_of_most <= [1e-4, 1e-6, 1e-8]).all()
    assert (np.diff(np.log10(worst_of_most)) <= -1.0).all()


@pytest.mark.parametrize("m", [1, 2, 3, 4])
def test_turned_tangents_change_no_sample(m):
    assert turning_exact_motions(m, 12).max() <= SAME


def test_extremes_hold_the_outcome():
    for number in range(5):
        problem = impact(number, "ellipsoid")
        truth = round_cone_outcome(problem)
        for each in carom.worst_case(problem, max_seconds=0.2):
            value = each.direction @ truth
            assert each.reached == pytest.approx(value, rel=0, abs=1e-6 * each.scale)
            assert value <= each.proved + 1e-9 * each.scale
