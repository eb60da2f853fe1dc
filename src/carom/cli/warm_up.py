"""carom warm-up: compile all kernels in advance."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from carom.cli import show
from carom.cli.options import Command, json_option

if TYPE_CHECKING:
    from carom import ImpactProblem

EPILOG = """\
Examples:
  carom warm-up
  NUMBA_CACHE_DIR=/cache carom warm-up  Keep compiled code where an image or a cluster finds it.
"""


@click.command("warm-up", cls=Command, epilog=EPILOG, short_help="compile all kernels in advance")
@json_option
def command(as_json: bool) -> None:
    """Compile everything that carom would compile on first use, and keep it on disk.

    This takes a minute or two, and some seconds once it is done. Compiled code is kept beside the
    package, in the user's cache if that cannot be written to, or in NUMBA_CACHE_DIR; a new version
    of carom or of Numba, or another processor, compiles anew. Printed is how long each part took.
    """
    seconds = {}
    with show.progress([expected for expected, _ in PARTS.values()]) as begin:
        for name, (_, run) in PARTS.items():
            begin(name)
            start = time.perf_counter()
            run()
            seconds[name] = time.perf_counter() - start
    cells = [(name, f"{value:.1f}") for name, value in seconds.items()]
    lines = show.table(("part", "seconds"), cells, right=(1,), width=show.terminal_width())
    show.show({"seconds": seconds} if as_json else "\n".join(lines))


def _planar_samples() -> None:
    from carom import Routh, scenes

    # Two contacts have code of their own; few samples would not search for extremes.
    for name in ("rocking-block", "disk-stack"):
        Routh(num_samples=2**10).resolve(scenes.load(name).problem)


def _point(restitution: float = 0.0) -> ImpactProblem:
    """Return an impact of a point in space."""
    from carom import ImpactProblem

    return ImpactProblem(
        M=[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        J_n=[[0.0, 0.0, 1.0]],
        J_t=[[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]],
        mu=0.5,
        v_pre=[1.0, 0.0, -1.0],
        restitution=restitution,
    )


def _samples_in_space() -> None:
    from carom import Routh

    Routh(num_samples=1).resolve(_point())
    Routh(num_samples=1, step_impulse=1.0).resolve(_point())


def _bounces() -> None:
    from carom import Routh, scenes

    Routh(num_samples=2**10).resolve(scenes.load("newtons-cradle").problem)
    Routh(num_samples=1).resolve(_point(restitution=0.5))


def _steps() -> None:
    from carom import Routh, scenes

    # Few contacts have all pieces in a table, many have those that were met.
    for name in ("rocking-block", "disk-stack"):
        Routh(num_samples=1, step_impulse=1.0).resolve(scenes.load(name).problem)


def _comparison_laws() -> None:
    from carom import AnitescuPotra, scenes

    # Few contacts are interpreted. Sequences compile nothing of their own.
    AnitescuPotra().resolve(scenes.load("disk-stack").problem)


def _motion() -> None:
    from carom import Routh, scenes, simulate

    scene = scenes.load("rocking-block")
    # Contacts of a block that stands depend on each other, which takes kernels of its own.
    for v in (scene.v, 0.0 * scene.v):
        simulate(scene.system, scene.q, v, duration=0.1, law=Routh(num_samples=1))


def _motion_in_space() -> None:
    import numpy as np

    from carom import Routh, simulate
    from carom.kernels.friction_newton import polish, relax
    from carom.systems import Box, SpatialBody

    box = SpatialBody(Box([0.4, 0.3, 0.2]), mass=1.0, mu=0.5)
    q, v = [0.0, 0.0, 0.1, 1.0, 0.0, 0.0, 0.0], [0.3, 0.0, 0.0, 0.0, 0.0, 0.0]
    # In space, from event to event as well.
    for step in (None, 1e-3):
        simulate(box, q, v, duration=0.01, law=Routh(num_samples=1), time_step=step)
    # Hardly any step needs these.
    A, b, mu, which = np.eye(3), np.array([-1.0, 0.3, 0.0]), np.array([0.5]), np.arange(1)
    P, room = np.zeros((1, 3)), (np.zeros((1, 3)), *np.zeros((2, 3)), *np.zeros((3, 3, 3)))
    polish(A, b, mu, which, P, 1e-9, np.zeros(3), *room)
    relax(A, b, mu, which, P)


PARTS: dict[str, tuple[float, Callable[[], None]]] = {
    "samples in the plane": (8.0, _planar_samples),
    "samples in space": (20.0, _samples_in_space),
    "impacts that bounce": (25.0, _bounces),
    "the paper's steps": (15.0, _steps),
    "simultaneous and sequential impacts": (8.0, _comparison_laws),
    "motion of planar systems": (15.0, _motion),
    "motion in space": (40.0, _motion_in_space),
}
"""What is compiled: the expected time [s], and a call that needs it."""
