"""Environments of Gymnasium whose impacts end in any way that they can."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np

from carom.adapters.engine import Restitution
from carom.adapters.mujoco.system import MujocoSystem
from carom.adapters.replaced_impact import ReplacedImpact
from carom.checks import between, integer, positive, vector
from carom.errors import ImpactNotResolved, InvalidOption, MissingExtra
from carom.laws.law import ImpactLaw, draw_seed
from carom.laws.routh import Routh
from carom.problem import ImpactProblem
from carom.typing import ArrayLike, FloatArray

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


NUM_TRIED = 2**10
"""Number of samples of which an adversary takes the worst, unless a law is given."""

Adversary = ArrayLike | Callable[[ImpactProblem], ArrayLike]
"""A direction (nv,) of velocity, or a function of the impact that returns one."""


class SetValuedImpacts(gymnasium.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Replace impacts in a MuJoCo environment by draws from the set of all ways they can end.

    An impact begins where two or more contacts touch before a step of MuJoCo, and one of them
    approaches faster than `speed`. With the given probability its outcome is drawn by the law and
    set as the velocity; then no contact approaches, and MuJoCo steps on. Otherwise MuJoCo resolves
    it, and its contacts are left alone until they have ceased to approach: they are soft, and take
    several steps to stop. `info["impacts"]` of each step is a tuple of `ReplacedImpact`; a vector
    environment merges them to an array of tuples, one for each of its environments.

    With an adversary nothing is drawn: of all outcomes that `law.resolve` returns, the one is taken
    that goes farthest in a direction. The same state always ends in the same way.

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
        law: Law that draws; `Routh()` if not given, and `Routh(num_samples=1024, num_threads=1)`
            with an adversary.
        adversary: Direction (nv,) of the velocity, or a function that returns one for an
            `ImpactProblem`, along which the outcome shall go as far as it can.
        seed: Seed of the draws, together with the one that `reset` is given last: environments with
            other seeds, reset alike, start alike and draw otherwise. In a vector environment
            `reset(seed=...)` gives each of its environments another one.
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
        adversary: Adversary | None = None,
        seed: int | None = None,
        gap_tolerance: float = 1e-3,
        speed: float = 0.1,
        restitution: Restitution = 0.0,
    ) -> None:
        options: dict[str, Any] = {"probability": probability, "law": law, "seed": seed}
        options |= {"gap_tolerance": gap_tolerance, "speed": speed, "restitution": restitution}
        RecordConstructorArgs.__init__(self, adversary=adversary, **options)
        base: Any = _checked(env)
        gymnasium.Wrapper.__init__(self, env)
        if not (law is None or isinstance(law, ImpactLaw)):
            raise InvalidOption(f"law: expected an ImpactLaw such as carom.Routh(), got {law!r}")
        between("probability", probability, 0.0, 1.0)
        positive("gap_tolerance", gap_tolerance)
        positive("speed", speed)
        if seed is not None:
            integer("seed", seed, 0)
        given: Any = {"restitution": restitution, "limits": False}
        self.system = MujocoSystem(base.model, base.data, margin=2.0 * gap_tolerance, **given)
        self._base = base
        self._adversary = (
            adversary
            if adversary is None or callable(adversary)
            else _direction(adversary, self.system.nv)
        )
        usual = Routh() if adversary is None else Routh(num_samples=NUM_TRIED, num_threads=1)
        self._probability, self._law = probability, law or usual
        self._gap_tolerance, self._speed = gap_tolerance, speed
        self._seed = seed
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
            self._rng = _generator(seed if self._seed is None else [self._seed, seed])
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
        """Set a velocity that the law allows; return whether there is one."""
        try:
            impact = self._replaced(problem, float(self._base.data.time))
        except ImpactNotResolved:
            return False
        self._impacts.append(impact)
        self._base.data.qvel[:] = impact.v_post
        return True

    def _replaced(self, problem: ImpactProblem, time: float) -> ReplacedImpact:
        """Return an impact with the outcome that is drawn, or that the adversary takes."""
        law, adversary = self._law, self._adversary
        if adversary is None:
            seed = draw_seed(self._rng)
            return ReplacedImpact(time, problem, law.draw_end(problem, seed)[0], law, seed)
        if callable(adversary):
            direction = _direction(adversary(problem), problem.num_velocities)
        else:
            direction = adversary
        v_post = law.resolve(problem).maximizer(direction)
        return ReplacedImpact(time, problem, v_post, law, None, direction)


def _direction(given: ArrayLike, nv: int) -> FloatArray:
    """Return the direction (nv,) of an adversary, or raise an error."""
    try:
        direction = vector("adversary", given, nv)
    except InvalidOption as why:
        raise InvalidOption(
            f"{why}; give a direction of the velocity, or a function of an ImpactProblem that "
            f"returns one"
        ) from None
    if not direction.any():
        raise InvalidOption("adversary: expected a direction of the velocity, got zeros")
    return direction


def _checked(env: gymnasium.Env[Any, Any]) -> Any:
    """Return the MuJoCo environment inside of the wrappers, or raise an error."""
    if isinstance(env, gymnasium.vector.VectorEnv):
        raise InvalidOption(
            f"env: expected one environment, got a {type(env).__name__}; wrap each of its own: "
            f"gymnasium.make_vec(..., wrappers=[SetValuedImpacts])"
        )
    base = getattr(env, "unwrapped", env)
    if not all(hasattr(base, part) for part in ("model", "data", STEP)):
        raise InvalidOption(
            f"env: expected a MuJoCo environment, got a {type(base).__name__}; its class must "
            f"derive from gymnasium.envs.mujoco.MujocoEnv"
        )
    if isinstance(_stepper(base), SetValuedImpacts):
        raise InvalidOption(
            "env: its impacts are drawn by a SetValuedImpacts already; wrap it once"
        )
    return base


def _stepper(base: Any) -> Any:
    """Return what has taken over the steps of an environment, if anything has."""
    return getattr(vars(base).get(STEP), "__self__", None)


def _generator(seed: int | list[int] | None) -> np.random.Generator:
    """Return a generator whose numbers have nothing to do with those of an environment.

    Gymnasium makes its own from the same seed, and draws from it where an episode starts.
    """
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(1,)))
