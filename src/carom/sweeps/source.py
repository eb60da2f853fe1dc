"""Where the problems of a sweep come from: a function, a scene by name, or a system with states."""

from __future__ import annotations

import hashlib
import importlib
import inspect
import pickle
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

from carom import scenes
from carom.errors import InvalidOption, InvalidProblem
from carom.problem import ImpactProblem
from carom.sweeps.points import Point
from carom.systems.system import System

STATE = ("q", "v")
"""Parameters of a system."""
DIGITS = 16
"""Number of hexadecimal digits of a hash that is kept."""

ProblemOf = Callable[..., Any] | str | System


@dataclass(frozen=True, eq=False)
class Source:
    """Pose the problem of each point.

    Attributes:
        given: Function of the parameters, name of a scene, or system.
    """

    given: ProblemOf

    def pose(self, point: Point) -> ImpactProblem:
        """Return the problem of a point."""
        if isinstance(self.given, System):
            posed: Any = self.given.impact_problem(point["q"], point["v"])
        elif isinstance(self.given, str):
            posed = scenes.load(self.given, **point)
        else:
            posed = self.given(**point)
        problem = posed.problem if isinstance(posed, scenes.Scene) else posed
        if not isinstance(problem, ImpactProblem):
            kind = type(posed).__name__
            raise InvalidProblem(f"problem_of: expected an ImpactProblem or a Scene, got a {kind}")
        return problem

    def check(self, names: Iterable[str]) -> None:
        """Refuse what takes no such parameters, before any work."""
        names = tuple(names)
        if isinstance(self.given, System):
            if set(names) != set(STATE):
                raise InvalidOption(f"parameters: a system takes q and v, got {', '.join(names)}")
            return
        if not callable(self.given) and not isinstance(self.given, str):
            raise InvalidOption(
                f"problem_of: expected a function, the name of a scene or a System, got a "
                f"{type(self.given).__name__}"
            )
        function = self._maker() if isinstance(self.given, str) else self.given
        try:
            inspect.signature(function).bind(**dict.fromkeys(names))
        except TypeError as error:
            raise InvalidOption(f"parameters: problem_of takes others: {error}") from error
        except ValueError:
            # Some functions of compiled modules have no signature.
            return

    def describe(self) -> dict[str, Any]:
        """Return what is known of the origin: names, and a hash of the source."""
        if isinstance(self.given, str):
            return {"scene": self.given}
        if isinstance(self.given, System):
            return {"system": _name(type(self.given)), "hash": _hash(_dumps(self.given))}
        return describe_function(self.given)

    def _maker(self) -> Callable[..., Any]:
        assert isinstance(self.given, str)
        if self.given not in scenes.names():
            scenes.load(self.given)  # which says what is wrong
        module = importlib.import_module(f"carom.scenes.{self.given.replace('-', '_')}")
        make: Callable[..., Any] = module.make
        return make


def describe_function(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the name of a function and a hash of its own source; what it calls is not known."""
    if isinstance(function, partial):
        given = {"arguments": repr((function.args, sorted(function.keywords.items())))}
        return describe_function(function.func) | given
    plain = inspect.unwrap(function)
    if not hasattr(plain, "__qualname__"):
        # An object that can be called: its class is its source.
        return {"function": _name(type(plain)), "source": _source(type(plain))}
    return {"function": _name(plain), "source": _source(plain)}


def _name(thing: Any) -> str:
    module = thing.__module__
    if module == "__main__":
        # The same script may be a main program here and a module there.
        module = getattr(getattr(sys.modules["__main__"], "__spec__", None), "name", module)
    return f"{module}:{thing.__qualname__}"


def _source(thing: Any) -> str:
    """Return a hash of the source, or an empty word where there is none, as in a console."""
    try:
        return _hash(inspect.getsource(thing).encode())
    except (OSError, TypeError):
        return ""


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:DIGITS]


def _dumps(thing: Any) -> bytes:
    try:
        return pickle.dumps(thing)
    except Exception as error:  # Objects may raise anything here.
        raise InvalidOption(
            f"problem_of: expected a system that can be pickled, got {error}; give a function "
            f"that builds it and returns its impact_problem"
        ) from error


def to_bytes(job: Any, *, is_local: bool) -> bytes:
    """Pickle what workers need: by reference, or by value where they could not import it.

    Args:
        job: Object with functions of the user's.
        is_local: Whether workers are processes of this machine, which import the main script too.
    """
    try:
        data = pickle.dumps(job)
        main = sys.modules["__main__"]
        can_import = is_local and hasattr(main, "__file__")
        if b"__main__" not in data or can_import:
            return data
        why = "functions of a console or a main script are not known to workers"
    except Exception as error:  # Objects may raise anything here.
        why = str(error)
    try:
        from cloudpickle import dumps
    except ImportError:
        raise InvalidOption(
            f"problem_of, measures, law: expected ones that can be sent to workers: {why}; define "
            f"functions at the top of a module, install cloudpickle, or give workers=1"
        ) from None
    data = dumps(job)
    assert isinstance(data, bytes)
    return data
