"""Quantities whose extremes can be asked for, by name or as a direction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from carom import checks
from carom.errors import InvalidOption
from carom.problem import ImpactProblem
from carom.typing import ArrayLike, FloatArray

ENERGY = "energy kept"
IMPULSE = "impulse"
"""Name of the sum of all normal impulses; with a contact in front, of its own."""

OWN = "direction"
"""Name of a direction of the user's own."""


@dataclass(frozen=True, eq=False)
class Quantity:
    """Something linear in the outcome, of which the largest value is wanted; or the energy kept.

    Attributes:
        name: What it is, such as "A normal" or "-A impulse".
        unit: Its unit, or "" if that depends on the direction.
        direction: (nv,) coefficients of the velocity after the impact.
        impulse_weights: (m,) coefficients of the normal impulses.
        energy: 1 for the energy kept, -1 for its negative, else 0.
    """

    name: str
    unit: str
    direction: FloatArray
    impulse_weights: FloatArray
    energy: int = 0

    def objective(self, problem: ImpactProblem) -> FloatArray:
        """Return q (c,): the quantity is direction . v_pre + q . impulse, impulse in N s."""
        q = problem.impulse_to_velocity.T @ self.direction
        q[:: 1 + problem.num_tangents] += self.impulse_weights
        return np.asarray(q)

    def value(self, problem: ImpactProblem, impulse: FloatArray) -> float:
        """Return the quantity after an impulse (c,) [N s]."""
        v = problem.velocity_after(impulse)
        if self.energy:
            return self.energy * float(problem.kinetic_energy(v))
        normal = impulse[:: 1 + problem.num_tangents]
        return float(self.direction @ v + self.impulse_weights @ normal)

    def scale(self, problem: ImpactProblem) -> float:
        """Return the size that the impact's energy would allow."""
        if self.energy:
            return float(problem.kinetic_energy(problem.v_pre))
        root = np.linalg.solve(np.linalg.cholesky(problem.M), self.direction)
        impulse = float(np.abs(self.impulse_weights) @ problem.space.impulse_unit)
        return float(np.linalg.norm(root)) * problem.energy_norm + impulse


def contact_quantities(problem: ImpactProblem) -> list[Quantity]:
    """Return every contact velocity, the least and the largest: 2 m (1 + d) quantities."""
    names = [f"{contact} {part}" for contact in problem.contacts for part in parts(problem)]
    return [named(problem, sign + name) for name in names for sign in ("-", "")]


def parts(problem: ImpactProblem) -> list[str]:
    """Return the names of a contact's velocities."""
    if problem.num_tangents == 1:
        return ["normal", "tangential"]
    return ["normal", "tangent 1", "tangent 2"]


def named(problem: ImpactProblem, name: str) -> Quantity:
    """Return a quantity by its name; a minus in front asks for the least value."""
    sign, plain = (-1, name[1:]) if name.startswith("-") else (1, name)
    nothing, none = np.zeros(problem.num_velocities), np.zeros(problem.num_contacts)
    if plain == ENERGY:
        return Quantity(name, "J", nothing, none, energy=sign)
    if plain == IMPULSE:
        return Quantity(name, "N s", nothing, none + sign)
    width = 1 + problem.num_tangents
    for i, contact in enumerate(problem.contacts):
        if plain == f"{contact} {IMPULSE}":
            none[i] = sign
            return Quantity(name, "N s", nothing, none)
        for k, part in enumerate(parts(problem)):
            if plain == f"{contact} {part}":
                return Quantity(name, "m/s", sign * problem.J[i * width + k], none)
    some = ", ".join(f"'{problem.contacts[0]} {part}'" for part in [*parts(problem), "impulse"])
    raise InvalidOption(
        f"direction: expected {some}, another contact of {', '.join(problem.contacts)}, "
        f"'{IMPULSE}' or '{ENERGY}', with a minus for the least value; got {name!r}"
    )


def quantities(
    problem: ImpactProblem, direction: ArrayLike | str | list[str] | tuple[str, ...] | None
) -> tuple[list[Quantity], bool]:
    """Return the quantities that a user asks for, and whether it is a single one."""
    if direction is None:
        return contact_quantities(problem), False
    if isinstance(direction, str):
        return [named(problem, direction)], True
    if isinstance(direction, list | tuple) and direction and isinstance(direction[0], str):
        return [named(problem, str(each)) for each in direction], False
    rows = checks.floats("direction", direction)
    nv = problem.num_velocities
    if rows.ndim not in (1, 2) or rows.shape[-1] != nv or not rows.size:
        raise InvalidOption(
            f"direction: expected ({nv},), (k, {nv}), a name or names, got shape {rows.shape}"
        )
    if rows.ndim == 1:
        return [_of_direction(problem, rows, OWN)], True
    # Numbered from 0, as the rows of the array are.
    return [_of_direction(problem, row, f"{OWN} {i}") for i, row in enumerate(rows)], False


def _of_direction(problem: ImpactProblem, row: FloatArray, name: str) -> Quantity:
    """Return the quantity of a direction (nv,), by the name of a contact velocity if it is one."""
    for each in contact_quantities(problem):
        if np.array_equal(each.direction, row):
            return each
    return Quantity(name, "", row, np.zeros(problem.num_contacts))
