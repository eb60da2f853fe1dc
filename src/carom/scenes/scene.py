"""A scene: a system at the moment of an impact, with the settings that resolve it well."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from carom import checks
from carom.errors import InvalidOption
from carom.problem import ImpactProblem
from carom.systems import System
from carom.typing import ArrayLike, FloatArray


@dataclass(frozen=True, eq=False)
class Scene:
    """Hold a system in the state in which it hits something.

    Attributes:
        name: Name under which `carom.scenes.load` finds it.
        description: What happens, in one line.
        system: The mechanical system.
        q: Configuration at the impact, (nq,), read-only.
        v: Velocity before the impact, (nv,), read-only.
        step_impulse: The paper's h, the largest normal impulse of one step [N s].
        max_steps: The paper's N, the length of one path.
        num_samples: The paper's M, the number of paths.
        without_collision: Whether its impact is one of contacts at rest (Painleve).
        duration: How long its motion is shown [s].
        law: The law that its motion is shown with, as the command line names it.

    Examples:
        >>> import carom
        >>> scene = carom.scenes.load("compass-gait")
        >>> scene.problem.contacts, scene.system.nq, scene.step_impulse
        (('A', 'B'), 4, 0.25)
    """

    name: str
    description: str
    system: System
    q: FloatArray
    v: FloatArray
    step_impulse: float
    max_steps: int
    num_samples: int
    without_collision: bool = False
    duration: float = 1.0
    law: str = "routh"

    def __post_init__(self) -> None:
        for field in ("q", "v"):
            array = np.array(getattr(self, field), dtype=np.float64)
            array.setflags(write=False)
            object.__setattr__(self, field, array)

    @property
    def problem(self) -> ImpactProblem:
        """Return the impact of the contacts that touch at `q`."""
        return self.system.impact_problem(self.q, self.v, without_collision=self.without_collision)


def velocity_at_rest(
    system: System, q: ArrayLike, v: ArrayLike, contact: str, free: Sequence[int]
) -> FloatArray:
    """Return `v` with the entries `free` chosen so that one planar contact stands still.

    Solves J_c v = 0 for the two entries `free`, with J_c the contact's normal and tangent rows,
    and repeats on the residual, so that J_c v is zero to the last bit or nearly so: an impact law
    must not take rounding for an approach.
    """
    index = system.contacts.index(contact)
    rows = np.vstack([system.normal_jacobian(q)[index], system.tangent_jacobian(q)[index]])
    columns = list(free)
    velocity = np.array(v, dtype=np.float64)
    for _ in range(3):
        velocity[columns] -= np.linalg.solve(rows[:, columns], rows @ velocity)
    return velocity


def require_positive(**values: float) -> None:
    """Refuse a parameter that is not positive and finite."""
    for name, value in values.items():
        checks.positive(name, value)


def require_finite(**values: float) -> None:
    """Refuse a parameter that is not a finite number."""
    for name, value in values.items():
        if not checks.is_number(value):
            raise InvalidOption(f"{name}: expected a finite number, got {value!r}")


def require_angle(name: str, value: float, most: float) -> None:
    """Refuse an angle that does not lie between 0 and another one [rad]."""
    if not (checks.is_number(value) and 0.0 < value < most):
        raise InvalidOption(f"{name}: expected an angle between 0 and {most:.4g}, got {value!r}")
