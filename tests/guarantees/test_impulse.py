"""The largest impulse of an impact, against motions that were found without it."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import carom
from carom.guarantees import impulse
from carom.guarantees.cone import pointedness
from carom.guarantees.impulse import worst_impulse
from carom.guarantees.termination import termination
from tests.reference.impact_problems import numbered_pair, random_problem
from tests.reference.random_motions import RandomMotions
from tests.reference.replay import check_path
from tests.reference.set_checks import AMPLE, changed

SCENES = ("rocking-block", "box-wall", "compass-gait", "ramone")
PAIRS = (0, 2, 3, 4, 7, 18, 22, 191, 196)
ROUNDING = 1e-8
STEP_ERROR = 10.0
"""Of what one step of all contacts takes: a sample leaves the inclusion by a few of its steps."""

seeds = st.integers(0, 2**31)


class RecordedMotions(RandomMotions):
    """Random motions that remember where they turned."""

    def record(self, rng):
        """Return s (n,) and v (n, nv) at the turns of one motion; None if it does not end."""
        self.turns, self.directions = [], []
        if self.run(rng) is None:
            return None
        impulses = [np.zeros(2 * self.m)]
        for before, after, direction in zip(
            self.turns[:-1], self.turns[1:], self.directions, strict=True
        ):
            rate = self.A @ direction
            impulses.append(impulses[-1] + (after - before) @ rate / (rate @ rate) * direction)
        impulses = np.array(impulses)
        return impulses[:, : self.m].sum(axis=1), self.v_pre + impulses @ self.to_velocity.T

    def _snapped(self, y):
        self.turns.append(super()._snapped(y))
        return self.turns[-1]

    def _direction(self, rng, y):
        direction, cell = super()._direction(rng, y)
        self.directions.append(direction)
        return direction, cell


def recorded(problem, count, seed=0):
    """Return (s, v) of motions that end."""
    motions = RecordedMotions(problem.M, problem.J_n, problem.J_t[:, 0], problem.mu, problem.v_pre)
    rng = np.random.default_rng(seed)
    found = [motions.record(rng) for _ in range(count)]
    ended = [motion for motion in found if motion is not None]
    assert len(ended) >= count / 2
    return ended


def check_worst(problem, worst, count):
    """Assert that no motion takes more, and that the path given does take it."""
    unit = float(problem.space.impulse_unit.max())
    taken = [s[-1] for s, _ in recorded(problem, count)]
    assert max(taken) <= worst.s + ROUNDING * unit
    path = worst.path
    assert path.lambda_n.sum() == pytest.approx(worst.s, rel=1e-6)
    data = (problem.M, problem.J_n, problem.J_t[:, 0], problem.mu)
    check_path(*data, path, problem.v_pre, path.v[-1], tolerance=1e-8)
    bound = termination(problem, pointedness(problem), 1.0)
    if bound is not None:
        assert worst.s <= bound.largest_impulse * (1 + ROUNDING)


def check_samples(problem, worst, share=1e-2, num_samples=256):
    step = share * float(problem.space.impulse_unit.max())
    samples = carom.Routh(num_samples, step, 10**6).resolve(problem)
    assert samples.num_unfinished == 0
    slack = STEP_ERROR * problem.num_contacts * step
    assert samples.impulse_n.sum(axis=1).max() <= worst.s + slack


def check_dissipation(problem, worst, count):
    """Assert that motions have lost as much as is promised, at their turns and between."""
    for s, v in recorded(problem, count, seed=1):
        s = np.concatenate([s, 0.5 * (s[1:] + s[:-1])])
        v = np.concatenate([v, 0.5 * (v[1:] + v[:-1])])
        # Exact arithmetic knows no rounding of s: look a hair before.
        alpha = worst.dissipation(np.maximum(s - ROUNDING * worst.s, 0.0))
        assert not np.isnan(alpha).any()
        share = np.sqrt(2 * problem.kinetic_energy(v)) / problem.energy_norm
        assert (share <= 1.0 - alpha + 1e-7).all()


def check_rate(worst):
    """Assert that alpha grows from 0 to the end, and is known up to there."""
    s = worst.s * np.array([0.0, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 1 - 1e-9, 1 - 1e-15, 1.0])
    alpha = worst.dissipation(s)
    assert not np.isnan(alpha).any()
    assert abs(alpha[0]) <= 1e-9
    assert (np.diff(alpha) > -1e-12).all()
    assert (np.diff(alpha)[:7] > 0.0).all()
    assert (alpha <= 1.0).all()
    assert np.isnan(worst.dissipation([1.001 * worst.s, -0.1 * worst.s])).all()


@pytest.mark.parametrize("name", SCENES)
def test_scenes(name):
    problem = carom.scenes.load(name).problem
    worst = worst_impulse(problem, AMPLE)
    check_worst(problem, worst, 100)
    check_samples(problem, worst)
    check_dissipation(problem, worst, 2 if name == "ramone" else 5)
    check_rate(worst)


@pytest.mark.parametrize("number", PAIRS)
def test_two_contacts(number):
    problem = numbered_pair(number)
    worst = worst_impulse(problem, AMPLE)
    check_worst(problem, worst, 30)
    check_samples(problem, worst, num_samples=64)
    check_dissipation(problem, worst, 3)
    check_rate(worst)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(60))
def test_two_contacts_many_times(number):
    problem = numbered_pair(number)
    worst = worst_impulse(problem, 2.0)
    if worst is not None and not math.isinf(worst.s):
        check_worst(problem, worst, 100)
        check_samples(problem, worst)
        check_dissipation(problem, worst, 2)
        check_rate(worst)


def test_motions_come_near_the_largest():
    """Or that none takes more would say little."""
    problem = carom.scenes.load("rocking-block").problem
    worst = worst_impulse(problem, AMPLE)
    assert max(s[-1] for s, _ in recorded(problem, 200)) >= 0.99 * worst.s


@settings(max_examples=40)
@given(seed=seeds)
def test_one_contact_is_the_closed_form(seed):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, 1, 1, mu=float(rng.uniform(0, 2)))
    worst = worst_impulse(problem, AMPLE)
    expected = carom.RouthSingle().resolve(problem).impulse_n.sum()
    assert worst.s == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("factor", [1e-3, 0.7, 40.0])
@pytest.mark.parametrize("number", [2, 18])
def test_impulse_grows_with_the_velocity(number, factor):
    problem = numbered_pair(number)
    one = worst_impulse(problem, AMPLE)
    other = worst_impulse(changed(problem, v_pre=factor * problem.v_pre), AMPLE)
    assert other.s == pytest.approx(factor * one.s, rel=1e-7)
    s = one.s * np.linspace(0.0, 0.99, 5)
    assert other.dissipation(factor * s) == pytest.approx(one.dissipation(s), abs=1e-7)


def test_without_friction_both_orders_are_known():
    """Two uncoupled contacts: each takes what it brings, in any order."""
    problem = carom.ImpactProblem(
        np.diag([2.0, 3.0]), np.eye(2), np.eye(2)[::-1].copy(), 0.0, [-1.0, -2.0]
    )
    assert worst_impulse(problem, AMPLE).s == pytest.approx(2.0 + 6.0)


def test_one_contact_in_space():
    rng = np.random.default_rng(3)
    problem = random_problem(rng, 1, 2, nv=3, mu=0.4, num_directions=4, at_rest=False)
    worst = worst_impulse(problem, AMPLE)
    check_samples(problem, worst, share=1e-3)
    step = 1e-3 * float(problem.space.impulse_unit.max())
    samples = carom.Routh(16, step, 10**6).resolve(problem)
    assert samples.impulse_n.sum(axis=1).max() >= worst.s - STEP_ERROR * step


def wedge(mu, v_pre):
    """Return a point of unit mass in a shaft: walls left and right, and the floor."""
    return carom.ImpactProblem(
        M=np.eye(2),
        J_n=[[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]],
        J_t=[[0.0, 1.0], [0.0, 1.0], [1.0, 0.0]],
        mu=mu,
        v_pre=v_pre,
        contacts=("left", "right", "floor"),
    )


class TestJam:
    @pytest.mark.parametrize("v_pre", [(0.0, -1.0), (-0.5, -1.0)])
    def test_walls_that_press_without_end_leave_no_bound(self, v_pre):
        """The floor waits while the walls push against each other, and nothing changes."""
        problem = wedge(0.0, v_pre)
        worst = worst_impulse(problem, AMPLE)
        assert math.isinf(worst.s)
        assert problem.is_colliding(worst.path.v[-1])
        # There, impulses that cancel belong to contacts that may act.
        assert (problem.J_n[:2] @ worst.path.v[-1] <= 1e-9).all()
        with pytest.raises(carom.CaromError, match="without end"):
            worst.dissipation([0.1])

    def test_friction_of_the_walls_ends_the_fall(self):
        """The cone is not pointed, and yet there is a bound: walls that press also brake.

        With impulse N on each wall and slip downwards, both brake: v_y = -1 + 2 mu N. The most
        impulse is taken if the floor does nothing, up to rest: 2 N = 1 / mu.
        """
        problem = wedge(0.25, (0.0, -1.0))
        assert not pointedness(problem).is_pointed
        worst = worst_impulse(problem, AMPLE)
        assert worst.s == pytest.approx(4.0, rel=1e-9)
        check_rate(worst)


class TestNotFound:
    def test_where_nothing_collides(self):
        assert worst_impulse(carom.scenes.load("zeno-block").problem) is None

    def test_many_contacts(self):
        assert worst_impulse(carom.scenes.load("disk-stack").problem) is None

    def test_a_budget_that_is_too_small(self):
        problem = carom.scenes.load("compass-gait").problem
        assert worst_impulse(problem, 0.0) is None
        assert worst_impulse(problem, AMPLE, max_polyhedra=1) is None

    def test_without_ppl(self, monkeypatch):
        monkeypatch.setattr(impulse, "find_spec", lambda _: None)
        assert worst_impulse(carom.scenes.load("rocking-block").problem) is None
