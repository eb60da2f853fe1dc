"""Quantities are found by name or direction, and wrong ones are named."""

from dataclasses import replace

import numpy as np
import pytest

import carom
from carom.extremes.quantity import contact_quantities, named, quantities
from tests.reference.ladder import ladder


@pytest.fixture
def gait():
    return carom.scenes.load("compass-gait").problem


@pytest.fixture
def ball():
    """Return a ball in space that hits the floor."""
    return carom.ImpactProblem(
        np.diag([1.0, 1.0, 2.0]), [[0, 0, 1.0]], [[[1.0, 0, 0], [0, 1.0, 0]]], 0.3, [1.0, 2.0, -1.0]
    )


class TestNames:
    @pytest.mark.parametrize(("sign", "minus"), [(1.0, ""), (-1.0, "-")])
    def test_planar(self, gait, sign, minus):
        normal = named(gait, f"{minus}B normal")
        np.testing.assert_array_equal(normal.direction, sign * gait.J_n[1])
        tangential = named(gait, f"{minus}B tangential")
        np.testing.assert_array_equal(tangential.direction, sign * gait.J_t[1, 0])
        assert normal.unit == tangential.unit == "m/s"
        impulse = named(gait, f"{minus}B impulse")
        np.testing.assert_array_equal(impulse.impulse_weights, [0.0, sign])
        assert not impulse.direction.any()
        assert impulse.unit == "N s"
        energy = named(gait, f"{minus}energy kept")
        assert (energy.energy, energy.unit, energy.name) == (sign, "J", f"{minus}energy kept")

    def test_in_space_tangents_have_numbers(self, ball):
        for k in (1, 2):
            found = named(ball, f"A tangent {k}")
            np.testing.assert_array_equal(found.direction, ball.J_t[0, k - 1])
        assert len(contact_quantities(ball)) == 6
        with pytest.raises(carom.InvalidOption, match="'A tangent 1', 'A tangent 2', 'A impulse'"):
            named(ball, "A tangential")

    def test_names_of_contacts_may_hold_blanks(self, gait):
        feet = replace(gait, contacts=("left foot", "right foot"))
        found = named(feet, "-right foot normal")
        np.testing.assert_array_equal(found.direction, -gait.J_n[1])

    @pytest.mark.parametrize("name", ["", "-", "A", "C normal", "A Normal", "--A normal", "energy"])
    def test_unknown_name(self, gait, name):
        with pytest.raises(
            carom.InvalidOption, match=r"direction: expected 'A normal'.*got"
        ) as why:
            named(gait, name)
        assert repr(name) in str(why.value)


class TestDirections:
    def test_default_is_both_sides_of_every_contact_velocity(self, gait):
        found, is_single = quantities(gait, None)
        assert not is_single
        names = [f"{c} {part}" for c in "AB" for part in ("normal", "tangential")]
        assert [each.name for each in found] == [s + name for name in names for s in ("-", "")]

    def test_a_direction_that_is_a_contact_velocity_gets_its_name(self, gait):
        (found,), is_single = quantities(gait, -gait.J_n[1])
        assert (found.name, found.unit, is_single) == ("-B normal", "m/s", True)

    def test_directions_of_the_user_keep_apart(self, gait):
        """Rows of a table go by name, so that two of one name would be one row."""
        found, is_single = quantities(gait, np.eye(4)[:3])
        assert not is_single
        assert [each.name for each in found] == ["direction 0", "direction 1", "direction 2"]
        assert quantities(gait, np.eye(4)[0])[0][0].name == "direction"
        extremes = carom.worst_case(gait, np.eye(4)[:3], max_seconds=1.0)
        assert len(extremes.rows()) == 3

    @pytest.mark.parametrize(
        ("direction", "words"),
        [
            ([1.0, 0.0], r"expected \(4,\), \(k, 4\), a name or names, got shape \(2,\)"),
            (np.zeros((0, 4)), r"got shape \(0, 4\)"),
            (np.zeros((1, 1, 4)), r"got shape \(1, 1, 4\)"),
            ([], r"got shape \(0,\)"),
            (3.0, r"got shape \(\)"),
            ([np.nan, 0, 0, 0], "expected finite numbers"),
            ([1j, 0, 0, 0], "complex"),
            ([[1.0], [1.0, 2.0]], "regular array"),
            (["A normal", 7], "got '7'"),
        ],
    )
    def test_what_is_no_direction_is_refused(self, gait, direction, words):
        with pytest.raises(carom.InvalidOption, match=f"direction: .*{words}"):
            carom.worst_case(gait, direction)


def test_values_are_those_of_the_velocity_after_an_impulse():
    problem = ladder()
    rng = np.random.default_rng(1)
    impulse = rng.normal(size=len(problem.J))
    v = problem.velocity_after(impulse)
    row = rng.normal(size=problem.num_velocities)
    (own,), _ = quantities(problem, row)
    assert own.value(problem, impulse) == pytest.approx(row @ v)
    before = own.value(problem, np.zeros(len(problem.J)))
    assert own.objective(problem) @ impulse + before == pytest.approx(row @ v)
    push = named(problem, f"-{problem.contacts[1]} impulse")
    assert push.value(problem, impulse) == pytest.approx(-impulse[2])
    kept = named(problem, "-energy kept")
    assert kept.value(problem, impulse) == pytest.approx(-0.5 * v @ problem.M @ v)


def test_scale_is_what_the_energy_allows():
    """No velocity of as much energy goes further, and one goes as far."""
    problem = ladder()
    row = np.arange(1.0, 1.0 + problem.num_velocities)
    (own,), _ = quantities(problem, row)
    best = np.linalg.solve(problem.M, row)
    best *= problem.energy_norm / np.sqrt(best @ problem.M @ best)
    assert own.scale(problem) == pytest.approx(row @ best)
    assert named(problem, "energy kept").scale(problem) == pytest.approx(
        float(problem.kinetic_energy(problem.v_pre))
    )
