from fractions import Fraction

import numpy as np
import pytest

import carom
from carom.reach.inclusion import Inclusion, rationalize
from carom.reach.limits import Limit, is_proved, limits

SCENES = ["rocking-block", "box-wall", "compass-gait"]


def inclusion_of(problem: carom.ImpactProblem) -> Inclusion:
    return rationalize(problem)


def bounds(inclusion: Inclusion) -> np.ndarray:
    """Return the least and the greatest (c, 2) of every contact velocity [m/s]."""
    return np.array([(-float(a.bound), float(b.bound)) for a, b in limits(inclusion)])


def flat(inclusion: Inclusion) -> list[Limit]:
    return [limit for pair in limits(inclusion) for limit in pair]


@pytest.mark.parametrize("scene", SCENES)
def test_samples_of_small_step_lie_within_the_limits(scene: str) -> None:
    problem = carom.scenes.load(scene).problem
    step = 0.01 * float(problem.space.impulse_unit.max())
    samples = carom.Routh(num_samples=2000, step_impulse=step, max_steps=20_000).resolve(problem)
    v_c = samples.contact_velocities.reshape(len(samples.contact_velocities), -1)
    low, high = bounds(inclusion_of(problem)).T
    slack = 1e-6 * problem.energy_norm
    assert (v_c >= low - slack).all()
    assert (v_c <= high + slack).all()


@pytest.mark.parametrize("scene", [*SCENES, "disk-stack"])
def test_every_limit_is_proved_and_none_that_is_one_percent_less(scene: str) -> None:
    inclusion = inclusion_of(carom.scenes.load(scene).problem)
    for limit in flat(inclusion):
        assert is_proved(inclusion, limit)
        if limit.bound > Fraction(1, 10**6):
            assert not is_proved(inclusion, limit._replace(bound=limit.bound * Fraction(99, 100)))


def test_multipliers_of_the_wrong_sign_prove_nothing() -> None:
    inclusion = inclusion_of(carom.scenes.load("rocking-block").problem)
    limit = limits(inclusion)[0][1]._replace(bound=Fraction(100))
    negative = limit.separation.copy()
    negative[0] = -Fraction(1, 10)
    assert is_proved(inclusion, limit)
    assert not is_proved(inclusion, limit._replace(separation=negative))
    # Every normal impulse raises its own normal velocity: the opposite is lowered by a rate.
    lowered = -inclusion.rates[0]
    assert not is_proved(inclusion, limit._replace(momentum=lowered))


def test_the_disk_stack_has_limits_below_what_energy_alone_allows() -> None:
    problem = carom.scenes.load("disk-stack").problem
    energy = np.sqrt(np.diag(problem.J @ problem.impulse_to_velocity)) * problem.energy_norm
    low, high = bounds(inclusion_of(problem)).T
    assert (high <= energy * (1 + 1e-6)).all()
    # A disc on the floor cannot take all of the energy upwards: the top disc would be in its way.
    assert high[0] == pytest.approx(np.sqrt(0.625), abs=1e-4)
    assert np.abs(low[::2]).max() < 1e-6
