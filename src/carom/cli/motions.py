"""What happens in one motion, and how far many are apart."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from carom.cli.outcomes import law_settings
from carom.cli.show import Report, Writer, shortened, table, write_png
from carom.systems import PlanarSystem

if TYPE_CHECKING:
    from carom.laws.law import ImpactLaw
    from carom.motion.bundle import Bundle
    from carom.motion.parts import Impact, Segment
    from carom.motion.trajectory import Trajectory
    from carom.scenes import Scene
    from carom.typing import FloatArray

SHOWN = (2.0, 10.0)
"""Least and largest duration of an animation [s]."""
AT_REST = 1e-9
"""Contact velocities below this, and below this share of the largest before, are rest [m/s]."""
TIMES = 501
"""Number of times at which motions are compared."""
ALIKE = 1e-6
"""Largest difference of coordinates that are called alike [m or rad]."""
ROUNDING = 1e-12

FILES = (
    *("motion.json", "trajectory.npz", "motion.png", "motion.gif", "motion.html"),
    *("bundle.json", "bundle.npz", "bundle.png"),
)
"""Files that some run writes."""


@dataclass(frozen=True, eq=False)
class Setting:
    """What motions come from: a scene, a law with its name, and their duration [s]."""

    scene: Scene
    law_name: str
    law: ImpactLaw
    duration: float

    @property
    def title(self) -> str:
        return f"{self.scene.name}: {self.scene.description}"

    def json(self) -> dict[str, Any]:
        settings = law_settings(self.law)
        # A motion draws one outcome at a time, with seeds of its own.
        settings = {key: settings[key] for key in settings if key not in ("num_samples", "seed")}
        return {
            "scene": self.scene.name,
            "law": {"name": self.law_name, "settings": settings},
            "duration": self.duration,
        }


def motion_report(
    setting: Setting, motion: Trajectory, *, with_page: bool
) -> tuple[Report, list[str]]:
    """Return the report of a motion, and why it was cut short if it was."""
    cut_short = [] if motion.is_finished else [f"{motion.status}: {motion.message}"]
    system = setting.scene.system
    energy = [system.energy(motion.q[row], motion.v[row]) for row in (0, -1)]
    lost = sum(impact.energy_lost for impact in motion.impacts)
    words = [_afterwards(setting.scene, impact) for impact in motion.impacts]
    head = [
        setting.title,
        "",
        f"Motion by law {setting.law_name}, seed {motion.seed}: {motion.status}",
        *(f"  - {reason}" for reason in cut_short),
        f"  time    {motion.start_time:g} … {motion.end_time:g} s; s up to {motion.s[-1]:.5g}",
        f"  energy  {energy[0]:.5g} → {energy[1]:.5g} J; {lost:.5g} J lost in impacts",
    ]
    parts = [head, _impact_lines(motion, words), _segment_lines(motion)]
    text = "\n\n".join("\n".join(lines) for lines in parts if lines)
    json = setting.json() | _motion_json(motion, words, energy)
    files: dict[str, Writer] = {
        "trajectory.npz": motion.save,
        "motion.png": partial(write_png, partial(_motion_figure, motion, setting.title)),
    }
    if isinstance(system, PlanarSystem):
        for ending in ("gif", "html") if with_page else ("gif",):
            files[f"motion.{ending}"] = partial(_animate, motion)
    return Report("motion", text, json, files, FILES), cut_short


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _impact_lines(motion: Trajectory, words: list[dict[str, str]]) -> list[str]:
    if not motion.impacts:
        return ["No impacts"]
    rows = [
        (
            f"{impact.t:.8g}",
            impact.kind,
            " ".join(impact.contacts),
            f"{impact.energy_lost:.4g}",
            ", ".join(f"{name} {word}" for name, word in afterwards.items()),
        )
        for impact, afterwards in zip(motion.impacts, words, strict=True)
    ]
    head = ("t [s]", "kind", "contacts", "lost [J]", "afterwards")
    lines = shortened(table(head, rows, right=(0, 3)))
    lines += [
        f"Infinitely many impacts up to t = {impact.end:.9g} s, extrapolated: accumulation stands "
        f"for the rest."
        for impact in motion.impacts
        if impact.kind == "accumulation"
    ]
    return [_counted(len(rows), "impact"), *(f"  {line}" for line in lines)]


def _segment_lines(motion: Trajectory) -> list[str]:
    rows = [(f"{part.start:.8g}", f"{part.end:.8g}", *part.modes) for part in motion.segments]
    if not rows:
        return []
    lines = shortened(table(("from [s]", "to [s]", *motion.contacts), rows, right=(0, 1)))
    lines += [
        f"At t = {part.start:.8g} s friction leaves {part.num_solutions} ways to go on; the seed "
        f"drew one."
        for part in _indeterminate(motion)
    ]
    return [_counted(len(rows), "segment"), *(f"  {line}" for line in lines)]


def _indeterminate(motion: Trajectory) -> list[Segment]:
    return [part for part in motion.segments if part.num_solutions > 1]


def _afterwards(scene: Scene, impact: Impact) -> dict[str, str]:
    """Return what each contact of an impact does after it: sticks, slides or lifts."""
    rows = [scene.system.contacts.index(name) for name in impact.contacts]
    here = scene.system.dynamics(impact.q[-1])
    J_n, J_t = here.J_n[rows], here.J_t[rows]
    small = AT_REST * max(1.0, float(np.abs(J_n @ impact.v_pre).max(initial=0.0)))
    lifts = J_n @ impact.v_post > small
    slides = np.linalg.norm((J_t @ impact.v_post).reshape(len(rows), -1), axis=1) > small
    words = np.where(lifts, "lifts", np.where(slides, "slides", "sticks")).tolist()
    return dict(zip(impact.contacts, words, strict=True))


def _motion_json(
    motion: Trajectory, words: list[dict[str, str]], energy: list[float]
) -> dict[str, Any]:
    ends = [
        {
            "t": float(motion.t[row]),
            "s": float(motion.s[row]),
            "q": motion.q[row].tolist(),
            "v": motion.v[row].tolist(),
            "energy": energy[row],
        }
        for row in (0, -1)
    ]
    segments = [
        {
            "start": part.start,
            "end": part.end,
            "modes": dict(zip(motion.contacts, part.modes, strict=True)),
            "num_solutions": part.num_solutions,
        }
        for part in motion.segments
    ]
    accumulations = [part for part in motion.impacts if part.kind == "accumulation"]
    pairs = zip(motion.impacts, words, strict=True)
    return {
        "seed": motion.seed,
        "status": motion.status,
        "message": motion.message,
        "contacts": list(motion.contacts),
        "start": ends[0],
        "end": ends[1],
        "impacts": [_impact_json(motion, *pair) for pair in pairs],
        "accumulations": [{"from": part.t, "to": part.end} for part in accumulations],
        "segments": segments,
        "indeterminate": [part.start for part in _indeterminate(motion)],
    }


def _impact_json(motion: Trajectory, impact: Impact, afterwards: dict[str, str]) -> dict[str, Any]:
    gained = impact.impulse[-1] - impact.impulse[0]
    return {
        "t": impact.t,
        "kind": impact.kind,
        "duration": impact.duration,
        "contacts": list(impact.contacts),
        "v_pre": impact.v_pre.tolist(),
        "v_post": impact.v_post.tolist(),
        "impulse": {x: gained[motion.contacts.index(x)].tolist() for x in impact.contacts},
        "energy_lost": impact.energy_lost,
        "num_steps": len(impact.v) - 1,
        "afterwards": afterwards,
    }


def _motion_figure(motion: Trajectory, title: str) -> Any:
    from carom import plots

    return plots.trajectory_overview(motion, title=title)


def _animate(motion: Trajectory, path: Any) -> None:
    from carom import plots

    length = motion.end_time - motion.start_time
    plots.animate(motion, path, speed=length / float(np.clip(length, *SHOWN)) or 1.0)


def bundle_report(setting: Setting, bundle: Bundle) -> tuple[Report, list[str]]:
    """Return the report of many motions, and how many of them were cut short."""
    motions = bundle.trajectories
    stopped = [motion for motion in motions if not motion.is_finished]
    cut_short = [
        f"{len(stopped)} of {len(motions)} motions were cut short, the first by {first.status}: "
        f"{first.message}"
        for first in stopped[:1]
    ]
    times = np.linspace(motions[0].start_time, max(x.end_time for x in motions), TIMES)
    spread = bundle.spread(times)
    spread = np.where(spread > ROUNDING, spread, 0.0)
    differs = np.flatnonzero(spread.max(axis=1) > ALIKE)
    until = float(times[max(0, differs[0] - 1)]) if len(differs) else None
    counts = [len(motion.impacts) for motion in motions]
    coordinates = _coordinates(bundle, times, spread)
    low, high = min(counts), max(counts)
    lines = [
        setting.title,
        "",
        f"{_counted(len(motions), 'motion')} by law {setting.law_name}, seed {bundle.seed}: "
        f"{cut_short[0] if cut_short else 'all finished'}",
        f"  {low if low == high else f'{low} … {high}'} impacts in each",
        f"  {_alike(until, is_at_start=len(differs) > 0 and differs[0] <= 1)}",
    ]
    if until is not None:
        head = ("coordinate", "at most", "at t [s]", "at the end")
        keys = ("largest_spread", "at", "last_spread")
        rows = [(row["name"], *(f"{row[key]:.4g}" for key in keys)) for row in coordinates]
        indented = [f"  {line}" for line in table(head, rows, right=(1, 2, 3))]
        lines += ["", "How far they are apart", *indented]
    json = setting.json() | {
        "seed": bundle.seed,
        "num_motions": len(motions),
        "statuses": dict(Counter(motion.status for motion in motions)),
        "num_impacts": counts,
        "alike_until": until,
        "coordinates": coordinates,
    }
    figure = partial(_bundle_figure, bundle, f"{setting.scene.name}: {len(motions)} motions")
    files: dict[str, Writer] = {"bundle.npz": bundle.save, "bundle.png": partial(write_png, figure)}
    return Report("bundle", "\n".join(lines), json, files, FILES), cut_short


def _alike(until: float | None, *, is_at_start: bool) -> str:
    if until is None:
        return "They are all the same: nothing was left to chance."
    if is_at_start:
        return "They fan out from the start."
    return f"They are the same up to t = {until:.4g} s, then fan out."


def _coordinates(bundle: Bundle, times: FloatArray, spread: FloatArray) -> list[dict[str, Any]]:
    """Return how far each coordinate differs among motions."""
    from carom.systems.names import names

    motion = bundle.trajectories[0]
    last = bundle.q_at(times[-1:])[:, 0]
    return [
        {
            "name": str(name),
            "largest_spread": float(spread[:, i].max()),
            "at": float(times[spread[:, i].argmax()]),
            "last_spread": float(spread[-1, i]),
            "last_range": [float(np.nanmin(last[:, i])), float(np.nanmax(last[:, i]))],
        }
        for i, name in enumerate(names(motion.system, motion.layout.nq))
    ]


def _bundle_figure(bundle: Bundle, title: str) -> Any:
    from carom import plots

    return plots.bundle_overview(bundle, title=title)
