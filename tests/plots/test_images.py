"""Figures look as they did when a person last looked at them.

    CAROM_RENEW_IMAGES=1 .venv/bin/python -m pytest tests/plots/test_images.py

writes the pictures in `baseline` anew. Look at every one that changed before you commit it.
"""

import os
import re
from importlib.metadata import version
from pathlib import Path

import matplotlib.style
import pytest
from matplotlib.testing.compare import compare_images
from matplotlib.testing.exceptions import ImageComparisonFailure
from PIL import Image

from carom.plots import style
from tests.plots.drawings import DRAWINGS, film, render

BASELINE = Path(__file__).parent / "baseline"
ROOT = Path(__file__).parents[2]
RENEW = bool(os.environ.get("CAROM_RENEW_IMAGES"))
TOLERANCE = 1.5
"""Root mean square of the difference, in shades of 255: a short word that moves by two pixels makes
more than 4, one mark of another colour 2.4, the few colours of the pictures in `baseline` at most
0.7."""
COLOURS = 256

# Words are set by the FreeType that comes with matplotlib, and differ in another version.
PINNED = re.search(r"^matplotlib==(.+)$", (ROOT / "constraints.txt").read_text(), re.M).group(1)
pytestmark = pytest.mark.skipif(
    version("matplotlib") != PINNED, reason=f"pictures are those of matplotlib {PINNED}"
)


def picture(name):
    """Draw anew: a figure that was drawn before may have been laid out again."""
    if name == "animate":
        return film()
    with matplotlib.style.context("default"):
        return render(DRAWINGS[name]())


def difference(name, image, folder):
    """Return what differs from the picture in `baseline`, in words, or None."""
    path = folder / f"{name}.png"
    image.save(path)
    try:
        return compare_images(BASELINE / f"{name}.png", path, TOLERANCE)
    except ImageComparisonFailure as failure:
        return str(failure)


@pytest.mark.parametrize("name", [*DRAWINGS, "animate"])
def test_looks_as_before(name, tmp_path):
    image = picture(name)
    if RENEW:
        BASELINE.mkdir(exist_ok=True)
        few = image.quantize(COLOURS, dither=Image.Dither.NONE)
        few.save(BASELINE / f"{name}.png", optimize=True)
    assert difference(name, image, tmp_path) is None


def test_every_picture_is_compared():
    assert {path.stem for path in BASELINE.glob("*.png")} == {*DRAWINGS, "animate"}


@pytest.mark.parametrize("name", ["plot_outcomes", "plot_scene", "plot_spread"])
class TestAChangedPictureIsSeen:
    @pytest.fixture
    def figure(self, name):
        with matplotlib.style.context("default"):
            return DRAWINGS[name]()

    @pytest.fixture
    def is_seen(self, name, figure, tmp_path):
        def compare():
            return difference(name, render(figure), tmp_path) is not None

        return compare

    def test_only_if_it_changed(self, figure, is_seen):
        assert not is_seen()

    def test_label_that_moved_by_two_pixels(self, figure, is_seen):
        figure.axes[0].yaxis.labelpad += 2 / figure.dpi * 72
        assert is_seen()

    def test_another_unit(self, figure, is_seen):
        ax = figure.axes[0]
        ax.set_ylabel(ax.get_ylabel().replace("m", "mm").replace("rad", "deg"))
        assert is_seen()

    def test_another_colour(self, figure, is_seen):
        lines = [line for line in figure.axes[0].lines if line.get_color() == style.VERMILLION]
        assert lines
        for line in lines:
            line.set_color(style.GREEN)
        assert is_seen()

    def test_other_limits(self, figure, is_seen):
        low, high = figure.axes[0].get_xlim()
        figure.axes[0].set_xlim(low, high + 0.02 * (high - low))
        assert is_seen()
