"""Sweeps as files: TOML, with errors that name the line."""

from __future__ import annotations

import inspect
import re
import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import qmc

from carom import checks, scenes
from carom.errors import CaromError, InvalidFile, InvalidOption
from carom.laws.law import ImpactLaw
from carom.sweeps.law import ExactOrSampled
from carom.sweeps.measures import MEASURES, WORST_CASE, WorstCase
from carom.sweeps.points import design

LAWS = {
    "ExactOrSampled": "carom.sweeps.law",
    "Routh": "carom.laws.routh",
    "RouthExact": "carom.laws.routh_exact",
    "AnitescuPotra": "carom.laws.anitescu_potra",
    "Sequential": "carom.laws.sequential",
    "RouthSingle": "carom.laws.routh_single",
}
"""Laws that a file may name, by their modules."""
DESIGNS = {"sobol": qmc.Sobol, "halton": qmc.Halton, "latin-hypercube": qmc.LatinHypercube}

SCHEMA: dict[str, tuple[type | tuple[type, ...], str]] = {
    "problem": (str, "the name of a scene, or module:function"),
    "measures": (list, "a list of names, such as 'contact_bounds', or module:function"),
    "seed": (int, "an integer"),
    "unit_size": (int, "an integer"),
    "parameters": (dict, "a table of values"),
    "design": (dict, "a table with method and num"),
    "worst_case": (dict, "a table of directions by name"),
    "law": (dict, "a table with the name and the options of a law"),
    "units": (dict, "a table of words"),
}
"""Entries of a file: their types, and what is expected in words."""
REQUIRED = ("problem", "measures", "parameters")


@dataclass(frozen=True, eq=False)
class Spec:
    """A sweep as a file describes it; the fields are arguments of `carom.sweep`."""

    problem_of: Any
    parameters: Any
    measures: dict[str, Any]
    law: ImpactLaw | None
    seed: int
    unit_size: int | None
    units: dict[str, str]


def read_spec(path: str | Path) -> Spec:
    """Read a sweep from a TOML file.

    Raises:
        InvalidFile: Something in the file is wrong; the message begins with its line.
    """
    return _Reader(Path(path)).read()


class _Wrong(Exception):
    """What is wrong with an entry, by its keys."""

    def __init__(self, keys: tuple[str, ...], message: str) -> None:
        super().__init__(message)
        self.keys = keys


class _Reader:
    """Read one file; every error names the line of the entry that it is about."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.text = path.read_text(encoding="utf-8")
            self.tree: dict[str, Any] = tomllib.loads(self.text)
        except UnicodeDecodeError as error:
            raise InvalidFile(f"{path}: expected a TOML file ({error})") from error
        except tomllib.TOMLDecodeError as error:
            found = re.search(r"line (\d+)", str(error))
            line = f":{found[1]}" if found else ""
            raise InvalidFile(f"{path}{line}: {error}") from error

    def read(self) -> Spec:
        try:
            self._check_entries()
            # Functions stand in modules beside the file; worker processes inherit this path.
            folder = str(self.path.parent.absolute())
            if folder not in sys.path:
                sys.path.insert(0, folder)
            seed = self._of("seed", lambda: checks.integer("seed", self.tree.get("seed", 0), 0))
            return Spec(
                problem_of=self._problem(),
                parameters=self._parameters(seed),
                measures=self._measures(),
                law=self._law(),
                seed=seed,
                unit_size=self.tree.get("unit_size"),
                units={key: str(word) for key, word in self.tree.get("units", {}).items()},
            )
        except _Wrong as wrong:
            line = line_of(self.text, wrong.keys)
            where = f"{self.path}:{line}: {'.'.join(wrong.keys)}" if wrong.keys else f"{self.path}"
            raise InvalidFile(f"{where}: {wrong}") from wrong.__cause__

    def _of(self, key: str, make: Callable[[], Any]) -> Any:
        """Return what is made of an entry; errors name it."""
        try:
            return make()
        except CaromError as error:
            raise _Wrong((key,), str(error)) from error

    def _check_entries(self) -> None:
        for key, value in self.tree.items():
            if key not in SCHEMA:
                raise _Wrong((key,), f"expected one of {', '.join(SCHEMA)}")
            kind, words = SCHEMA[key]
            if not isinstance(value, kind) or isinstance(value, bool):
                raise _Wrong((key,), f"expected {words}, got {value!r}")
        missing = [key for key in REQUIRED if key not in self.tree]
        if missing:
            raise _Wrong((), f"misses {', '.join(missing)}")

    def _problem(self) -> Any:
        given = self.tree["problem"]
        if ":" in given:
            return _function(("problem",), given)
        if given not in scenes.names():
            self._of("problem", lambda: scenes.load(given))
        return given

    def _parameters(self, seed: int) -> Any:
        table = self.tree["parameters"]
        if "design" not in self.tree:
            return {key: _values(("parameters", key), value) for key, value in table.items()}
        asked = self.tree["design"]
        for key in asked:
            if key not in ("method", "num"):
                raise _Wrong(("design", key), "expected one of method, num")
        method = asked.get("method", "sobol")
        if method not in DESIGNS:
            expected = f"expected one of {', '.join(DESIGNS)}, got {method!r}"
            raise _Wrong(("design", "method"), expected)
        ranges = {key: _range(("parameters", key), value) for key, value in table.items()}
        maker = DESIGNS[method]
        # SciPy renamed this argument.
        name = "rng" if "rng" in inspect.signature(maker).parameters else "seed"
        sampler = maker(len(ranges), **{name: np.random.default_rng(seed)})
        return self._of("design", lambda: design(sampler, ranges, asked.get("num")))

    def _measures(self) -> dict[str, Any]:
        chosen: dict[str, Any] = {}
        for name in self.tree["measures"]:
            if isinstance(name, str) and ":" in name:
                function = _function(("measures",), name)
                chosen[function.__name__] = function
            elif name == WORST_CASE:
                chosen[name] = WorstCase(self.tree.get("worst_case"))
            elif name in MEASURES:
                chosen[name] = name
            else:
                known = ", ".join((*MEASURES, WORST_CASE))
                raise _Wrong(("measures",), f"expected {known} or module:function, got {name!r}")
        if "worst_case" in self.tree and WORST_CASE not in chosen:
            raise _Wrong(("worst_case",), "expected 'worst_case' among the measures too")
        return chosen

    def _law(self) -> ImpactLaw | None:
        if "law" not in self.tree:
            return None
        options = dict(self.tree["law"])
        name = options.pop("name", ExactOrSampled.__name__)
        if name not in LAWS:
            raise _Wrong(("law", "name"), f"expected one of {', '.join(LAWS)}, got {name!r}")
        law = getattr(import_module(LAWS[name]), name)
        known = inspect.signature(law).parameters
        for key, value in options.items():
            if key not in known:
                raise _Wrong(("law", key), f"expected an option of {name}: {', '.join(known)}")
            if isinstance(value, list):
                options[key] = tuple(value)
        try:
            made = law(**options)
            assert isinstance(made, ImpactLaw)
            return made
        except InvalidOption as error:
            # An error begins with the option that it is about.
            option, _, message = str(error).partition(": ")
            raise _Wrong(("law", option), message) from error


def _function(keys: tuple[str, ...], name: str) -> Any:
    """Import module:function."""
    module, _, function = name.partition(":")
    try:
        found = getattr(import_module(module), function)
    except (ImportError, AttributeError) as error:
        raise _Wrong(keys, f"expected module:function, got {name!r} ({error})") from error
    if not callable(found):
        raise _Wrong(keys, f"expected a function, got {name!r}")
    return found


def _values(keys: tuple[str, ...], value: Any) -> Any:
    """Return a list of values, a constant, or what lies between two ends."""
    if not isinstance(value, dict):
        return value
    low, high = _range(keys, value)
    num = value.get("num")
    if not isinstance(num, int) or num < 2:
        raise _Wrong(keys, f"expected num, an integer >= 2, got {num!r}")
    if value.get("scale", "linear") == "log":
        if low <= 0.0:
            raise _Wrong(keys, f"expected from > 0 for a log scale, got {low:g}")
        return np.geomspace(low, high, num)
    return np.linspace(low, high, num)


def _range(keys: tuple[str, ...], value: Any) -> tuple[float, float]:
    """Return both ends of a range, which is a table with from and to."""
    if not isinstance(value, dict):
        raise _Wrong(keys, f"expected {{ from = …, to = … }}, got {value!r}")
    for key in value:
        if key not in ("from", "to", "num", "scale"):
            raise _Wrong(keys, f"expected from, to, num or scale, got {key}")
    if value.get("scale", "linear") not in ("linear", "log"):
        raise _Wrong(keys, f"expected scale to be 'linear' or 'log', got {value['scale']!r}")
    ends: tuple[Any, Any] = value.get("from"), value.get("to")
    if not all(checks.is_number(end) for end in ends) or not ends[0] < ends[1]:
        raise _Wrong(keys, f"expected from < to, two numbers, got {ends[0]!r} and {ends[1]!r}")
    return float(ends[0]), float(ends[1])


def line_of(text: str, keys: tuple[str, ...]) -> int:
    """Return the line of an entry, or of the innermost table around it that is found."""
    best, depth, table = 1, 0, tuple[str, ...]()
    for number, line in enumerate(text.splitlines(), start=1):
        header = re.match(r"\s*\[+\s*([^\]]+?)\s*\]+", line)
        entry = re.match(r"\s*((?:\"[^\"]*\"|'[^']*'|[\w.-])+)\s*=", line)
        if header:
            table = found = tuple(_bare(part) for part in header[1].split("."))
        elif entry:
            found = table + tuple(_bare(part) for part in entry[1].split("."))
        else:
            continue
        if len(found) > depth and found == keys[: len(found)]:
            best, depth = number, len(found)
    return best


def _bare(key: str) -> str:
    return key.strip().strip("\"'")
