"""A robot's impact in space, with viser: contacts, arrows, extremes, and ghosts of what follows."""

from __future__ import annotations

import html
import math
import time
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from carom.explorer.space import add_solid, place, start_server
from carom.extremes.worst_case import worst_case
from carom.laws.routh import Routh
from carom.outcomes.path import ImpactPath
from carom.problem import ImpactProblem
from carom.systems.solids import Drawable
from carom.typing import FloatArray

BEFORE, AFTER, CONTACT = (0, 158, 115), (213, 94, 0), (240, 228, 66)
SAMPLES = 24
"""Number of samples beside the extremes."""
GHOSTS = 3
MOST_EVENTS = 8
"""Maximum number of pushes that are listed."""
FRAMES = 30
"""Number of pictures of a motion."""
SECONDS = 10.0
"""Time budget of the extremes [s]."""
REACH = 0.25
"""How far the fastest contact goes in a motion, as a share of the robot's size."""


@dataclass(frozen=True, eq=False)
class Shown:
    """An outcome that can be chosen: its label, its velocity, and how it comes about."""

    label: str
    v: FloatArray
    path: ImpactPath | None


@dataclass(eq=False)
class Robot:
    """A robot in a state, its impact, and outcomes of it.

    Attributes:
        system: The robot, which can be drawn.
        contacts: Names of all its contacts.
        q: Configuration.
        problem: The impact.
        outcomes: Extremes of every contact velocity first, then samples.
    """

    system: Drawable
    contacts: tuple[str, ...]
    q: FloatArray
    problem: ImpactProblem
    outcomes: list[Shown] = field(default_factory=list)

    def resolve(self, max_seconds: float = SECONDS, num_samples: int = SAMPLES) -> Robot:
        """Find the outcomes, and return the robot."""
        extremes = worst_case(self.problem, max_seconds=max_seconds)
        for each in extremes:  # type: ignore[union-attr]
            side, sign = ("least", -1.0) if each.name.startswith("-") else ("largest", 1.0)
            # Rounding errors are no motion.
            reached, proved = (
                0.0 if abs(x) < 1e-9 * each.scale else sign * x for x in (each.reached, each.proved)
            )
            bound = f"proved {proved:.4g}" if math.isfinite(proved) else "no bound"
            label = f"{each.name.lstrip('-')}, {side}: {reached:.4g} m/s ({bound})"
            self.outcomes.append(Shown(label, each.v_post, each.path))
        for i, v in enumerate(Routh(num_samples=num_samples).resolve(self.problem).v_post):
            self.outcomes.append(Shown(f"sample {i + 1}", v, None))
        return self

    @property
    def places(self) -> FloatArray:
        """Return where the contacts of the impact are, (m, 3) [m]."""
        index = [self.contacts.index(name) for name in self.problem.contacts]
        return self.system.contact_places(self.q)[index]

    @property
    def size(self) -> float:
        """Return the largest extent of the robot [m]."""
        at = self.system.placements(self.q)[:, :3, 3]
        return float(np.ptp(np.vstack([at, self.places]), axis=0).max()) or 1.0

    def velocities(self, v: FloatArray) -> FloatArray:
        """Return the velocities of the contacts of the impact, (m, 3) [m/s]."""
        index = [self.contacts.index(name) for name in self.problem.contacts]
        return self.system.contact_motions(self.q, v)[index]

    def duration(self) -> float:
        """Return how long motions are shown, so that the fastest is seen to move [s]."""
        speed = max(float(np.abs(self.problem.contact_velocity(x.v)).max()) for x in self.outcomes)
        return min(REACH * self.size / max(speed, 1e-6), 2.0)

    def motion(self, v: FloatArray, num: int = FRAMES) -> list[FloatArray]:
        """Return poses (n, 4, 4) of all solids as the robot goes on with a velocity."""
        times = np.linspace(0.0, self.duration(), num)
        return [self.system.placements(self.system.integrate(self.q, v, t)) for t in times]

    def words(self, shown: Shown) -> str:
        """Return what is known of an outcome, as Markdown; names are escaped."""
        lines = [f"**{html.escape(shown.label)}**", ""]
        if shown.path is not None:
            ends = zip(shown.path.contacts, shown.path.ends, strict=True)
            lines += [f"pushes: {html.escape(_order(shown.path))}", ""]
            lines += [html.escape(", ".join(f"{name} {word}" for name, word in ends)), ""]
        kept = self.problem.kinetic_energy(shown.v) / self.problem.kinetic_energy(
            self.problem.v_pre
        )
        return "\n".join([*lines, f"keeps {100 * kept:.3g} % of the energy"])


def _order(path: ImpactPath) -> str:
    """Return which contacts push one after another; in space a path has thousands of stretches."""
    acts = path.lambda_n > 1e-6 * float(path.lambda_n.sum(axis=0).max(initial=0.0))
    rows = [" and ".join(np.array(path.contacts)[row].tolist()) for row in acts if row.any()]
    groups = [name for name, _ in groupby(rows)]
    more = f", then {len(groups) - MOST_EVENTS} more" if len(groups) > MOST_EVENTS else ""
    return ", then ".join(groups[:MOST_EVENTS]) + more or "nothing"


class Stage:
    """The robot on a server of viser, ready to be placed."""

    def __init__(self, server: Any, robot: Robot) -> None:
        self.server, self.robot = server, robot
        solids, size = robot.system.solids(), robot.size
        scene = server.scene
        scene.set_up_direction("+z")
        scene.add_grid("/ground", width=6 * size, height=6 * size, cell_size=0.25 * size)
        self.bodies = [add_solid(scene, f"/robot/{i}", each) for i, each in enumerate(solids)]
        self.ghosts = [
            [add_solid(scene, f"/ghosts/{k}/{i}", each, 0.18) for i, each in enumerate(solids)]
            for k in range(GHOSTS)
        ]
        for i, (name, at) in enumerate(zip(robot.problem.contacts, robot.places, strict=True)):
            scene.add_icosphere(f"/contacts/{i}", radius=0.025 * size, color=CONTACT, position=at)
            scene.add_label(f"/contacts/{i}/name", name)
        self.before = self._arrows("/arrows/before", robot.problem.v_pre, BEFORE)
        self.after: Any = None
        low = robot.places.mean(axis=0)
        server.initial_camera.position = low + size * np.array([1.6, -1.6, 1.1])
        server.initial_camera.look_at = low + size * np.array([0.0, 0.0, 0.3])

    def _arrows(self, name: str, v: FloatArray, color: tuple[int, int, int]) -> Any:
        velocity = self.robot.velocities(v)
        fastest = float(np.abs(self.robot.velocities(self.robot.problem.v_pre)).max()) or 1.0
        start, size = self.robot.places, self.robot.size
        ends = start + 0.35 * size / fastest * velocity
        points = np.stack([start, ends], axis=1)
        widths: Any = {"shaft_radius": 0.008 * size, "head_radius": 0.02 * size}
        return self.server.scene.add_arrows(name, points, color, **widths, head_length=0.04 * size)

    def choose(self, shown: Shown) -> list[FloatArray]:
        """Show an outcome's arrows and ghosts; return its motion."""
        self.after = self._arrows("/arrows/after", shown.v, AFTER)
        motion = self.robot.motion(shown.v)
        for k, ghost in enumerate(self.ghosts):
            place(ghost, motion[(k + 1) * (len(motion) - 1) // GHOSTS])
        return motion

    def place(self, poses: FloatArray) -> None:
        """Move the robot."""
        place(self.bodies, poses)


def save_playback(robot: Robot, path: Path, port: int = 0) -> None:
    """Write a page that plays the outcomes one after another, without a server."""
    server = start_server("127.0.0.1", port)
    try:
        stage = Stage(server, robot)
        stage.place(robot.system.placements(robot.q))
        recording = server.get_scene_serializer()
        for shown in robot.outcomes:
            for poses in stage.choose(shown):
                stage.place(poses)
                recording.insert_sleep(1.0 / FRAMES)
        text = recording.as_html()
    finally:
        server.stop()
    path.write_text(text, encoding="utf-8")


class Viewer:
    """A server of viser with the robot and its controls."""

    def __init__(self, robot: Robot, host: str, port: int) -> None:
        self.robot = robot
        self.server = start_server(host, port)
        self.stage = Stage(self.server, robot)
        gui = self.server.gui
        labels = [each.label for each in robot.outcomes]
        last = len(labels) - 1
        with gui.add_folder("Outcomes"):
            self.list = gui.add_dropdown("extreme or sample", labels)
            self.number = gui.add_slider("outcome", 0, last, 1, 0)
            self.text = gui.add_markdown("")
        with gui.add_folder("What follows"):
            self.time = gui.add_slider("time", 0, FRAMES - 1, 1, 0)
            self.playing = gui.add_checkbox("play", True)
            self.ghosts = gui.add_checkbox("ghosts", True)
        self.list.on_update(lambda _: self._go_to(labels.index(self.list.value)))
        self.number.on_update(lambda _: self._go_to(int(self.number.value)))
        self.time.on_update(lambda _: self.stage.place(self.motion[int(self.time.value)]))
        self.ghosts.on_update(lambda _: self._show_ghosts())
        self.current = -1
        self.motion: list[FloatArray] = []
        self._go_to(0)

    @property
    def address(self) -> str:
        """Return the address of the page."""
        return f"http://{self.server.get_host()}:{self.server.get_port()}"

    def _go_to(self, number: int) -> None:
        """Show an outcome; list and slider follow each other."""
        if number == self.current:
            return
        self.current = number
        shown = self.robot.outcomes[number]
        self.motion = self.stage.choose(shown)
        self.text.content = self.robot.words(shown)
        self.number.value, self.list.value = number, shown.label
        self.time.value = 0
        self.stage.place(self.motion[0])

    def _show_ghosts(self) -> None:
        for ghost in self.stage.ghosts:
            for handle in ghost:
                handle.visible = self.ghosts.value

    def step(self) -> None:
        """Show the next picture, if it plays."""
        if self.playing.value:
            self.time.value = (int(self.time.value) + 1) % FRAMES
            self.stage.place(self.motion[int(self.time.value)])

    def run(self) -> None:
        """Play until Ctrl-C."""
        try:
            while True:
                self.step()
                time.sleep(1.0 / FRAMES)
        finally:
            self.server.stop()
