"""Series of impacts whose limits are known."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from carom.motion.zeno import accumulation


def geometric(ratio, count, first=1.0, start=0.0, impulse=2.0):
    """Return times and accrued impulses of a geometric series, and its exact limits."""
    intervals = first * ratio ** np.arange(count)
    times = start + np.concatenate([[0.0], np.cumsum(intervals)])
    gains = impulse * ratio ** np.arange(count + 1)
    accrued = np.cumsum(gains)
    impulses = [np.array([[x, 0.3 * x]]) for x in accrued]
    limit = start + first / (1 - ratio)
    total = impulse / (1 - ratio)
    return list(times), impulses, limit, total


@pytest.mark.parametrize("ratio", [0.05, 0.3, 0.7, 0.9])
def test_geometric_series_goes_to_its_limit(ratio):
    count = 12 if ratio < 0.1 else int(-14 / math.log(ratio))
    times, impulses, limit, total = geometric(ratio, count)
    left = limit - times[-1]
    result = accumulation(times, impulses, 1.0001 * left + 1e-15)
    assert times[-1] + result.duration == pytest.approx(limit, abs=1e-12)
    np.testing.assert_allclose(impulses[-1][0] + result.impulse[0], [total, 0.3 * total], rtol=1e-9)


def test_it_waits_until_little_time_is_left():
    times, impulses, limit, _ = geometric(0.7, 30)
    left = limit - times[-1]
    assert accumulation(times, impulses, 0.99 * left) is None
    assert accumulation(times, impulses, 1.01 * left) is not None


@given(st.floats(0.2, 0.9), st.floats(0.2, 5.0))
def test_contacts_may_take_turns_unevenly(ratio, uneven):
    # Intervals alternate between a and b, and each pair shrinks by the same factor.
    pairs = ratio ** np.arange(max(5, int(-14 / math.log(ratio))))
    intervals = np.column_stack([pairs, uneven * pairs]).ravel()
    times = np.concatenate([[0.0], np.cumsum(intervals)])
    impulses = [np.array([[t, 0.0]]) for t in times]
    limit = (1 + uneven) / (1 - ratio)
    result = accumulation(list(times), impulses, 10.0)
    assert times[-1] + result.duration == pytest.approx(limit, rel=1e-9)


@pytest.mark.parametrize(
    "intervals",
    [
        [1.0] * 20,
        [1.0, 0.5] * 10,
        [0.99**k for k in range(30)],
        [1.1**k for k in range(20)],
        [0.7**k for k in range(7)],
        [0.0] * 20,
        [],
    ],
    ids=["even", "in turn", "too slow", "growing", "too few", "at once", "none"],
)
def test_other_series_have_no_limit_that_could_be_told(intervals):
    times = np.concatenate([[0.0], np.cumsum(intervals)])
    impulses = [np.zeros((1, 2))] * len(times)
    assert accumulation(list(times), impulses, 1e3) is None


@pytest.mark.parametrize("together", [None, 3, 4], ids=["always apart", "once", "later"])
def test_bodies_that_clatter_at_nearly_the_same_time_are_no_accumulation(together):
    # Three bodies rock alike: bursts of three impacts, or of two where two land at once, half a
    # second apart at first. What is left after the last burst is more than a tenth of a second.
    bursts = np.cumsum(0.5 * 0.7 ** np.arange(6))
    times = []
    for k, burst in enumerate(bursts):
        times += [burst, burst + 5e-9] if k == together else [burst, burst + 2e-9, burst + 5e-9]
    impulses = [np.array([[t, 0.0]]) for t in times]
    for count in range(1, len(times) + 1):
        assert accumulation(times[:count], impulses[:count], 1e-6) is None


def test_quick_impacts_after_slow_ones_are_no_accumulation():
    # Shrinking by chance: the ratios of a true accumulation settle down.
    intervals = [0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 1e-8, 1e-8]
    times = np.concatenate([[0.0], np.cumsum(intervals)])
    impulses = [np.array([[t, 0.0]]) for t in times]
    assert accumulation(list(times), impulses, 1e-6) is None


def test_shift_of_the_clock_changes_nothing():
    times, impulses, limit, _ = geometric(0.6, 25, start=50.0)
    result = accumulation(times, impulses, 1.0)
    assert times[-1] + result.duration == pytest.approx(limit, abs=1e-9)
