"""What a witness says of who acts, beside rounding."""

import numpy as np
import pytest

from tests.reference.ladder import ladder
from tests.reference.replay import check_path
from tests.reference.set_checks import resolve

# An impulse of this share of the largest is none: floats leave about 1e-15.
NOTHING = 1e-12
DIRECTIONS = np.vstack([np.eye(3), -np.eye(3)])


@pytest.mark.parametrize("degrees", [30.0, 60.0])
@pytest.mark.parametrize("mu", [(0.2, 0.3), (0.3, 0.2)])
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_a_contact_without_an_impulse_is_not_said_to_act(degrees, mu, direction):
    problem = ladder(degrees, mu)
    outcomes = resolve(problem)
    end = outcomes.maximizer(direction)
    path = outcomes.path_to(end)
    check_path(problem.M, problem.J_n, problem.J_t[:, 0], problem.mu, path, problem.v_pre, end)
    for lambda_n, lambda_t, modes in zip(path.lambda_n, path.lambda_t, path.modes, strict=True):
        assert lambda_n.max() > NOTHING * path.lambda_n.sum()
        for n, t, mode in zip(lambda_n, lambda_t, modes, strict=True):
            acts = n > NOTHING * path.lambda_n.sum()
            assert acts != (mode in ("idle", "free"))
            assert acts or not (n or t.any())


def test_the_foot_acts_first_where_the_ladder_turns_least():
    outcomes = resolve(ladder(30.0))
    path = outcomes.path_to(outcomes.maximizer([0.0, 0.0, -1.0]))
    assert path.modes[0] == ("idle", "compressing, sliding -")
