"""Errors keep what they carry, through processes too, and advise what to do."""

import pickle

import numpy as np
import pytest

import carom


def test_errors_survive_pickling_with_their_problem():
    problem = carom.scenes.load("rocking-block").problem
    law = carom.Routh(num_samples=4, step_impulse=1e-6, max_steps=1)
    with pytest.raises(carom.ImpactNotResolved) as caught:
        law.resolve(problem)
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)
    assert again.problem == problem


@pytest.mark.needs("ppl")
def test_reasons_are_fields_and_not_parsed():
    problem = carom.scenes.load("rocking-block").problem
    with pytest.raises(carom.NotResolvedExactly) as caught:
        carom.RouthExact(max_polyhedra=1).resolve(problem)
    again = pickle.loads(pickle.dumps(caught.value))
    assert again.reason == caught.value.reason
    assert str(again) == str(caught.value)
    assert again.problem == problem


@pytest.mark.needs("ppl")
def test_what_is_sampled_is_not_told_to_sample():
    """Six contacts of a long table are too many for an exact set, and for an outer one."""
    places = np.linspace(-1.0, 1.0, 6)
    problem = carom.ImpactProblem(
        np.eye(12),
        np.eye(12)[::2] + 0.01 * places[:, None],
        np.eye(12)[1::2],
        mu=0.3,
        v_pre=-np.ones(12),
    )
    outcomes = carom.post_impact_set(problem, max_seconds=0.1)
    assert sum(each.startswith("sampled, not exact: ") for each in outcomes.notes) == 1
    for each in outcomes.notes:
        assert "Routh" not in each
        assert each in outcomes.summary()


def test_missing_extras_can_be_installed_beside_a_checkout():
    error = carom.MissingExtra.of("exact sets", "pplpy", "exact")
    assert "pip install pplpy" in str(error)
    assert 'pip install "carom[exact]"' in str(error)
