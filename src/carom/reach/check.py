"""Check from scratch that no motion leaves an envelope.

Nothing is taken from the search but the polyhedra themselves. For every condition of the polyhedron
in which a motion should end, a linear program over where it starts and how far it goes shows that
the condition holds; all in rational arithmetic.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

import ppl

from carom.reach.envelope import Envelope
from carom.reach.flow import Flow
from carom.reach.inclusion import Cell, Inclusion
from carom.reach.rational import integers


def is_invariant(
    inclusion: Inclusion, envelope: Envelope, energy: ppl.Constraint_System, max_seconds: float
) -> bool:
    """Tell whether the start is inside an envelope and no motion leaves it.

    Motions end where the energy bounds do: energy never rises. False may also mean that time ran
    out.
    """
    deadline = time.monotonic() + max_seconds
    flow = Flow(inclusion)
    start, cell = flow.start()
    if cell not in envelope or not envelope[cell].contains(start):
        return False
    return all(
        inclusion.is_final(cell)
        or (time.monotonic() <= deadline and _stays(flow, envelope, cell, energy))
        for cell in envelope
    )


def _stays(flow: Flow, envelope: Envelope, cell: Cell, energy: ppl.Constraint_System) -> bool:
    """Tell whether all that motions reach from one cell is inside."""
    polyhedron = envelope[cell]
    motions = _Motions.within(flow, polyhedron, cell, energy)
    return (
        motions.end_in(polyhedron)
        and all(
            _face_is_held(flow, motions, envelope, cell, k) for k, sign in enumerate(cell) if sign
        )
        and all(
            larger in envelope and envelope[larger].contains(polyhedron)
            for larger in flow.entries(cell)
        )
    )


def _face_is_held(flow: Flow, motions: _Motions, envelope: Envelope, cell: Cell, k: int) -> bool:
    """Tell whether all that reaches form k = 0 lies in the envelope of the cells there."""
    face = motions.where(flow.forms[k] == 0)
    if not face.exist():
        return True
    target = tuple(
        sign if sign and not face.satisfy(form == 0) else 0
        for form, sign in zip(flow.forms, cell, strict=True)
    )
    return target in envelope and face.end_in(envelope[target])


class _Motions:
    """Straight motions: conditions on (start, weights of the rates), and where they end.

    The end is given as linear expressions, the start as the first variables.
    """

    def __init__(
        self, conditions: ppl.Constraint_System, end: Sequence[ppl.Linear_Expression], size: int
    ) -> None:
        self.conditions = conditions
        self.end = end
        self.size = size
        self._program = ppl.MIP_Problem(size)
        self._program.add_constraints(conditions)
        self._program.set_optimization_mode("minimization")

    @classmethod
    def within(
        cls, flow: Flow, polyhedron: ppl.C_Polyhedron, cell: Cell, energy: ppl.Constraint_System
    ) -> _Motions:
        """Return the motions from a polyhedron within a closed cell."""
        d = flow.inclusion.dimension
        rays = [integers(ray.y) for ray in flow.rays(cell)]
        end = []
        for k in range(d):
            coordinate = ppl.Linear_Expression(ppl.Variable(k))
            for j, ray in enumerate(rays):
                coordinate += ray[k] * ppl.Variable(d + j)
            end.append(coordinate)
        conditions = _copy(polyhedron.minimized_constraints())
        for j in range(len(rays)):
            conditions.insert(ppl.Variable(d + j) >= 0)
        for system in (flow.constraints(cell), energy):
            for constraint in system:
                conditions.insert(_at(constraint, end))
        return cls(conditions, end, d + len(rays))

    def where(self, constraint: ppl.Constraint) -> _Motions:
        """Return those motions whose ends satisfy a constraint."""
        conditions = _copy(self.conditions)
        conditions.insert(_at(constraint, self.end))
        return _Motions(conditions, self.end, self.size)

    def exist(self) -> bool:
        """Tell whether there is a motion at all."""
        return bool(self._program.is_satisfiable())

    def end_in(self, polyhedron: ppl.C_Polyhedron) -> bool:
        """Tell whether every motion ends in a polyhedron."""
        return all(self.satisfy(constraint) for constraint in polyhedron.minimized_constraints())

    def satisfy(self, constraint: ppl.Constraint) -> bool:
        """Tell whether the end of every motion satisfies a constraint."""
        value = _value(constraint, self.end)
        is_held = self._is_never_negative(value)
        return is_held and (not constraint.is_equality() or self._is_never_negative(-value))

    def _is_never_negative(self, value: ppl.Linear_Expression) -> bool:
        self._program.set_objective_function(value)
        status = self._program.solve()["status"]
        if status == "optimized":
            return bool(self._program.optimal_value() >= 0)
        return status == "unfeasible"


def _copy(constraints: Iterable[ppl.Constraint]) -> ppl.Constraint_System:
    system = ppl.Constraint_System()
    for constraint in constraints:
        system.insert(constraint)
    return system


def _value(
    constraint: ppl.Constraint, end: Sequence[ppl.Linear_Expression]
) -> ppl.Linear_Expression:
    """Return the left side of a constraint (>= 0 or == 0) at the end of a motion."""
    value = ppl.Linear_Expression(constraint.inhomogeneous_term())
    for factor, coordinate in zip(constraint.coefficients(), end, strict=False):
        if factor:
            value += factor * coordinate
    return value


def _at(constraint: ppl.Constraint, end: Sequence[ppl.Linear_Expression]) -> ppl.Constraint:
    """Return a constraint on the end of a motion."""
    value = _value(constraint, end)
    return value == 0 if constraint.is_equality() else value >= 0
