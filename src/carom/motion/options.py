"""Settings of `simulate`, and checks on where a motion starts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from carom import checks
from carom.errors import InvalidProblem
from carom.motion.stretch import METHODS, Integrator
from carom.systems.system import Dynamics
from carom.typing import ArrayLike, FloatArray


@dataclass(frozen=True)
class Options:
    """Settings of `simulate`, checked."""

    method: str
    rtol: float
    atol: float
    gap_tolerance: float
    rest_speed: float
    zeno_time: float
    max_impacts: int
    max_steps: int
    max_step: float

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise InvalidProblem(
                f"method: expected one of {', '.join(METHODS)}, got {self.method!r}"
            )
        if not self.max_step > 0.0:
            raise InvalidProblem(f"max_step: expected a number > 0, got {self.max_step!r}")
        for name in ("rtol", "atol", "gap_tolerance", "rest_speed", "zeno_time"):
            value = getattr(self, name)
            if not (is_number(value) and value > 0.0):
                raise InvalidProblem(f"{name}: expected a number > 0, got {value!r}")
        checks.integer("max_impacts", self.max_impacts, 1)
        checks.integer("max_steps", self.max_steps, 1)

    @property
    def integrator(self) -> Integrator:
        """Return what a stretch of smooth motion needs."""
        return Integrator(self.method, self.rtol, self.atol, self.max_step)


def check_start(here: Dynamics, contacts: tuple[str, ...], gap_tolerance: float) -> None:
    """Refuse to move a system that has no inertia, contacts in space, or a penetration.

    Raises:
        InvalidProblem: The message says which and what to do.
    """
    check_inertia(here.M)
    if here.J_t.shape[1] != 1:
        raise InvalidProblem(
            f"system: expected planar contacts, got {here.J_t.shape[1]} tangents each; "
            f"simulate moves planar systems, impacts in space are resolved by a law alone"
        )
    deepest = int(np.argmin(here.phi)) if len(contacts) else 0
    if len(contacts) and here.phi[deepest] < -gap_tolerance:
        raise InvalidProblem(
            f"q: expected no penetration, got contact {contacts[deepest]!r} with a gap of "
            f"{here.phi[deepest]:.3g} m; move it apart"
        )


def check_inertia(M: FloatArray) -> None:
    """Refuse a system in which a motion has no inertia."""
    size = np.sqrt(np.maximum(np.diag(M), 0.0))
    if not size.all():
        which = int(np.flatnonzero(size == 0.0)[0])
        raise InvalidProblem(
            f"system: expected inertia in every velocity, got none in number {which}"
        )
    values, vectors = np.linalg.eigh(M / np.outer(size, size))
    if values[0] < 1e-13:
        which = int(np.abs(vectors[:, 0]).argmax())
        raise InvalidProblem(
            f"system: expected a positive definite mass matrix, got one that is singular, most of "
            f"all in velocity number {which}; give bodies mass, or leave out a joint"
        )


def is_number(value: object) -> bool:
    """Tell whether a value is one finite number."""
    return isinstance(value, int | float | np.number) and bool(np.isfinite(value))


def checked_vector(name: str, value: ArrayLike, size: int) -> FloatArray:
    """Return a vector of finite floats, or refuse it."""
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidProblem(f"{name}: expected {size} finite numbers ({error})") from error
    if array.shape != (size,) or not np.isfinite(array).all():
        raise InvalidProblem(f"{name}: expected {size} finite numbers, got shape {array.shape}")
    return array
