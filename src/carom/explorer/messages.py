"""Messages that a page may send: checked here, once, and refused with a reason."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

MOST_BYTES = 16_384
"""Maximum size of a message; a page's longest has some hundred bytes."""
MOST_ENTRIES = 64
"""Maximum number of parameters, contacts or velocities in a message."""
LARGEST = 1e9
"""Largest magnitude of a number: beyond it no scene makes sense."""
MOST_SECONDS = 5.0
"""Longest motion that a page may ask for [s]."""
LONGEST_NAME = 200

KINDS = ("set", "outcome", "motion", "extremes")


class BadMessage(Exception):
    """Raised when a message is not one that the page sends; the text is the reason."""


@dataclass(frozen=True)
class State:
    """What is on the screen.

    Attributes:
        subject: Name of what is explored.
        parameters: Parameters of a scene that differ from its own, as sorted pairs.
        mu: Friction coefficients by contact that differ, as sorted pairs.
        v: Velocity before the impact; None for the subject's own.
        axes: Rows of the large plane: contact velocities first, then body velocities; None for the
            usual ones.
        restitution: Coefficients of restitution by contact that differ, as sorted pairs.
    """

    subject: str
    parameters: tuple[tuple[str, float], ...] = ()
    mu: tuple[tuple[str, float], ...] = ()
    v: tuple[float, ...] | None = None
    axes: tuple[int, int] | None = None
    restitution: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class Request:
    """One question of a page.

    Attributes:
        kind: "set" (all outcomes), "outcome" (one of them, and how it comes about), "motion" (what
            follows it) or "extremes" (reached and proved).
        number: Number that the answer repeats, so that the page knows what it answers.
        state: What is on the screen.
        live: Whether a slider is being dragged, so that only what is quick is computed.
        v: Outcome that is asked about; None if `at` locates it.
        plane, at: Rows of a plane, and the point in it at which an outcome is asked for.
        duration: Duration of a motion [s]; None for that of the subject.
    """

    kind: str
    number: int
    state: State
    live: bool = False
    v: tuple[float, ...] | None = None
    plane: tuple[int, int] | None = None
    at: tuple[float, float] | None = None
    duration: float | None = None


def parse(text: str | bytes) -> Request:
    """Return the request that a message holds.

    Raises:
        BadMessage: The message is not one that the page sends.
    """
    if not isinstance(text, str):
        raise BadMessage("expected text, got bytes")
    if len(text) > MOST_BYTES:
        raise BadMessage("too long")
    try:
        found = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise BadMessage("not JSON") from None
    fields = _object(found, "message", {"kind", "number", "state"}, OPTIONAL)
    kind = fields["kind"]
    if kind not in KINDS:
        raise BadMessage(f"kind: expected one of {', '.join(KINDS)}")
    request = Request(
        kind=kind,
        number=_integer(fields["number"], "number", 2**53),
        state=_state(fields["state"]),
        live=_flag(fields.get("live", False), "live"),
        v=_maybe_numbers(fields.get("v"), "v"),
        plane=_plane(fields.get("plane"), "plane"),
        at=_point(fields.get("at")),
        duration=_duration(fields.get("duration")),
    )
    located = request.v is not None or (request.at is not None and request.plane is not None)
    if kind in ("outcome", "motion") and not located:
        raise BadMessage("expected v, or plane and at")
    return request


OPTIONAL = frozenset({"live", "v", "plane", "at", "duration"})


def _state(value: Any) -> State:
    optional = frozenset({"parameters", "mu", "restitution", "v", "axes"})
    fields = _object(value, "state", {"subject"}, optional)
    return State(
        subject=_name(fields["subject"], "subject"),
        parameters=_pairs(fields.get("parameters", {}), "parameters"),
        mu=_pairs(fields.get("mu", {}), "mu"),
        v=_maybe_numbers(fields.get("v"), "v"),
        axes=_plane(fields.get("axes"), "axes"),
        restitution=_pairs(fields.get("restitution", {}), "restitution"),
    )


def _refuse(word: str) -> Any:
    raise ValueError(word)


def _object(value: Any, what: str, needed: set[str], optional: frozenset[str]) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise BadMessage(f"{what}: expected an object")
    if not needed <= value.keys() <= needed | optional:
        raise BadMessage(f"{what}: fields are missing or unknown")
    return value


def _name(value: Any, what: str) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= LONGEST_NAME:
        raise BadMessage(f"{what}: expected a name")
    return value


def _flag(value: Any, what: str) -> bool:
    if not isinstance(value, bool):
        raise BadMessage(f"{what}: expected true or false")
    return value


def _integer(value: Any, what: str, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
        raise BadMessage(f"{what}: expected a whole number from 0 to {most}")
    return value


def _number(value: Any, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadMessage(f"{what}: expected a number")
    # A huge integer has no float; NaN fails the comparison.
    if not -LARGEST <= value <= LARGEST or not math.isfinite(value):
        raise BadMessage(f"{what}: expected a number of at most {LARGEST:g}")
    return float(value)


def _numbers(value: Any, what: str) -> tuple[float, ...]:
    if not isinstance(value, list) or len(value) > MOST_ENTRIES:
        raise BadMessage(f"{what}: expected a list of at most {MOST_ENTRIES} numbers")
    return tuple(_number(each, what) for each in value)


def _maybe_numbers(value: Any, what: str) -> tuple[float, ...] | None:
    return None if value is None else _numbers(value, what)


def _pairs(value: Any, what: str) -> tuple[tuple[str, float], ...]:
    if not isinstance(value, dict) or len(value) > MOST_ENTRIES:
        raise BadMessage(f"{what}: expected an object with at most {MOST_ENTRIES} numbers")
    return tuple(sorted((_name(key, what), _number(x, what)) for key, x in value.items()))


def _plane(value: Any, what: str) -> tuple[int, int] | None:
    if value is None:
        return None
    if not isinstance(value, list) or len(value) != 2:
        raise BadMessage(f"{what}: expected two whole numbers")
    first, second = (_integer(each, what, 1000) for each in value)
    return first, second


def _point(value: Any) -> tuple[float, float] | None:
    if value is None:
        return None
    point = _numbers(value, "at")
    if len(point) != 2:
        raise BadMessage("at: expected two numbers")
    return point[0], point[1]


def _duration(value: Any) -> float | None:
    if value is None:
        return None
    seconds = _number(value, "duration")
    if not 0.0 < seconds <= MOST_SECONDS:
        raise BadMessage(f"duration: expected a number from 0 to {MOST_SECONDS:g}")
    return seconds
