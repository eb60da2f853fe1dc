"""How far k friction directions lead from the round cone, measured over random bodies.

All errors are |v - v'|_M as a share of |v_pre|_M.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

import carom
from tests.reference.coulomb_cone import round_cone_outcome
from tests.reference.set_checks import changed
from tests.reference.spatial_problems import (
    distance,
    ellipsoid,
    on_feet,
    rates,
    turn,
    with_tangents,
)

FloatArray = NDArray[np.float64]

SHARE = 1e-4
"""Step with which one contact is followed, as a share of the impulse that could stop it. Steps err
where slip turns from one direction to the next, by less than that."""

MOST = 10.0
"""No impact of one contact here takes more normal impulse, in the same unit."""

NUM_SUPPORTS = 50

NUM_TURNS = 3


def one_outcome(problem: carom.ImpactProblem, share: float = SHARE) -> FloatArray:
    """Return the velocity (nv,) after an impact at one contact, by small steps of `Routh`."""
    law = carom.Routh(
        points=np.ones((1, round(MOST / share))),
        step_impulse=share * float(problem.space.impulse_unit[0]),
        num_threads=1,
    )
    return law.resolve(problem).v_post[0]


def one_contact(count: int, ks: Sequence[int]) -> FloatArray:
    """Return errors (count, len(ks)) of impacts at one contact against the round cone."""
    errors = np.empty((count, len(ks)))
    for number in range(count):
        problem = ellipsoid(np.random.default_rng([7, number]))
        expected = round_cone_outcome(problem)
        for i, k in enumerate(ks):
            found = one_outcome(changed(problem, num_directions=k))
            errors[number, i] = distance(problem, found, expected)[0]
    return errors


def turning(count: int, k: int, num_angles: int = 8) -> FloatArray:
    """Return how far two outcomes (count,) are apart whose tangents are turned, at most."""
    worst = np.empty(count)
    for number in range(count):
        problem = changed(ellipsoid(np.random.default_rng([7, number])), num_directions=k)
        angles = 2.0 * np.pi / k * np.arange(num_angles) / num_angles
        ends = np.array([one_outcome(with_tangents(problem, [turn(a)])) for a in angles])
        worst[number] = distance(problem, ends[:, None], ends[None]).max()
    return worst


def several_contacts(
    m: int, count: int, ks: Sequence[int], finest: int, num_samples: int = 100
) -> tuple[FloatArray, FloatArray]:
    """Compare impacts at m contacts with those with the finest cone, all with the same caps.

    Returns:
        Distances (len(ks), count * num_samples) of samples, and differences
        (len(ks), count * NUM_SUPPORTS) of support functions in random directions.
    """
    apart, supports = [], []
    for number in range(count):
        rng = np.random.default_rng([3, m, number])
        problem = on_feet(rng, m)
        law = carom.Routh(points=rates(rng, num_samples, m))
        ends = []
        for k in (*ks, finest):
            outcomes = law.resolve(changed(problem, num_directions=k))
            assert outcomes.num_unfinished == 0
            ends.append(outcomes.v_post)
        apart.append([distance(problem, v, ends[-1]) for v in ends[:-1]])
        # In coordinates in which |v|_M is the length, directions are alike.
        root = np.linalg.cholesky(problem.M)
        directions = rng.normal(size=(NUM_SUPPORTS, len(root)))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        reach = (
            np.array([(v @ root @ directions.T).max(axis=0) for v in ends]) / problem.energy_norm
        )
        supports.append(np.abs(reach[:-1] - reach[-1]))
    return np.concatenate(apart, axis=1), np.concatenate(supports, axis=1)


def exact_motions(count: int, num_samples: int = 16) -> FloatArray:
    """Return errors (count, num_samples) of `Routh()` at one contact against the round cone."""
    errors = np.empty((count, num_samples))
    for number in range(count):
        problem = ellipsoid(np.random.default_rng([7, number]))
        found = carom.Routh(num_samples, num_threads=1).resolve(problem)
        errors[number] = distance(problem, found.v_post, round_cone_outcome(problem))
    return errors


def turning_exact_motions(m: int, count: int, num_samples: int = 100) -> FloatArray:
    """Return how far samples (count, NUM_TURNS, num_samples) move if tangents are turned at random.

    The samples are those of `Routh()` that are drawn; those that search look for large velocities
    along the tangents, whatever these are.
    """
    law = carom.Routh(num_samples, extremes=0.0, num_threads=1)
    moved = np.empty((count, NUM_TURNS, num_samples))
    for number in range(count):
        rng = np.random.default_rng([5, m, number])
        problem = ellipsoid(rng) if m == 1 else on_feet(rng, m)
        outcomes = law.resolve(problem)
        for k in range(NUM_TURNS):
            turns = [turn(angle) for angle in rng.uniform(0.0, 2.0 * np.pi, m)]
            again = law.resolve(with_tangents(problem, turns))
            assert outcomes.num_unfinished == again.num_unfinished == 0
            moved[number, k] = distance(problem, outcomes.v_post, again.v_post)
    return moved


def step_errors(count: int, shares: Sequence[float], k: int = 8) -> FloatArray:
    """Return errors (count, len(shares)) that steps add to those of k directions, one contact.

    Args:
        count: Number of bodies.
        shares: Steps, as shares of the impulse that could stop the contact.
        k: Number of friction directions.
    """
    errors = np.empty((count, len(shares)))
    for number in range(count):
        problem = ellipsoid(np.random.default_rng([7, number]), k)
        finest = one_outcome(problem)
        for i, share in enumerate(shares):
            errors[number, i] = distance(problem, one_outcome(problem, share), finest)[0]
    return errors
