"""The impact problem: one configuration, one velocity, the contacts that touch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

from carom import checks, notebook, problem_checks
from carom.contact_space import ContactSpace, friction_directions
from carom.errors import InvalidProblem
from carom.io import Saved
from carom.kernels.contact_coordinates import DOUBTFUL, to_contact_coordinates
from carom.kernels.jit import Late
from carom.kernels.tolerances import COLLIDING
from carom.problem_checks import ARRAYS
from carom.typing import ArrayLike, BoolArray, FloatArray

MOST_DIRECTIONS = 1000
"""Maximum number of friction directions; an LCP has at least as many variables per contact."""

PATIENCE = 100_000
"""Number of products, roughly, in problems that are posed before compiling pays: 0.1 s of them."""

_write_coordinates = Late(to_contact_coordinates, PATIENCE)

MOST_NAMES = 6
"""Maximum number of contacts that a repr names."""


@dataclass(frozen=True, eq=False)
class ImpactProblem(Saved):
    """Pose an impact: a robot that hits something at m contacts at once.

    Args:
        M: (nv, nv) mass matrix, symmetric and positive definite.
        J_n: (m, nv) normal Jacobian; J_n v < 0 approaches.
        J_t: (m, d, nv) tangential Jacobian, d = 1 in the plane and 2 in space; (m, nv) means d = 1.
        mu: (m,) friction coefficients, or one number for all contacts.
        v_pre: (nv,) velocity before the impact.
        contacts: Names of the m contacts; default A, B, C, ...
        num_directions: Number k >= 3 of friction directions in space, for laws that need them:
            exact motions of `Routh` and `worst_case` use the round cone. Not used in the plane.
        restitution: (m,) coefficients e from 0 to 1, or one number for all contacts. A contact
            returns e^2 of the work of its normal force in compression (Stronge), whatever the
            others do meanwhile; 0, the default, is the inelastic impact of the paper.
        without_collision: Whether contacts at rest in the normal direction may act although no
            contact approaches, as in Painlevé's paradox, where no finite contact force exists. If
            False, such a problem has the single outcome v_pre. No effect if a contact approaches.

    Examples:
        A ball of 2 kg falls with 1 m/s and slips with 0.1 m/s.

        >>> import numpy as np
        >>> import carom
        >>> ball = carom.ImpactProblem(
        ...     M=[[2.0, 0.0], [0.0, 2.0]], J_n=[[0.0, 1.0]], J_t=[[1.0, 0.0]], mu=0.5,
        ...     v_pre=[0.1, -1.0])
        >>> ball.num_contacts, ball.num_velocities, ball.num_tangents
        (1, 2, 1)
        >>> ball.kinetic_energy(ball.v_pre), round(ball.energy_norm**2 / 2, 9)
        (1.01, 1.01)
        >>> ball.contact_velocity(ball.v_pre).tolist(), ball.J.tolist()
        ([[-1.0, 0.1]], [[0.0, 1.0], [1.0, 0.0]])
        >>> ball.is_colliding(ball.v_pre), ball.stays, ball.starts_at_rest
        (True, False, False)
        >>> ball.velocity_after(np.array([3.0, 0.0])).round(9).tolist()
        [0.1, 0.5]

        The same ball at another velocity; problems are compared by value:

        >>> from dataclasses import replace
        >>> faster = replace(ball, v_pre=[0.1, -2.0])
        >>> faster == ball, replace(faster, v_pre=ball.v_pre) == ball
        (False, True)

        Dimensionless quantities, as the kernels use them:

        >>> (ball.start * ball.space.velocity_unit).round(9).tolist()
        [-1.0, 0.1]
        >>> ball.impulse_to_velocity.shape, ball.space.A.shape
        ((2, 2), (2, 2))
    """

    M: FloatArray
    J_n: FloatArray
    J_t: FloatArray
    mu: FloatArray
    v_pre: FloatArray
    contacts: tuple[str, ...]
    num_directions: int
    restitution: FloatArray
    without_collision: bool

    def __init__(
        self,
        M: ArrayLike,
        J_n: ArrayLike,
        J_t: ArrayLike,
        mu: ArrayLike,
        v_pre: ArrayLike,
        contacts: Sequence[str] | None = None,
        num_directions: int = 8,
        *,
        restitution: ArrayLike = 0.0,
        without_collision: bool = False,
    ) -> None:
        arrays = problem_checks.shaped(M, J_n, J_t, mu, v_pre)
        k = checks.integer("num_directions", num_directions, 3, MOST_DIRECTIONS, InvalidProblem)
        known = _in_contact_coordinates(arrays, k)
        if not known:
            arrays["M"] = problem_checks.checked_mass(**arrays)
            # Perhaps M was not quite symmetric.
            known = _in_contact_coordinates(arrays, k)
        arrays["restitution"] = problem_checks.restitution(restitution, len(arrays["mu"]))
        self._hold(
            arrays,
            contacts=problem_checks.contact_names(contacts, len(arrays["mu"])),
            num_directions=k,
            without_collision=problem_checks.flag("without_collision", without_collision),
            **known,
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Become a copy, of which all that is derived has the same bits."""
        # In C order and writable, as kernels are compiled for.
        arrays = {name: np.array(state[name], order="C") for name in ARRAYS}
        own = {**state, **arrays, "restitution": np.array(state["restitution"])}
        self._hold(own, **_in_contact_coordinates(arrays, state["num_directions"]))

    def _hold(self, fields_: dict[str, Any], **others: Any) -> None:
        """Set all attributes, which is quicker at once, and make arrays read-only."""
        for name in (*ARRAYS, "restitution"):
            fields_[name].setflags(write=False)
        vars(self).update(fields_, **others)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ImpactProblem):
            return NotImplemented
        pairs = ((getattr(self, f.name), getattr(other, f.name)) for f in fields(self))
        return all(np.array_equal(mine, theirs) for mine, theirs in pairs)

    def __hash__(self) -> int:
        return hash((self.M.tobytes(), self.J_n.tobytes(), self.v_pre.tobytes(), self.contacts))

    def __repr__(self) -> str:
        count = self.num_contacts
        where = "planar" if self.num_tangents == 1 else "spatial"
        names = ", ".join(self.contacts[:MOST_NAMES]) + (", …" if count > MOST_NAMES else "")
        return (
            f"ImpactProblem({count} {where} contact{'s' if count > 1 else ''} {names}; "
            f"{self.num_velocities} velocities)"
        )

    def _repr_html_(self) -> str:
        v_c = self.contact_velocity(self.v_pre)
        rows = [
            [name, f"{mu:.4g}", f"{e:.4g}", *(f"{x:.4g}" for x in own)]
            for name, mu, e, own in zip(self.contacts, self.mu, self.restitution, v_c, strict=True)
        ]
        tangents = ["tangential"] if self.num_tangents == 1 else ["tangent 1", "tangent 2"]
        head = [
            "contact",
            "mu",
            "restitution",
            *(f"{each} before [m/s]" for each in ["normal", *tangents]),
        ]
        energy = f"kinetic energy before: {self.kinetic_energy(self.v_pre):.4g} J"
        return notebook.page(repr(self), head, rows, [energy], figure_of=self)

    @property
    def num_contacts(self) -> int:
        """Return the number of contacts m."""
        return len(self.J_n)

    @property
    def num_velocities(self) -> int:
        """Return the number of velocities nv."""
        return len(self.v_pre)

    @property
    def num_tangents(self) -> int:
        """Return the number of tangential dimensions d: 1 in the plane, 2 in space."""
        return self.J_t.shape[1]

    @cached_property
    def bounces(self) -> bool:
        """Return whether a contact has a coefficient of restitution above zero."""
        return bool(self.restitution.any())

    # What is derived is known from the checks, unless a number is unusual.

    @cached_property
    def J(self) -> FloatArray:
        """Return the contact Jacobian (m (1 + d), nv), contact by contact, normal first."""
        stacked = np.concatenate([self.J_n[:, None, :], self.J_t], axis=1)
        return stacked.reshape(-1, self.num_velocities)

    @cached_property
    def impulse_to_velocity(self) -> FloatArray:
        """Return M^-1 J^T (nv, m (1 + d)), which maps contact impulses to changes of velocity."""
        return np.asarray(np.linalg.solve(self.M, self.J.T), dtype=np.float64)

    @cached_property
    def space(self) -> ContactSpace:
        """Return the impact in dimensionless contact coordinates."""
        root = np.linalg.solve(np.linalg.cholesky(self.M), self.J.T)
        directions = friction_directions(self.num_tangents, self.num_directions)
        return ContactSpace.build(root.T @ root, self.mu, directions, self.energy_norm)

    @cached_property
    def start(self) -> FloatArray:
        """Return the dimensionless contact velocities (m (1 + d),) of v_pre, tiny ones as zero."""
        units = np.repeat(self.space.velocity_unit, self.space.width)
        v_c = self.J @ self.v_pre / units
        return np.where(np.abs(v_c) < COLLIDING, 0.0, v_c)

    @cached_property
    def stays(self) -> bool:
        """Return whether nothing happens, because no contact approaches or may act."""
        return not self.without_collision and not self._collides

    @cached_property
    def starts_at_rest(self) -> bool:
        """Return whether contacts at rest must start this impact, because none approaches."""
        return self.without_collision and not self._collides

    @property
    def _collides(self) -> bool:
        """Return whether a contact approaches at the start."""
        return min(self.start[:: self.space.width].tolist()) < 0.0

    @cached_property
    def energy_norm(self) -> float:
        """Return |v_pre|_M = sqrt(v_pre^T M v_pre) [sqrt(J)]."""
        # Scaled first: the square of a tiny velocity is zero.
        size = float(np.abs(self.v_pre).max()) or 1.0
        return size * float(np.sqrt(2.0 * self.kinetic_energy(self.v_pre / size)))

    def contact_velocity(self, v: ArrayLike) -> FloatArray:
        """Return the contact velocities J v (..., m, 1 + d), normal first [m/s].

        Args:
            v: (..., nv) velocities.
        """
        v = np.asarray(v, dtype=np.float64)
        return (v @ self.J.T).reshape(*v.shape[:-1], self.num_contacts, 1 + self.num_tangents)

    def kinetic_energy(self, v: ArrayLike) -> Any:
        """Return v^T M v / 2 [J], a float for one velocity, an array (...) for a batch.

        Args:
            v: (nv,) velocity, or a batch (..., nv).
        """
        v = np.asarray(v, dtype=np.float64)
        energy = 0.5 * np.einsum("...i,ij,...j->...", v, self.M, v)
        return float(energy) if v.ndim == 1 else energy

    def is_colliding(self, v: ArrayLike) -> Any:
        """Return whether a contact approaches, a bool for one velocity, an array for a batch.

        Speeds below 1e-10 of what the impact's energy could give a contact count as zero.

        Args:
            v: (nv,) velocity, or a batch (..., nv).
        """
        v = np.asarray(v, dtype=np.float64)
        approaching: BoolArray = v @ self.J_n.T < -COLLIDING * self.space.velocity_unit
        colliding = approaching.any(axis=-1)
        return bool(colliding) if v.ndim == 1 else colliding

    def velocity_after(self, impulses: FloatArray) -> FloatArray:
        """Return the velocities v_pre + M^-1 J^T impulse, (..., nv).

        Args:
            impulses: (..., m (1 + d)) contact impulses, contact by contact, normal first [N s].
        """
        return self.v_pre + impulses @ self.impulse_to_velocity.T


def _in_contact_coordinates(arrays: dict[str, FloatArray], k: int) -> dict[str, Any]:
    """Return what is derived of valid arrays, by its names; nothing if they may be invalid."""
    mu, (m, d, nv) = arrays["mu"], arrays["J_t"].shape
    c = m * (1 + d)
    J, response = np.empty((c, nv)), np.empty((c, nv))
    A, units, start = np.empty((c, c)), np.empty((2, m)), np.empty(c)
    root = np.empty((nv, nv))
    given = *arrays.values(), root, J, response, A, units, start
    norm = float(_write_coordinates(c * nv * (c + nv), *given))
    if norm == DOUBTFUL:
        return {}
    # A copy, since a problem's array is read-only: kernels would be compiled for that as well.
    space = ContactSpace(A, mu.copy(), friction_directions(d, k), *units)
    derived = {"J": J, "impulse_to_velocity": response.T, "space": space, "start": start}
    return {**derived, "energy_norm": norm}
