"""Extremes of impacts that bounce, from both sides, and outer sets of their outcomes."""

from dataclasses import replace

import numpy as np
import pytest

import carom
from carom.errors import InvalidCertificate, NotResolvedExactly
from tests.reference.bouncing_problems import bouncing_problem, falling_ball, three_balls


@pytest.mark.parametrize(
    ("direction", "value"), [((0, 0, 1), 1.0), ((-1, 0, 0), 1 / 3), ((0, 1, 0), 2 / 3)]
)
def test_three_balls_are_exact_at_the_ends_of_their_arc(direction, value):
    found = carom.worst_case(three_balls(), np.array(direction, dtype=float), max_seconds=2.0)
    found.verify()
    # The end with two equal velocities takes pushes in one proportion, which a search approaches.
    assert found.reached == pytest.approx(value, abs=1e-6)
    assert found.proved == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize("e", [0.3, 1.0])
def test_a_frictionless_ball_is_exact(e):
    ball = falling_ball(e, 0.0, (0.2, -1.0))
    found = carom.worst_case(ball, ["-A normal", "A normal", "A impulse"], max_seconds=5.0)
    found.verify()
    assert found.reached == pytest.approx([-e, e, 1.0 + e], abs=1e-9)
    assert found.proved == pytest.approx([-e, e, 1.0 + e], abs=1e-8)


@pytest.mark.parametrize(("number", "d"), [(1, 1), (2, 1), (4, 1), (1, 2), (3, 2)])
def test_motions_reach_what_proofs_allow(number, d):
    problem = bouncing_problem(number, d)
    names = ["A normal", "-A normal", "impulse", "energy kept"]
    found = carom.worst_case(problem, names, max_seconds=1.0)
    found.verify()
    samples = carom.Routh(200, seed=7).resolve(problem)
    for each in found:
        assert each.reached <= each.proved + (1e-9 if d == 1 else 1e-6) * each.scale
        # The path is what the value is claimed for, and obeys the law of energy.
        path = each.path
        stored = path.energies.sum(axis=1)
        total = problem.kinetic_energy(path.v) + stored
        assert np.diff(total).max() <= 1e-9 * total[0]
        assert stored[0] == 0.0
        assert stored[-1] <= 1e-9 * total[0]
        assert (problem.J_n @ path.v_post >= -1e-7 * problem.space.velocity_unit).all()
    normal = samples.v_post @ problem.J_n[0]
    assert found["A normal"].proved >= normal.max() - 1e-6 * found["A normal"].scale
    assert found["-A normal"].proved >= -normal.min() - 1e-6 * found["A normal"].scale


def test_searches_find_more_than_as_many_samples():
    """A block that lands flat: pushes of both corners in turn lift one of them the most."""
    block = replace(carom.scenes.load("rocking-block").problem, restitution=0.5)
    sampled = carom.Routh(2**12, extremes=0.0).resolve(block).v_post @ block.J_n[0]
    found = carom.worst_case(block, "A normal", max_seconds=2.0)
    assert found.reached > sampled.max()


def test_extremes_of_other_restitution_do_not_verify(tmp_path):
    block = carom.scenes.load("rocking-block").problem
    bouncing = replace(block, restitution=0.5)
    own = carom.worst_case(bouncing, "A normal", max_seconds=0.5)
    inelastic = carom.worst_case(block, "A normal", max_seconds=0.5)
    own.save(tmp_path / "own.json")
    carom.load(tmp_path / "own.json").verify()
    for each, other in ((own, block), (inelastic, bouncing)):
        each.verify()
        with pytest.raises(InvalidCertificate, match="another impact"):
            replace(each, problem=other).verify()


def test_a_separating_impact_stays_as_it_is():
    found = carom.worst_case(falling_ball(0.5, 0.5, (0.1, 1.0)), "A normal")
    assert (found.reached, found.proved) == (1.0, 1.0)


@pytest.mark.needs("ppl")
def test_exact_sets_say_why_there_is_none():
    problem = bouncing_problem(1)
    with pytest.raises(NotResolvedExactly, match="no union of polytopes") as caught:
        carom.RouthExact().resolve(problem)
    assert "on_budget='outer'" in str(caught.value)
    with pytest.raises(NotResolvedExactly, match="no union of polytopes"):
        carom.RouthExact().draw_path(problem, seed=0)


@pytest.mark.needs("ppl")
@pytest.mark.parametrize(("number", "d"), [(0, 1), (1, 1), (2, 1), (1, 2)])
def test_outer_sets_contain_all_samples(number, d):
    problem = bouncing_problem(number, d)
    outcomes = carom.RouthExact(max_seconds=1.0, on_budget="outer").resolve(problem)
    assert not outcomes.is_complete
    assert "restitution" in outcomes.notes[0]
    assert outcomes.inner is not None
    speed = problem.energy_norm / np.sqrt(np.linalg.eigvalsh(problem.M)[0])
    others = carom.Routh(300, seed=5).resolve(problem)
    assert outcomes.contains(others.v_post, 1e-6 * speed).all()
    assert outcomes.contains(outcomes.inner.v_post[:300], 1e-6 * speed).all()
    assert (outcomes.outer_excess >= 0.0).all()


@pytest.mark.needs("ppl")
def test_three_balls_have_a_tight_outer_set():
    balls = three_balls()
    outcomes = carom.RouthExact(max_seconds=2.0, on_budget="outer").resolve(balls)
    normal = outcomes.contact_bounds()[:, 0]
    # On the arc from (-1/3, 2/3, 2/3) to (0, 0, 1) both normal velocities are from 0 to 1.
    assert normal[:, 0] == pytest.approx([0.0, 0.0], abs=1e-9)
    assert normal[:, 1] == pytest.approx([1.0, 1.0], abs=1e-6)


def test_the_best_set_is_samples_with_a_note():
    outcomes = carom.post_impact_set(bouncing_problem(1), max_seconds=0.5)
    assert isinstance(outcomes, carom.SampledSet)
    assert any("not exact" in note for note in outcomes.notes)
