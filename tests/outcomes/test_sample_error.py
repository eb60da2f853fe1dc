"""How far samples leave the exact set, and what is said of it."""

import numpy as np
import pytest

import carom
from carom.outcomes.distances import sample_error
from tests.reference.ladder import ladder
from tests.reference.set_checks import resolve


def of(problem, v_post):
    """Return some velocities (n, nv) as samples."""
    some = carom.Routh(num_samples=len(v_post)).resolve(problem)
    return type(some)(
        problem, "some", np.array(v_post), some.impulse_n, some.impulse_t, some.num_steps, False
    )


def test_velocities_that_are_moved_lie_as_far_away():
    """No outcome of the ladder lifts an end, so that what does lies as far away, or farther."""
    problem = ladder()
    exact = resolve(problem)
    assert np.abs(exact.contact_bounds()[:, 0]).max() < 1e-12
    inside = exact.sample(50)
    assert sample_error(of(problem, inside), exact) < 1e-12
    lift = np.linalg.pinv(problem.J_n) @ [0.3, 0.4]
    moved = np.vstack([inside, inside[7] + lift])
    found = sample_error(of(problem, moved), exact)
    assert 0.5 - 1e-12 <= found <= np.linalg.norm(problem.J @ lift) + 1e-12


def test_samples_err_with_their_step():
    problem = ladder()
    exact = resolve(problem)
    unit = float(problem.space.impulse_unit.max())
    coarse, fine = (carom.Routh(2**12, unit / k).resolve(problem) for k in (1, 16))
    assert sample_error(coarse, exact) > 5e-3
    assert sample_error(fine, exact) < 1e-3
    assert f"steps of {unit:.4g} N s; samples err in proportion to it" in coarse.summary()
    assert coarse.step_impulse == pytest.approx(16 * fine.step_impulse)


def test_exact_motions_do_not_err():
    problem = ladder()
    samples = carom.Routh(2**12).resolve(problem)
    assert sample_error(samples, resolve(problem)) < 1e-9
    assert samples.step_impulse is None
    assert "in proportion" not in samples.summary()


def test_other_laws_have_no_step():
    problem = ladder()
    for law in (carom.Sequential(), carom.AnitescuPotra()):
        assert not hasattr(law.resolve(problem), "step_impulse")
        assert "in proportion" not in law.resolve(problem).summary()


def test_refuses_a_set_of_another_impact():
    other = carom.scenes.load("compass-gait").problem
    with pytest.raises(carom.InvalidOption, match=r"^exact: "):
        sample_error(carom.Routh(10).resolve(ladder()), resolve(other))
