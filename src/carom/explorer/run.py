"""Serving the explorer until someone ends it: the page for planar impacts, viser for robots."""

from __future__ import annotations

import asyncio
import sys
import warnings
import webbrowser
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from carom import checks
from carom.errors import InvalidOption
from carom.explorer.messages import State
from carom.explorer.server import LOOPBACK, Settings, running
from carom.explorer.subjects import GivenSubject, Subject
from carom.problem import ImpactProblem
from carom.systems.planar import PlanarSystem
from carom.systems.system import System
from carom.typing import ArrayLike


def serve_until_interrupted(
    subjects: Sequence[Subject],
    settings: Settings,
    *,
    open_browser: bool,
    warn: Callable[[str], None],
) -> None:
    """Serve pages until Ctrl-C, and print their address first of all."""
    if settings.host not in LOOPBACK:
        warn(
            f"warning: listening on {settings.host}: whoever reaches this machine and knows the "
            f"token can use the explorer, and the token travels unencrypted"
        )

    async def run() -> None:
        async with running(subjects, settings) as address:
            print(address, flush=True)
            if open_browser:
                # It may block until a text browser is left.
                asyncio.get_running_loop().run_in_executor(None, webbrowser.open, address)
            if sys.stdin is not None and sys.stdin.isatty():
                warn("Ctrl-C ends the explorer.")
            await until_interrupted()

    with suppress(KeyboardInterrupt):
        asyncio.run(run())


async def until_interrupted() -> None:
    """Wait for Ctrl-C."""
    await asyncio.Event().wait()


def show_robot(
    system: Any,
    q: ArrayLike,
    problem: ImpactProblem,
    host: str,
    port: int,
    *,
    save: Path | None = None,
    open_browser: bool = True,
) -> None:
    """Show a robot's outcomes until Ctrl-C, or write them as a page."""
    from carom.explorer.robot import Robot, Viewer, save_playback

    for name in ("solids", "placements", "contact_places", "contact_motions", "integrate"):
        if not hasattr(system, name):
            raise InvalidOption(
                f"system: expected a planar system or a robot of MuJoCo or Pinocchio, got a "
                f"{type(system).__name__}, which cannot be drawn"
            )
    robot = Robot(system, system.contacts, np.asarray(q, dtype=np.float64), problem).resolve()
    if save is not None:
        save_playback(robot, save)
        return
    if host not in LOOPBACK:
        warnings.warn(f"listening on {host}: whoever reaches it sees the robot", stacklevel=2)
    viewer = Viewer(robot, host, port)
    print(viewer.address, flush=True)
    if open_browser:
        webbrowser.open(viewer.address)
    with suppress(KeyboardInterrupt):
        viewer.run()


def explore(
    system: System,
    q: ArrayLike,
    v: ArrayLike,
    *,
    port: int = 0,
    budget: float = 1.0,
    open_browser: bool = True,
    save: str | Path | None = None,
) -> None:
    """Open the explorer in the browser, at the impact of a system in a state; Ctrl-C ends it.

    A planar system gets the live page, a robot of MuJoCo or Pinocchio is shown in space. Needs
    websockets or viser: `pip install "carom[explore]"` or `"carom[viser]"`.

    Args:
        system: Planar system, or robot of MuJoCo or Pinocchio.
        q: Configuration, (nq,).
        v: Velocity before the impact, (nv,).
        port: Port to listen on; 0 for any that is free.
        budget: Time budget of an exact set [s].
        open_browser: Whether to open the page; its address is printed in any case.
        save: File for a playback of a robot's outcomes, in place of a server.

    Raises:
        InvalidOption: The system cannot be drawn.
        InvalidProblem: No contact touches.
        MissingExtra: A package is missing.

    Examples:
        `carom.explore(scene.system, scene.q, scene.v)` opens the page; a playback is for robots.

        >>> import carom
        >>> scene = carom.scenes.load("box-wall")
        >>> carom.explore(scene.system, scene.q, scene.v, save="page.html")
        Traceback (most recent call last):
        carom.errors.InvalidOption: save: writes a robot's playback, not a planar system's
    """
    problem = system.impact_problem(q, v)
    if not isinstance(system, PlanarSystem):
        target = None if save is None else Path(save)
        host = LOOPBACK[0]
        show_robot(system, q, problem, host, port, save=target, open_browser=open_browser)
        return
    if save is not None:
        raise InvalidOption("save: writes a robot's playback, not a planar system's")
    at = checks.vector("q", q, system.nq)
    subject = GivenSubject("system", "the impact of a planar system", problem, None, system, at)
    settings = Settings(State(subject.name), port=port, budget=budget)
    serve_until_interrupted([subject], settings, open_browser=open_browser, warn=_to_stderr)


def _to_stderr(text: str) -> None:
    print(text, file=sys.stderr)
