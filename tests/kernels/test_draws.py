"""Who is drawn to act in a step, and how fast."""

from __future__ import annotations

import numpy as np
import pytest

from carom.kernels import draws
from carom.kernels.jit import kernel
from carom.kernels.random import stream

COUNT = 20_000
SIGMAS = 5.0
"""Statistics are fixed by the seeds; five standard deviations leave room for honest draws."""

LATER = (1, 2, draws.PERIOD - 1, draws.PERIOD + 1)
LIKE_THE_FIRST = (0, draws.PERIOD, 5 * draws.PERIOD)


@kernel
def caps_of(kind, step, v_c, contacts, count):
    """Return the caps (count, m) that `count` samples draw for a step that starts a stretch."""
    m = contacts.shape[0]
    caps = np.empty((count, m))
    u = np.empty(3 * m)
    for sample in range(count):
        u[: 2 * m] = v_c
        key = stream(7, sample)
        rates = np.zeros(m)
        # Largest caps of 1e-9 are shorter than all but very few stretches.
        draws.draw_caps(kind, np.full(m, 1e-9), key, step, 0.0, rates, u, v_c, contacts)
        caps[sample] = u[2 * m :] / 1e-9
    return caps


def drawn(kind, step, approaching):
    v_c = np.zeros((len(approaching), 2))
    v_c[:, 0] = np.where(approaching, -0.5, 0.0)
    return caps_of(kind, step, v_c.ravel(), np.zeros(len(approaching)), COUNT)


def assert_share(happens, share):
    spread = np.sqrt(share * (1.0 - share) / len(happens))
    assert abs(happens.mean() - share) <= SIGMAS * spread


@pytest.mark.parametrize("m", [2, 3, 5])
@pytest.mark.parametrize("kind", [draws.SUBSET, draws.PERSISTENT])
@pytest.mark.parametrize("step", LIKE_THE_FIRST + LATER)
def test_how_many_contacts_act(kind, step, m):
    """At first two in three, later one in twenty, and at least one that approaches."""
    caps = drawn(kind, step, [True] * m)
    share = 2.0 / 3.0 if step in LIKE_THE_FIRST else 1.0 / 20.0
    none = (1.0 - share) ** m
    assert (caps.max(axis=1) > 0.0).all()
    for i in range(m):
        # Where none is drawn, each has the same chance to be the one that acts.
        assert_share(caps[:, i] > 0.0, share + none / m)
    assert_share((caps > 0.0).all(axis=1), share**m)


@pytest.mark.parametrize("step", [0, 1])
def test_rates_are_uniform_and_independent(step):
    caps = drawn(draws.SUBSET, step, [True, True, True])
    both = caps[(caps[:, 0] > 0.0) & (caps[:, 1] > 0.0) & (caps[:, :2] < 1.0).all(axis=1)]
    count = len(both)
    for i in range(2):
        assert abs(both[:, i].mean() - 0.5) <= SIGMAS / np.sqrt(12.0 * count)
    assert abs(np.corrcoef(both[:, 0], both[:, 1])[0, 1]) <= SIGMAS / np.sqrt(count)


@pytest.mark.parametrize("step", [0, 1])
def test_the_fastest_contact_of_a_stretch_has_the_largest_cap(step):
    caps = drawn(draws.PERSISTENT, step, [True, True])
    short = caps.max(axis=1) < 1.0 - 1e-12
    # Some stretches are shorter than the cap: U^3 < 1e-10.
    assert short.mean() <= 0.002


@pytest.mark.parametrize("kind", [draws.SUBSET, draws.PERSISTENT])
@pytest.mark.parametrize("step", [0, 1])
def test_some_contact_that_approaches_acts(kind, step):
    caps = drawn(kind, step, [False, True, False, True])
    assert (caps[:, [1, 3]].max(axis=1) > 0.0).all()
    # The others may act too.
    assert (caps[:, [0, 2]] > 0.0).any(axis=0).all()


def test_uniform_draws_are_the_papers():
    caps = drawn(draws.UNIFORM, 3, [True, False])
    assert (caps >= 0.0).all()
    assert (caps < 1.0).all()
    assert (np.abs(caps.mean(axis=0) - 0.5) <= SIGMAS / np.sqrt(12.0 * COUNT)).all()
    assert abs(np.corrcoef(caps.T)[0, 1]) <= SIGMAS / np.sqrt(COUNT)
