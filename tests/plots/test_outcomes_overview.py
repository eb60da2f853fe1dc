import io

import numpy as np
import pytest

import carom
from carom.plots import outcomes_overview


def labels(figure):
    return [(ax.get_xlabel(), ax.get_ylabel()) for ax in figure.axes]


def test_shows_the_normals_and_then_each_contact():
    problem = carom.scenes.load("rocking-block").problem
    figure = outcomes_overview(
        carom.Routh(num_samples=50).resolve(problem),
        sequential=carom.Sequential().resolve(problem),
        title="a block",
        num_paths=5,
    )
    normal, tangential = "normal velocity of {} [m/s]", "tangential velocity of {} [m/s]"
    assert labels(figure) == [
        (normal.format("A"), normal.format("B")),
        (tangential.format("A"), normal.format("A")),
        (tangential.format("B"), normal.format("B")),
        ("body velocities [m/s, rad/s]", ""),
    ]
    assert figure.get_suptitle() == "a block"
    (legend,) = figure.legends
    assert "sequential, A → B" in [text.get_text() for text in legend.get_texts()]
    assert all(len(ax.collections[0].get_segments()) == 5 for ax in figure.axes[:3])


def test_legend_and_labels_do_not_overlap():
    problem = carom.scenes.load("compass-gait").problem
    figure = outcomes_overview(
        None, simultaneous=carom.AnitescuPotra().resolve(problem), title="a walker"
    )
    figure.savefig(io.BytesIO(), format="png")
    top = figure.legends[0].get_window_extent().ymax
    assert all(ax.xaxis.label.get_window_extent().ymin > top for ax in figure.axes)


def test_one_contact_has_one_panel_beside_body_velocities():
    ball = carom.ImpactProblem(np.eye(2), [[0, 1]], [[1, 0]], 0.2, [1.0, -1.0])
    figure = outcomes_overview(carom.RouthSingle().resolve(ball))
    assert len(figure.axes) == 2


def test_spatial_contact_has_a_panel_for_each_tangent():
    ball = carom.ImpactProblem(
        np.eye(3), [[0, 0, 1]], [[[1, 0, 0], [0, 1, 0]]], 0.2, [1.0, 0.5, -1.0]
    )
    figure = outcomes_overview(None, simultaneous=carom.AnitescuPotra().resolve(ball))
    assert [x for x, _ in labels(figure)] == [
        "tangential velocity 1 of A [m/s]",
        "tangential velocity 2 of A [m/s]",
        "body velocities [m/s, rad/s]",
    ]


def test_exact_set_alone_has_all_panels():
    problem = carom.scenes.load("compass-gait").problem
    figure = outcomes_overview(None, exact=carom.RouthExact().resolve(problem))
    assert len(figure.axes) == 4
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["exact set", "before the impact"]


def test_legend_of_every_law_fits():
    problem = carom.scenes.load("rocking-block").problem
    figure = outcomes_overview(
        carom.Routh(num_samples=50).resolve(problem),
        exact=carom.RouthExact().resolve(problem),
        simultaneous=carom.AnitescuPotra().resolve(problem),
        sequential=carom.Sequential().resolve(problem),
    )
    figure.savefig(io.BytesIO(), format="png")
    extent = figure.legends[0].get_window_extent()
    assert extent.xmin > 0
    assert extent.xmax < figure.bbox.xmax


def test_nothing_to_draw():
    with pytest.raises(carom.InvalidOption, match="at least one set"):
        outcomes_overview(None)


def test_outcomes_that_are_small_are_drawn_once_more():
    """A ladder comes down at 1 m/s and ends within centimetres a second."""
    c, s = 0.75, 1.299
    ladder = carom.ImpactProblem(
        M=np.diag([10.0, 10.0, 7.5]),
        J_n=[[0, 1, c], [1, 0, -s]],
        J_t=[[1, 0, s], [0, 1, -c]],
        mu=[0.3, 0.2],
        v_pre=[-0.5, -1.0, 0.3],
        contacts=("foot", "top"),
    )
    exact = carom.RouthExact().resolve(ladder)
    figure = outcomes_overview(exact)
    zoomed = [ax for ax in figure.axes if ax.get_title() == "the outcomes alone"]
    assert zoomed
    bounds = exact.contact_bounds()
    for ax in zoomed:
        width = np.ptp(ax.get_xlim())
        assert width < 2.0 * max(np.ptp(bounds, axis=-1).max(), 1e-9)


def test_body_velocities_have_the_range_of_the_set():
    """A rotation rate is no velocity of a contact, and what people often ask for."""
    scene = carom.scenes.load("rocking-block")
    exact = carom.RouthExact().resolve(scene.problem)
    ax = outcomes_overview(exact, system=scene.system).axes[-1]
    assert [text.get_text() for text in ax.get_yticklabels()] == ["x", "y", "angle"]
    bars = [line for line in ax.lines if line.get_linewidth() > 5]
    axis = np.array([0.0, 0.0, 1.0])
    expected = [-exact.support(-axis), exact.support(axis)]
    np.testing.assert_allclose(bars[2].get_xdata(), expected)
    np.testing.assert_array_equal(bars[2].get_ydata(), [2, 2])
