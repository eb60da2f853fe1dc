"""A set in a file is the same set, to the last digit."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest

import carom


@pytest.fixture(scope="module")
def outcomes():
    return carom.RouthExact().resolve(carom.scenes.load("compass-gait").problem)


def test_what_is_read_is_what_was_written(tmp_path, outcomes):
    carom.save_set(outcomes, tmp_path / "set.json")
    again = carom.load_set(tmp_path / "set.json")
    assert [piece.corners for piece in again.pieces] == [piece.corners for piece in outcomes.pieces]
    assert [p.conditions for p in again.pieces] == [p.conditions for p in outcomes.pieces]
    assert [p.equations for p in again.pieces] == [p.equations for p in outcomes.pieces]
    assert again.kinds == outcomes.kinds
    assert again.notes == outcomes.notes
    assert again.is_complete
    assert not again.is_outer
    assert np.array_equal(again.v_post, outcomes.v_post)
    assert np.array_equal(again.problem.M, outcomes.problem.M)
    assert again.problem.contacts == outcomes.problem.contacts


def test_numbers_are_exact_rationals(tmp_path, outcomes):
    carom.save_set(outcomes, tmp_path / "set.json")
    piece = json.loads((tmp_path / "set.json").read_text())["pieces"][-1]
    corner = piece["corners"][0]
    exact = [Fraction(int(p, 16), int(q, 16)) for p, q in (x.split("/") for x in corner)]
    assert tuple(exact) == outcomes.pieces[-1].corners[0]


def test_a_set_from_a_file_knows_no_paths(tmp_path, outcomes):
    carom.save_set(outcomes, tmp_path / "set.json")
    again = carom.load_set(tmp_path / "set.json")
    with pytest.raises(carom.CaromError, match="knows no paths"):
        again.witness(again.v_post[0])


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{}",
        '{"format": "carom polyhedral set 1"}',
        '{"format": "carom polyhedral set 2"}',
    ],
)
def test_other_files_are_refused(tmp_path, content):
    file = tmp_path / "set.json"
    file.write_text(content)
    with pytest.raises(carom.InvalidProblem, match=r"carom\.save_set wrote"):
        carom.load_set(file)


def test_broken_numbers_and_missing_files_are_refused(tmp_path, outcomes):
    file = tmp_path / "set.json"
    carom.save_set(outcomes, file)
    content = json.loads(file.read_text())
    content["pieces"][0]["corners"][0][0] = "1/0"
    file.write_text(json.dumps(content))
    with pytest.raises(carom.InvalidProblem, match="ZeroDivisionError"):
        carom.load_set(file)
    with pytest.raises(carom.InvalidProblem, match="No such file"):
        carom.load_set(tmp_path / "nothing.json")
    with pytest.raises(carom.InvalidProblem, match=r"ends in \.json"):
        carom.save_set(outcomes, tmp_path / "set.npz")


def test_samples_are_no_exact_set(tmp_path):
    samples = carom.Routh(num_samples=10).resolve(carom.scenes.load("rocking-block").problem)
    with pytest.raises(carom.InvalidProblem, match="PolyhedralSet"):
        carom.save_set(samples, tmp_path / "set.json")
