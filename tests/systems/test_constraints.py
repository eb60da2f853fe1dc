"""Equality constraints, judged by solving for their forces and impulses explicitly."""

import numpy as np
import pytest

import carom
from carom.systems import Body, ConstraintBroken, Constraints, Pin, PlanarSystem, Revolute
from carom.systems.constraints import Closure, constrained
from carom.systems.system import Dynamics

EXACT = 1e-9
NV, ROWS, CONTACTS = 7, 3, 2


def random_case(seed, copies=0):
    """Return a mass matrix and constraints, some of which may be combinations of others."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(NV, NV))
    M = root @ root.T + 0.1 * np.eye(NV)
    G = rng.normal(size=(ROWS, NV))
    G = np.vstack([G, rng.normal(size=(copies, ROWS)) @ G])
    # Rows may be in any units.
    scale = 10.0 ** rng.uniform(-3.0, 3.0, len(G))
    return rng, M, scale[:, None] * G


def kkt(M, G, push, target):
    """Return dv and the constraints' impulses: M dv = push + G^T x with G dv = target."""
    size = 1.0 / np.linalg.norm(G, axis=1)
    rows = size[:, None] * G
    matrix = np.block([[M, -rows.T], [rows, np.zeros((len(G), len(G)))]])
    found = np.linalg.lstsq(matrix, np.concatenate([push, size * target]), rcond=1e-12)[0]
    return found[:NV], size * found[NV:]


@pytest.mark.parametrize("copies", [0, 2])
@pytest.mark.parametrize("seed", range(20))
def test_projection_keeps_what_constraints_allow(seed, copies):
    rng, M, G = random_case(seed, copies)
    closure = Closure.of(M, G)
    assert closure.held.shape == (NV, ROWS)
    v = rng.normal(size=(5, NV))
    allowed = closure.allowed(v)
    size = np.linalg.norm(G, axis=1)
    assert np.abs(allowed @ G.T / size).max() < EXACT
    assert closure.allowed(allowed) == pytest.approx(allowed, abs=EXACT)
    # The nearest by energy: what is taken away has no energy with anything that is allowed.
    assert np.abs((v - allowed) @ M @ allowed.T).max() < EXACT * np.abs(M).max()
    # Of any velocity that is allowed, rows see what they saw.
    J = rng.normal(size=(4, NV))
    assert closure.rows(J) @ allowed.T == pytest.approx(J @ allowed.T, abs=EXACT)
    assert np.abs(closure.rows(G) / size[:, None]).max() < EXACT


@pytest.mark.parametrize("copies", [0, 2])
@pytest.mark.parametrize("seed", range(20))
def test_impulses_are_those_of_the_open_mechanism_with_explicit_constraints(seed, copies):
    rng, M, G = random_case(seed, copies)
    J, impulse = rng.normal(size=(4, NV)), rng.normal(size=4)
    closure = Closure.of(M, G)
    push = impulse @ J
    change, transmitted = kkt(M, G, push, np.zeros(len(G)))
    assert np.linalg.solve(M, impulse @ closure.rows(J)) == pytest.approx(change, abs=EXACT)
    found = closure.impulses(push)
    # Of constraints that depend on each other, only what they do together is known.
    assert G.T @ found == pytest.approx(G.T @ transmitted, abs=1e-7 * np.abs(push).max())
    if not copies:
        assert found == pytest.approx(transmitted, rel=1e-6)


@pytest.mark.parametrize("seed", range(20))
def test_accelerations_are_those_of_the_open_mechanism_with_explicit_constraints(seed):
    """With contact forces, free or not, the closed equations move bodies and contacts alike."""
    rng, M, G = random_case(seed)
    v = Closure.of(M, G).allowed(rng.normal(size=NV))
    size = np.linalg.norm(G, axis=1)
    state = Constraints(np.zeros(len(G)), G, size * rng.normal(size=len(G)))
    J, bias = rng.normal(size=(CONTACTS, 3, NV)), rng.normal(size=(CONTACTS, 3))
    phi, force = rng.normal(size=CONTACTS), rng.normal(size=NV)
    open_one = Dynamics(M, force, phi, J[:, 0], J[:, 1:], bias)
    here = constrained(open_one, state, v)
    contact_force = rng.normal(size=(CONTACTS, 3))
    closed = np.concatenate([here.J_n[:, None], here.J_t], axis=1)
    pushed = here.force + np.einsum("mx,mxv->v", contact_force, closed)
    found = np.linalg.solve(M, pushed)
    expected, _ = kkt(M, G, force + np.einsum("mx,mxv->v", contact_force, J), -state.bias)
    assert found == pytest.approx(expected, abs=1e-8 * np.abs(expected).max())
    assert closed @ found + here.bias == pytest.approx(
        J @ expected + bias, abs=1e-8 * np.abs(expected).max()
    )


def test_rows_of_a_contact_that_constraints_hold_are_zero():
    M, G = np.diag([1.0, 2.0, 3.0]), np.array([[1.0, 0.0, 0.0], [0.0, 1e3, 0.0]])
    rows = Closure.of(M, G).rows(np.array([[0.3, 0.4, 0.0], [0.0, 0.0, 2.0]]))
    assert rows.tolist() == [[0.0, 0.0, 0.0], [0.0, 0.0, 2.0]]


def chain(**options):
    """Return three bars of 1 m that hang from each other, whose end is pinned 1 m from the start.

    They are a square with the world, and a parallelogram in any pose.
    """
    at, bars = {"joints": (Revolute(),)}, []
    for name in ("left", "bottom", "right"):
        bars.append(Body.rod(name, 1.0, 1.0, **at))
        at = {"parent": name, "placement": (0.0, -1.0), "joints": (Revolute(),)}
    hinge = Pin("hinge", "right", (0.0, -1.0), None, (1.0, 0.0))
    return PlanarSystem(bars, [], pins=[hinge], **options)


SQUARE = np.array([0.0, np.pi / 2, np.pi / 2])


@pytest.mark.parametrize("seed", range(5))
def test_newton_closes_a_loop(seed):
    system = chain()
    q = SQUARE + 0.3 * np.random.default_rng(seed).normal(size=3)
    closed = system.closed(q)
    assert np.abs(system.constraint_state(closed).residual).max() < 1e-13
    assert system.closed(closed) == pytest.approx(closed, abs=1e-13)


def test_what_cannot_be_closed_is_said():
    far = PlanarSystem(
        chain().bodies, [], pins=[Pin("far", "right", (0.0, -1.0), None, (9.0, 0.0))]
    )
    with pytest.raises(carom.InvalidProblem, match=r"'far \(x\)' stays .* away; start nearer"):
        far.closed(SQUARE)


def test_a_closed_parallelogram_swings_as_a_pendulum():
    """Bars at the sides turn, the lower one moves along a circle: one angle, known inertia."""
    system = chain()
    for angle in (0.0, 0.4, -1.2):
        q = np.array([angle, np.pi / 2 - angle, np.pi / 2 + angle])
        rate = 0.7
        v = rate * np.array([1.0, -1.0, 1.0])
        here = system.dynamics(q, v)
        # Two bars about their ends, and one whose centre moves like their tips.
        inertia, torque = 2.0 / 3.0 + 1.0, -(0.5 + 1.0 + 0.5) * 9.81 * np.sin(angle)
        acceleration = np.linalg.solve(here.M, here.force)
        expected = torque / inertia
        assert acceleration == pytest.approx([expected, -expected, expected], abs=1e-11)


def test_a_state_that_breaks_constraints_is_warned_of():
    floor = carom.systems.HalfPlane(point=(0.0, -1.0))
    contact = carom.systems.PlaneContact("tip", carom.systems.Disc("bottom"), floor, mu=0.5)
    system = PlanarSystem(chain().bodies, [contact], pins=chain().pins)
    angle, free = 0.3, np.array([0.0, 0.0, 1.0])
    pose = np.array([angle, np.pi / 2 - angle, np.pi / 2 + angle])
    with pytest.warns(ConstraintBroken, match=r"opens 'hinge \(x\)'.*allowed_velocity") as caught:
        problem = system.impact_problem(pose, free, 0.1)
    assert caught[0].filename == __file__
    assert problem.v_pre == pytest.approx(system.allowed_velocity(pose, free))
    with pytest.warns(ConstraintBroken, match=r"'hinge \(.\)' is off by .*system.closed\(q\)"):
        system.impact_problem(pose + np.array([0.0, 0.2, 0.0]), np.zeros(3), gap_tolerance=0.1)


def test_pins_are_checked():
    bodies = chain().bodies
    with pytest.raises(carom.InvalidProblem, match="pin 'a' is on unknown body 'arm'"):
        PlanarSystem(bodies, [], pins=[Pin("a", "arm", (0.0, 0.0))])
    with pytest.raises(carom.InvalidProblem, match="pin 'a' joins body 'left' to itself"):
        Pin("a", "left", (0.0, 0.0), "left")
    with pytest.raises(carom.InvalidProblem, match="two pins are named 'a'"):
        PlanarSystem(bodies, [], pins=[Pin("a", "left", (0.0, 0.0))] * 2)


@pytest.mark.parametrize("seed", range(5))
def test_jacobian_and_bias_of_pins_are_derivatives(seed):
    rng = np.random.default_rng(seed)
    pins = [Pin("a", "right", (0.2, -0.7), "left", (0.1, 0.3)), Pin("b", "bottom", (0.4, 0.1))]
    system = PlanarSystem(chain().bodies, [], pins=pins)
    q, v, step = rng.normal(size=3), rng.normal(size=3), 1e-5

    def at(time):
        return system.constraint_state(q + time * v, v)

    one, other, here = at(step), at(-step), at(0.0)
    assert (one.residual - other.residual) / (2 * step) == pytest.approx(here.G @ v, abs=1e-8)
    assert (one.G @ v - other.G @ v) / (2 * step) == pytest.approx(here.bias, abs=1e-8)
