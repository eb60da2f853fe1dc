"""Contacts that bounce one after another, by three rules, judged by closed forms and energy."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

import carom
from tests.reference.impact_problems import random_problem
from tests.reference.pendulum import striking_pendulum

CLOSE = 1e-9
RULES = ("stronge", "poisson", "newton")
seeds = st.integers(0, 2**31)


def bouncing(seed, m, **options):
    rng = np.random.default_rng([20261118, seed])
    problem = random_problem(rng, m, 1, mu=rng.uniform(0.0, 2.0, m), **options)
    return dataclasses.replace(problem, restitution=rng.uniform(0.0, 1.0, m))


def balls(num, e=1.0):
    """Return equal balls in a row, the first of which hits the others with 1 m/s."""
    J_n = np.eye(num)[1:] - np.eye(num)[:-1]
    v_pre = np.eye(num)[0]
    return carom.ImpactProblem(np.eye(num), J_n, np.zeros_like(J_n), 0.0, v_pre, restitution=e)


def flat_block(e=1.0, mu=0.0):
    """Return a block of 1 kg, 1 m wide and 2 m high, that lands flat with 1 m/s."""
    return carom.ImpactProblem(
        np.diag([1.0, 1.0, 5.0 / 12.0]),
        [[0.0, 1.0, -0.5], [0.0, 1.0, 0.5]],
        [[1.0, 0.0, 1.0], [1.0, 0.0, 1.0]],
        mu,
        [0.0, -1.0, 0.0],
        restitution=e,
    )


def rise(problem, v_post):
    return problem.kinetic_energy(v_post) / problem.kinetic_energy(problem.v_pre) - 1.0


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("num", [3, 5, 10])
def test_equal_elastic_balls_hand_the_speed_on(rule, num):
    names = balls(num).contacts
    outcomes = carom.Sequential(order=names, rule=rule).resolve(balls(num))
    np.testing.assert_allclose(outcomes.v_post, [np.eye(num)[-1]], atol=1e-12)
    assert not outcomes.notes


def test_less_elastic_balls_by_hand():
    """Each impact leaves (1 - e) / 2 and (1 + e) / 2 of the speed, until none is caught up with."""
    e = 0.5
    first, second = (1.0 - e) / 2.0, (1.0 + e) / 2.0
    by_hand = np.array([first, second * first, second * second])
    # The second ball is as fast as 0.1875 < 0.25: the first one catches up.
    approach = by_hand[0] - by_hand[1]
    by_hand[:2] += approach * np.array([-second, second])
    outcomes = carom.Sequential().resolve(balls(3, e))
    np.testing.assert_allclose(outcomes.v_post, [by_hand], atol=1e-12)
    assert outcomes.labels == ("A → B → A",)


@pytest.mark.parametrize(
    ("rule", "share", "v_post"),
    [
        ("stronge", -0.474, [-0.1926, 0.2090]),
        ("newton", 0.587, [-0.3346, 0.3631]),
    ],
)
def test_the_double_pendulum_loses_by_stronge_and_gains_by_newton(rule, share, v_post):
    problem = striking_pendulum()
    outcomes = carom.Sequential(rule=rule).resolve(problem)
    assert rise(problem, outcomes.v_post[0]) == pytest.approx(share, abs=5e-4)
    np.testing.assert_allclose(outcomes.v_post[0], v_post, atol=5e-5)
    before, after = (problem.contact_velocity(v)[0] for v in (problem.v_pre, outcomes.v_post[0]))
    if rule == "newton":
        assert after[0] == pytest.approx(-0.5 * before[0], rel=1e-12)
        assert outcomes.notes == ("tip: kinetic energy rises by 58.7 %.",)
    else:
        assert not outcomes.notes


def test_poisson_returns_a_share_of_the_impulse():
    problem = striking_pendulum()
    path = carom.Sequential(rule="poisson").resolve(problem).path(0)
    v_n = problem.contact_velocity(path.v)[:, 0, 0]
    at_rest = int(np.abs(v_n).argmin())
    compression, restitution = np.split(path.lambda_n[:, 0], [at_rest])
    assert restitution.sum() == pytest.approx(0.5 * compression.sum(), rel=1e-12)


@pytest.mark.parametrize("rule", ["stronge", "poisson"])
def test_corners_of_a_block_that_wait_for_each_other(rule):
    """Compress A, compress B, return A, return B: Poisson's rule gains 47 %, Stronge's nothing.

    Per unit of impulse at a corner its own velocity changes by 1.6 and the other one by 0.4.
    """
    problem = flat_block()
    law = carom.Sequential(order=("A", "B"), rule=rule, compress_first=True)
    outcomes = law.resolve(problem)
    v_n = outcomes.contact_velocities[0, :, 0]
    assert outcomes.labels == ("A compresses → B compresses → A returns → B returns",)
    if rule == "poisson":
        p_a, p_b = 1.0 / 1.6, 0.75 / 1.6
        expected = -1.0 + 2.0 * np.array([[1.6, 0.4], [0.4, 1.6]]) @ [p_a, p_b]
        np.testing.assert_allclose(v_n, expected, atol=1e-12)
        assert rise(problem, outcomes.v_post[0]) == pytest.approx(0.47, abs=2e-3)
        assert outcomes.notes == (f"{outcomes.labels[0]}: kinetic energy rises by 46.9 %.",)
    else:
        np.testing.assert_allclose(v_n, [1.160098, 0.778170], atol=5e-7)
        assert rise(problem, outcomes.v_post[0]) == pytest.approx(0.0, abs=1e-12)
        assert not outcomes.notes


@settings(max_examples=60)
@given(seed=seeds, m=st.integers(1, 3), compress_first=st.booleans())
def test_by_stronge_energy_never_rises(seed, m, compress_first):
    problem = bouncing(seed, m)
    try:
        outcomes = carom.Sequential(compress_first=compress_first).resolve(problem)
    except carom.ImpactNotResolved:
        reject()  # every order lets the contacts rattle on, which another test is about
    speed, unit = problem.space.velocity_unit, problem.space.impulse_unit
    assert (outcomes.contact_velocities[..., 0] >= -CLOSE * speed).all()
    assert (outcomes.impulse_n >= 0.0).all()
    limit = problem.mu * outcomes.impulse_n
    assert (np.abs(outcomes.impulse_t[..., 0]) <= limit + CLOSE * unit).all()
    assert max(rise(problem, v) for v in outcomes.v_post) <= CLOSE
    assert not outcomes.notes


@given(seed=seeds)
def test_the_rules_agree_where_nothing_turns(seed):
    """Without friction, one contact has one phase, and its velocity is linear in the impulse."""
    problem = dataclasses.replace(bouncing(seed, 1), mu=0.0)
    ends = [carom.Sequential(rule=rule).resolve(problem).v_post for rule in RULES]
    for end in ends[1:]:
        np.testing.assert_allclose(end, ends[0], rtol=1e-9, atol=1e-9 * np.abs(ends[0]).max())


def test_rules_do_what_they_say_where_slip_turns():
    """Newton's speeds, Poisson's impulses; and each outcome that gains energy is named."""
    gains = 0
    for seed in range(200):
        problem = bouncing(seed, 1, at_rest=False)
        v_n = problem.contact_velocity(problem.v_pre)[0, 0]
        unit = problem.space.velocity_unit[0]
        outcomes = carom.Sequential(rule="newton").resolve(problem)
        expected = -problem.restitution[0] * v_n
        assert outcomes.contact_velocities[0, 0, 0] == pytest.approx(expected, abs=CLOSE * unit)
        gain = rise(problem, outcomes.v_post[0])
        assert len(outcomes.notes) == (gain > CLOSE)
        gains += gain > CLOSE
    assert gains > 10


@pytest.mark.parametrize("rule", RULES)
def test_no_rule_matters_without_restitution(rule):
    block = carom.scenes.load("rocking-block").problem
    plain, other = (law.resolve(block) for law in (carom.Sequential(), carom.Sequential(rule=rule)))
    assert plain.v_post.tobytes() == other.v_post.tobytes()
    assert plain.labels == other.labels


def test_a_sequence_equals_the_law_of_one_contact():
    for seed in range(200):
        problem = bouncing(seed, 1)
        one, sequence = (law.resolve(problem) for law in (carom.RouthSingle(), carom.Sequential()))
        assert one.v_post.tobytes() == sequence.v_post.tobytes()


def test_sequences_that_do_not_end_say_so():
    with pytest.raises(carom.ImpactNotResolved, match="did not end; raise max_impacts"):
        carom.Sequential(order=balls(10).contacts, max_impacts=5).resolve(balls(10))
    with pytest.raises(carom.ImpactNotResolved, match="did not end; raise max_impacts"):
        carom.Sequential(max_impacts=3, compress_first=True).resolve(flat_block())


def test_a_wedge_says_that_it_cannot_return():
    wedge = carom.ImpactProblem(np.eye(2), [[0, 1]], [[0, 0.5]], 3.0, [0, -1], restitution=0.5)
    with pytest.raises(carom.ImpactNotResolved, match="never returns"):
        carom.Sequential().resolve(wedge)


def test_what_is_not_known_is_refused():
    with pytest.raises(carom.InvalidOption, match="rule: expected one of stronge, poisson, newton"):
        carom.Sequential(rule="keller")
    with pytest.raises(carom.InvalidOption, match="compress_first"):
        carom.Sequential(rule="newton", compress_first=True)
    in_space = random_problem(np.random.default_rng(0), 2, 2)
    with pytest.raises(carom.InvalidProblem, match="expected planar contacts"):
        carom.Sequential().resolve(dataclasses.replace(in_space, restitution=0.5))
