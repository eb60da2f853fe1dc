"""Modes that compiled code chooses are those that Python finds by looking at all solutions."""

from __future__ import annotations

import math

import numpy as np
import pytest

import carom
from carom.motion.choice import Moment, choose
from carom.motion.stretch import LEAST_HOP, STILL, Limits, Options, integrate_onward
from carom.systems import FLOOR, Body, Disc, PlanarSystem, PlaneContact

OPTIONS = Options("DOP853", 1e-9, 1e-10, 1e-9, 1e-9, 1e-6, 100, 100, math.inf)
ROUNDING = 2e-16


def random_box(rng):
    """Return a box of random shape and friction, whose centre of mass is anywhere inside."""
    width, height = rng.uniform(0.2, 2.0, 2)
    com = tuple(rng.uniform(-0.4, 0.4, 2) * (width, height))
    box = Body.box("box", width=width, height=height, mass=rng.uniform(0.1, 10.0), com=com)
    mu = rng.choice([0.0, 0.3, 1.0, 3.0], 4)
    corners = zip("ABCD", box.outline[0].points, mu, strict=True)
    contacts = [PlaneContact(name, Disc("box", at), FLOOR, mu=each) for name, at, each in corners]
    return PlanarSystem([box], contacts)


def random_state(rng, system):
    """Return a box on one corner that rests, slides or parts, or in the air."""
    q = np.array([0.0, 0.0, rng.uniform(-1.5, 1.5)])
    gaps = system.gap(q)
    q[1] -= gaps.min() - (rng.random() < 0.1)
    lowest = int(gaps.argmin())
    here = system.dynamics(q)
    rows = np.array([here.J_n[lowest], here.J_t[lowest, 0], [0.0, 0.0, 1.0]])
    wanted = rng.uniform(-1.0, 1.0, 3) * [rng.random() < 0.2, rng.random() < 0.5, 1.0]
    return q, np.linalg.solve(rows, [abs(wanted[0]), *wanted[1:]])


def chosen_in_python(system, q, v):
    here = system.dynamics(q, v)
    return choose(
        Moment(system, 0.0, q, v, here),
        here.phi <= OPTIONS.gap_tolerance,
        rest_speed=OPTIONS.rest_speed,
        still=STILL,
        least_hop=LEAST_HOP * ROUNDING,
        draw=lambda _: 0,
    )


@pytest.mark.parametrize("seed", range(5))
def test_choices_without_doubt_are_those_of_python(seed):
    rng = np.random.default_rng(seed)
    undoubted, count = 0, 100
    modes_seen = set()
    for _ in range(count):
        system = random_box(rng)
        q, v = random_state(rng, system)
        y = np.concatenate([q, v, np.zeros(8)])
        limits = Limits(0.01, 100, ROUNDING)
        found = integrate_onward(system.tree, system.mu, 0.0, y, OPTIONS, limits)
        expected = chosen_in_python(system, q, v)
        if found is None:
            continue
        undoubted += 1
        assert expected is not None
        law, num_solutions = expected
        assert (found[1].tolist(), num_solutions) == (law.modes.tolist(), 1)
        modes_seen.update(found[1].tolist())
    assert undoubted > 0.9 * count
    assert len(modes_seen) >= 4


@pytest.mark.parametrize("name", ["rocking-block", "painleve-rod"])
def test_what_is_in_doubt_is_left_to_python(name):
    # Forces of a block that stands are not unique, and a rod in the paradox has none.
    scene = carom.scenes.load(name)
    v = scene.v if name == "painleve-rod" else 0.0 * scene.v
    y = np.concatenate([scene.q, v, np.zeros(2 * len(scene.system.mu))])
    before = y.copy()
    limits = Limits(0.01, 100, ROUNDING)
    found = integrate_onward(scene.system.tree, scene.system.mu, 0.0, y, OPTIONS, limits)
    assert found is None
    np.testing.assert_array_equal(y, before)
