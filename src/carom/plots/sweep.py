"""Sweeps: lines over one parameter, maps over two, pairs and parallel coordinates over more."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import colormaps
from matplotlib.collections import LineCollection
from matplotlib.colors import Normalize

from carom.errors import InvalidOption
from carom.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAP = "viridis"
NOTHING = "#D9D9D9"
"""Colour of points without a value."""
MOST_LINES = 2000
"""Number of points that parallel coordinates show, evenly taken from all."""
OWN_UNIT = "its own unit"
"""What is said of a parameter or measure whose unit nobody told."""
DOT: style.Marks = {"s": 14.0, "linewidths": 0.0, "cmap": MAP}


def parameters_of(values: Any) -> list[str]:
    """Return the parameters that a measure depends on: dimensions, or coordinates of points."""
    found = [dim for dim in values.dims if dim != "point"]
    if "point" in values.dims:
        found += [
            name
            for name, each in values.coords.items()
            if each.dims == ("point",) and name != "point"
        ]
    return found


def plot_measure(values: Any, ax: Axes, *, x: str | None = None, y: str | None = None) -> Axes:
    """Draw a measure of a sweep over one parameter as a line, or over two as a map.

    Along further parameters of a grid, the largest value is shown. Points without a value are grey.

    Args:
        values: xarray.DataArray of a sweep, whose labels are selected, so that its dimensions are
            parameters only, or `point`.
        ax: Where to draw.
        x: Parameter along the horizontal axis; default: the first.
        y: Parameter along the vertical axis; default: the second, if there is one.

    Examples:
        >>> import tempfile
        >>> import carom
        >>> from matplotlib.figure import Figure
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     data = carom.sweep(
        ...         "rocking-block", {"mu": [0.2, 0.6, 1.0]}, ["ambiguity"], out=folder, workers=1,
        ...         units={"mu": "1"})
        ...     ax = carom.plots.plot_measure(data.ambiguity, Figure().subplots())
        >>> ax.get_xlabel(), len(ax.lines[0].get_xdata())
        ('mu [1]', 3)
    """
    names = parameters_of(values)
    x = x or (names[0] if names else None)
    others = [name for name in names if name != x]
    y = y or (others[0] if others else None)
    if x not in names or (y is not None and y not in others):
        raise InvalidOption(f"x, y: expected two of {', '.join(names)}, got {x} and {y}")
    if "point" in values.dims:
        _draw_points(values, ax, x, y)
    elif y is None:
        (line,) = ax.plot(_places(values, x), np.asarray(values, dtype=np.float64), **style.line(0))
        line.set(marker=".", markersize=4)
        ax.set(xlabel=_label(values, x), ylabel=_title(values))
        _tick(ax.xaxis, values, x)
    else:
        _draw_map(values, ax, x, y)
    return ax


def _draw_map(values: Any, ax: Axes, x: str, y: str) -> None:
    """Draw a map, with the largest value along what is neither x nor y."""
    rest = [dim for dim in values.dims if dim not in (x, y)]
    table = values.astype(float).max(rest).transpose(y, x)
    ax.set_facecolor(NOTHING)
    mesh = ax.pcolormesh(
        _places(values, x),
        _places(values, y),
        np.asarray(table),
        cmap=MAP,
        shading="nearest",
        # Else hairlines show between cells.
        edgecolors="face",
    )
    mesh.set(rasterized=True, linewidth=0.0)
    _finish(ax, mesh, values, x, y)


def _draw_points(values: Any, ax: Axes, x: str, y: str | None) -> None:
    """Draw a mark per point: its value as a height, or as a colour."""
    height = np.asarray(values, dtype=np.float64)
    if y is None:
        ax.plot(_places(values, x), height, linestyle="none", marker=".", color=style.BLUE)
        ax.set(xlabel=_label(values, x), ylabel=_title(values))
        _tick(ax.xaxis, values, x)
        return
    known = np.isfinite(height)
    across, up = _places(values, x), _places(values, y)
    ax.scatter(across[~known], up[~known], color=NOTHING, s=DOT["s"], linewidths=0.0)
    dots = ax.scatter(across[known], up[known], c=height[known], **DOT)
    _finish(ax, dots, values, x, y)


def _finish(ax: Axes, drawn: Any, values: Any, x: str, y: str) -> None:
    figure = ax.figure
    figure.colorbar(drawn, ax=ax, label=_title(values))
    ax.set(xlabel=_label(values, x), ylabel=_label(values, y))
    _tick(ax.xaxis, values, x)
    _tick(ax.yaxis, values, y)


def plot_parallel(values: Any, ax: Axes) -> Axes:
    """Draw a measure over many parameters: one line per point, coloured by the value.

    Args:
        values: xarray.DataArray of a sweep, whose dimensions are parameters only, or `point`.
        ax: Where to draw.

    Examples:
        >>> import tempfile
        >>> import carom
        >>> from matplotlib.figure import Figure
        >>> over = {"mu": [0.2, 1.0], "speed": [0.5, 1.0], "height": [1.0, 2.0]}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     data = carom.sweep("rocking-block", over, ["ambiguity"], out=folder, workers=1)
        ...     ax = carom.plots.plot_parallel(data.ambiguity, Figure().subplots())
        >>> [tick.get_text().split()[0] for tick in ax.get_xticklabels()]
        ['mu', 'speed', 'height']
    """
    names = parameters_of(values)
    columns = [_places(values, name) for name in names]
    if "point" not in values.dims:
        columns = [np.ravel(each) for each in np.meshgrid(*columns, indexing="ij")]
    height = np.asarray(values, dtype=np.float64).ravel()
    # Evenly, and those without a value are left out.
    known = np.flatnonzero(np.isfinite(height))
    known = known[:: max(1, len(known) // MOST_LINES)]
    known = known[np.argsort(height[known], kind="stable")]
    shares = [_share(column)[known] for column in columns]
    places = np.broadcast_to(np.arange(len(names)), (len(known), len(names)))
    rows = np.stack([places, np.stack(shares, axis=1)], axis=2)
    lines = LineCollection([*rows], cmap=colormaps[MAP], norm=Normalize(), linewidths=0.8)
    lines.set_array(height[known])
    lines.set(alpha=0.6, rasterized=True)
    ax.add_collection(lines)
    ax.figure.colorbar(lines, ax=ax, label=_title(values))
    ax.set_xticks(range(len(names)), [_label(values, name) for name in names])
    ax.set(xlim=(-0.05, len(names) - 0.95), ylim=(-0.02, 1.02))
    ax.set(xlabel="parameters [their own units]", ylabel="share of the parameter's range [1]")
    return ax


def _share(column: Any) -> Any:
    low, high = column.min(), column.max()
    return (column - low) / ((high - low) or 1.0)


def slices(values: Any, parameters: tuple[str, ...]) -> list[tuple[str, Any]]:
    """Return a measure at each of its labels, such as that of contact A, with the labels."""
    labels = [dim for dim in values.dims if dim not in parameters]
    combinations = product(*(np.asarray(values[dim]).tolist() for dim in labels))
    found = []
    for combination in combinations:
        chosen = dict(zip(labels, combination, strict=True))
        found.append((", ".join(map(str, combination)), values.sel(chosen)))
    return found


def _places(values: Any, name: str) -> Any:
    """Return where values of a parameter are along an axis: numbers themselves, words by turn."""
    column = np.asarray(values[name])
    if column.dtype.kind in "iufb":
        return column.astype(np.float64)
    return np.unique(column, return_inverse=True)[1].astype(np.float64)


def _tick(axis: Any, values: Any, name: str) -> None:
    column = np.asarray(values[name])
    if column.dtype.kind not in "iufb":
        words = np.unique(column)
        axis.set_ticks(range(len(words)), [style.literal(str(word)) for word in words])


def _label(values: Any, name: str) -> str:
    unit = values[name].attrs.get("units", "")
    return style.literal(f"{name} [{unit or OWN_UNIT}]")


def _title(values: Any) -> str:
    unit = values.attrs.get("units", "")
    name = str(values.name).replace("_", " ")
    return style.literal(f"{name} [{unit or OWN_UNIT}]")
