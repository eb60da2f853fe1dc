"""Judge sustained contact by an LCP of accelerations, solved by every one of its supports."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import carom
from carom.motion.choice import solutions
from carom.motion.inner_forces import Conditions, span
from carom.motion.sustained import FREE, MINUS, PLUS, SMOOTH, STICKING, ContactLaw
from carom.systems import FLOOR, Body, Disc, PlanarSystem, PlaneContact
from carom.systems.system import Dynamics
from tests.reference.brute_force import all_solutions

G = 9.81


def random_contacts(seed, m, sliding):
    """Return random dynamics of m touching contacts, a velocity, frictions and slips.

    Contacts are independent; those named in `sliding` slide.
    """
    rng = np.random.default_rng(seed)
    nv = 2 * m + int(rng.integers(0, 3))
    root = rng.normal(size=(nv, nv)) + np.eye(nv)
    J = rng.normal(size=(m, 2, nv))
    slip = np.array([rng.choice([-1.0, 1.0]) if i in sliding else 0.0 for i in range(m)])
    speed = slip * rng.uniform(0.5, 2.0, m)
    rows = np.vstack([J[:, 0], J[:, 1]])
    v = np.linalg.pinv(rows) @ np.concatenate([np.zeros(m), speed])
    here = Dynamics(
        root @ root.T + 0.3 * np.eye(nv),
        rng.normal(size=nv),
        np.zeros(m),
        J[:, 0],
        J[:, 1:],
        rng.normal(size=(m, 2)),
    )
    return here, v, rng.uniform(0.1, 1.5, m), slip


def accelerations(here, mu, slip):
    """Return every dv/dt that contact forces allow, by brute force.

    Unknown are the normal forces and, where a contact rests, friction either way and the slip
    that begins.
    """
    m, nv = here.J_n.shape
    columns, rows, kinds = [], [], []
    for i in range(m):
        n, t = here.J_n[i], here.J_t[i, 0]
        columns.append(n - mu[i] * slip[i] * t)
        rows.append((n, here.bias[i, 0]))
        kinds.append(("normal", i))
        if slip[i] == 0.0:
            for sign in (1.0, -1.0):
                columns.append(sign * t)
                rows.append((sign * t, sign * here.bias[i, 1]))
                kinds.append(("friction", i))
            columns.append(np.zeros(nv))
            rows.append((np.zeros(nv), 0.0))
            kinds.append(("slip", i))
    G_, C = np.array(columns), np.array([row for row, _ in rows])
    a_free = np.linalg.solve(here.M, here.force)
    W = C @ np.linalg.solve(here.M, G_.T)
    w = C @ a_free + np.array([bias for _, bias in rows])
    for k, (kind, i) in enumerate(kinds):
        if kind == "friction":
            W[k, kinds.index(("slip", i))] = 1.0
        if kind == "slip":
            W[k, kinds.index(("normal", i))] = mu[i]
            W[k, [j for j, other in enumerate(kinds) if other == ("friction", i)]] = -1.0
    unit = np.ones(len(w))
    x = all_solutions(W, w, unit, unit, 1e-9)
    return a_free + x @ np.linalg.solve(here.M, G_.T).T


def distinct(vectors, tolerance=1e-6):
    found = []
    for vector in vectors:
        if not any(np.abs(vector - other).max() < tolerance for other in found):
            found.append(vector)
    return sorted(found, key=tuple)


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.integers(1, 2), st.sets(st.integers(0, 1)))
def test_modes_find_every_acceleration_that_the_lcp_allows(seed, m, sliding):
    here, v, mu, slip = random_contacts(seed, m, sliding)
    expected = distinct(accelerations(here, mu, slip))
    found = distinct(each.acceleration for _, each in solutions(here, v, mu, np.arange(m), slip))
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6 * (1.0 + np.abs(other).max()))


def test_paradox_and_indeterminacy_both_occur_in_the_random_contacts():
    counts = []
    for seed in range(60):
        here, _, mu, slip = random_contacts(seed, 2, {0, 1})
        counts.append(len(distinct(accelerations(here, 3.0 * mu, slip))))
    assert {0, 1, 2} <= set(counts)


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.integers(1, 3), st.sets(st.integers(0, 2)))
def test_solutions_obey_newton_signorini_and_coulomb(seed, m, sliding):
    here, v, mu, slip = random_contacts(seed, m, sliding)
    ways = list(solutions(here, v, mu, np.arange(m), slip))
    # In the paradox there is none.
    assume(ways)
    for _, found in ways:
        assert found.holds
        normal, tangent = found.force.T
        J_t = here.J_t[:, 0]
        pull = here.J_n.T @ normal + J_t.T @ tangent
        size = 1.0 + np.abs(found.force).max()
        np.testing.assert_allclose(here.M @ found.acceleration, here.force + pull, atol=1e-9 * size)
        a_n = here.J_n @ found.acceleration + here.bias[:, 0]
        a_t = J_t @ found.acceleration + here.bias[:, 1]
        assert normal.min() >= -1e-7 * size
        assert a_n.min() >= -1e-7 * size
        np.testing.assert_allclose(a_n * normal, 0.0, atol=1e-7 * size**2)
        assert (np.abs(tangent) <= mu * normal + 1e-7 * size).all()
        # Friction is full against slip, or against the slip that begins.
        moving = np.where(slip != 0.0, slip, np.where(np.abs(a_t) > 1e-6 * size, np.sign(a_t), 0))
        drag = np.abs(tangent + mu * normal * moving)[moving != 0.0]
        assert drag.max(initial=0.0) <= 1e-6 * size


def box(mu=0.5, mass=2.0, width=1.0, height=0.5):
    body = Body.box("box", width, height, mass)
    left, right = body.outline[0].points[:2]
    return PlanarSystem(
        [body],
        [
            PlaneContact("A", Disc("box", left), FLOOR, mu),
            PlaneContact("B", Disc("box", right), FLOOR, mu),
        ],
    )


def test_box_at_rest_has_one_acceleration_and_shares_its_weight():
    system = box()
    here = system.dynamics([0.0, 0.25, 0.0])
    found = list(solutions(here, np.zeros(3), system.mu, np.arange(2), np.zeros(2)))
    for _, each in found:
        np.testing.assert_allclose(each.acceleration, 0.0, atol=1e-12)
    stuck = next(each for law, each in found if (law.modes == STICKING).all())
    np.testing.assert_allclose(stuck.force[:, 0], 2.0 * G / 2, rtol=1e-12)


def test_smooth_contact_is_closed_or_free():
    system = box(mu=0.0)
    here = system.dynamics([0.0, 0.25, 0.0])
    modes = [
        tuple(law.modes)
        for law, _ in solutions(here, np.zeros(3), system.mu, np.arange(2), np.zeros(2))
    ]
    assert modes == [(SMOOTH, SMOOTH)]


def test_contact_that_does_not_touch_is_free():
    system = box()
    here = system.dynamics([0.0, 0.25, 0.0])
    ways = list(solutions(here, np.zeros(3), system.mu, np.array([1]), np.zeros(2)))
    assert ways
    for law, found in ways:
        assert law.modes[0] == FREE
        np.testing.assert_array_equal(found.force[0], 0.0)


def test_forces_of_contacts_that_depend_on_each_other_can_be_chosen_within_their_cones():
    # On two feet friction is shared anyhow; pushed at the centre, the rear foot carries little.
    system = box(mu=0.4, mass=1.0, width=1.0, height=2.0)
    here = system.dynamics([0.0, 1.0, 0.0])
    push = 0.35 * G
    here = here._replace(force=here.force + np.array([push, 0.0, 0.0]))
    modes = np.array([STICKING, STICKING])
    law = ContactLaw(modes, system.mu, np.ones(2, dtype=bool))
    assert law.is_dependent(here)
    found = law.evaluate(here, np.zeros(3))
    assert found.holds
    np.testing.assert_allclose(found.acceleration, 0.0, atol=1e-9)
    normal, tangent = found.force.T
    # Moments give the normal forces; friction must fit under both of them.
    np.testing.assert_allclose(normal, [G / 2 - push, G / 2 + push], rtol=1e-9)
    assert tangent.sum() == pytest.approx(-push, rel=1e-9)
    assert (np.abs(tangent) <= 0.4 * normal + 1e-9 * G).all()


@pytest.mark.parametrize("push", [0.39, 0.41])
def test_friction_gives_way_at_the_edge_of_its_cone(push):
    system = box(mu=0.4, height=0.1)
    here = system.dynamics([0.0, 0.05, 0.0])
    here = here._replace(force=here.force + np.array([push * 2.0 * G, 0.0, 0.0]))
    found = list(solutions(here, np.zeros(3), system.mu, np.arange(2), np.zeros(2)))
    expected = [0.0 if push < 0.4 else (push - 0.4) * G, 0.0, 0.0]
    assert found
    for _, each in found:
        np.testing.assert_allclose(each.acceleration, expected, atol=1e-9)
    words = {tuple(law.modes) for law, _ in found}
    assert ((STICKING, STICKING) in words) == (push < 0.4)
    assert ((PLUS, PLUS) in words) == (push > 0.4)


@given(st.integers(0, 10**6))
def test_projection_is_the_nearest_velocity_at_rest(seed):
    here, _, mu, _ = random_contacts(seed, 2, set())
    rng = np.random.default_rng(seed)
    v = rng.normal(size=len(here.M))
    law = ContactLaw(np.array([STICKING, PLUS]), mu, np.zeros(2, dtype=bool))
    projected = law.project(here, v)
    rows = np.vstack([here.J_n, here.J_t[:1, 0]])
    np.testing.assert_allclose(rows @ projected, 0.0, atol=1e-9)
    # The change is along forces of those contacts: by energy orthogonal to what they leave free.
    free = np.linalg.svd(rows)[2][3:]
    np.testing.assert_allclose(free @ here.M @ (projected - v), 0.0, atol=1e-8)
    np.testing.assert_allclose(law.project(here, projected), projected, atol=1e-9)


def test_drift_of_a_closed_contact_dies_out():
    system = box()
    law = ContactLaw(np.array([STICKING, STICKING]), system.mu, np.zeros(2, dtype=bool))
    for q, v in (([0.0, 0.25 + 1e-6, 0.0], np.zeros(3)), ([0.0, 0.25, 0.0], [0.0, 1e-6, 0.0])):
        _, acceleration = law.solve(system.dynamics(q, v), np.array(v))
        assert acceleration[1] < 0.0


def test_rod_in_the_paradox_has_no_solution_and_just_outside_one():
    for mu, count in ((1.34, 0), (1.33, 1)):
        scene = carom.scenes.load("painleve-rod", mu=mu)
        here = scene.system.dynamics(scene.q, scene.v)
        found = list(solutions(here, scene.v, scene.system.mu, np.array([0]), np.array([-1.0])))
        assert len(found) == count
    assert found[0][0].modes[0] == MINUS


@pytest.mark.parametrize("seed", range(100))
def test_inner_forces_with_one_degree_of_freedom_are_as_deep_as_a_linear_program_finds(seed):
    rng = np.random.default_rng(seed)
    n, count = rng.integers(2, 6), rng.integers(1, 9)
    rows, x = rng.normal(size=(count, n)).round(seed % 3), rng.normal(size=n)
    effects = span(rng.normal(size=(n, n - 1)))
    conditions = Conditions(rows, rng.uniform(0.5, 2.0, count), effects)
    margins = lambda x: -(rows @ x) / conditions.units  # noqa: E731
    active, levels = np.ones(count, np.bool_), np.zeros(count)
    if count > 2 and seed % 2:
        active[0], levels[0] = False, margins(x)[0] - 0.1
    program = conditions._raise(x, levels, active)
    forces, level, binding = conditions._raise_along_line(x, levels, active)
    assert level == pytest.approx(program[1], abs=1e-9)
    np.testing.assert_allclose(effects.T @ forces, effects.T @ x, atol=1e-9)
    assert min(1.0, *margins(forces)[active]) == pytest.approx(level, abs=1e-9)
    assert (margins(forces) >= levels - 1e-9)[~active].all()
    assert (binding <= active).all()
    assert binding.any() or level == 1.0
