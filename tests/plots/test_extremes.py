"""Bars end where extremes are reached and proved."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure

import carom
from carom.plots import style


@pytest.fixture(scope="module")
def extremes():
    return carom.worst_case(carom.scenes.load("compass-gait").problem)


def lines(ax, color):
    return [line for line in ax.lines if line.get_color() == color and len(line.get_xdata())]


def draw(extremes):
    return carom.plots.plot_extremes(extremes, Figure().subplots())


def test_thick_bars_span_what_is_reached(extremes):
    bars = [line.get_xdata() for line in lines(draw(extremes), style.SKY)]
    np.testing.assert_allclose(bars, [row[3:5] for row in extremes.rows()], atol=1e-9)
    assert np.ptp(bars, axis=1).max() > 0.1


def test_thin_bars_end_where_it_is_proved(extremes):
    loose = [replace(each, proved=each.proved + 1.0) for each in extremes]
    ax = draw(carom.Extremes(tuple(loose)))
    bars = [line.get_xdata() for line in lines(ax, style.BLACK) if len(line.get_xdata()) == 2]
    expected = [(row[2] - 1.0, row[5] + 1.0) for row in extremes.rows()]
    np.testing.assert_allclose(bars, expected, atol=1e-9)
    low, high = ax.get_xlim()
    assert low < np.min(expected) < np.max(expected) < high


def test_a_bound_that_is_not_known_is_an_arrow_at_the_edge(extremes):
    one = replace(extremes["B normal"], proved=np.inf, certificate=None)
    ax = draw(one)
    (arrow,) = [line for line in ax.lines if line.get_marker() == ">"]
    assert arrow.get_xdata() == ax.get_xlim()[1]
    assert not [line for line in draw(extremes).lines if line.get_marker() in ("<", ">")]


def test_one_side_alone_is_a_point(extremes):
    ax = draw(extremes["B normal"])
    (point,) = lines(ax, style.SKY)
    assert point.get_marker() == "o"
    np.testing.assert_allclose(point.get_xdata(), extremes["B normal"].reached)


def test_noise_is_drawn_at_zero(extremes):
    # It would else be the end of a bar at 1e-19.
    ends = np.concatenate([line.get_xdata() for line in lines(draw(extremes), style.SKY)])
    assert np.sum(ends == 0.0) == 4


def test_units_are_not_mixed_in_one_ax(extremes):
    both = carom.worst_case(extremes.problem, ["A normal", "A impulse"], max_seconds=0.3)
    with pytest.raises(carom.InvalidOption, match="one unit, got m/s, N s"):
        draw(both)
    assert len(carom.plots.extremes_overview(both).axes) == 2


def test_what_is_no_extreme_is_refused():
    with pytest.raises(carom.InvalidOption, match="got a int"):
        draw(3)


def test_thumbnail_and_notebook(extremes):
    assert carom.plots.thumbnail(extremes).startswith(b"<?xml")
    assert "<img" in extremes._repr_html_()
    assert "<img" in extremes[0]._repr_html_()
