"""Equality constraints, such as closed loops: what they do to a mechanism's inertia and forces.

With v_pre and the outcome both on G v = 0, the impulses of the constraints can be eliminated: a
contact impulse changes the velocity by Π M^-1 J^T, where

    Π = I - M^-1 G^T (G M^-1 G^T)^+ G.

That is M^-1 (J Π)^T, so that Jacobians J Π with the mass matrix M of the opened mechanism pose the
impact of the closed one. Accelerations follow in the same way: `constrained` turns the equations of
motion of the opened mechanism into those of the closed one, of the same form.

All is written in w = L^T v with M = L L^T, where energy is |w|^2 / 2 and Π is the orthogonal
projection on what G L^-T leaves free.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from carom.errors import InvalidProblem
from carom.kernels.sustained import STABILIZATION
from carom.typing import ArrayLike, FloatArray

if TYPE_CHECKING:
    from carom.systems.system import Dynamics, System

DEPENDENT = 1e-4
"""Share of the largest singular value of constraints, scaled to a unit effect each, below which
they depend on each other. A planar loop closed in space constrains two of three directions, and
files round the angles of its hinges to four or five digits: exactly, it could not move at all."""
ZERO = 1e-9
"""Share of the largest effect below which a row has none."""
HELD = 1e-11
"""Share of a contact's rows that constraints may leave by rounding where they let it not move."""
CLOSED = 1e-13
"""Largest residual at which constraints hold [m or rad], if rounding of positions allows it."""
MOST_STEPS = 50
LONGEST = 0.5
"""Largest change of a coordinate by one of Newton's steps [m or rad]."""


class ConstraintBroken(UserWarning):
    """Warn that a state does not satisfy the equality constraints of its system.

    Examples:
        A rod whose tip is pinned where it is not.

        >>> import warnings
        >>> from carom.systems import FLOOR, Body, ConstraintBroken, Disc, Pin, PlanarSystem
        >>> from carom.systems import PlaneContact
        >>> contact = PlaneContact("foot", Disc("rod"), FLOOR, mu=0.5)
        >>> tip = Pin("tip", "rod", (0.0, -1.0))
        >>> rod = PlanarSystem([Body.rod("rod", 1.0, 2.0)], [contact], pins=[tip])
        >>> with warnings.catch_warnings(record=True) as caught:
        ...     warnings.simplefilter("always")
        ...     problem = rod.impact_problem([0.3, 0.0, 0.5], [0.0, 0.0, 0.0])
        >>> caught[0].category is ConstraintBroken
        True
    """


class Constraints(NamedTuple):
    """Hold c equality constraints, residual(q) = 0, at one state.

    Attributes:
        residual: (c,) by how much each is not met [m or rad].
        G: (c, nv) Jacobian, d residual / dt = G v.
        bias: (c,) dG/dt v.

    Examples:
        Two sliders that keep their distance.

        >>> import numpy as np
        >>> from carom.systems import Constraints
        >>> rod = Constraints(np.zeros(1), np.array([[1.0, -1.0]]), np.zeros(1))
        >>> rod.G @ np.array([0.3, 0.3])
        array([0.])
    """

    residual: FloatArray
    G: FloatArray
    bias: FloatArray


NONE = np.empty(0)


def no_constraints(nv: int) -> Constraints:
    """Return the constraints of a mechanism that has none."""
    return Constraints(NONE, np.empty((0, nv)), NONE)


@dataclass(frozen=True, eq=False)
class Closure:
    """What constraints leave free in a mechanism: Π and what goes with it, for one M and G.

    Attributes:
        root: (nv, nv) L, the Cholesky factor of M.
        held: (nv, r) orthonormal columns, the directions w = L^T v that constraints hold.
        lift: (r, c) coordinates along these of the least motion with given G v.
    """

    root: FloatArray
    held: FloatArray
    lift: FloatArray

    @classmethod
    def of(cls, M: FloatArray, G: FloatArray) -> Closure:
        """Return the closure of a mass matrix (nv, nv) by constraints (c, nv)."""
        try:
            root = np.asarray(np.linalg.cholesky(M), dtype=np.float64)
        except np.linalg.LinAlgError as error:
            raise InvalidProblem(
                "M: expected a positive definite matrix where constraints act, got one that is "
                "singular; give every body inertia"
            ) from error
        moved = solve_triangular(root, G.T, lower=True)
        # Rows are scaled by what a constraint does by itself, so that metres and radians mix.
        size = np.linalg.norm(moved, axis=0)
        size[size <= ZERO * size.max(initial=0.0)] = np.inf
        u, s, vt = np.linalg.svd(moved / size, full_matrices=False)
        r = int((s > DEPENDENT * s.max(initial=0.0)).sum())
        return cls(root, u[:, :r], vt[:r] / s[:r, None] / size)

    def allowed(self, v: FloatArray) -> FloatArray:
        """Return Π v, the velocities (..., nv) nearest to v by energy that constraints allow."""
        w = v @ self.root
        return v - self._back(w @ self.held @ self.held.T)

    def shift(self, change: FloatArray) -> FloatArray:
        """Return the least motion (nv,) by energy that changes residuals by given ones (c,)."""
        return self._back(self.held @ (self.lift @ change))

    def closable(self, constraints: Constraints) -> FloatArray:
        """Return what motions can change of residuals (c,): all but where rows are dependent."""
        return constraints.G @ self.shift(constraints.residual)

    def rows(self, J: FloatArray) -> FloatArray:
        """Return J Π of rows (n, nv); those that cannot move are zero."""
        whitened = solve_triangular(self.root, J.T, lower=True).T
        free = whitened - whitened @ self.held @ self.held.T
        stuck = np.linalg.norm(free, axis=1) <= HELD * np.linalg.norm(whitened, axis=1)
        free[stuck] = 0.0
        return free @ self.root.T

    def impulses(self, push: FloatArray) -> FloatArray:
        """Return -(G M^-1 G^T)^+ G M^-1 push, (..., c), what constraints do against pushes.

        Where constraints depend on each other there are many, and these are the least, each
        measured by what it does to the mechanism.
        """
        flat = push.reshape(-1, len(self.root))
        felt = solve_triangular(self.root, flat.T, lower=True).T @ self.held
        return -(felt @ self.lift).reshape(*push.shape[:-1], -1)

    def _back(self, w: FloatArray) -> FloatArray:
        """Return v = L^-T w of (..., nv)."""
        flat = w.reshape(-1, len(self.root))
        return solve_triangular(self.root.T, flat.T, lower=False).T.reshape(w.shape)


def constrained(here: Dynamics, constraints: Constraints, v: FloatArray) -> Dynamics:
    """Return the equations of motion of a closed mechanism from those of the opened one.

    `force` becomes M times the acceleration without contact, which includes the constraints'
    forces; Jacobians become J Π; `bias` takes what is left. Residuals and their rates, which are
    rounding, are let die out as gaps of closed contacts are in `carom.simulate`.
    """
    closure = Closure.of(here.M, constraints.G)
    shape = len(here.J_n), 1 + here.J_t.shape[1], len(here.M)
    J = np.concatenate([here.J_n[:, None], here.J_t], axis=1).reshape(-1, shape[2])
    closed = closure.rows(J)
    off = 2.0 * (constraints.G @ v) + STABILIZATION * constraints.residual
    free = closure.allowed(np.asarray(np.linalg.solve(here.M, here.force), dtype=np.float64))
    free = free - closure.shift(constraints.bias + STABILIZATION * off)
    rest = ((J - closed) @ free).reshape(shape[:2])
    closed = closed.reshape(shape)
    return here._replace(
        force=here.M @ free,
        J_n=np.ascontiguousarray(closed[:, 0]),
        J_t=np.ascontiguousarray(closed[:, 1:]),
        bias=here.bias + rest,
    )


def closure_at(system: System, q: ArrayLike) -> Closure:
    """Return what a system's constraints leave free at a configuration."""
    return Closure.of(system.open_dynamics(q).M, system.constraint_state(q).G)


def close(system: System, q: FloatArray) -> FloatArray:
    """Return a configuration near q in which a system's constraints hold, by Newton's method."""
    rounding = CLOSED * max(1.0, float(np.abs(q).max(initial=0.0)))
    best, least = q, np.inf
    for _ in range(MOST_STEPS):
        found = system.constraint_state(q)
        closure = Closure.of(system.open_dynamics(q).M, found.G)
        worst = float(np.abs(closure.closable(found)).max(initial=0.0))
        if worst <= rounding:
            return q
        if worst >= 0.5 * least and worst <= 1e2 * rounding:
            # Rounding of long chains: no step makes it better.
            return best if least < worst else q
        if worst < least:
            best, least = q, worst
        change = closure.shift(-found.residual)
        length = float(np.abs(change).max())
        q = system.integrate(q, change, min(1.0, LONGEST / length))
    found = system.constraint_state(best)
    worst_of = int(np.abs(found.residual).argmax())
    raise InvalidProblem(
        f"q: the constraints cannot be closed from here: {system.constraints[worst_of]!r} stays "
        f"{abs(found.residual[worst_of]):.3g} away; start nearer to a closed configuration"
    )
