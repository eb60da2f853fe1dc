"""Problems at the edge of what makes sense: a right answer or one clear error."""

import numpy as np
import pytest

import carom
from carom.stepping.lcp import LCP, solve, solve_all


def box(M=(1.0, 1.0, 1.0), mu=0.5, v_pre=(0.5, -1.0, 0.0)):
    return carom.ImpactProblem(
        np.diag(M), [[0.0, 1.0, -0.2], [0.0, 1.0, 0.2]], [[1.0, 0.0, 0.5]] * 2, mu, v_pre
    )


def test_an_impact_that_is_none_has_an_empty_path():
    problem = box(v_pre=(1.0, 0.0, 0.0))
    path = carom.Routh(num_samples=3).resolve(problem).path_to(problem.v_pre)
    assert path.num_steps == 0
    assert np.array_equal(path.v, [problem.v_pre])
    assert path.lambda_t.shape == (0, 2, 1)


def test_coincident_contacts_of_different_friction_are_not_called_complete():
    """Between the two outcomes found lies a continuum, by how the contacts share the load."""
    problem = carom.ImpactProblem(
        np.eye(3), [[0.0, 1.0, 0.0]] * 2, [[1.0, 0.0, 0.0]] * 2, [0.1, 0.5], [5.0, -1.0, 0.0]
    )
    outcomes = carom.AnitescuPotra().resolve(problem)
    assert not outcomes.is_complete
    assert sorted(outcomes.v_post[:, 0].round(9)) == [4.5, 4.9]


@pytest.mark.parametrize("spread", [1e6, 1e7])
def test_badly_scaled_outcomes_do_not_collide(spread):
    problem = box(M=(1.0 / spread, 1.0, spread))
    for law in (carom.AnitescuPotra(), carom.Routh(num_samples=50)):
        normal = law.resolve(problem).contact_velocities[..., 0]
        assert (normal >= -1e-8 * problem.space.velocity_unit).all()


@pytest.mark.parametrize("mu", [1e8, 1e12, 1e300])
def test_huge_friction_never_returns_what_is_not_physical(mu):
    problem = box(mu=mu)
    outcomes = carom.Routh(num_samples=100).resolve(problem)
    assert len(outcomes) + outcomes.num_unfinished == 100
    normal = outcomes.contact_velocities[..., 0]
    assert (normal >= -1e-8 * problem.space.velocity_unit).all()
    energy = problem.kinetic_energy(outcomes.v_post)
    assert (energy <= problem.kinetic_energy(problem.v_pre) * (1 + 1e-8)).all()


def test_tiny_and_huge_velocities():
    tiny = box(v_pre=(0.5e-200, -1e-200, 0.0))
    outcomes = carom.Routh(num_samples=20).resolve(tiny)
    plain = carom.Routh(num_samples=20).resolve(box())
    assert np.allclose(outcomes.v_post * 1e200, plain.v_post, atol=1e-12)
    with pytest.raises(carom.InvalidProblem, match="v_pre: expected a finite kinetic energy"):
        box(v_pre=(0.5e160, -1e160, 0.0))


def test_one_velocity_and_a_tangent_that_does_not_move():
    """A bead on a vertical wire: friction has nothing to act on."""
    bead = carom.ImpactProblem([[2.0]], [[1.0]], [[0.0]], 0.5, [-1.0])
    single = carom.RouthSingle().resolve(bead)
    assert single.labels == ("sticks",)
    assert np.allclose(single.v_post, 0.0, atol=1e-15)
    assert np.allclose(carom.Routh(num_samples=10).resolve(bead).v_post, 0.0, atol=1e-15)


@pytest.mark.parametrize(
    ("law", "options", "name"),
    [
        (carom.AnitescuPotra, {"num_trials": 0}, "num_trials"),
        (carom.Sequential, {"max_impacts": 0}, "max_impacts"),
        (carom.Sequential, {"max_impacts": "x"}, "max_impacts"),
        (carom.Routh, {"seed": None}, "seed"),
        (carom.Routh, {"step_impulse": "a"}, "step_impulse"),
        (carom.Routh, {"max_steps": True}, "max_steps"),
        (carom.Routh, {"num_samples": 1000.0}, "num_samples"),
        (carom.Routh, {"points": "abc"}, "points"),
    ],
)
def test_options_are_checked_once(law, options, name):
    with pytest.raises(carom.InvalidOption, match=f"^{name}: expected"):
        law(**options)


def test_questions_want_velocities_of_the_right_size():
    outcomes = carom.Routh(num_samples=10).resolve(box())
    with pytest.raises(carom.InvalidOption, match=r"^direction: expected shape"):
        outcomes.support(np.eye(4))
    with pytest.raises(carom.InvalidOption, match=r"^v: expected shape"):
        outcomes.contains(outcomes.v_post[:, :2])


def test_lcp_arguments_are_checked():
    lcp = LCP(np.eye(2), [-1.0, -1.0])
    with pytest.raises(carom.InvalidOption, match=r"^covering: expected"):
        solve(lcp, covering=[1.0])
    with pytest.raises(carom.InvalidOption, match=r"^covering: expected numbers > 0"):
        solve(lcp, covering=[1.0, 0.0])
    with pytest.raises(carom.InvalidOption, match=r"^x: expected"):
        lcp.residual([1.0])
    with pytest.raises(carom.InvalidOption, match=r"^W: expected numbers"):
        LCP("a", [1.0])


def test_more_solutions_than_can_be_listed_are_refused():
    with pytest.raises(carom.InvalidOption, match="expected at most 4096 solutions"):
        solve_all(LCP(-np.eye(14), np.ones(14)))
