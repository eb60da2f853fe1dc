"""Decisions about rates in integers, beside the linear programs that they replace."""

from hypothesis import given
from hypothesis import strategies as st

from carom.reach import flow


@given(data=st.data(), count=st.integers(1, 5), width=st.integers(0, 4))
def test_what_can_rise_is_what_a_linear_program_finds(data, count, width):
    numbers = st.lists(st.integers(-3, 3), min_size=width, max_size=width)
    rates = data.draw(st.lists(numbers, min_size=count, max_size=count))
    rises = data.draw(st.lists(st.booleans(), min_size=width, max_size=width))
    assert flow._can_rise(rates, rises) == flow._can_rise_by_program(rates, rises)


def test_many_rates_are_left_to_a_linear_program(monkeypatch):
    asked = []
    monkeypatch.setattr(flow, "_can_rise_by_program", lambda *args: asked.append(args) or True)
    rates = [[1, 0], [-1, 1]] * 20
    assert flow._can_rise(rates, [False, True])
    assert asked == [(rates, [False, True])]
