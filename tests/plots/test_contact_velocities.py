from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Polygon
from scipy.spatial import cKDTree

import carom
from carom.plots import outcomes_overview, plot_outcomes, style, thumbnail
from carom.plots.contact_velocities import GRID, OVER_EXACT

NUM_PATHS = 20


@pytest.fixture(scope="module")
def block():
    return carom.scenes.load("rocking-block").problem


@pytest.fixture(scope="module")
def outcomes(block):
    return carom.Routh(num_samples=500, step_impulse=0.3, max_steps=10).resolve(block)


@pytest.fixture(scope="module")
def simultaneous(block):
    return carom.AnitescuPotra().resolve(block)


@pytest.fixture(scope="module")
def sequential(block):
    return carom.Sequential().resolve(block)


@pytest.fixture(scope="module")
def walker():
    return carom.scenes.load("compass-gait").problem


@pytest.fixture(scope="module")
def exact(walker):
    return carom.RouthExact().resolve(walker)


@pytest.fixture
def ax():
    return Figure().add_subplot()


def drawn(ax, marks):
    """Return the points (n, 2) of all markers in a style."""
    points = [
        line.get_xydata()
        for line in ax.lines
        if to_hex(line.get_color()) == marks["color"].lower()
        and line.get_marker() == marks["marker"]
    ]
    return np.concatenate(points) if points else np.empty((0, 2))


def paths_of(ax):
    return [c for c in ax.collections if isinstance(c, LineCollection)]


def legend_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_returns_its_ax(ax, outcomes):
    assert plot_outcomes(outcomes, ax, num_paths=0) is ax


def test_draws_every_law(ax, block, outcomes, simultaneous, sequential):
    plot_outcomes(
        outcomes, ax, simultaneous=simultaneous, sequential=sequential, num_paths=NUM_PATHS
    )
    normal = outcomes.contact_velocities[:, :, 0]
    np.testing.assert_allclose(drawn(ax, style.SET), normal, atol=1e-12)
    np.testing.assert_allclose(drawn(ax, style.BEFORE), [block.J_n @ block.v_pre])
    np.testing.assert_allclose(drawn(ax, style.SIMULTANEOUS), [[0.0, 0.0]], atol=1e-12)
    lift = 0.0930184
    np.testing.assert_allclose(drawn(ax, style.FIRST), [[lift, 0.0]], atol=1e-6)
    np.testing.assert_allclose(drawn(ax, style.SECOND), [[0.0, lift]], atol=1e-6)
    assert legend_of(ax) == [
        "velocities on the way",
        f"{len(outcomes)} outcomes",
        "before the impact",
        "sequential, A → B",
        "sequential, B → A",
        "simultaneous",
    ]
    assert ax.get_xlabel() == "normal velocity of A [m/s]"
    assert ax.get_ylabel() == "normal velocity of B [m/s]"


def test_paths_lead_from_before_to_outcomes(ax, block, outcomes):
    plot_outcomes(outcomes, ax, num_paths=NUM_PATHS)
    (collection,) = paths_of(ax)
    lines = collection.get_segments()
    assert len(lines) == NUM_PATHS
    ends = outcomes.contact_velocities[:, :, 0]
    for line in lines:
        np.testing.assert_allclose(line[0], block.J_n @ block.v_pre)
        assert np.abs(ends - line[-1]).max(axis=1).min() < 1e-12


def test_paths_show_rare_endings_as_well_as_common_ones(ax):
    walker = carom.scenes.load("compass-gait")
    outcomes = carom.Routh(num_samples=5000, step_impulse=0.25, max_steps=5).resolve(walker.problem)
    _, _, lifts = outcomes.contact_states
    assert lifts[:, 0].mean() < 0.05
    plot_outcomes(outcomes, ax, num_paths=NUM_PATHS)
    ends = np.array([line[-1] for line in paths_of(ax)[0].get_segments()])
    assert (ends[:, 0] > 1e-9).sum() >= 3


def test_large_sets_are_pixels_in_vector_graphics(ax, outcomes):
    plot_outcomes(outcomes, ax, num_paths=NUM_PATHS)
    assert paths_of(ax)[0].get_rasterized()
    assert [line for line in ax.lines if line.get_rasterized() and len(line.get_xdata()) > 100]


def test_limits_hold_all_that_is_drawn(ax, outcomes, sequential):
    plot_outcomes(outcomes, ax, sequential=sequential, num_paths=NUM_PATHS)
    points = [drawn(ax, marks) for marks in (style.SET, style.BEFORE, style.FIRST, style.SECOND)]
    points = np.concatenate([*points, *paths_of(ax)[0].get_segments()])
    for values, (low, high) in zip(points.T, (ax.get_xlim(), ax.get_ylim()), strict=True):
        assert low < values.min()
        assert values.max() < high
        assert high - low < 1.5 * np.ptp(values)


def test_coordinates_can_be_chosen(ax, outcomes):
    plot_outcomes(outcomes, ax, x=("B", 1), y=("A", 0), num_paths=0)
    v_c = outcomes.contact_velocities
    expected = np.stack([v_c[:, 1, 1], v_c[:, 0, 0]], axis=1)
    np.testing.assert_allclose(drawn(ax, style.SET), expected, atol=1e-12)
    assert ax.get_xlabel() == "tangential velocity of B [m/s]"
    # The tangential velocity is zero throughout; its axis must not magnify rounding.
    assert np.ptp(ax.get_xlim()) > 0.1


def test_one_contact_shows_tangential_against_normal(ax):
    ball = carom.ImpactProblem(np.eye(2), [[0, 1]], [[1, 0]], 0.2, [1.0, -1.0])
    plot_outcomes(carom.RouthSingle().resolve(ball), ax)
    assert ax.get_xlabel() == "tangential velocity of A [m/s]"
    assert ax.get_ylabel() == "normal velocity of A [m/s]"
    np.testing.assert_allclose(drawn(ax, style.SET), [[0.8, 0.0]], atol=1e-12)
    (path,) = paths_of(ax)[0].get_segments()
    np.testing.assert_allclose(path[[0, -1]], [[1.0, -1.0], [0.8, 0.0]], atol=1e-12)
    assert legend_of(ax) == ["velocities on the way", "1 outcome", "before the impact"]


def test_spatial_tangents_are_numbered(ax):
    ball = carom.ImpactProblem(
        np.eye(3), [[0, 0, 1]], [[[1, 0, 0], [0, 1, 0]]], 0.2, [1.0, 0.5, -1.0]
    )
    simultaneous = carom.AnitescuPotra().resolve(ball)
    plot_outcomes(None, ax, simultaneous=simultaneous, x=("A", 1), y=("A", 2))
    assert ax.get_ylabel() == "tangential velocity 2 of A [m/s]"
    np.testing.assert_allclose(drawn(ax, style.SIMULTANEOUS), simultaneous.v_post[:, :2])


def test_laws_with_many_outcomes_are_counted(ax):
    walker = carom.scenes.load("compass-gait").problem
    plot_outcomes(None, ax, simultaneous=carom.AnitescuPotra().resolve(walker))
    assert legend_of(ax) == ["before the impact", "simultaneous, 3 outcomes"]
    assert len(drawn(ax, style.SIMULTANEOUS)) == 3


def test_many_sequences_share_one_colour(ax):
    stack = carom.scenes.load("disk-stack").problem
    sequential = carom.Sequential().resolve(stack)
    plot_outcomes(None, ax, sequential=sequential)
    assert len(drawn(ax, style.FIRST)) == len(sequential) > 2
    assert len(drawn(ax, style.SECOND)) == 0


@pytest.mark.parametrize("coordinate", [("C", 0), ("A", 2), ("A", -1)])
def test_unknown_coordinate(ax, outcomes, coordinate):
    with pytest.raises(carom.InvalidOption, match="expected one of A, B with a number from 0"):
        plot_outcomes(outcomes, ax, x=coordinate, num_paths=0)


def test_nothing_to_draw(ax):
    with pytest.raises(carom.InvalidOption, match="at least one set"):
        plot_outcomes(None, ax)


def test_sets_of_two_impacts(ax, outcomes):
    stack = carom.Sequential().resolve(carom.scenes.load("disk-stack").problem)
    with pytest.raises(carom.InvalidOption, match="sets of one impact"):
        plot_outcomes(outcomes, ax, sequential=stack)


def test_what_is_no_set_of_outcomes(ax, outcomes):
    with pytest.raises(carom.InvalidOption, match="expected sets, got a ndarray"):
        plot_outcomes(outcomes.v_post, ax)


def segments_of(ax):
    return [
        line.get_xydata()
        for line in ax.lines
        if line.get_color() == style.SEGMENT["color"] and line.get_linewidth() > 5
    ]


class TestExact:
    def test_a_set_alone_is_polygons_segments_and_points(self, ax, walker, exact):
        plot_outcomes(None, ax, exact=exact, x=("B", 1), y=("B", 0))
        (polygon,) = [patch for patch in ax.patches if isinstance(patch, Polygon)]
        corners = polygon.get_xy()[:-1]
        assert len(corners) == 3
        bounds = exact.contact_bounds()[1]
        np.testing.assert_allclose([corners[:, 1].min(), corners[:, 1].max()], bounds[0], atol=1e-9)
        np.testing.assert_allclose([corners[:, 0].min(), corners[:, 0].max()], bounds[1], atol=1e-9)
        # B slides on a segment; where A alone moves, B stays at a point.
        (segment,) = segments_of(ax)
        np.testing.assert_allclose(segment[:, 1], 0.0, atol=1e-12)
        points = drawn(ax, style.POINT)
        np.testing.assert_allclose(points, 0.0, atol=1e-12)
        assert len(points) == 3
        assert legend_of(ax) == ["exact set", "before the impact"]

    def test_may_come_first(self, ax, exact):
        plot_outcomes(exact, ax)
        assert legend_of(ax) == ["exact set", "before the impact"]

    def test_outer_set_brings_its_samples(self, ax, walker):
        law = carom.RouthExact(max_polyhedra=3, on_budget="outer", num_samples=200)
        outer = law.resolve(walker)
        plot_outcomes(outer, ax, num_paths=0)
        assert len(drawn(ax, style.SET)) == len(outer.inner) > 0

    def test_limits_hold_the_set(self, ax, exact):
        plot_outcomes(None, ax, exact=exact, x=("B", 1), y=("B", 0))
        bounds = exact.contact_bounds()[1]
        assert ax.get_ylim()[0] < bounds[0, 0] <= bounds[0, 1] < ax.get_ylim()[1]
        assert ax.get_xlim()[0] < bounds[1, 0] <= bounds[1, 1] < ax.get_xlim()[1]

    def test_lies_below_the_samples(self, ax, walker, exact):
        outcomes = carom.Routh(num_samples=300).resolve(walker)
        plot_outcomes(outcomes, ax, exact=exact, x=("B", 1), y=("B", 0), num_paths=5)
        (polygon,) = [patch for patch in ax.patches if isinstance(patch, Polygon)]
        assert paths_of(ax)[0].get_zorder() < polygon.get_zorder()
        for marks in (style.POLYGON, style.SEGMENT, style.POINT):
            assert marks["zorder"] < style.SET["zorder"]
        assert len(drawn(ax, style.SET)) == 300
        assert legend_of(ax)[1:3] == ["exact set", "300 outcomes"]

    def test_few_of_many_samples_hide_it(self, ax, walker, exact):
        outcomes = carom.Routh(num_samples=2 * OVER_EXACT).resolve(walker)
        plot_outcomes(outcomes, ax, exact=exact, num_paths=0)
        assert len(drawn(ax, style.SET)) <= OVER_EXACT
        assert f"{OVER_EXACT:,} of {2 * OVER_EXACT:,} outcomes" in legend_of(ax)

    def test_outer_set_is_called_so(self, ax, walker):
        law = carom.RouthExact(max_polyhedra=3, on_budget="outer", num_samples=200)
        plot_outcomes(None, ax, exact=law.resolve(walker))
        assert "outer set" in legend_of(ax)

    def test_rounding_noise_is_no_polygon(self, ax):
        robot = carom.scenes.load("ramone").problem
        exact = carom.RouthExact().resolve(robot)
        # A stays: its velocities differ by rounding alone.
        plot_outcomes(None, ax, exact=exact, x=("A", 1), y=("A", 0))
        assert len(ax.patches) == len(segments_of(ax)) == 0
        np.testing.assert_allclose(drawn(ax, style.POINT), 0.0, atol=1e-12)


def test_large_sets_are_thinned_beyond_what_eyes_see(ax, walker):
    outcomes = carom.Routh(num_samples=30_000).resolve(walker)
    plot_outcomes(outcomes, ax, x=("B", 1), y=("B", 0), num_paths=0)
    points, kept = outcomes.contact_velocities[:, 1, ::-1], drawn(ax, style.SET)
    assert len(kept) < 0.9 * len(points)
    cell = np.ptp(points, axis=0).max() / GRID
    assert cKDTree(kept).query(points)[0].max() < 1.5 * cell


class TestBodyVelocities:
    def test_index_is_a_body_velocity(self, ax, walker):
        scene = carom.scenes.load("compass-gait")
        outcomes = carom.Routh(num_samples=100).resolve(walker)
        plot_outcomes(outcomes, ax, x=2, y=("B", 0), system=scene.system, num_paths=0)
        expected = np.stack([outcomes.v_post[:, 2], outcomes.contact_velocities[:, 1, 0]], axis=1)
        np.testing.assert_allclose(drawn(ax, style.SET), expected, atol=1e-12)
        assert ax.get_xlabel() == "leading angle [rad/s]"

    def test_without_a_system_it_has_a_number(self, ax, exact):
        plot_outcomes(exact, ax, x=0, y=3)
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("v0 [m/s or rad/s]", "v3 [m/s or rad/s]")

    def test_system_of_another_impact(self, ax, exact):
        other = carom.scenes.load("rocking-block").system
        with pytest.raises(carom.InvalidOption, match="expected the system of the impact"):
            plot_outcomes(exact, ax, system=other)

    def test_index_that_is_none(self, ax, exact):
        with pytest.raises(carom.InvalidOption, match="index of a velocity from 0 to 3, got 4"):
            plot_outcomes(exact, ax, x=4)


def named(*contacts):
    """Return a block with other names."""
    return replace(carom.scenes.load("rocking-block").problem, contacts=contacts)


NAMES = (
    r"$\frac{1}{2$",
    r"a$\alpha$",
    r"\$x_1",
    "_left",
    "100 %",
    "floor/foot_geom -",
    "$",
    "a\nb",
)


class TestNames:
    @pytest.mark.parametrize("name", NAMES)
    def test_any_name_can_be_drawn(self, ax, name):
        """None is taken for a formula, and all are in the legend."""
        problem = named(name, "B")
        sequential = carom.Sequential().resolve(problem)
        plot_outcomes(carom.Routh(num_samples=20).resolve(problem), ax, sequential=sequential)
        ax.figure.draw_without_rendering()
        text = ax.xaxis.label
        drawn_text, is_formula = text._preprocess_math(text.get_text())
        assert not is_formula
        assert name in drawn_text
        labels = [each._preprocess_math(each.get_text()) for each in ax.get_legend().get_texts()]
        assert (f"sequential, {name} → B", False) in labels
        figure = outcomes_overview(sequential, title=name)
        figure.draw_without_rendering()
        assert b"<svg" in thumbnail(problem)

    def test_name_that_ends_in_a_minus_is_quoted(self, ax):
        problem = named("foot -", "B")
        plot_outcomes(carom.Sequential().resolve(problem), ax)
        assert ax.get_xlabel() == "normal velocity of “foot -” [m/s]"
        assert ax.get_ylabel() == "normal velocity of B [m/s]"

    def test_long_name_has_its_own_line(self, ax):
        problem = named("floor/left_foot_geom", "B")
        plot_outcomes(carom.Sequential().resolve(problem), ax)
        assert ax.get_xlabel() == "normal velocity of\nfloor/left_foot_geom [m/s]"
        ax.figure.draw_without_rendering()
        label = ax.xaxis.label.get_window_extent()
        assert not label.overlaps(ax.get_legend().get_window_extent())


class TestThumbnail:
    def test_of_everything(self, block, outcomes, sequential, exact):
        scene = carom.scenes.load("rocking-block")
        law = carom.Routh(num_samples=1)
        arguments = (scene.system, scene.q, scene.v, 0.02, law)
        motions = carom.simulate_many(*arguments, 2, num_processes=1)
        for what in (block, outcomes, sequential, exact, motions, motions.trajectories[0]):
            picture = thumbnail(what)
            assert picture.startswith(b"<?xml")
            assert len(picture) < 150_000
            assert thumbnail(what) == picture

    def test_of_a_report_is_that_of_its_problem(self, block):
        assert thumbnail(SimpleNamespace(problem=block)) == thumbnail(block)

    def test_of_something_else(self):
        with pytest.raises(carom.InvalidOption, match="got a list"):
            thumbnail([1, 2])
