"""What can be explored: a scene with parameters, an impact from a file, a planar system."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import final

import numpy as np

from carom import scenes
from carom.errors import InvalidOption
from carom.explorer.controls import Control, parameters_of, scene_controls
from carom.explorer.messages import State
from carom.problem import ImpactProblem
from carom.systems.names import Name, names
from carom.systems.planar import PlanarSystem
from carom.typing import FloatArray

LONGEST = 1.0
"""Longest motion that is shown unless another is asked for [s]."""


@dataclass(frozen=True, eq=False)
class Case:
    """A state of a page, made: the impact and, where there are bodies, the system.

    Attributes:
        state: The state.
        problem: The impact.
        own_mu, own_v, own_restitution: Friction, velocity and restitution that the subject has
            without changes.
        system: The planar system with the friction and restitution of the state, or None.
        q: Its configuration, or None.
        duration: How long the motion after the impact is shown [s]; bodies may have more corners
            than contacts, so that it makes sense for a while only.
    """

    state: State
    problem: ImpactProblem
    own_mu: FloatArray
    own_v: FloatArray
    own_restitution: FloatArray
    system: PlanarSystem | None = None
    q: FloatArray | None = None
    duration: float = 0.5

    @cached_property
    def rows(self) -> FloatArray:
        """Return the rows of all velocities that can be axes: of contacts, then of bodies."""
        return np.vstack([self.problem.J, np.eye(self.problem.num_velocities)])

    @cached_property
    def velocities(self) -> list[Name]:
        """Return the names of the body velocities."""
        return names(self.system, self.problem.num_velocities, "v")


class Subject(ABC):
    """Something to explore; it is sent to the process that computes."""

    name: str
    description: str

    @property
    def controls(self) -> tuple[Control, ...]:
        """Return the sliders besides friction."""
        return ()

    @abstractmethod
    def make(self, state: State) -> Case:
        """Return the case of a state, or raise a CaromError that says what is wrong."""


@final
@dataclass(frozen=True)
class SceneSubject(Subject):
    """A named scene, whose parameters can be changed."""

    name: str

    @cached_property
    def description(self) -> str:  # type: ignore[override]
        """Return what happens in the scene."""
        return scenes.load(self.name).description

    @property
    def controls(self) -> tuple[Control, ...]:
        """Return the sliders besides friction."""
        return scene_controls(self.name)

    def make(self, state: State) -> Case:
        """Return the case of a state, or raise a CaromError that says what is wrong."""
        unknown = dict(state.parameters).keys() - parameters_of(self.name).keys()
        if unknown:
            raise InvalidOption(f"{self.name} has no parameter {sorted(unknown)[0]!r}")
        scene = scenes.load(self.name, **dict(state.parameters))
        # Every scene is planar.
        assert isinstance(scene.system, PlanarSystem)
        case = _changed(state, scene.problem, scene.system, scene.q)
        return replace(case, duration=min(scene.duration, LONGEST))


@final
@dataclass(frozen=True, eq=False)
class GivenSubject(Subject):
    """An impact that was given as such, with its file or its planar system where there is one."""

    name: str
    description: str
    problem: ImpactProblem
    source: str | None = None
    system: PlanarSystem | None = None
    q: FloatArray | None = None

    def make(self, state: State) -> Case:
        """Return the case of a state, or raise a CaromError that says what is wrong."""
        if state.parameters:
            raise InvalidOption(f"{self.name} has no parameters")
        return _changed(state, self.problem, self.system, self.q)


def _changed(
    state: State, problem: ImpactProblem, system: PlanarSystem | None, q: FloatArray | None
) -> Case:
    """Return the case in which friction, restitution and velocity are those of a state."""
    friction = _coefficients(problem.contacts, problem.mu, state.mu)
    bounces = _coefficients(problem.contacts, problem.restitution, state.restitution)
    v = problem.v_pre if state.v is None else np.array(state.v)
    mu, e = (np.array([*each.values()]) for each in (friction, bounces))
    changed = replace(problem, mu=mu, restitution=e, v_pre=v)
    if system is not None and (state.mu or state.restitution):
        pairs = [
            replace(
                x,
                mu=friction.get(x.name, x.mu),
                restitution=bounces.get(x.name, x.restitution),
            )
            for x in system.contact_pairs
        ]
        # Gravity and forces stay; only coefficients are others.
        system = PlanarSystem(system.bodies, pairs, gravity=system.gravity, inputs=system.inputs)
    return Case(state, changed, problem.mu, problem.v_pre, problem.restitution, system, q)


def _coefficients(
    names_: tuple[str, ...], own: FloatArray, given: tuple[tuple[str, float], ...]
) -> dict[str, float]:
    """Return a coefficient for each contact by its name, where those given replace its own."""
    found = dict(zip(names_, own.tolist(), strict=True))
    for name, x in given:
        if name not in found:
            raise InvalidOption(f"there is no contact {name!r}")
        found[name] = x
    return found
