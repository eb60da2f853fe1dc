"""What must hold for every sample of an impact, whatever robot it is."""

import numpy as np

import carom

NUM_SAMPLES = 2**12
SMALL = 1e-9
"""Of the impact's energy or impulses."""
REST = 1.001e-10
"""Of the speed that a contact would have with all of the impact's energy: less is rest, to the last
digits."""


def check_landing(problem, num_samples=NUM_SAMPLES):
    """Assert that all samples end, part, lose energy, and keep to friction cone and momentum."""
    outcomes = carom.Routh(num_samples=num_samples).resolve(problem)
    assert len(outcomes.v_post) == num_samples
    assert outcomes.num_unfinished == 0
    before = problem.kinetic_energy(problem.v_pre)
    mobility = np.diag(problem.J_n @ np.linalg.solve(problem.M, problem.J_n.T))
    normal_velocity = outcomes.v_post @ problem.J_n.T
    assert (normal_velocity >= -REST * np.sqrt(2.0 * before * mobility)).all()
    assert (problem.kinetic_energy(outcomes.v_post) <= before * (1.0 + SMALL)).all()
    normal, tangential = outcomes.impulse_n, outcomes.impulse_t
    most = normal.max()
    assert most > 0.0
    assert (normal >= -SMALL * most).all()
    friction = np.linalg.norm(tangential, axis=-1)
    assert (friction <= problem.mu * normal + SMALL * most).all()
    change = (outcomes.v_post - problem.v_pre) @ problem.M
    push = normal @ problem.J_n + np.einsum("nmt,mtv->nv", tangential, problem.J_t)
    np.testing.assert_allclose(change, push, atol=SMALL * np.abs(push).max())
    # Several contacts, several outcomes: otherwise nothing of this would need a set.
    assert np.ptp(normal_velocity, axis=0).max() > 1e-5
    return outcomes
