"""What happens in one motion."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, final

import numpy as np

from carom import __version__
from carom.cli.figures import load_plots, png
from carom.cli.laws import law_settings
from carom.cli.report import File, Report
from carom.cli.tables import shortened, table
from carom.systems import PlanarSystem

if TYPE_CHECKING:
    from carom.laws.law import ImpactLaw
    from carom.motion.parts import Impact, Segment
    from carom.motion.trajectory import Trajectory
    from carom.scenes import Scene

SHOWN = (2.0, 10.0)
"""A moving picture lasts at least and at most so long [s]."""
AT_REST = 1e-9
"""Contact velocities below this, and below this share of the largest before, are rest [m/s]."""


@dataclass(frozen=True, eq=False)
class Setting:
    """What motions come from: a scene, a law by its name, and how long they last [s]."""

    scene: Scene
    law_name: str
    law: ImpactLaw
    duration: float

    def json(self) -> dict[str, Any]:
        """Return it for programs."""
        settings = law_settings(self.law)
        # A motion draws one outcome at a time, with seeds of its own.
        settings = {key: settings[key] for key in settings if key not in ("num_samples", "seed")}
        return {
            "carom": __version__,
            "scene": self.scene.name,
            "law": {"name": self.law_name, "settings": settings},
            "duration": self.duration,
        }


@final
class MotionReport(Report):
    """One motion of a scene."""

    name = "motion"

    def __init__(self, setting: Setting, motion: Trajectory, *, with_page: bool = False) -> None:
        self.setting = setting
        self.scene = setting.scene
        self.motion = motion
        self.with_page = with_page
        self.afterwards = [_afterwards(setting.scene, impact) for impact in motion.impacts]

    def cut_short(self) -> list[str]:
        """Say why the motion ended before its time, if it did."""
        motion = self.motion
        return [] if motion.is_finished else [f"{motion.status}: {motion.message}"]

    def text(self) -> str:
        """Return the report for people."""
        return "\n\n".join(
            "\n".join(lines)
            for lines in (self._head(), self._impact_lines(), self._segment_lines())
            if lines
        )

    def _head(self) -> list[str]:
        motion = self.motion
        system = self.scene.system
        ends = [system.energy(motion.q[i], motion.v[i]) for i in (0, -1)]
        lost = sum(impact.energy_lost for impact in motion.impacts)
        return [
            f"{self.scene.name}: {self.scene.description}",
            "",
            f"Motion by law {self.setting.law_name}, seed {motion.seed}: {motion.status}",
            *(f"  - {words}" for words in self.cut_short()),
            f"  time    {motion.start_time:g} … {motion.end_time:g} s; s up to {motion.s[-1]:.5g}",
            f"  energy  {ends[0]:.5g} → {ends[1]:.5g} J; {lost:.5g} J lost in impacts",
        ]

    def _impact_lines(self) -> list[str]:
        impacts = self.motion.impacts
        if not impacts:
            return ["No impacts"]
        rows = [
            (
                f"{impact.t:.8g}",
                impact.kind,
                " ".join(impact.contacts),
                f"{impact.energy_lost:.4g}",
                ", ".join(f"{name} {word}" for name, word in words.items()),
            )
            for impact, words in zip(impacts, self.afterwards, strict=True)
        ]
        head = ("t [s]", "kind", "contacts", "lost [J]", "afterwards")
        lines = shortened(table(head, rows, right=(0, 3)))
        title = "1 impact" if len(impacts) == 1 else f"{len(impacts)} impacts"
        return [title, *(f"  {line}" for line in lines), *self._accumulations()]

    def _accumulations(self) -> Iterator[str]:
        for impact in self.motion.impacts:
            if impact.kind == "accumulation":
                yield (
                    f"  Infinitely many impacts up to t = {impact.end:.9g} s, extrapolated: "
                    f"accumulation stands for the rest."
                )

    def _segment_lines(self) -> list[str]:
        segments = self.motion.segments
        if not segments:
            return []
        rows = [(f"{part.start:.8g}", f"{part.end:.8g}", *part.modes) for part in segments]
        head = ("from [s]", "to [s]", *self.motion.contacts)
        lines = shortened(table(head, rows, right=(0, 1)))
        title = "1 segment" if len(segments) == 1 else f"{len(segments)} segments"
        choices = [
            f"  At t = {part.start:.8g} s friction leaves {part.num_solutions} ways to go on; "
            f"the seed drew one."
            for part in self._indeterminate()
        ]
        return [title, *(f"  {line}" for line in lines), *choices]

    def _indeterminate(self) -> list[Segment]:
        return [part for part in self.motion.segments if part.num_solutions > 1]

    def json(self) -> dict[str, Any]:
        """Return the report for programs."""
        motion = self.motion
        pairs = zip(motion.impacts, self.afterwards, strict=True)
        accumulations = [part for part in motion.impacts if part.kind == "accumulation"]
        return {
            **self.setting.json(),
            "seed": motion.seed,
            "status": motion.status,
            "message": motion.message,
            "contacts": list(motion.contacts),
            "start": self._state(0),
            "end": self._state(-1),
            "impacts": [self._describe_impact(*pair) for pair in pairs],
            "accumulations": [{"from": part.t, "to": part.end} for part in accumulations],
            "segments": [self._describe_segment(part) for part in motion.segments],
            "indeterminate": [part.start for part in self._indeterminate()],
        }

    def _state(self, row: int) -> dict[str, Any]:
        motion = self.motion
        return {
            "t": float(motion.t[row]),
            "s": float(motion.s[row]),
            "q": motion.q[row].tolist(),
            "v": motion.v[row].tolist(),
            "energy": self.scene.system.energy(motion.q[row], motion.v[row]),
        }

    def _describe_impact(self, impact: Impact, words: dict[str, str]) -> dict[str, Any]:
        gained = impact.impulse[-1] - impact.impulse[0]
        which = [self.motion.contacts.index(name) for name in impact.contacts]
        return {
            "t": impact.t,
            "kind": impact.kind,
            "duration": impact.duration,
            "contacts": list(impact.contacts),
            "v_pre": impact.v_pre.tolist(),
            "v_post": impact.v_post.tolist(),
            "impulse": {self.motion.contacts[i]: gained[i].tolist() for i in which},
            "energy_lost": impact.energy_lost,
            "num_steps": len(impact.v) - 1,
            "afterwards": words,
        }

    def _describe_segment(self, part: Segment) -> dict[str, Any]:
        return {
            "start": part.start,
            "end": part.end,
            "modes": dict(zip(self.motion.contacts, part.modes, strict=True)),
            "num_solutions": part.num_solutions,
        }

    def files(self) -> dict[str, File]:
        """Return the motion itself, the figure and moving pictures."""
        files: dict[str, File] = {"trajectory.npz": self.motion.save}
        plots = load_plots()
        if plots is not None:
            title = f"{self.scene.name}: {self.scene.description}"
            files["motion.png"] = png(plots.trajectory_overview(self.motion, title=title))
            if isinstance(self.scene.system, PlanarSystem):
                animate = partial(plots.animate, self.motion, speed=self._speed())
                files |= {f"motion.{ending}": animate for ending in self._endings()}
        return files

    def _endings(self) -> tuple[str, ...]:
        return ("gif", "html") if self.with_page else ("gif",)

    def _speed(self) -> float:
        length = self.motion.end_time - self.motion.start_time
        return length / float(np.clip(length, *SHOWN)) or 1.0


def _afterwards(scene: Scene, impact: Impact) -> dict[str, str]:
    """Say what each contact of an impact does after it: sticks, slides or lifts."""
    system = scene.system
    here = system.dynamics(impact.q[-1])
    words = {}
    rows = {name: system.contacts.index(name) for name in impact.contacts}
    before = np.abs(here.J_n[list(rows.values())] @ impact.v_pre).max(initial=0.0)
    small = AT_REST * max(1.0, float(before))
    for name, i in rows.items():
        if here.J_n[i] @ impact.v_post > small:
            words[name] = "lifts"
        else:
            slide = np.linalg.norm(here.J_t[i] @ impact.v_post)
            words[name] = "slides" if slide > small else "sticks"
    return words
