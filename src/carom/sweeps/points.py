"""The points of a sweep: a grid, a list, or a design of scipy.stats.qmc."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from carom import checks
from carom.errors import InvalidOption

Value = bool | int | float | str | tuple[float, ...]
"""Value of a parameter: a number, a word, or a vector such as a configuration."""
Point = dict[str, Any]

POINT = "point"
"""Dimension of a list of points."""


@dataclass(frozen=True)
class Points:
    """Hold the points of a sweep, in the order of their indices.

    Attributes:
        columns: Values of each parameter: along its axis of a grid, or of every point of a list.
        constants: Values of the parameters that are the same for all points.
        is_grid: Whether points are all combinations, the last parameter varying fastest.
    """

    columns: dict[str, tuple[Value, ...]]
    constants: dict[str, Value]
    is_grid: bool

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Return the lengths of the dimensions."""
        lengths = [len(column) for column in self.columns.values()]
        return tuple(lengths) if self.is_grid else tuple(lengths[:1])

    @property
    def dims(self) -> tuple[str, ...]:
        """Return the names of the dimensions."""
        return tuple(self.columns) if self.is_grid else (POINT,)

    def __len__(self) -> int:
        return math.prod(self.shape)

    def __getitem__(self, index: int) -> Point:
        """Return the arguments of one point; vectors as arrays."""
        places: Sequence[Any] = (
            np.unravel_index(index, self.shape) if self.is_grid else [index] * len(self.columns)
        )
        point = {n: c[int(k)] for (n, c), k in zip(self.columns.items(), places, strict=True)}
        point |= self.constants
        return {n: np.array(v) if isinstance(v, tuple) else v for n, v in point.items()}


def check_points(parameters: Any) -> Points:
    """Return the points that a user describes."""
    if isinstance(parameters, Mapping):
        return _grid(parameters)
    if isinstance(parameters, Sequence) and not isinstance(parameters, str):
        return _list(parameters)
    raise InvalidOption(
        f"parameters: expected a dict of values or a list of dicts, got a "
        f"{type(parameters).__name__}"
    )


def _grid(parameters: Mapping[Any, Any]) -> Points:
    columns: dict[str, tuple[Value, ...]] = {}
    constants: dict[str, Value] = {}
    for name, values in parameters.items():
        _check_name(name)
        if isinstance(values, str) or np.ndim(values) == 0:
            constants[name] = _value(name, values)
        else:
            columns[name] = tuple(_value(name, value) for value in values)
            if not columns[name]:
                raise InvalidOption(f"parameters: {name} has no values")
            if len(set(columns[name])) < len(columns[name]):
                raise InvalidOption(f"parameters: {name} has the same value twice")
    if not columns:
        raise InvalidOption("parameters: expected at least one with a list of values")
    return Points(columns, constants, True)


def _list(points: Sequence[Any]) -> Points:
    if not points or not all(isinstance(point, Mapping) and point for point in points):
        raise InvalidOption("parameters: expected points, each a dict of values by name")
    names = tuple(points[0])
    for i, point in enumerate(points):
        if set(point) != set(names):
            got = ", ".join(map(str, point))
            raise InvalidOption(f"parameters: expected {', '.join(names)} at point {i}, got {got}")
    columns = {_check_name(n): tuple(_value(n, point[n]) for point in points) for n in names}
    return Points(columns, {}, False)


def _check_name(name: Any) -> str:
    if not isinstance(name, str) or not name.isidentifier() or name == POINT:
        raise InvalidOption(f"parameters: expected names of arguments, got {name!r}")
    return name


def _value(name: str, value: Any) -> Value:
    """Return a value of plain Python, which a file keeps to the last bit."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str | bool) or checks.is_number(value):
        plain: Value = value
        return plain
    if isinstance(value, str) or np.ndim(value) != 1:
        raise InvalidOption(f"parameters: expected numbers, words or vectors for {name}")
    return tuple(float(x) for x in checks.floats(f"parameters: {name}", value))


def design(sampler: Any, ranges: Mapping[str, tuple[float, float]], num: int) -> list[Point]:
    """Return points of a design of scipy.stats.qmc, for `carom.sweep`.

    Args:
        sampler: A `scipy.stats.qmc.QMCEngine` of as many dimensions as there are ranges, such as
            `qmc.Sobol(2, seed=0)`.
        ranges: Least and largest value of each parameter.
        num: Number of points.

    Examples:
        >>> from scipy.stats import qmc
        >>> from carom.sweeps import design
        >>> points = design(qmc.Halton(2, scramble=False), {"mu": (0, 1), "speed": (1, 3)}, 2)
        >>> points[1]["mu"], round(points[1]["speed"], 3)
        (0.5, 1.667)
    """
    low, high = (
        np.array([float(ends[side]) for ends in ranges.values()], dtype=np.float64)
        for side in (0, 1)
    )
    rows = np.asarray(sampler.random(checks.integer("num", num, 1)))
    if rows.shape[1] != len(ranges):
        raise InvalidOption(
            f"sampler: expected one of {len(ranges)} dimensions, got one of {rows.shape[1]}"
        )
    rows = low + rows * (high - low)
    return [dict(zip(ranges, row.tolist(), strict=True)) for row in rows]
