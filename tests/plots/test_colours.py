"""Colours are told apart by people with any colour vision.

Vision without one kind of cones is simulated [Machado, Oliveira and Fernandes 2009, Table 1]: a
matrix for linear RGB. What is left between two colours is a distance in CIE L*a*b*, where 2.3 is
just seen. Marks of different shapes are told apart by those.
"""

from itertools import combinations

import numpy as np
import pytest
from matplotlib.colors import to_rgb, to_rgba

from carom.plots import style
from tests.plots.drawings import DRAWINGS, draw

LEAST = 15.0
"""Of the distance between colours that alone tell two marks apart: more than six steps."""

VISIONS = {
    "all cones": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
# From linear sRGB to XYZ, and the white of D65 [IEC 61966-2-1].
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
every_vision = pytest.mark.parametrize("vision", VISIONS)


def seen(color, vision):
    """Return L*, a* and b* of a colour as it is seen."""
    rgb = np.array(to_rgb(color))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    x, y, z = _cube_root(XYZ @ np.clip(VISIONS[vision] @ linear, 0.0, 1.0) / XYZ.sum(axis=1))
    return np.array([116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)])


def _cube_root(t):
    return np.where(t > (6 / 29) ** 3, np.cbrt(t), t / (3 * (6 / 29) ** 2) + 4 / 29)


def distance(one, other, vision):
    return float(np.linalg.norm(seen(one, vision) - seen(other, vision)))


def over_white(color):
    """Return a colour that lets white paper through."""
    *rgb, alpha = to_rgba(color)
    return tuple(alpha * np.array(rgb) + 1.0 - alpha)


def shapes(ax):
    """Return what is drawn, (shape, colour): marks, lines with their dashes, and areas."""
    found = set()
    for line in ax.lines:
        marker = line.get_marker()
        has_marker = marker not in ("None", None)
        shape = f"mark {marker}" if has_marker else f"line {line._unscaled_dash_pattern}"
        found.add((shape, to_rgb(line.get_color())))
    for patch in ax.patches:
        # Bodies have a dark outline, and are told apart by their place.
        if patch.get_edgecolor() != to_rgba(style.BODY["edgecolor"]):
            found.add((f"area {patch.get_hatch()}", over_white(patch.get_facecolor())))
    for collection in ax.collections:
        found |= {("line (0, None)", to_rgb(color)) for color in collection.get_edgecolor()[:1]}
    return found


class TestSimulation:
    @every_vision
    def test_greys_stay_as_they_are(self, vision):
        for grey in ("white", "#808080", "black"):
            np.testing.assert_allclose(seen(grey, vision), seen(grey, "all cones"), atol=1e-3)

    def test_of_known_colours(self):
        """Pure red and white have published coordinates."""
        np.testing.assert_allclose(seen("white", "all cones"), [100.0, 0.0, 0.0], atol=0.02)
        np.testing.assert_allclose(seen("#FF0000", "all cones"), [53.2, 80.1, 67.2], atol=0.1)

    @pytest.mark.parametrize(
        ("one", "other", "vision"),
        [
            ("darkgreen", "red", "protanopia"),
            ("firebrick", "green", "deuteranopia"),
            ("lemonchiffon", "yellow", "tritanopia"),
        ],
    )
    def test_pairs_that_are_taken_for_one_another(self, one, other, vision):
        """The test can fail: these are told apart with all cones and not without some."""
        assert distance(one, other, "all cones") > 4 * LEAST
        assert distance(one, other, vision) < LEAST


def pairs_of_one_shape(name):
    """Return the colours (one, other) of what only these tell apart on an ax of a drawing."""
    drawn = [shapes(ax) for ax in draw(name).axes]
    assert all(drawn)
    pairs = [pair for found in drawn for pair in combinations(sorted(found), 2)]
    return [(one, other) for (shape, one), (other_shape, other) in pairs if shape == other_shape]


@every_vision
@pytest.mark.parametrize("name", DRAWINGS)
def test_what_has_one_shape_differs_in_colour(name, vision):
    pairs = pairs_of_one_shape(name)
    assert [pair for pair in pairs if distance(*pair, vision) <= LEAST] == []


def test_most_drawings_have_lines_or_marks_that_only_colours_tell_apart():
    """Else the test of their colours would hold of nothing."""
    compared = {name for name in DRAWINGS if pairs_of_one_shape(name)}
    assert compared >= {"plot_states", "plot_rates", "plot_impulses", "plot_scene", "plot_spread"}


@every_vision
def test_lines_before_markers_differ(vision):
    """So do they from the dark line of dt/ds and from white paper."""
    for one, other in combinations([*style.CYCLE, style.DARK, "white"], 2):
        assert distance(one, other, vision) > LEAST, f"{one} and {other}"


def test_lines_beyond_the_colours_differ_in_markers():
    looks = [style.line(i) for i in range(len(style.CYCLE) * len(style.MARKERS))]
    assert len({(look["color"], look.get("marker")) for look in looks}) == len(looks) == 56


def test_marks_of_laws_differ_in_shape():
    """Their colours help, but nobody needs them: and all have a black edge."""
    marks = [style.BEFORE, style.FIRST, style.SECOND, style.SIMULTANEOUS, style.SET]
    assert len({each["marker"] for each in marks}) == len(marks)
    assert all(each["markeredgecolor"] == style.BLACK for each in marks[:-1])


@every_vision
def test_contacts_that_touch_differ_from_those_apart(vision):
    """Their marks have one shape: filled, or as white as paper."""
    assert style.TOUCHING["marker"] == style.APART["marker"]
    assert distance(style.TOUCHING["color"], style.APART["color"], vision) > LEAST
