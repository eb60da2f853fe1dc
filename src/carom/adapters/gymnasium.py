"""Environments of Gymnasium whose impacts end in any way that they can."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from carom.adapters.engine import Restitution
from carom.adapters.mujoco.system import MujocoSystem
from carom.checks import between, positive
from carom.errors import ImpactNotResolved, InvalidOption, MissingExtra
from carom.laws.law import ImpactLaw
from carom.laws.routh import Routh
from carom.problem import ImpactProblem
from carom.typing import FloatArray

try:
    import gymnasium
    from gymnasium.envs.mujoco import MujocoEnv
    from gymnasium.utils import RecordConstructorArgs
except ModuleNotFoundError as error:
    raise MissingExtra(
        'carom.adapters.gymnasium needs Gymnasium: pip install "gymnasium[mujoco]", or '
        '"carom[gymnasium]"'
    ) from error

__all__ = ["ReplacedImpact", "SetValuedImpacts"]

STEP = "_step_mujoco_simulation"
"""The method of a MuJoCo environment that steps MuJoCo."""


@dataclass(frozen=True, eq=False)
class ReplacedImpact:
    """Hold an impact that was drawn instead of left to MuJoCo.

    Attributes:
        time: Time in the simulation [s].
        contacts: Names of the m contacts that took part.
        v_pre: (nv,) velocity before it.
        v_post: (nv,) velocity after it.
        energy_lost: Share of the kinetic energy that it took, from 0 to 1.
    """

    time: float
    contacts: tuple[str, ...]
    v_pre: FloatArray
    v_post: FloatArray
    energy_lost: float


class SetValuedImpacts(gymnasium.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Replace impacts in a MuJoCo environment by draws from the set of all ways they can end.

    An impact begins where two or more contacts touch before a step of MuJoCo, and one of them
    approaches faster than `speed`. With the given probability its outcome is drawn by the law and
    set as the velocity; then no contact approaches, and MuJoCo steps on. Otherwise MuJoCo resolves
    it, and its contacts are left alone until they have ceased to approach: they are soft, and take
    several steps to stop. `info["impacts"]` of each step is a tuple of `ReplacedImpact`.

    Limits:

    - Where one contact alone touches, MuJoCo's own answer stands.
    - Contacts that penetrate count as touching; MuJoCo pushes them out softly.
    - Impacts are instantaneous, and inelastic unless `restitution` says otherwise, also where the
      model's contacts are soft or bounce.
    - Limits of joints, and what `MujocoSystem` leaves out, take no part in a draw; MuJoCo resolves
      them in the steps that follow.
    - A draw that does not come to its end is left to MuJoCo.
    - The model is read once: later changes of friction, inertia or geometry are not seen.

    Args:
        env: A MuJoCo environment of Gymnasium, or a wrapper around one.
        probability: Probability that an impact is replaced, from 0 to 1. With 0 the environment is
            what it was, to the last bit.
        law: Law whose `draw_velocity` draws; `Routh()` if not given.
        seed: Seed of the draws. `reset(seed=...)` sets it anew. The environment's own random
            numbers are others, though it has the same seed.
        gap_tolerance: Largest gap of a contact that touches [m].
        speed: An impact begins if a contact approaches faster than this [m/s]. Choose more than
            gravity makes of rest in one step.
        restitution: Coefficient of restitution of all contacts, or of some, by their names.

    Attributes:
        system: The `MujocoSystem` that finds contacts.

    Examples:
        >>> import gymnasium
        >>> from carom.adapters.gymnasium import SetValuedImpacts
        >>> env = SetValuedImpacts(gymnasium.make("Walker2d-v5"), probability=0.5)
        >>> observation, info = env.reset(seed=1)
        >>> *outcome, info = env.step(env.action_space.sample())
        >>> info["impacts"]
        ()
        >>> env.close()
    """

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        *,
        probability: float = 1.0,
        law: ImpactLaw | None = None,
        seed: int | None = None,
        gap_tolerance: float = 1e-3,
        speed: float = 0.1,
        restitution: Restitution = 0.0,
    ) -> None:
        options: dict[str, Any] = {"probability": probability, "law": law, "seed": seed}
        options |= {"gap_tolerance": gap_tolerance, "speed": speed, "restitution": restitution}
        RecordConstructorArgs.__init__(self, **options)
        gymnasium.Wrapper.__init__(self, env)
        base: Any = env.unwrapped
        if not all(hasattr(base, part) for part in ("model", "data", STEP)):
            raise InvalidOption(
                f"env: expected a MuJoCo environment, got a {type(base).__name__}; its class must "
                f"derive from gymnasium.envs.mujoco.MujocoEnv"
            )
        if isinstance(_stepper(base), SetValuedImpacts):
            raise InvalidOption(
                "env: its impacts are drawn by a SetValuedImpacts already; wrap it once"
            )
        if not (law is None or isinstance(law, ImpactLaw)):
            raise InvalidOption(f"law: expected an ImpactLaw such as carom.Routh(), got {law!r}")
        between("probability", probability, 0.0, 1.0)
        positive("gap_tolerance", gap_tolerance)
        positive("speed", speed)
        given: Any = {"restitution": restitution, "limits": False}
        self.system = MujocoSystem(base.model, base.data, margin=2.0 * gap_tolerance, **given)
        self._base = base
        self._probability, self._law = probability, law or Routh()
        self._gap_tolerance, self._speed = gap_tolerance, speed
        self._rng = _generator(seed)
        self._left: frozenset[str] = frozenset()
        self._impacts: list[ReplacedImpact] = []
        self._take_steps()

    def __getstate__(self) -> dict[str, Any]:
        """Return all but the steps that were taken over, which a copy takes over anew."""
        return {name: value for name, value in vars(self).items() if name != "_plain"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Become a copy, which draws in its own environment."""
        vars(self).update(state)
        if _stepper(self._base) is self:
            delattr(self._base, STEP)
        self._take_steps()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Reset the environment, and the draws if a seed is given; `info` has `"impacts"`."""
        if seed is not None:
            self._rng = _generator(seed)
        self._left, self._impacts = frozenset(), []
        observation, info = self.env.reset(seed=seed, options=options)
        return observation, {**info, "impacts": tuple(self._impacts)}

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Step the environment, with impacts drawn on the way; `info` has `"impacts"`."""
        self._impacts = []
        observation, reward, terminated, truncated, info = self.env.step(action)
        return observation, reward, terminated, truncated, {**info, "impacts": tuple(self._impacts)}

    def close(self) -> None:
        """Give the environment its own steps back, and close it."""
        self._base._step_mujoco_simulation = self._plain
        self.env.close()

    def _take_steps(self) -> None:
        """Let the environment step MuJoCo through here."""
        self._plain = self._base._step_mujoco_simulation
        self._base._step_mujoco_simulation = self._simulate

    def _simulate(self, ctrl: FloatArray, n_frames: int) -> None:
        """Take the steps of MuJoCo that make up one of the environment."""
        if self._probability == 0.0:
            self._plain(ctrl, n_frames)
            return
        base = self._base
        if type(base)._step_mujoco_simulation is MujocoEnv._step_mujoco_simulation:
            # Of its steps but the last, only MuJoCo's own matters.
            model, data, step = base.model, base.data, mujoco.mj_step
            data.ctrl[:] = ctrl
            for _ in range(n_frames - 1):
                self._replace()
                step(model, data)
            n_frames = 1
        for _ in range(n_frames):
            self._replace()
            self._plain(ctrl, 1)

    def _replace(self) -> None:
        """Draw a new velocity if an impact begins here."""
        data, system = self._base.data, self.system
        # One contact alone matters only if MuJoCo was left to stop it.
        fewest = 1 if self._left else 2
        found = system._approaching(data, self._gap_tolerance, self._speed, fewest)
        if found is None:
            self._left = frozenset()
            return
        colliding = found.hits
        self._left &= colliding
        if len(found.touching.names) < 2 or not colliding - self._left:
            return
        problem = system._gather(found.M, found.touching, found.v)
        if problem.num_contacts < 2:
            return
        if not (self._rng.random() < self._probability and self._draw(problem)):
            self._left = colliding

    def _draw(self, problem: ImpactProblem) -> bool:
        """Set a velocity that the law draws; return whether there is one."""
        try:
            v_post = self._law.draw_velocity(problem, self._rng)
        except ImpactNotResolved:
            return False
        share = float(v_post.dot(problem.M.dot(v_post))) / problem.energy_norm**2
        time = float(self._base.data.time)
        self._impacts.append(
            ReplacedImpact(time, problem.contacts, problem.v_pre, v_post, 1.0 - share)
        )
        self._base.data.qvel[:] = v_post
        return True


def _stepper(base: Any) -> Any:
    """Return what has taken over the steps of an environment, if anything has."""
    return getattr(vars(base).get(STEP), "__self__", None)


def _generator(seed: int | None) -> np.random.Generator:
    """Return a generator whose numbers have nothing to do with those of an environment.

    Gymnasium makes its own from the same seed, and draws from it where an episode starts.
    """
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(1,)))
