"""How a set came about is data: it is pickled and saved, and the same search follows from it."""

import math
import pickle

import numpy as np
import pytest

import carom
from carom.reach.flow import Flow, OutOfTime
from carom.reach.inclusion import rationalize
from carom.reach.record import SearchRecord
from carom.reach.search import pose
from tests.reference.impact_problems import numbered_pair
from tests.reference.set_checks import AMPLE, changed, resolve

MANY = 10**6
NAMES = ["rocking-block", "compass-gait", "box-wall", "ramone", 2, 18, 196]


def problem_of(name):
    return numbered_pair(name) if isinstance(name, int) else carom.scenes.load(name).problem


def resting():
    """Return a problem whose contacts at rest start the impact."""
    problem = carom.scenes.load("painleve-rod").problem
    assert problem.starts_at_rest
    return problem


def corners_of(search):
    return {
        cell: [sorted(map(str, node.reached.minimized_generators())) for node in nodes]
        for cell, nodes in search.known.items()
    }


def same_paths(one, other):
    for v in one.v_post:
        a, b = one.path_to(v), other.path_to(v)
        assert a.modes == b.modes
        assert a.v.tobytes() == b.v.tobytes()


@pytest.mark.parametrize("name", NAMES)
def test_unpickled_sets_know_the_same_paths(name):
    outcomes = resolve(problem_of(name))
    again = pickle.loads(pickle.dumps(outcomes))
    assert again.origin._search is None
    assert again.origin == outcomes.origin
    same_paths(outcomes, again)
    # The second question finds the search at hand.
    search = again.origin._search
    again.path_to(again.v_post[0])
    assert again.origin._search is search is not None


@pytest.mark.parametrize("ending", ["json", "npz"])
def test_saved_sets_know_the_same_paths(tmp_path, ending):
    outcomes = resolve(problem_of("compass-gait"))
    outcomes.save(tmp_path / f"set.{ending}")
    again = carom.load(tmp_path / f"set.{ending}")
    assert again.polytopes[0].corners == outcomes.polytopes[0].corners
    same_paths(outcomes, again)


def test_impacts_that_start_at_rest_are_searched_again():
    outcomes = resolve(resting())
    same_paths(outcomes, pickle.loads(pickle.dumps(outcomes)))


def test_where_nothing_collides_the_only_path_has_no_steps(tmp_path):
    block = carom.scenes.load("rocking-block").problem
    still = changed(block, v_pre=-block.v_pre)
    resolve(still).save(tmp_path / "still.json")
    outcomes = carom.load(tmp_path / "still.json")
    assert outcomes.path_to(still.v_pre).num_steps == 0
    with pytest.raises(carom.InvalidOption, match="expected an outcome"):
        outcomes.path_to(block.v_pre)


def test_a_set_found_with_a_budget_is_searched_no_farther_than_it_was():
    """A set may be complete before the search is: what follows are the steps, not the clock."""
    problem = problem_of("ramone")
    whole = pose(problem, zero=1e-9, grid=1e-14)
    whole.run(math.inf, MANY)
    half = whole.num_steps // 2
    record = SearchRecord(1e-9, 1e-14, half)
    search = record._replayed(problem)
    assert search.num_steps == half
    assert not search.is_complete


@pytest.mark.parametrize("name", ["compass-gait", 196])
def test_time_decides_how_many_steps_and_not_what_they_find(name):
    """A search that is stopped now and then, also within a step, finds what another finds."""
    problem = problem_of(name)
    whole, stopped = (pose(problem, zero=1e-9, grid=1e-14) for _ in range(2))
    whole.run(AMPLE, MANY)
    while not stopped.is_complete:
        before = stopped.num_steps
        stopped.run(-1.0, MANY)
        assert stopped.num_steps - before <= 1
        stopped.run(AMPLE, stopped.num_steps + 1)
    assert stopped.num_steps == whole.num_steps
    assert corners_of(stopped) == corners_of(whole)


def spatial_contact(num_directions):
    """Return a ball that lands without sliding: every way to begin to slide is next."""
    J = np.eye(3)
    return carom.ImpactProblem(
        M=np.diag([1.0, 2.0, 3.0]) + 0.2,
        J_n=J[2:],
        J_t=J[None, :2],
        mu=0.01,
        v_pre=[0.0, 0.0, -1.0],
        num_directions=num_directions,
    )


def test_the_cells_next_to_one_are_listed_no_longer_than_time_allows():
    """One contact with 64 directions took a quarter of a minute with a budget of a second."""
    flow = Flow(rationalize(spatial_contact(64)))
    _, cell = flow.start()
    flow.deadline = -math.inf
    with pytest.raises(OutOfTime):
        flow.entries(cell)
    flow.deadline = math.inf
    assert flow.entries(cell)
    with pytest.raises(carom.NotResolvedExactly, match="0 s"):
        resolve(spatial_contact(64), max_seconds=0.0)


def test_more_directions_than_any_budget_allows_are_not_even_counted():
    problem = spatial_contact(1000)
    inclusion = rationalize(spatial_contact(3))
    from carom.reach.solve import too_much

    assert "1000 friction directions" in too_much(problem, inclusion)
    assert too_much(spatial_contact(3), inclusion) is None
