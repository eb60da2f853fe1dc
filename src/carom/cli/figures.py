"""Figures of the command line, which does without them where matplotlib is missing."""

from __future__ import annotations

import io
from types import ModuleType
from typing import TYPE_CHECKING

from carom.cli.console import warn
from carom.errors import MissingExtra

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DPI = 200


def load_plots() -> ModuleType | None:
    """Return carom.plots; nothing, but a word, without matplotlib."""
    try:
        from carom import plots
    except MissingExtra as error:
        warn(f"no figure: {error}")
        return None
    return plots


def png(figure: Figure) -> bytes:
    """Return a figure as the content of a file."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=DPI)
    return buffer.getvalue()
