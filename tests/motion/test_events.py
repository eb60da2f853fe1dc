"""Find events of functions whose roots are known."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from carom.motion.events import Sight, first_event

NOTHING = np.empty(0)


def look_at(gap=None, rate=None, conditions=()):
    """Return a function of time that sees one gap, with its rate, and conditions."""

    def look(t):
        gaps = NOTHING if gap is None else np.array([gap(t)])
        rates = NOTHING if rate is None else np.array([rate(t)])
        return Sight(np.array([f(t) for f in conditions]), gaps, rates)

    return look


def found(look, start, end):
    return first_event(look, start, end, look(start))


def parabola(height, speed, pull, start=0.0):
    """Return gap and rate of a throw."""
    return (
        lambda t: height + speed * (t - start) - pull * (t - start) ** 2 / 2,
        lambda t: speed - pull * (t - start),
    )


@given(st.floats(0.01, 2.0), st.floats(-3.0, 3.0), st.floats(0.0, 10.0))
def test_thrown_body_lands_when_its_gap_closes(height, speed, start):
    gap, rate = parabola(height, speed, 9.81, start)
    landing = start + (speed + math.sqrt(speed**2 + 2 * 9.81 * height)) / 9.81
    look = look_at(gap, rate)
    assert found(look, start, landing + 0.3) == pytest.approx(landing, abs=1e-12)
    assert found(look, start, 0.5 * (start + landing)) is None


@given(st.floats(1e-3, 3.0))
def test_body_that_parts_from_the_floor_does_not_land_at_once(speed):
    gap, rate = parabola(0.0, speed, 9.81)
    landing = 2 * speed / 9.81
    assert found(look_at(gap, rate), 0.0, 1.7 * landing) == pytest.approx(landing, rel=1e-9)
    assert found(look_at(gap, rate), 0.0, 0.9 * landing) is None


@pytest.mark.parametrize("share", [1.01, 1.3, 3.9, 7.0, 50.0])
def test_short_hop_at_the_start_of_a_long_step_is_seen(share):
    # The hop is over within the first look, or a small part of it.
    gap, rate = parabola(0.0, 0.5, 9.81)
    landing = 1.0 / 9.81
    assert found(look_at(gap, rate), 0.0, share * landing) == pytest.approx(landing, abs=1e-12)


def test_rounding_below_zero_at_the_start_is_no_landing():
    # A contact that has just parted: its gap is rounding, and rises.
    look = look_at(lambda t: 1e-3 * t - 1e-16, lambda _: 1e-3)
    assert found(look, 0.0, 1.0) is None


def test_gap_that_opens_too_slowly_for_its_digits_does_not_close():
    # The gap is rounding, of either sign, as long as it rises by less than a digit.
    look = look_at(lambda t: 1e-16 * math.sin(1e15 * t) + 1e-8 * t, lambda _: 1e-8)
    assert found(look, 0.0, 1e-9) is None
    assert found(look_at(lambda _: -5e-17, lambda _: 1e-8), 0.0, 1e-12) is None


@pytest.mark.parametrize("first", [3.5e-18, 0.0, -3.5e-18])
@pytest.mark.parametrize("speed", [5e-6, 1e-3])
def test_hop_from_a_gap_that_is_rounding_lands_after_it(first, speed):
    # A gap is a difference of positions of some tenths of a metre, and has their digits.
    def gap(t):
        return first if t == 0.0 else (0.3 + speed * t - 5.0 * t**2) - 0.3 - 5e-17

    look = look_at(gap, lambda t: speed - 10.0 * t)
    for share in (1.5, 5.0, 100.0):
        landing = found(look, 0.0, share * speed / 5.0)
        assert landing == pytest.approx(speed / 5.0, rel=1e-3)


def test_hop_whose_gap_is_noisy_at_first_lands_after_it():
    # Interpolation is noisy by some 1e-15 m; on its way up the gap may seem to close.
    def gap(t):
        return -5.5e-14 + 2.11e-4 * t - 49.17 * t**2 - (1e-15 if t > 0 else 0.0)

    look = look_at(gap, lambda t: 2.11e-4 - 98.34 * t)
    assert found(look, 0.0, 1e-4) == pytest.approx(2.11e-4 / 49.17, rel=1e-3)


@pytest.mark.parametrize("pull", [0.1, 1e-6])
@pytest.mark.parametrize("rate", [-4e-16, -2.5e-14, 0.0, 4e-16])
@pytest.mark.parametrize("gap", [-3e-15, 0.0, 7e-18])
def test_contact_that_lifts_from_rest_does_not_land(gap, rate, pull):
    # After an impact gap and rate are zero up to rounding; the acceleration parts them.
    look = look_at(lambda t: gap + rate * t + pull * t**2 / 2, lambda t: rate + pull * t)
    for end in (1e-6, 1e-3, 1.0):
        assert found(look, 0.0, end) is None


@pytest.mark.parametrize("middle", [0.04, 0.3, 0.5, 0.77, 0.99])
def test_dip_below_zero_within_a_step_is_seen(middle):
    depth, curve = 1e-4, 30.0
    look = look_at(lambda t: curve * (t - middle) ** 2 / 2 - depth, lambda t: curve * (t - middle))
    first = middle - math.sqrt(2 * depth / curve)
    assert found(look, 0.0, 1.0) == pytest.approx(first, abs=1e-12)


@pytest.mark.parametrize("clearance", [1e-12, 1e-3])
def test_gap_that_only_comes_close_is_no_event(clearance):
    look = look_at(lambda t: (t - 0.4) ** 2 + clearance, lambda t: 2 * (t - 0.4))
    assert found(look, 0.0, 1.0) is None


def test_grazing_to_the_digit_ends_nothing():
    look = look_at(lambda t: (t - 0.3) ** 2, lambda t: 2 * (t - 0.3))
    event = found(look, 0.0, 1.0)
    assert event is None or event == pytest.approx(0.3, abs=1e-7)


def test_condition_ends_where_it_falls_below_zero():
    look = look_at(conditions=[lambda t: 0.37 - t, lambda _: 1.0])
    assert found(look, 0.0, 1.0) == pytest.approx(0.37, abs=1e-14)
    assert found(look, 0.0, 0.36) is None


def test_condition_that_fails_from_the_start_ends_at_once():
    assert found(look_at(conditions=[lambda t: -t]), 0.0, 1.0) == 0.0
    assert found(look_at(conditions=[lambda t: -t - 0.1]), 0.0, 1.0) == 0.0


def test_earliest_of_several_counts():
    gap, rate = parabola(0.3, 0.0, 2.0)
    look = look_at(gap, rate, [lambda t: 0.61 - t, lambda t: math.cos(3 * t)])
    assert found(look, 0.0, 1.0) == pytest.approx(math.pi / 6, abs=1e-12)
    look = look_at(gap, rate, [lambda t: 0.61 - t])
    assert found(look, 0.0, 1.0) == pytest.approx(math.sqrt(0.3), abs=1e-12)


def test_two_events_in_one_look_are_told_apart():
    look = look_at(conditions=[lambda t: 0.1003 - t, lambda t: 0.1001 - t])
    assert found(look, 0.0, 1.0) == pytest.approx(0.1001, abs=1e-13)


def test_event_late_in_time_is_found_to_the_clocks_digits():
    gap, rate = parabola(1.0, 0.0, 2.0, start=1e6)
    assert found(look_at(gap, rate), 1e6, 1e6 + 3.0) == pytest.approx(1e6 + 1.0, abs=1e-8)


def test_nothing_to_see_is_no_event():
    assert found(look_at(), 0.0, 1.0) is None
