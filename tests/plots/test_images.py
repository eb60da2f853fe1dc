"""A few figures look as they did when a person last looked at them.

    CAROM_RENEW_IMAGES=1 .venv/bin/python -m pytest tests/plots/test_images.py

writes the pictures in `baseline` anew. Look at every one that changed before you commit it.
What figures show is tested by their artists elsewhere.
"""

import os
import re
import shutil
from importlib.metadata import version
from pathlib import Path

import matplotlib.style
import pytest
from matplotlib.testing.compare import compare_images

from carom.plots import style
from tests.plots.drawings import DRAWINGS, render

BASELINE = Path(__file__).parent / "baseline"
ROOT = Path(__file__).parents[2]
TOLERANCE = 1.5
"""Root mean square of the difference, in shades of 255: a short word that moves by two pixels makes
more than 4, one mark of another colour 2.4."""
NAMES = ("outcomes_overview", "plot_bundle", "plot_extremes", "plot_outcomes", "plot_scene")
NAMES += ("trajectory_overview",)

# Words are set by the FreeType that comes with matplotlib, and differ in another version.
PINNED = re.search(r"^matplotlib==(.+)$", (ROOT / "constraints.txt").read_text(), re.M).group(1)
pytestmark = pytest.mark.skipif(
    version("matplotlib") != PINNED, reason=f"pictures are those of matplotlib {PINNED}"
)


def difference(name, figure, folder):
    """Return what differs from the picture in `baseline`, in words, or None."""
    path = folder / f"{name}.png"
    render(figure).save(path, optimize=True)
    if os.environ.get("CAROM_RENEW_IMAGES"):
        shutil.copy(path, BASELINE)
    return compare_images(BASELINE / f"{name}.png", path, TOLERANCE)


@pytest.fixture
def figure(name):
    """Draw anew: a figure that was drawn before may have been laid out again."""
    with matplotlib.style.context("default"):
        return DRAWINGS[name]()


@pytest.mark.parametrize("name", NAMES)
def test_looks_as_before(name, figure, tmp_path):
    assert difference(name, figure, tmp_path) is None


@pytest.mark.skipif("CAROM_RENEW_IMAGES" in os.environ, reason="pictures are written anew")
@pytest.mark.parametrize("name", ["plot_outcomes", "plot_scene"])
def test_a_mark_of_another_colour_is_seen(name, figure, tmp_path):
    lines = [line for line in figure.axes[0].lines if line.get_color() == style.VERMILLION]
    assert lines
    for line in lines:
        line.set_color(style.GREEN)
    assert difference(name, figure, tmp_path) is not None
