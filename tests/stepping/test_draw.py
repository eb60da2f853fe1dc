"""One outcome by a seed, with the steps to it: judged by momentum, and by the set it comes from."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import carom
from carom.outcomes.path import ImpactPath
from tests.reference.impact_problems import random_problem
from tests.reference.replay import check_path
from tests.reference.set_checks import AMPLE

LAWS = {
    "simultaneous": carom.AnitescuPotra(),
    "sequential": carom.Sequential(),
    "sampled": carom.Routh(step_impulse=0.05),
    "points": carom.Routh(points=np.random.default_rng(0).uniform(size=(20, 400))),
    "exact": carom.RouthExact(max_seconds=AMPLE),
}
CLOSE = 1e-9
SEEDS = range(6)


@pytest.fixture(scope="module")
def walker():
    return carom.scenes.load("compass-gait").problem


def check_steps(problem, path):
    """Assert that a path starts at v_pre, obeys momentum and the cone, and ends apart."""
    steps, m, width = path.num_steps, problem.num_contacts, 1 + problem.num_tangents
    assert isinstance(path, ImpactPath)
    assert path.v.shape == (steps + 1, problem.num_velocities)
    assert path.lambda_n.shape == path.lambda_max.shape == (steps, m)
    assert path.lambda_t.shape == (steps, m, width - 1)
    assert len(path.modes) == steps
    assert all(len(row) == m and all(isinstance(word, str) for word in row) for row in path.modes)
    assert np.array_equal(path.v[0], problem.v_pre)
    impulses = np.concatenate([path.lambda_n[..., None], path.lambda_t], axis=-1)
    change = impulses.reshape(steps, m * width) @ problem.impulse_to_velocity.T
    slack = CLOSE * (1.0 + np.abs(path.v).max() + np.abs(change).sum())
    assert np.abs(np.diff(path.v, axis=0) - change).max(initial=0.0) <= slack
    unit = problem.space.impulse_unit
    assert (path.lambda_n >= -CLOSE * unit).all()
    assert (path.lambda_n <= path.lambda_max + CLOSE * unit).all()
    cone = problem.mu * path.lambda_n + CLOSE * unit * (1 + problem.mu)
    assert (np.linalg.norm(path.lambda_t, axis=-1) <= cone).all()
    assert (path.v[-1] @ problem.J_n.T >= -1e-8 * problem.space.velocity_unit).all()
    before, after = problem.kinetic_energy(path.v[[0, -1]])
    assert after <= before * (1 + CLOSE)


@pytest.mark.parametrize("name", LAWS)
def test_a_drawn_path_leads_to_an_outcome(name, walker):
    law = LAWS[name]
    outcomes = law.resolve(walker)
    for seed in SEEDS:
        path = law.draw_path(walker, seed)
        check_steps(walker, path)
        # Samples of another seed are other samples, though they may have the same caps.
        if name not in ("sampled", "points"):
            assert outcomes.contains(path.v[-1], 1e-6)


@pytest.mark.parametrize("name", LAWS)
def test_the_seed_decides(name, walker):
    def draw():
        return [LAWS[name].draw_path(walker, seed) for seed in range(12)]

    first, again = draw(), draw()
    for one, two in zip(first, again, strict=True):
        assert one.v.tobytes() == two.v.tobytes()
        assert one.lambda_t.tobytes() == two.lambda_t.tobytes()
        assert one.modes == two.modes
    # On the compass gait every law has several outcomes, but one has them all in one place.
    if name != "sequential":
        assert len({path.v[-1].round(6).tobytes() for path in first}) > 1


@settings(max_examples=30)
@given(seed=st.integers(0, 2**31), m=st.integers(1, 3))
def test_paths_of_random_impacts(seed, m):
    problem = random_problem(np.random.default_rng(seed), m, 1, mu=0.8)
    for law in (carom.AnitescuPotra(), carom.Sequential(), carom.Routh()):
        try:
            check_steps(problem, law.draw_path(problem, seed))
        except carom.ImpactNotResolved:
            assert isinstance(law, carom.Sequential)


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("seed", [-1, 0.5, None, True])
def test_other_seeds_are_refused(name, seed, walker):
    with pytest.raises(carom.InvalidOption, match=r"^seed: expected an integer"):
        LAWS[name].draw_path(walker, seed)


class TestSampled:
    def test_it_is_the_first_sample_of_that_seed(self, walker):
        law = carom.Routh(num_samples=500, step_impulse=0.05, draw="uniform")
        path = law.draw_path(walker, 7)
        expected = replace(law, seed=7).replay(walker).path(0, path.num_steps)
        assert path.v.tobytes() == expected.v.tobytes()
        assert path.lambda_max.tobytes() == expected.lambda_max.tobytes()

    def test_a_row_of_points_is_chosen(self, walker):
        law = LAWS["points"]
        caps = law.points.reshape(20, -1, 2) * float(walker.space.impulse_unit.max())
        chosen = set()
        for seed in range(8):
            used = law.draw_path(walker, seed).lambda_max
            chosen |= {i for i in range(20) if np.allclose(caps[i, : len(used)], used)}
        assert len(chosen) > 1

    def test_progress_is_not_told(self, walker):
        told = []
        carom.Routh(progress=lambda *state: told.append(state)).draw_path(walker, 0)
        assert not told

    def test_a_sample_that_does_not_end_is_an_error(self, walker):
        with pytest.raises(carom.ImpactNotResolved, match="raise max_steps"):
            carom.Routh(step_impulse=1e-6, max_steps=2).draw_path(walker, 0)


class TestSequential:
    def test_names_that_do_not_occur_are_passed_over(self):
        block = carom.scenes.load("rocking-block").problem
        law = carom.Sequential(order=("X", "B", "Y", "A"))
        path = law.draw_path(block, 0)
        expected = carom.Sequential(order=("B", "A")).resolve(block)
        assert np.allclose(path.v[-1], expected.v_post[0], rtol=0, atol=CLOSE)
        with pytest.raises(carom.InvalidOption, match=r"^order: expected each of A, B"):
            law.resolve(block)

    def test_one_name_is_an_order(self):
        ball = carom.ImpactProblem(np.eye(2), [[0, 1]], [[1, 0]], 0.5, [1, -1], ("ball",))
        check_steps(ball, carom.Sequential(order="ball").draw_path(ball, 0))

    def test_an_order_may_not_leave_out_what_touches(self):
        block = carom.scenes.load("rocking-block").problem
        with pytest.raises(carom.InvalidOption, match=r"^order: expected each of A, B"):
            carom.Sequential(order=("A", "X")).draw_path(block, 0)

    def test_each_step_is_one_single_impact(self):
        outcomes = carom.Sequential().resolve(carom.scenes.load("box-wall").problem)
        for i, label in enumerate(outcomes.labels):
            path = outcomes.path_to(outcomes.v_post[i])
            assert path.num_steps == outcomes.num_steps[i]
            assert ((path.lambda_n > 0.0).sum(axis=1) == 1).all()
            names = [outcomes.problem.contacts[k] for k in path.lambda_n.argmax(axis=1)]
            assert " → ".join(names) == label
            assert np.allclose(path.lambda_n.sum(axis=0), outcomes.impulse_n[i], atol=CLOSE)
            assert np.allclose(path.lambda_t.sum(axis=0), outcomes.impulse_t[i], atol=CLOSE)
            assert np.allclose(path.v[-1], outcomes.v_post[i], atol=CLOSE)
            for row, pushes in zip(path.modes, path.lambda_n, strict=True):
                for word, push in zip(row, pushes, strict=True):
                    assert word.startswith("closed, " if push > 0.0 else ("idle", "free"))


class TestExact:
    def test_a_path_obeys_the_inclusion(self, walker):
        for seed in SEEDS:
            path = LAWS["exact"].draw_path(walker, seed)
            data = (walker.M, walker.J_n, walker.J_t[:, 0], walker.mu)
            check_path(*data, path, walker.v_pre, path.v[-1])
            drawn = LAWS["exact"].resolve(walker).sample(1, seed)[0]
            assert np.allclose(path.v[-1], drawn, rtol=0, atol=1e-8)

    @pytest.mark.parametrize("scale", [1e-150, 1e100])
    def test_velocities_may_be_tiny_or_huge(self, scale, walker):
        fast = carom.ImpactProblem(
            walker.M, walker.J_n, walker.J_t, walker.mu, scale * walker.v_pre, walker.contacts
        )
        path = LAWS["exact"].draw_path(fast, 1)
        plain = LAWS["exact"].draw_path(walker, 1)
        assert np.allclose(path.v[-1] / scale, plain.v[-1], rtol=0, atol=1e-8)

    def test_an_outer_set_has_nothing_to_draw(self, walker):
        law = carom.RouthExact(max_polyhedra=1, on_budget="outer", num_samples=16)
        with pytest.raises(carom.NotResolvedExactly, match="points of an outer set") as caught:
            law.draw_path(walker, 0)
        assert "max_polyhedra" in str(caught.value)


@pytest.mark.parametrize("name", [name for name in LAWS if name != "points"])
def test_where_nothing_collides_there_are_no_steps(name):
    rising = carom.ImpactProblem(np.eye(2), [[0, 1]], [[1, 0]], 0.5, [1, 1])
    path = LAWS[name].draw_path(rising, 0)
    check_steps(rising, path)
    assert path.num_steps == 0


def test_the_simultaneous_law_does_it_all_at_once_and_routh_in_phases():
    ball = carom.ImpactProblem(np.eye(2), [[0, 1]], [[1, 0]], 0.5, [0.1, -1])
    for law, modes in (
        (carom.AnitescuPotra(), ["closed, sticking"]),
        (carom.RouthSingle(), ["compressing, sticking", "closed, sticking"]),
    ):
        path = law.draw_path(ball, 0)
        check_steps(ball, path)
        assert path.modes == tuple((mode,) for mode in modes)
        assert np.array_equal(path.lambda_max, path.lambda_n)


@dataclass(frozen=True)
class Borrowed(carom.ImpactLaw):
    """A law of someone else, which returns what another one does."""

    law: carom.ImpactLaw

    def resolve(self, problem):
        return self.law.resolve(problem)


def test_laws_of_others_can_be_drawn_from(walker):
    check_steps(walker, Borrowed(LAWS["simultaneous"]).draw_path(walker, 0))
    check_steps(walker, Borrowed(LAWS["sequential"]).draw_path(walker, 0))
    check_steps(walker, Borrowed(LAWS["exact"]).draw_path(walker, 0))
