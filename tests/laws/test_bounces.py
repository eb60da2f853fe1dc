"""Samples of impacts that bounce: energy, closed forms, and published outcomes among them."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import carom
from carom import stepping
from carom.errors import ImpactNotResolved
from carom.guarantees.cone import pointedness
from carom.kernels.slip import ACCURACY
from carom.kernels.slip_advance import LATE, NEGLIGIBLE
from carom.stepping.replay import replay

LINEAR_SPRINGS = (-0.13026, 0.15023, 0.98003)
HERTZ_SPRINGS = (-0.07095, 0.07640, 0.99455)
"""Three equal balls after springs of two kinds, with 1 m/s and e = 1."""


def cradle(num=3, e=1.0):
    """Return equal balls of 1 kg in a row, the first of which hits with 1 m/s."""
    J_n = np.zeros((num - 1, num))
    for i in range(num - 1):
        J_n[i, i], J_n[i, i + 1] = -1.0, 1.0
    v_pre = np.eye(num)[0]
    return carom.ImpactProblem(np.eye(num), J_n, 0.0 * J_n, 0.0, v_pre, restitution=e)


def flat_block(width, height, v_pre, e, mu=0.0):
    """Return a block of 1 kg that stands on two corners."""
    inertia = (width**2 + height**2) / 12.0
    J_n = [[0.0, 1.0, -0.5 * width], [0.0, 1.0, 0.5 * width]]
    J_t = [[1.0, 0.0, 0.5 * height]] * 2
    return carom.ImpactProblem(np.diag([1.0, 1.0, inertia]), J_n, J_t, mu, v_pre, restitution=e)


def bouncing(number, d=None):
    """Return impact `number` of a series with 1 to 5 contacts, planar and spatial."""
    rng = np.random.default_rng([20261118, number])
    m = int(rng.integers(1, 6))
    d = d or 1 + number % 2
    nv = int(rng.integers(d + 1, 8))
    root = rng.normal(size=(nv, nv))
    e = rng.uniform(0.0, 1.0, m) if number % 3 else rng.choice([0.0, 0.5, 1.0], m)
    return carom.ImpactProblem(
        M=root @ root.T + 0.1 * np.eye(nv),
        J_n=rng.normal(size=(m, nv)),
        J_t=rng.normal(size=(m, d, nv)),
        mu=rng.uniform(0.0, 2.0, m),
        v_pre=rng.normal(size=nv),
        restitution=e,
    )


def check_ends(problem, samples, loss=1e-7):
    """Assert that outcomes lost energy, do not approach, and had friction within its cone."""
    before = problem.kinetic_energy(problem.v_pre)
    assert (problem.kinetic_energy(samples.v_post) <= before * (1.0 + loss)).all()
    speeds = samples.contact_velocities[..., 0] / problem.space.velocity_unit
    assert speeds.min() >= -1e-7
    assert (samples.impulse_n >= 0.0).all()
    friction = np.linalg.norm(samples.impulse_t, axis=-1)
    scale = problem.space.impulse_unit
    excess = (friction - (1.0 + LATE) * problem.mu * samples.impulse_n) / scale
    # In space, each step may err by a share of the accuracy, and sticking friction by `LATE`.
    assert (excess.max(axis=1) <= 1e-9 + samples.num_steps * NEGLIGIBLE * ACCURACY).all()
    moved = samples.impulse_n[:, :, None], samples.impulse_t
    impulses = np.concatenate(moved, axis=-1).reshape(len(samples), -1)
    error = problem.velocity_after(impulses) - samples.v_post
    assert np.abs(error).max() <= 1e-9 * max(1.0, np.abs(samples.v_post).max())


def check_series(numbers, num_samples):
    """Sample impacts of the series; return how many samples there were."""
    count = 0
    for number in numbers:
        problem = bouncing(number)
        if not problem.is_colliding(problem.v_pre):
            continue
        is_pointed = pointedness(problem).is_pointed
        try:
            samples = carom.Routh(num_samples, seed=number).resolve(problem)
        except ImpactNotResolved:
            assert not is_pointed
            continue
        check_ends(problem, samples)
        if is_pointed:
            assert samples.num_unfinished == 0, f"impact {number}: {samples.unfinished}"
        count += num_samples
    return count


def test_random_impacts_lose_energy_and_end():
    assert check_series(range(40), 128) > 3_000


@pytest.mark.slow
def test_a_million_samples_lose_energy_and_end():
    assert check_series(range(1_500), 1_024) > 1_000_000


@pytest.mark.parametrize("d", [1, 2])
def test_without_friction_and_loss_energy_is_kept(d):
    for number in range(30):
        problem = replace(bouncing(number, d), mu=0.0, restitution=1.0)
        if not problem.is_colliding(problem.v_pre) or not pointedness(problem).is_pointed:
            continue
        samples = carom.Routh(256).resolve(problem)
        kept = problem.kinetic_energy(samples.v_post) / problem.kinetic_energy(problem.v_pre)
        assert np.abs(kept - 1.0).max() < 1e-10


@pytest.mark.parametrize("d", [1, 2])
def test_every_motion_survives_an_independent_judge(d):
    """Energy of contacts is summed up anew, along every straight or curved piece."""
    tolerance = 1e-9 if d == 1 else 1e-7
    judged = 0
    for number in range(12):
        problem = bouncing(number, d)
        if not problem.is_colliding(problem.v_pre) or not problem.bounces:
            continue
        sampler = stepping.prepare_motions(problem, number, 6, 0.0)
        _, statuses, events = sampler.run(6, 1, None)
        for i in np.flatnonzero((statuses == stepping.FINISHED) & (events < 300)):
            record = sampler.record(int(i), int(events[i]))
            impulses, energies = np.split(record, [len(problem.start)], axis=1)
            given = problem.space, problem.start, impulses, tolerance
            assert not replay(*given, problem.restitution)
            assert (energies >= 0.0).all()
            # The same motion is none of an impact in which contacts return less.
            if energies.max() > 1e-3:
                assert replay(*given, 0.5 * problem.restitution)
            judged += 1
    assert judged > 20


def test_paths_never_gain_energy():
    for number in range(24):
        problem = bouncing(number)
        if not problem.is_colliding(problem.v_pre) or not problem.bounces:
            continue
        path = carom.Routh().draw_path(problem, seed=number)
        total = problem.kinetic_energy(path.v) + path.energies.sum(axis=1)
        assert np.diff(total).max() <= 1e-7 * total[0]
        assert path.energies.shape == (path.num_steps + 1, problem.num_contacts)
        assert not path.energies[0].any()
        assert path.energies[-1].max() <= 1e-9 * total[0]
        words = {mode.split(",")[0] for row in path.modes for mode in row}
        assert words <= {"idle", "free", "compressing", "closed", "restituting"}


def test_hardly_any_energy_is_none():
    """Contacts that hold at rest shrink what one of them stores until its products underflow."""
    ends = carom.Routh(2048, seed=2, extremes=0.0).resolve(cradle(12))
    assert ends.num_unfinished == 0, ends.unfinished
    # What is left of 1e-25 is no energy, so that nothing is returned twice.
    assert np.abs((ends.v_post**2).sum(axis=1) - 1.0).max() < 1e-10


def test_zero_restitution_has_the_bits_of_inelastic_impacts():
    for number in range(20):
        problem = replace(bouncing(number), restitution=0.0)
        plain = carom.ImpactProblem(
            problem.M, problem.J_n, problem.J_t, problem.mu, problem.v_pre, problem.contacts
        )
        if not problem.is_colliding(problem.v_pre):
            continue
        mine, theirs = (carom.Routh(64).resolve(each) for each in (problem, plain))
        assert np.array_equal(mine.v_post, theirs.v_post)


def test_little_restitution_changes_little_where_the_outcome_is_unique():
    """One contact has one outcome, a continuous function of e."""
    for number in range(30):
        rng = np.random.default_rng(number)
        problem = bouncing(number, 1)
        i = int(np.argmin(problem.contact_velocity(problem.v_pre)[:, 0]))
        one = replace(
            problem, J_n=problem.J_n[i : i + 1], J_t=problem.J_t[i : i + 1], mu=rng.uniform(0, 2),
            contacts=None, restitution=0.0,
        )  # fmt: skip
        if not one.is_colliding(one.v_pre):
            continue
        ends = [carom.Routh(1).resolve(replace(one, restitution=e)).v_post[0] for e in (0.0, 1e-4)]
        assert np.abs(ends[1] - ends[0]).max() < 1e-2


def test_one_planar_contact_is_strong_in_closed_form():
    count = 0
    for number in range(400):
        problem = bouncing(number, 1)
        i = number % problem.num_contacts
        one = replace(
            problem, J_n=problem.J_n[i : i + 1], J_t=problem.J_t[i : i + 1], mu=problem.mu[i],
            contacts=None, restitution=problem.restitution[i],
        )  # fmt: skip
        try:
            truth = carom.RouthSingle().resolve(one).v_post[0]
        except ImpactNotResolved:
            continue
        samples = carom.Routh(4).resolve(one)
        assert np.abs(samples.v_post - truth).max() < 1e-8 * np.abs(one.v_pre).max()
        count += one.is_colliding(one.v_pre)
    assert count > 150


def spatial_truth(problem):
    """Integrate one contact in space by SciPy: compression, and restitution of e^2 of its work."""
    A, mu = problem.J @ problem.impulse_to_velocity, float(problem.mu[0])
    u = problem.contact_velocity(problem.v_pre)[0]
    share = float(problem.restitution[0]) ** 2

    def rates(_, y):
        slip = np.hypot(y[1], y[2])
        force = np.array([1.0, -mu * y[1] / slip, -mu * y[2] / slip])
        return np.append(A @ force, y[0])

    def stops(_, y):
        return y[0]

    def gives(_, y):
        return y[3]

    def rests(_, y):
        return np.hypot(y[1], y[2]) - 1e-6

    for event, direction in ((stops, 1), (gives, 1), (rests, -1)):
        event.terminal, event.direction = True, direction
    options = {"method": "DOP853", "rtol": 1e-12, "atol": 1e-13}
    first = solve_ivp(rates, (0, 1e3), [*u, 0.0], events=(stops, rests), **options)
    if not len(first.t_events[0]):
        return None
    y = first.y[:, -1]
    y[0], y[3] = 0.0, share * y[3]
    # Work of restitution counts up from minus what is stored.
    last = solve_ivp(rates, (0, 1e3), y, events=(gives, rests), **options)
    return last.y[:3, -1] if len(last.t_events[0]) else None


def test_one_contact_in_space_equals_the_integrated_equation():
    count = 0
    for number in range(120):
        rng = np.random.default_rng([7, number])
        root = rng.normal(size=(4, 4))
        problem = carom.ImpactProblem(
            root @ root.T + 0.3 * np.eye(4), rng.normal(size=(1, 4)), rng.normal(size=(1, 2, 4)),
            rng.uniform(0.05, 0.6), rng.normal(size=4), restitution=rng.uniform(0.1, 1.0),
        )  # fmt: skip
        if not problem.is_colliding(problem.v_pre):
            continue
        truth = spatial_truth(problem)
        if truth is None:
            continue
        samples = carom.Routh(3).resolve(problem)
        error = np.abs(samples.contact_velocities[:, 0] - truth).max()
        assert error < 1e-6 * np.abs(problem.space.velocity_unit).max()
        count += 1
    assert count > 20


def test_three_balls_end_on_the_arc():
    problem = cradle()
    samples = carom.Routh().resolve(problem)
    v = samples.v_post
    assert np.abs(v.sum(axis=1) - 1.0).max() < 1e-10
    assert np.abs((v**2).sum(axis=1) - 1.0).max() < 1e-10
    # Nothing approaches on exactly one arc of this circle, whose ends are both reached.
    assert samples.contact_velocities[..., 0].min() > -1e-10
    assert samples.distance([-1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0]) < 1e-6
    assert samples.distance([0.0, 0.0, 1.0]) < 1e-6
    for springs in (LINEAR_SPRINGS, HERTZ_SPRINGS):
        assert np.abs(np.sum(springs) - 1.0) < 2e-5
        assert samples.distance(springs) < 1e-3


def spring_chain(num, power, duration):
    """Return the impulses (n, contacts) of equal balls with springs, and where they end."""

    def rates(_, y):
        x, v = np.split(y, 2)
        force = np.maximum(x[:-1] - x[1:], 0.0) ** power
        return np.concatenate([v, np.append(-force, 0.0) + np.append(0.0, force)])

    start = np.concatenate([np.zeros(num), np.eye(num)[0]])
    end = solve_ivp(
        rates, (0.0, duration), start, method="DOP853", rtol=1e-12, atol=1e-14, dense_output=True
    )
    v = end.sol(np.linspace(0.0, duration, 20_000))[num:]
    passed = v[0, 0] - np.cumsum(v, axis=0)[:-1]
    return np.maximum(np.diff(passed).T, 0.0), end.y[num:, -1]


@pytest.mark.parametrize(
    ("num", "power", "known"),
    [
        (3, 1.0, dict(enumerate(LINEAR_SPRINGS))),
        (3, 1.5, dict(enumerate(HERTZ_SPRINGS))),
        (10, 1.5, {0: -0.0710593, 8: 0.1469234, 9: 0.9859561}),
    ],
)
def test_springs_are_motions_of_the_impact(num, power, known):
    """What elastic springs do is one choice of rates: their impulses pass as a motion."""
    impulses, v_post = spring_chain(num, power, 20.0 * num)
    assert all(v_post[i] == pytest.approx(v, abs=1e-3) for i, v in known.items())
    problem = cradle(num)
    moving = impulses[impulses.max(axis=1) > 1e-12]
    rows = np.zeros((len(moving), 2 * (num - 1)))
    rows[:, ::2] = moving / problem.space.impulse_unit
    assert not replay(problem.space, problem.start, rows, 1e-5, problem.restitution)
    end = problem.velocity_after(rows.sum(axis=0) * np.repeat(problem.space.impulse_unit, 2))
    assert np.abs(end - v_post).max() < 1e-5


@pytest.mark.slow
def test_a_directed_search_finds_ten_balls_with_springs():
    """Along where springs lead, all else with the same energy is shorter."""
    _, v_post = spring_chain(10, 1.5, 200.0)
    extreme = carom.worst_case(cradle(10), v_post, max_seconds=60.0)
    published = [-0.0710593, 0.1469234, 0.9859561]
    assert np.abs(extreme.v_post[[0, 8, 9]] - published).max() < 1e-3


def test_blocks_of_other_papers():
    """Siconos' block (LZB, equal stiffness) lies between samples; the phone's order is a path."""
    inertia = (1.0 + 0.25) / 12.0
    v_pre = [0.0, -2.06538, -4.13076]
    problem = flat_block(1.0, 0.5, v_pre, 0.8)
    samples = carom.Routh(2**15).resolve(problem)
    v_post = np.array([0.0, 1.85376, -0.49727])
    miss = np.sqrt(((samples.v_post - v_post) ** 2 @ [1.0, 1.0, inertia]).min())
    assert miss < 1e-2 * problem.energy_norm
    phone = flat_block(1.0, 2.0, [0.0, -1.0, 0.0], 1.0)
    ends = carom.Routh(2**15).resolve(phone)
    assert np.abs(ends.contact_velocities[..., 0] - (1.160098, 0.778170)).max(axis=1).min() < 1e-3
    energies = phone.kinetic_energy(ends.v_post)
    assert np.abs(energies / phone.kinetic_energy(phone.v_pre) - 1.0).max() < 1e-10


def test_the_phones_order_of_phases_in_closed_form():
    """Compress A, compress B, return A, return B, as exact stretches of one motion."""
    phone = flat_block(1.0, 2.0, [0.0, -1.0, 0.0], 1.0)
    A = phone.J_n @ np.linalg.solve(phone.M, phone.J_n.T)
    u, energy, rows = phone.J_n @ phone.v_pre, np.zeros(2), []
    for i in (0, 1, 0, 1):
        if u[i] < 0.0:
            p = -u[i] / A[i, i]
            energy[i] += 0.5 * p * -u[i]
        else:
            p = (-u[i] + np.sqrt(u[i] ** 2 + 2.0 * A[i, i] * energy[i])) / A[i, i]
            energy[i] = 0.0
        u = u + A[:, i] * p
        rows.append(np.eye(2)[i] * p)
    assert u == pytest.approx([1.160098, 0.778170], abs=1e-6)
    impulses = np.zeros((4, 4))
    impulses[:, ::2] = np.array(rows) / phone.space.impulse_unit
    assert not replay(phone.space, phone.start, impulses, 1e-9, phone.restitution)


@pytest.mark.parametrize("ratio", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("e", [0.5, 1.0])
def test_springs_with_two_stiffnesses_end_in_the_set(ratio, e):
    scene = carom.scenes.load("rocking-block", mu=0.0)
    impact = carom.Compliant([1e10 * ratio, 1e10], restitution=e).run(
        scene.system, scene.q, scene.v
    )
    problem = replace(scene.problem, restitution=e)
    samples = carom.Routh(2**14).resolve(problem)
    # Springs need some time, in which gravity acts; samples have gaps of a thousandth or so.
    left = 2.0 * 9.81 * impact.t[-1] + 2e-3 * np.abs(problem.v_pre).max()
    assert samples.distance(impact.v_post) < left < 0.1 * np.abs(problem.v_pre).max()


def test_steps_of_the_paper_refuse_to_bounce():
    with pytest.raises(ImpactNotResolved, match="knows no restitution"):
        carom.Routh(step_impulse=0.1).resolve(cradle())
