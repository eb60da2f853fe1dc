"""One contact in space has one outcome, that of Keller's equation, however it is sampled."""

import numpy as np
import pytest

import carom
from tests.reference.coulomb_cone import round_cone_outcome
from tests.reference.impact_problems import random_problem
from tests.reference.spatial_problems import distance, ellipsoid


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


def test_extremes_hold_the_outcome():
    for number in range(5):
        problem = impact(number, "ellipsoid")
        truth = round_cone_outcome(problem)
        for each in carom.worst_case(problem, max_seconds=0.2):
            value = each.direction @ truth
            assert each.reached == pytest.approx(value, rel=0, abs=1e-6 * each.scale)
            assert value <= each.proved + 1e-9 * each.scale
