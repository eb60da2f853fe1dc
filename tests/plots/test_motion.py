import io
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy.integrate import trapezoid

import carom
from carom.plots import (
    bundle_overview,
    plot_bundle,
    plot_energy,
    plot_impulses,
    plot_phase,
    plot_rates,
    plot_spread,
    plot_states,
    trajectory_overview,
)
from carom.plots.motion import SHADES, all_states, impact_spans
from carom.systems import (
    FLOOR,
    Body,
    Disc,
    PlanarSystem,
    PlaneContact,
    Prismatic,
)
from tests.reference.own_system import RodOnCircle, on_circle


def simulate(name, duration, seed=0):
    scene = carom.scenes.load(name)
    law = carom.Routh(num_samples=1)
    return carom.simulate(scene.system, scene.q, scene.v, duration, law, seed=seed)


@pytest.fixture(scope="module")
def block():
    """A block that lands flat and rocks a few times."""
    return simulate("rocking-block", 0.12)


@pytest.fixture(scope="module")
def ball():
    """A ball that falls, hits and rests."""
    body = Body.point("ball", 1.0, joints=(Prismatic((0.0, 1.0)),))
    system = PlanarSystem([body], [PlaneContact("A", Disc("ball"), FLOOR, 0.0)])
    return carom.simulate(system, [0.1], [0.5], 0.5, carom.RouthSingle())


@pytest.fixture(scope="module")
def bundle():
    scene = carom.scenes.load("rocking-block")
    law = carom.Routh(num_samples=1)
    return carom.simulate_many(scene.system, scene.q, scene.v, 0.05, law, 5, num_processes=1)


@pytest.fixture
def ax():
    return Figure().add_subplot()


def without_system(motion):
    return replace(motion, system=None)


def legend_words(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


class TestSampling:
    def test_is_the_motion_itself(self, block):
        states = all_states(block)
        assert (np.diff(states.s) >= 0.0).all()
        found = block.at(s=states.s)
        for column in ("t", "q", "v", "impulse"):
            own, expected = getattr(states, column), getattr(found, column)
            np.testing.assert_allclose(own, expected, rtol=1e-9, atol=1e-12)

    def test_is_close_enough_for_eyes(self, ball):
        assert np.diff(all_states(ball).t).max() < 1e-3
        assert len(ball.t) < 100

    def test_spans_of_impacts_are_their_impulses_and_duration(self, block):
        spans = impact_spans(block)
        # The limit of infinitely many impacts also takes time, which s counts too.
        gained = [
            np.diff(impact.impulse[[0, -1], :, 0], axis=0).sum() + impact.duration
            for impact in block.impacts
        ]
        # Differences of s round by some 1e-16 of s.
        np.testing.assert_allclose(spans[:, 1] - spans[:, 0], gained, rtol=1e-9, atol=1e-14)


class TestStates:
    @pytest.mark.parametrize("clock", ["t", "s"])
    @pytest.mark.parametrize("of", ["q", "v"])
    def test_draws_the_states(self, block, ax, clock, of):
        assert plot_states(block, ax, clock=clock, of=of) is ax
        states = all_states(block)
        assert len(ax.lines) == 3
        for row, line in enumerate(ax.lines):
            np.testing.assert_array_equal(line.get_xdata(), getattr(states, clock))
            np.testing.assert_array_equal(line.get_ydata(), getattr(states, of)[:, row])
        unit = "" if of == "q" else "/s"
        assert legend_words(ax) == [f"x [m{unit}]", f"y [m{unit}]", f"angle [rad{unit}]"]
        assert ax.get_xlabel() == {"t": "time t [s]", "s": "parameter s [s or N s]"}[clock]

    def test_impact_is_a_jump_over_t(self, block, ax):
        plot_states(block, ax, of="v", rows=[1])
        (line,) = ax.lines
        at_start = line.get_xdata() == 0.0
        values = line.get_ydata()[at_start]
        assert values[0] == block.impacts[0].v_pre[1]
        assert values[-1] == pytest.approx(block.impacts[0].v_post[1])

    def test_impacts_are_shaded_over_s_once(self, block, ax):
        plot_states(block, ax, clock="s", rows=[2])
        plot_states(block, ax, clock="s", of="v", rows=[2])
        (shades,) = [each for each in ax.collections if each.get_gid() == SHADES]
        ends = [
            (path.vertices[:, 0].min(), path.vertices[:, 0].max()) for path in shades.get_paths()
        ]
        np.testing.assert_allclose(ends, impact_spans(block), rtol=1e-12, atol=1e-15)
        assert len({line.get_color() for line in ax.lines}) == 2

    def test_one_row_is_named_at_the_axis(self, block, ax):
        plot_states(block, ax, rows=[2])
        assert ax.get_ylabel() == "angle [rad]"
        assert ax.get_legend() is None

    def test_rows_of_one_unit_share_it(self, block, ax):
        plot_states(block, ax, rows=[0, 1])
        assert ax.get_ylabel() == "coordinates [m]"

    def test_own_labels(self, block, ax):
        plot_states(block, ax, rows=[0, 2], labels=["east", "tilt"])
        assert legend_words(ax) == ["east", "tilt"]

    def test_without_a_system_rows_have_numbers(self, block, ax):
        plot_states(without_system(block), ax)
        assert legend_words(ax) == ["q0", "q1", "q2"]

    def test_bodies_are_named_where_there_are_several(self, ax):
        plot_states(simulate("compass-gait", 0.01), ax)
        assert legend_words(ax) == [
            "hip x [m]",
            "hip y [m]",
            "leading angle [rad]",
            "trailing angle [rad]",
        ]

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"clock": "x"}, "clock: expected one of t, s"),
            ({"of": "x"}, "of: expected one of q, v"),
            ({"rows": [3]}, "rows: expected an integer from 0 to 2, got 3"),
            ({"labels": ["x"]}, "labels: expected 3, got 1"),
        ],
    )
    def test_bad_arguments(self, block, ax, options, words):
        with pytest.raises(carom.InvalidOption, match=words):
            plot_states(block, ax, **options)


class TestRates:
    def test_time_and_impulses_share_s(self, block, ax):
        assert plot_rates(block, ax) is ax
        time, *contacts = ax.lines
        s = time.get_xdata()
        total = time.get_ydata() + sum(line.get_ydata() for line in contacts)
        np.testing.assert_allclose(total, 1.0, rtol=1e-12)
        assert (time.get_ydata() > -1e-9).all()
        # What accrues at these rates is the impulse, and the time.
        for i, line in enumerate(contacts):
            accrued = trapezoid(line.get_ydata(), s)
            assert accrued == pytest.approx(block.impulse[-1, i, 0], rel=1e-5)
        assert trapezoid(time.get_ydata(), s) == pytest.approx(block.end_time, rel=1e-4)
        assert legend_words(ax) == ["dt/ds", "normal impulse of A", "normal impulse of B"]

    def test_time_stands_still_in_an_impact(self, block, ax):
        plot_rates(block, ax)
        start, end = impact_spans(block)[0]
        s, rate = ax.lines[0].get_data()
        # Not at its ends, which rounding may put outside.
        inside = (s > start + 1e-9) & (s < end - 1e-9)
        assert inside.any()
        np.testing.assert_allclose(rate[inside], 0.0, atol=1e-12)

    def test_nothing_touches_in_free_flight(self, ball, ax):
        plot_rates(ball, ax)
        s, rate = ax.lines[0].get_data()
        np.testing.assert_array_equal(rate[s < ball.impacts[0].t], 1.0)


class TestEnergyAndImpulses:
    def test_energy_falls_in_impacts(self, block, ax):
        assert plot_energy(block, ax) is ax
        (line,) = ax.lines
        lost = sum(impact.energy_lost for impact in block.impacts)
        t, energy = line.get_data()
        assert energy[0] - energy[-1] == pytest.approx(lost, rel=1e-6)
        states = all_states(block)
        np.testing.assert_array_equal(t, states.t)
        expected = block.system.energy(states.q[7], states.v[7])
        assert energy[7] == expected

    def test_energy_that_is_kept_looks_so(self, ax):
        body = Body.point("ball", 1.0, joints=(Prismatic((0.0, 1.0)),))
        system = PlanarSystem([body], [])
        motion = carom.simulate(system, [1.0], [0.0], 0.3, carom.RouthSingle())
        low, high = plot_energy(motion, ax).get_ylim()
        assert high - low > 1e-3

    def test_energy_needs_the_system(self, block, ax):
        with pytest.raises(carom.CaromError, match="system"):
            plot_energy(without_system(block), ax)

    def test_impulses(self, block, ax):
        assert plot_impulses(block, ax) is ax
        states = all_states(block)
        for i, line in enumerate(ax.lines[:4]):
            np.testing.assert_array_equal(line.get_ydata(), states.impulse[:, i // 2, i % 2])
        assert legend_words(ax) == ["A", "B", "tangential"]

    def test_eight_contacts_look_different(self, block, ax):
        """There are seven colours: an eighth line has markers, dashed and solid ones alike."""
        body = Body.point("ball", 1.0, joints=(Prismatic((0.0, 1.0)),))
        contacts = [PlaneContact(f"c{i}", Disc("ball"), FLOOR, 0.0) for i in range(8)]
        system = PlanarSystem([body], contacts)
        motion = carom.simulate(system, [1.0], [0.0], 0.01, carom.RouthSingle())
        for lines in (plot_impulses(motion, ax).lines[:16:2], ax.lines[1:16:2]):
            assert len({(line.get_color(), line.get_marker()) for line in lines}) == 8
            assert len({line.get_linestyle() for line in lines}) == 1


class TestPhase:
    def test_draws_gap_against_velocity(self, ball, ax):
        assert plot_phase(ball, ax, coordinate=0, label="a ball") is ax
        moving, jumping = ax.lines
        x, y = moving.get_data()
        known = ~np.isnan(x)
        energy = 9.81 * x[known] + 0.5 * y[known] ** 2
        flying = energy > 1e-3
        np.testing.assert_allclose(energy[flying], 9.81 * 0.1 + 0.125, rtol=1e-9)
        x, y = jumping.get_data()
        known = ~np.isnan(x)
        np.testing.assert_allclose(x[known], 0.0, atol=1e-12)
        assert y[known][0] == ball.impacts[0].v_pre[0]
        assert y[known][-1] == pytest.approx(0.0, abs=1e-12)
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("y [m]", "rate of y [m/s]")
        assert moving.get_label() == "a ball"

    def test_motions_have_colours_of_their_own(self, ball, ax):
        for _ in range(2):
            plot_phase(ball, ax, coordinate=0)
        assert ax.lines[0].get_color() == ax.lines[1].get_color() != ax.lines[2].get_color()

    def test_needs_no_system_if_velocities_are_rates(self, ball, ax):
        plot_phase(without_system(ball), ax, coordinate=0)
        assert ax.get_xlabel() == "q0"

    def test_rate_of_a_coordinate_that_is_no_velocity(self, ax):
        """Of the sine of an angle that turns with 1 rad/s, that is its cosine."""
        q = on_circle([0.0, 2.0, 0.1])
        motion = carom.simulate(RodOnCircle(), q, [0.0, 0.0, 1.0], 0.05, carom.Sequential())
        plot_phase(motion, ax, coordinate=3)
        sine, rate = ax.lines[0].get_data()
        known = ~np.isnan(sine)
        np.testing.assert_allclose(rate[known], np.sqrt(1.0 - sine[known] ** 2), rtol=1e-9)
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("q3", "rate of q3")

    def test_unknown_coordinate(self, ball, ax):
        with pytest.raises(
            carom.InvalidOption, match="coordinate: expected an integer from 0 to 0"
        ):
            plot_phase(ball, ax, coordinate=1)


class TestOverview:
    def test_panels(self, block):
        figure = trajectory_overview(block, title="a block")
        labels = ["coordinates [m, rad]", "velocities [m/s, rad/s]", "energy [J]", "impulse [N s]"]
        assert [ax.get_ylabel() for ax in figure.axes] == labels
        assert figure.get_suptitle() == "a block"
        figure.savefig(io.BytesIO(), format="png")

    def test_without_a_system_there_is_no_energy(self, block):
        assert len(trajectory_overview(without_system(block)).axes) == 3

    def test_bundle_has_a_panel_for_each_coordinate(self, bundle):
        figure = bundle_overview(bundle, title="blocks")
        assert [ax.get_ylabel() for ax in figure.axes] == [
            *("x [m]", "y [m]", "angle [rad]"),
            *("x [m/s]", "y [m/s]", "angle [rad/s]"),
        ]
        (legend,) = figure.legends
        words = [text.get_text() for text in legend.get_texts()]
        assert words == ["all motions", "90 %", "50 %", "5 of 5 motions"]
        assert not any(ax.get_legend() for ax in figure.axes)


class TestBundle:
    def test_lines_are_motions(self, bundle, ax):
        assert plot_bundle(bundle, ax, coordinate=2, num_lines=3, label="blocks") is ax
        lines = ax.lines
        assert len(lines) == 3
        times = lines[0].get_xdata()
        expected = bundle.q_at(times)
        for i, line in enumerate(lines):
            np.testing.assert_array_equal(line.get_ydata(), expected[i, :, 2])
        assert legend_words(ax) == ["all motions", "90 %", "50 %", "blocks"]

    def test_velocities(self, bundle, ax):
        plot_bundle(bundle, ax, coordinate=2, of="v", num_lines=1)
        (line,) = ax.lines
        expected = bundle.v_at(line.get_xdata())[0, :, 2]
        np.testing.assert_array_equal(line.get_ydata(), expected)
        assert ax.get_ylabel() == "angle [rad/s]"

    def test_widest_band_holds_all(self, bundle, ax):
        plot_bundle(bundle, ax, coordinate=2)
        (path,) = ax.collections[0].get_paths()
        q = bundle.q_at(ax.lines[0].get_xdata())[:, :, 2]
        assert path.vertices[:, 1].min() == pytest.approx(q.min())
        assert path.vertices[:, 1].max() == pytest.approx(q.max())

    def test_spread(self, bundle, ax):
        assert plot_spread({"one": bundle, "two": bundle}, ax, coordinate=2) is ax
        assert [line.get_label() for line in ax.lines] == ["one", "two"]
        x, y = ax.lines[0].get_data()
        np.testing.assert_array_equal(y, bundle.spread(x)[:, 2])
        assert y.max() > 1e-4
        assert ax.get_ylabel() == "spread of angle [rad]"

    def test_bad_arguments(self, bundle, ax):
        with pytest.raises(carom.InvalidOption, match="coordinate"):
            plot_bundle(bundle, ax, coordinate=3)
        with pytest.raises(carom.InvalidOption, match="at least one"):
            plot_spread({}, ax, coordinate=0)
