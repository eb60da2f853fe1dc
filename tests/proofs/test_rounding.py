"""Rational multipliers: the least change that makes constraints hold exactly."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import carom
from carom.proofs.rational import exactly
from carom.proofs.rounding import repaired, worst_excess


@pytest.mark.parametrize("excess", [Fraction(1, 2**200), Fraction(1, 2**60), Fraction(1, 8)])
def test_excesses_of_any_size_are_repaired(excess):
    """An excess that floats do not see is repaired as well, by little more than their rounding."""
    ball = carom.ImpactProblem(np.eye(2), [[0.0, 1.0]], [[1.0, 0.0]], 1.0, [0.1, -1.0])
    weights, inside = exactly(np.zeros(1)), exactly(np.array([0.0, 1.0]))
    z = exactly(np.array([1.0, 1.0]))
    z[0] += excess
    assert worst_excess(ball, z, weights) > 0.0
    found = repaired(ball, z, weights, inside, [0])
    assert worst_excess(ball, found, weights) <= 0.0
    assert abs(found - z).max() <= 1.1 * max(float(excess), 1e-15)


def test_constraints_that_nothing_changes_are_not_repaired():
    """Contact B is not free: the velocity inside has no part along it."""
    pair = carom.ImpactProblem(np.eye(2), np.eye(2), np.zeros((2, 2)), 0.0, [-1.0, -1.0])
    inside, weights = exactly(np.array([1.0, 0.0])), exactly(np.zeros(2))
    assert repaired(pair, exactly(np.array([-1.0, -1.0])), weights, inside, [0]) is None
    assert repaired(pair, exactly(np.array([-1.0, 1.0])), weights, inside, [0]) is not None
