"""What summaries say, of samples and of polytopes."""

import numpy as np
import pytest

import carom
from tests.reference.ladder import ladder
from tests.reference.set_checks import changed

LAWS = (carom.Routh(num_samples=50), carom.RouthExact(), carom.AnitescuPotra(), carom.Sequential())


def column(summary, contact):
    """Return the normal velocity before the impact, as the table tells it."""
    (line,) = [line for line in summary.splitlines() if line.split()[:1] == [contact]]
    return float(line.split()[1])


@pytest.mark.parametrize("law", LAWS)
def test_normal_velocities_before_the_impact_are_told(law):
    problem = ladder()
    summary = law.resolve(problem).summary()
    assert "normal before" in summary
    for name, speed in zip(problem.contacts, problem.J_n @ problem.v_pre, strict=True):
        assert column(summary, name) == pytest.approx(speed, rel=1e-4)


@pytest.mark.parametrize("law", LAWS)
def test_a_normal_of_the_wrong_sign_is_hinted_at(law):
    wrong = changed(ladder(), J_n=-ladder().J_n)
    head, hint, *_ = law.resolve(wrong).summary().splitlines()
    assert "1 outcome (complete)" in head or "1 polytope" in head
    assert hint.endswith("(J_n v < 0 would approach: is the sign of J_n right?)")
    still = changed(ladder(), v_pre=np.zeros(3))
    summary = law.resolve(still).summary()
    assert summary.count("no contact approaches") == 1
    assert "sign" not in summary
    assert "no contact approaches" not in law.resolve(ladder()).summary()


def test_contacts_at_rest_that_act_are_not_said_to_do_nothing():
    jam = carom.scenes.load("painleve-rod").problem
    assert "no contact approaches" not in carom.Routh(num_samples=10).resolve(jam).summary()
