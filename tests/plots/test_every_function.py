"""What all functions that draw have in common: how they are called, labels, units, no windows."""

import inspect
import re
import subprocess
import sys

import pytest

from carom import plots
from tests.plots.drawings import DRAWINGS, draw

PLOTS = sorted(name for name in plots.__all__ if name.startswith("plot_"))
UNIT = re.compile(r"\S+ \[.+\]$")


def test_every_function_has_a_drawing():
    """Tests that look at all drawings look at all functions."""
    functions = {*plots.__all__} - {"animate", "sweep_page", "thumbnail"} | {"plot_sweep"}
    assert {name.split("-")[0] for name in DRAWINGS} == functions


@pytest.mark.parametrize("name", PLOTS)
def test_what_is_drawn_comes_first_then_ax_then_options(name):
    parameters = list(inspect.signature(getattr(plots, name)).parameters.values())
    place = [each.name for each in parameters].index("ax")
    assert place > 0
    for each in parameters[: place + 1]:
        assert each.kind is each.POSITIONAL_OR_KEYWORD
        assert each.default is each.empty
    assert all(each.kind is each.KEYWORD_ONLY for each in parameters[place + 1 :])


@pytest.mark.parametrize("name", plots.__all__)
def test_docstring_explains_all_and_shows_how(name):
    function = getattr(plots, name)
    signature, text = inspect.signature(function), inspect.getdoc(function)
    assert re.match(r"(Draw|Animate) .*\.\n", text)
    for parameter in signature.parameters:
        assert re.search(rf"^    {parameter}: \S", text, re.M), f"{parameter} is not explained"
    assert ">>> " in text.split("\nExamples:\n")[1]
    assert re.search(rf"carom\.plots\.{name}\(", text)


@pytest.mark.parametrize("name", DRAWINGS)
def test_axes_have_labels_with_units(name):
    for ax in draw(name).axes:
        # Rows of body velocities and of extremes have names; their unit is below them.
        has_rows = "body" in ax.get_xlabel() or "extremes" in name
        assert UNIT.search(ax.get_ylabel()) or has_rows
        # Panels below each other share the lowest one's label.
        lowest = min(ax.get_shared_x_axes().get_siblings(ax), key=lambda each: each.bbox.y0)
        assert UNIT.search(lowest.get_xlabel()) or "colorbar" in ax.get_label()


@pytest.mark.parametrize("name", DRAWINGS)
def test_words_lie_within_the_figure_and_apart(name):
    """No label is cut off, and a legend hides no label."""
    figure = draw(name)
    figure.draw_without_rendering()
    for ax in figure.axes:
        labels = [ax.xaxis.label, ax.yaxis.label]
        extents = [label.get_window_extent() for label in labels if label.get_text()]
        legend = ax.get_legend()
        for extent in extents:
            assert figure.bbox.x0 <= extent.x0 <= extent.x1 <= figure.bbox.x1
            assert figure.bbox.y0 <= extent.y0 <= extent.y1 <= figure.bbox.y1
            assert legend is None or not extent.overlaps(legend.get_window_extent())


def test_no_window_and_no_state_of_pyplot():
    """Neither the functions nor a figure that is written load pyplot."""
    code = (
        "import io, sys, carom\n"
        "block = carom.scenes.load('rocking-block').problem\n"
        "figure = carom.plots.outcomes_overview(carom.Sequential().resolve(block))\n"
        "figure.savefig(io.BytesIO(), format='png')\n"
        "print('matplotlib.pyplot' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
