"""Write polytopes of contact coordinates as polytopes of velocities."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import ppl
from gmpy2 import mpq

from carom.outcomes.polytope import Polytope
from carom.reach.flow import vertices
from carom.reach.inclusion import Inclusion
from carom.reach.rational import ZERO, Exact, null_space


def in_velocities(inclusion: Inclusion, polyhedron: ppl.C_Polyhedron, kind: str) -> Polytope:
    """Return a polytope of contact coordinates as one of velocities."""
    corners = [inclusion.velocity(y) for y in vertices(polyhedron)]
    conditions: list[Exact] = []
    # The first equations say that the velocity stays in v_start + range(M^-1 J^T).
    normals = null_space(inclusion.lift.T)
    equations = list(np.hstack([normals, (normals @ inclusion.v_start)[:, None]]))
    for constraint in polyhedron.minimized_constraints():
        # From c . y + c0 >= 0 to a . v <= b; PPL may omit trailing zeros of c.
        coefficients = constraint.coefficients()
        factors = np.full(inclusion.dimension, ZERO)
        factors[: len(coefficients)] = [mpq(-x) for x in coefficients]
        row = factors @ inclusion.pull
        # pull v - y is constant.
        offset = row @ inclusion.v_start - factors @ inclusion.y_start
        row = np.append(row, constraint.inhomogeneous_term() + offset)
        (equations if constraint.is_equality() else conditions).append(row)
    return Polytope(_frozen(corners), _frozen(conditions), _frozen(equations), kind)


def _frozen(rows: Sequence[Exact]) -> tuple[tuple[Fraction, ...], ...]:
    """Return rows as fractions of the standard library, which can be saved."""
    return tuple(tuple(Fraction(int(x.numerator), int(x.denominator)) for x in row) for row in rows)
