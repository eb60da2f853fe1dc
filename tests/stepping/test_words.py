"""Words of cells: linear programs, their search, and the replay that judges both."""

from __future__ import annotations

import time

import numpy as np
import pytest

import carom
from carom.stepping.replay import replay
from carom.stepping.word_search import improve
from carom.stepping.words import cells_of_path, polish
from tests.reference.impact_problems import numbered_pair, numbered_triple
from tests.reference.single_motions import random_motion


def test_polish_gains_and_stays_legal():
    rng, gains = np.random.default_rng(0), []
    for problem in (*map(numbered_pair, range(8)), *map(numbered_triple, range(2))):
        space, start = problem.space, problem.start
        for _ in range(12):
            motion = random_motion(space, start, rng)
            if replay(space, start, motion, 1e-13):
                continue
            q = rng.normal(size=len(start))
            word = polish(space, start, cells_of_path(space, start, motion), q)
            assert replay(space, start, word.impulses, 1e-10) == []
            assert word.value == pytest.approx(q @ word.impulses.sum(axis=0), abs=1e-12)
            gains.append(word.value - q @ motion.sum(axis=0))
    assert len(gains) >= 30
    assert min(gains) >= -1e-9
    assert np.mean(np.array(gains) > 1e-3) > 0.3


def test_cells_of_a_path_split_where_signs_change():
    space = numbered_pair(0).space
    row = np.array([1.0, 0.0, 0.0, 0.0])
    change = space.A @ row
    assert (np.abs(change) > 1e-3).all()
    cells = cells_of_path(space, -0.25 * change, row[None])
    assert (cells == np.sign(change) * np.array([[-1], [1]])).all()
    start = np.array([-0.25, 0.0, -0.5, -2.0]) * change
    cells = cells_of_path(space, start, row[None]) * np.sign(change)
    assert cells.tolist() == [[-1, 1, -1, -1], [1, 1, -1, -1], [1, 1, 1, -1]]


def test_polish_refuses_words_that_do_not_fit():
    problem = carom.scenes.load("rocking-block").problem
    space, start = problem.space, problem.start
    cell = np.sign(start).astype(np.int8)
    q = np.ones(len(start))
    assert polish(space, start, -cell[None], q) is None
    # The impact is over in the second cell.
    over = np.abs(cell)
    assert polish(space, start, np.array([cell, over]), q) is None


@pytest.mark.parametrize(
    ("name", "j", "sign"),
    [
        ("rocking-block", 0, 1),
        ("compass-gait", 0, 1),
        ("compass-gait", 1, -1),
        ("box-wall", 1, -1),
        ("box-wall", 3, 1),
        ("ramone", 3, 1),
    ],
)
def test_search_reaches_exact_extremes(name, j, sign):
    pytest.importorskip("ppl")
    problem = carom.scenes.load(name).problem
    space, start, rng = problem.space, problem.start, np.random.default_rng(0)
    bounds = carom.RouthExact().resolve(problem).contact_bounds()
    motions = [random_motion(space, start, rng) for _ in range(100)]
    ends = np.array([start + space.A @ motion.sum(axis=0) for motion in motions])
    motion = motions[int((sign * ends[:, j]).argmax())]
    word = improve(space, start, motion, sign * space.A[j], time.monotonic() + 20.0)
    assert replay(space, start, word.impulses, 1e-10) == []
    exact = bounds[j // 2, j % 2, int(sign > 0)] / space.velocity_unit[j // 2]
    assert start[j] + sign * word.value == pytest.approx(exact, abs=1e-9)


def test_search_ends_an_unfinished_motion():
    problem = numbered_pair(1)
    space, start = problem.space, problem.start
    motion = random_motion(space, start, np.random.default_rng(0))
    part = 0.5 * motion[:1]
    assert replay(space, start, part) != []
    word = improve(space, start, part, space.A[0], time.monotonic() + 2.0)
    assert replay(space, start, word.impulses, 1e-10) == []


def legal_motion() -> tuple[carom.ImpactProblem, np.ndarray]:
    """Return an impact and a motion of several stretches that ends it."""
    problem = numbered_pair(3)
    rng = np.random.default_rng(0)
    for _ in range(100):
        motion = random_motion(problem.space, problem.start, rng)
        end = problem.start + problem.space.A @ motion.sum(axis=0)
        if len(motion) > 2 and (end[::2] >= -1e-13).all():
            return problem, motion
    raise AssertionError


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        ("pull", "pulls"),
        ("cone", "exceeds the cone"),
        ("slip", "is off by"),
        ("part", "acts while parting"),
        ("early", "a contact approaches"),
        ("over", "the impact is over"),
    ],
)
def test_replay_sees_faults(fault, text):
    problem, motion = legal_motion()
    space, start, bad = problem.space, problem.start, motion.copy()
    assert replay(space, start, motion) == []
    i = int(bad[0, ::2].argmax())
    if fault == "pull":
        bad[0] *= -1.0
    elif fault == "cone":
        bad[0, 2 * i + 1] *= 2.0
    elif fault == "slip":
        bad[0, 2 * i + 1] *= -1.0
    elif fault == "part":
        bad[0] *= 10.0
    elif fault == "early":
        bad = bad[:1]
    else:
        bad = np.vstack([bad, bad[-1:]])
    assert any(text in found for found in replay(space, start, bad))


def test_replay_judges_round_cones():
    problem = carom.ImpactProblem(
        M=np.eye(3), J_n=[[0, 0, 1]], J_t=[[[1, 0, 0], [0, 1, 0]]], mu=0.5, v_pre=[3, 4, -1]
    )
    space, start = problem.space, problem.start
    push = -start[0]
    slip = start[1:] / np.linalg.norm(start[1:])
    motion = np.array([[push, *(-0.5 * push * slip)]])
    assert replay(space, start, motion) == []
    turned = np.array([[push, -0.5 * push, 0.0]])
    assert any("is off by" in found for found in replay(space, start, turned))
    assert replay(space, start, turned, 2.0) == []
