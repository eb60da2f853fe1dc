"""One impact many times, with one number varied."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import final

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
        >>> scene, law = carom.scenes.load("rocking-block"), carom.Compliant(rtol=1e-4)
        >>> sweep = carom.paper.compliant.stiffness_sweep(scene, num=2, max_ratio=10.0, law=law)
        >>> len(sweep.runs), sweep.v_post.shape, (sweep.v_post[:, 2] > 0.0).tolist()
        (2, (2, 3), [True, False])
    """

    values: FloatArray
    runs: tuple[CompliantImpact, ...]
    v_post: FloatArray
    shares: FloatArray


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

    Examples:
        >>> import carom
        >>> scene, law = carom.scenes.load("rocking-block"), carom.Compliant(rtol=1e-4)
        >>> sweep = carom.paper.compliant.stiffness_sweep(scene, num=2, max_ratio=10.0, law=law)
        >>> sweep.values.round(9).tolist()
        [0.1, 10.0]
    """
    law, softest = _checked_law(scene, law)

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

    Examples:
        >>> import carom
        >>> block = carom.scenes.load("rocking-block")
        >>> sweep = carom.paper.compliant.angle_sweep(block, num=2, law=carom.Compliant(rtol=1e-3))
        >>> sweep.values.tolist(), bool((sweep.shares > 0.9).all())
        ([-0.01, 0.01], True)
    """
    (law, _), system = _checked_law(scene, law), scene.system
    if system.nq != 3 or not (system.normal_jacobian(scene.q)[:, 1] == 1.0).all():
        raise InvalidOption(
            f"scene: expected a block with coordinates (x, y, angle) over a floor, got {scene.name}"
        )
    angles = checks.positive("max_angle", max_angle) * _spread(num)
    return _sweep(angles, lambda angle: law.run(system, *_turned(scene, angle)), progress)


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
    v_post = np.array([each.v_post for each in runs])
    shares = []
    for each in runs:
        first, second = np.argsort(each.touched_at, kind="stable")[:2]
        names = each.system.contacts
        shares.append(each.share_before(names[first], names[second]))
    return CompliantSweep(values, tuple(runs), v_post, np.array(shares))


def _spread(num: int) -> FloatArray:
    """Return numbers from -1 to 1."""
    return np.linspace(-1.0, 1.0, checks.integer("num", num, 2))


def _checked_law(scene: Scene, law: Compliant | None) -> tuple[Compliant, float]:
    law, count = law or Compliant(), len(scene.system.contacts)
    if count != 2:
        raise InvalidOption(f"scene: expected two contacts, got {count} of {scene.name}")
    if not isinstance(law.stiffness, float):
        raise InvalidOption(f"law: expected one number as stiffness, got {law.stiffness!r}")
    return law, law.stiffness
