"""The recipes of CONTRIBUTING.md work as they stand."""

import re
import sys
import textwrap
import types
from pathlib import Path

import numpy as np
import pytest

import carom
from carom import io

TEXT = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
LAW, SET = (textwrap.dedent(block) for block in re.findall(r"```python\n(.*?) *```", TEXT, re.S))


@pytest.fixture
def new(monkeypatch):
    """Return a module with the law and the set, registered as the recipes say."""
    module = types.ModuleType("new_to_carom")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    for block in (LAW, SET):
        exec(compile(block, "CONTRIBUTING.md", "exec", dont_inherit=True), vars(module))
    monkeypatch.setitem(io.HOMES, "SegmentSet", module.__name__)
    monkeypatch.setattr(io, "TOP", {*io.TOP, "SegmentSet"})
    return module


def test_the_law_stops_a_block_and_says_where_it_cannot(new):
    block = carom.scenes.load("rocking-block").problem
    outcomes = new.AllStick().resolve(block)
    assert outcomes.kinds == ("A sticks, B sticks",)
    assert carom.AnitescuPotra().resolve(block).contains(outcomes.v_post[0])
    assert repr(new.AllStick(slack=0.1)) == "AllStick(slack=0.1)"
    slippery = carom.ImpactProblem(np.eye(2), [[0, 1]], [[1, 0]], 0.1, [1, -1])
    with pytest.raises(carom.ImpactNotResolved, match="cannot stick"):
        new.AllStick().resolve(slippery)
    rising = carom.ImpactProblem(np.eye(2), [[0, 1]], [[1, 0]], 0.0, [0, 1])
    assert new.AllStick().resolve(rising).v_post.tolist() == [[0.0, 1.0]]


def test_the_set_answers_is_drawn_and_saved(new, tmp_path):
    ball = carom.ImpactProblem(np.eye(2), [[0, 1]], [[1, 0]], 0.5, [1, -1])
    outcomes = new.SegmentSet(ball, "made up", np.array([[1.0, -0.5], [1.0, 0.0]]), True)
    assert outcomes.kinds == ("A slides",)
    assert outcomes.contains(outcomes.sample(20, rng=0)).all()
    assert outcomes.support([1, 0]) == 1.0
    assert outcomes.path_to([0.7, 0.0]).lambda_t[0, 0, 0] == pytest.approx(-0.3)
    assert outcomes.distance([[0.75, 0.0], [0.75, 2.0]]).tolist() == [0.0, 2.0]
    outcomes.save(tmp_path / "segment.npz")
    assert np.array_equal(carom.load(tmp_path / "segment.npz").ends, outcomes.ends)
    assert "segment" in repr(outcomes)
    assert "A slides" in outcomes.summary()
