"""One impact many times, with one number varied."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import cast, final

import numpy as np

from carom import checks
from carom.errors import InvalidOption
from carom.paper.compliant.law import Compliant
from carom.paper.compliant.run import CompliantImpact
from carom.scenes.scene import Scene
from carom.typing import FloatArray

Progress = Callable[[int, int], None]
"""Is told how many runs are done, and how many there are."""


@final
@dataclass(frozen=True, eq=False)
class CompliantSweep:
    """Hold impacts that differ in one number.

    Attributes:
        values: (n,) values of the number.
        runs: The impacts, one per value.
        v_post: (n, nv) velocities after them.
        shares: (n,) share of the impulse of the contact that touched first that came before the
            other one touched.

    Examples:
        Whichever corner is stiffer stops first.

        >>> import carom
        >>> block = carom.scenes.load("rocking-block")
        >>> law = carom.Compliant(rtol=1e-4)
        >>> sweep = carom.paper.compliant.stiffness_sweep(block, num=2, max_ratio=10.0, law=law)
        >>> len(sweep.runs), sweep.v_post.shape, (sweep.v_post[:, 2] > 0.0).tolist()
        (2, (2, 3), [True, False])
    """

    values: FloatArray
    runs: tuple[CompliantImpact, ...]
    v_post: FloatArray = field(init=False)
    shares: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "v_post", np.array([run.v_post for run in self.runs]))
        object.__setattr__(self, "shares", np.array([_first_share(run) for run in self.runs]))


def stiffness_sweep(
    scene: Scene,
    num: int = 51,
    *,
    max_ratio: float = 1e5,
    law: Compliant | None = None,
    progress: Progress | None = None,
) -> CompliantSweep:
    """Vary the ratio of stiffness of a scene's two contacts, k_A / k_B.

    Args:
        scene: What hits, such as the rocking block.
        num: Number of ratios, spaced evenly in their logarithm.
        max_ratio: The ratios go from 1 / max_ratio to max_ratio.
        law: Settings of the contacts; its stiffness is that of the softer one.
        progress: Is called after every run.

    Returns:
        The impacts, with the ratios as values.

    Raises:
        InvalidOption: An argument is wrong, or the scene has not two contacts.

    Examples:
        >>> import carom
        >>> block = carom.scenes.load("rocking-block")
        >>> law = carom.Compliant(rtol=1e-4)
        >>> sweep = carom.paper.compliant.stiffness_sweep(block, num=2, max_ratio=10.0, law=law)
        >>> sweep.values.round(9).tolist()
        [0.1, 10.0]
    """
    law = _checked_law(scene, law)
    softest = float(cast(float, law.stiffness))

    def run(ratio: float) -> CompliantImpact:
        pair = (softest * max(ratio, 1.0), softest * max(1.0 / ratio, 1.0))
        return replace(law, stiffness=pair).run(scene.system, scene.q, scene.v)

    return _sweep(checks.positive("max_ratio", max_ratio) ** _spread(num), run, progress)


def angle_sweep(
    scene: Scene,
    num: int = 51,
    *,
    max_angle: float = 0.01,
    law: Compliant | None = None,
    progress: Progress | None = None,
) -> CompliantSweep:
    """Turn a block that falls on two corners a little, so that one of them comes first.

    It is raised until one corner just touches, and slowed to keep its energy.

    Args:
        scene: A block with coordinates (x, y, angle) over a floor, such as the rocking block.
        num: Number of angles, spaced evenly.
        max_angle: The angles go from -max_angle to max_angle [deg].
        law: Settings of the contacts, with one stiffness.
        progress: Is called after every run.

    Returns:
        The impacts, with angles in degrees.

    Raises:
        InvalidOption: An argument is wrong, or the scene is no such block.

    Examples:
        Turned by 0.01 degrees, the corner that comes first has nearly all of its impulse before the
        other touches.

        >>> import carom
        >>> block = carom.scenes.load("rocking-block")
        >>> sweep = carom.paper.compliant.angle_sweep(block, num=2, law=carom.Compliant(rtol=1e-3))
        >>> sweep.values.tolist(), bool((sweep.shares > 0.9).all())
        ([-0.01, 0.01], True)
    """
    law, system = _checked_law(scene, law), scene.system
    if system.nq != 3 or not (system.normal_jacobian(scene.q)[:, 1] == 1.0).all():
        raise InvalidOption(
            f"scene: expected a block with coordinates (x, y, angle) over a floor, got {scene.name}"
        )

    def run(angle: float) -> CompliantImpact:
        return law.run(system, *_turned(scene, angle))

    return _sweep(checks.positive("max_angle", max_angle) * _spread(num), run, progress)


def _turned(scene: Scene, angle: float) -> tuple[FloatArray, FloatArray]:
    """Return the state with one corner on the floor and the energy of the scene."""
    system, q = scene.system, np.array(scene.q)
    q[2] += np.radians(angle)
    q[1] -= system.gap(q).min()
    potential = system.potential_energy(q)
    kinetic = system.energy(scene.q, scene.v) - potential
    if not kinetic > 0.0:
        raise InvalidOption(
            f"max_angle: the block falls too slowly to come to {angle:g} deg with the same energy"
        )
    return q, scene.v * np.sqrt(kinetic / (system.energy(q, scene.v) - potential))


def _sweep(
    values: FloatArray, run: Callable[[float], CompliantImpact], progress: Progress | None
) -> CompliantSweep:
    runs = []
    for value in values:
        runs.append(run(float(value)))
        if progress is not None:
            progress(len(runs), len(values))
    return CompliantSweep(values, tuple(runs))


def _spread(num: int) -> FloatArray:
    """Return numbers from -1 to 1."""
    checks.integer("num", num, 2)
    return np.linspace(-1.0, 1.0, num)


def _first_share(run: CompliantImpact) -> float:
    first, second = np.argsort(run.touched_at, kind="stable")[:2]
    return run.share_before(run.system.contacts[first], run.system.contacts[second])


def _checked_law(scene: Scene, law: Compliant | None) -> Compliant:
    law = Compliant() if law is None else law
    names = scene.system.contacts
    if len(names) != 2:
        raise InvalidOption(f"scene: expected two contacts, got {len(names)} of {scene.name}")
    if not isinstance(law.stiffness, float):
        raise InvalidOption(f"law: expected one number as stiffness, got {law.stiffness!r}")
    return law
