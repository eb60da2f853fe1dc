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


def test_rounding_is_told_only_where_it_may_matter():
    """The notes always tell it."""
    problem = carom.scenes.load("compass-gait").problem
    fine = carom.RouthExact().resolve(problem)
    assert "rounded to 1e-14" in fine.notes[-1]
    assert "rounded" not in fine.summary()
    slow = carom.ImpactProblem(np.eye(2), [[0.0, 1.0]], [[1.0, 0.0]], 0.2, [1e-5, -1.0])
    coarse = carom.RouthExact(zero=1e-3).resolve(slow)
    assert "v_pre moved by 1e-05 of its size" in coarse.summary()


def test_sets_and_problems_are_shown_on_one_line():
    problem = ladder()
    assert repr(problem) == "ImpactProblem(2 planar contacts top, foot; 3 velocities)"
    exact = carom.RouthExact().resolve(problem)
    assert repr(exact) == "PolyhedralSet(complete, 2 polytopes in 3 dimensions)"
    sampled = carom.Routh(num_samples=30).resolve(problem)
    assert repr(sampled) == f"SampledSet({sampled.summary().splitlines()[0]})"
    many = carom.ImpactProblem(np.eye(9), np.eye(9), np.eye(9), 0.1, -np.ones(9))
    assert repr(many) == "ImpactProblem(9 planar contacts A, B, C, D, E, F, …; 9 velocities)"


@pytest.mark.parametrize("scene", ["ladder", "rocking-block", "compass-gait", "box-wall", "ramone"])
def test_bounds_that_are_zero_are_exactly_zero(scene):
    problem = ladder() if scene == "ladder" else carom.scenes.load(scene).problem
    bounds = carom.RouthExact().resolve(problem).contact_bounds()
    small = np.abs(bounds) < 1e-9 * problem.space.velocity_unit[:, None, None]
    assert small.any()
    assert (bounds[small] == 0.0).all()
    assert not np.signbit(bounds[small]).any()


def test_labels_of_long_sequences_are_short():
    labels = carom.Sequential().resolve(ladder()).labels
    assert labels == (
        "top → foot → top → … → foot (44 impacts)",
        "foot → top → foot → … → top (44 impacts)",
    )
