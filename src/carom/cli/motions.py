"""What happens in one motion, and how far many are apart."""

from __future__ import annotations

from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from carom.cli.show import Report, Writer, pick, table, write_figure
from carom.systems import PlanarSystem

if TYPE_CHECKING:
    from carom.motion.bundle import Bundle
    from carom.motion.parts import Impact
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
MAX_ROWS, LAST_ROWS = 20, 5
"""Longer tables lose their middle."""

FILES = (
    *("motion.json", "trajectory.npz", "motion.png", "motion.gif", "motion.html"),
    *("bundle.json", "bundle.npz", "bundle.png"),
)
"""Files that some run writes."""


def motion_report(scene: Scene, law: dict[str, Any], motion: Trajectory, page: bool) -> Report:
    """Return the report of a motion, with an animation as a page or only as a GIF."""
    title = f"{scene.name}: {scene.description}"
    first, last = (_state(motion, row) for row in (0, -1))
    words = [_afterwards(scene, impact) for impact in motion.impacts]
    lost = sum(impact.energy_lost for impact in motion.impacts)
    cut_short = [] if motion.is_finished else [f"{motion.status}: {motion.message}"]
    lines = [
        *(title, ""),
        f"Motion by law {law['name']}, seed {motion.seed}: {motion.status}",
        *(f"  - {reason}" for reason in cut_short),
        f"  time    {motion.start_time:g} … {motion.end_time:g} s; s up to {motion.s[-1]:.5g}",
        f"  energy  {first['energy']:.5g} → {last['energy']:.5g} J; {lost:.5g} J lost in impacts",
        *_impact_lines(motion, words),
        *_segment_lines(motion),
    ]
    pairs = zip(motion.impacts, words, strict=True)
    json = {
        **pick(motion, "seed", "status", "message", "contacts"),
        **{"start": first, "end": last},
        "impacts": [_impact_json(motion, impact) | {"afterwards": then} for impact, then in pairs],
        "accumulations": [{"from": part.t, "to": part.end} for part in _accumulations(motion)],
        "segments": [
            pick(part, "start", "end", "num_solutions")
            | {"modes": dict(zip(motion.contacts, part.modes, strict=True))}
            for part in motion.segments
        ],
        "indeterminate": [part.start for part in motion.segments if part.num_solutions > 1],
    }
    is_planar = motion.layout.num_tangents == 1
    kind = "trajectory_overview" if is_planar else "spatial_overview"
    figure = partial(write_figure, kind, motion, title=title)
    files: dict[str, Writer] = {"trajectory.npz": motion.save, "motion.png": figure}
    if page and not isinstance(scene.system, PlanarSystem):
        files["motion.html"] = partial(_play, motion)
    if isinstance(scene.system, PlanarSystem):
        names = ("motion.gif", "motion.html") if page else ("motion.gif",)
        files |= dict.fromkeys(names, partial(_animate, motion))
    return Report("motion", "\n".join(lines), json, files, FILES, cut_short)


def _state(motion: Trajectory, row: int) -> dict[str, Any]:
    state = {name: getattr(motion, name)[row] for name in ("t", "s", "q", "v")}
    return state | {"energy": motion.require_system().energy(state["q"], state["v"])}


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


def _titled(what: str, head: tuple[str, ...], rows: list[Any], right: tuple[int, ...]) -> list[str]:
    """Return a table with the number of its rows above it, and without its middle if it is long."""
    lines = table(head, rows, right=right)
    if (left_out := len(rows) - MAX_ROWS) > 1:
        lines[-LAST_ROWS - left_out : -LAST_ROWS] = [f"… {left_out} more; see --json"]
    plural = "" if len(rows) == 1 else "s"
    return ["", f"{len(rows)} {what}{plural}", *(f"  {line}" for line in lines)]


def _impact_lines(motion: Trajectory, words: list[dict[str, str]]) -> list[str]:
    if not motion.impacts:
        return ["", "No impacts"]
    after = [", ".join(f"{name} {word}" for name, word in each.items()) for each in words]
    rows = [
        (f"{x.t:.8g}", x.kind, " ".join(x.contacts), f"{x.energy_lost:.4g}", then)
        for x, then in zip(motion.impacts, after, strict=True)
    ]
    head = ("t [s]", "kind", "contacts", "lost [J]", "afterwards")
    return _titled("impact", head, rows, (0, 3)) + [
        f"  Infinitely many impacts up to t = {impact.end:.9g} s, extrapolated: accumulation "
        f"stands for the rest."
        for impact in _accumulations(motion)
    ]


def _accumulations(motion: Trajectory) -> list[Impact]:
    return [impact for impact in motion.impacts if impact.kind == "accumulation"]


def _segment_lines(motion: Trajectory) -> list[str]:
    if not motion.segments:
        return []
    rows = [(f"{part.start:.8g}", f"{part.end:.8g}", *part.modes) for part in motion.segments]
    return _titled("segment", ("from [s]", "to [s]", *motion.contacts), rows, (0, 1)) + [
        f"  At t = {part.start:.8g} s friction leaves {part.num_solutions} ways to go on; the seed "
        f"drew one."
        for part in motion.segments
        if part.num_solutions > 1
    ]


def _impact_json(motion: Trajectory, impact: Impact) -> dict[str, Any]:
    gained = dict(zip(motion.contacts, impact.impulse[-1] - impact.impulse[0], strict=True))
    names = ("t", "kind", "duration", "contacts", "v_pre", "v_post", "energy_lost")
    impulse = {name: gained[name] for name in impact.contacts}
    return pick(impact, *names) | {"impulse": impulse, "num_steps": len(impact.v) - 1}


def _play(motion: Trajectory, path: Path) -> None:
    from carom.explorer.play import play

    play(motion, save=path)


def _animate(motion: Trajectory, path: Path) -> None:
    from carom import plots

    length = motion.end_time - motion.start_time
    plots.animate(motion, path, speed=length / float(np.clip(length, *SHOWN)) or 1.0)


def bundle_report(scene: Scene, law: dict[str, Any], bundle: Bundle) -> Report:
    """Return the report of many motions."""
    motions = bundle.trajectories
    stopped = [motion for motion in motions if not motion.is_finished]
    many = f"{len(stopped)} of {len(motions)} motions were cut short"
    cut_short = [f"{many}, the first by {x.status}: {x.message}" for x in stopped[:1]]
    times = np.linspace(motions[0].start_time, max(x.end_time for x in motions), TIMES)
    spread = bundle.spread(times)
    spread = np.where(spread > ROUNDING, spread, 0.0)
    differs = np.flatnonzero(spread.max(axis=1) > ALIKE)
    until = times[max(0, differs[0] - 1)] if len(differs) else None
    counts = [len(motion.impacts) for motion in motions]
    low, high = min(counts), max(counts)
    json: dict[str, Any] = {
        "seed": bundle.seed,
        "num_motions": len(motions),
        "statuses": dict(Counter(motion.status for motion in motions)),
        "num_impacts": counts,
        "alike_until": until,
        "coordinates": _coordinates(bundle, times, spread),
    }
    lines = [
        *(f"{scene.name}: {scene.description}", ""),
        f"{len(motions)} motion{'s' if len(motions) > 1 else ''} by law {law['name']}, seed "
        f"{bundle.seed}: {cut_short[0] if cut_short else 'all finished'}",
        f"  {low if low == high else f'{low} … {high}'} impacts in each",
    ]
    if until is None:
        lines.append("  They are all the same: nothing was left to chance.")
    else:
        when = f"after t = {until:.4g} s" if differs[0] > 1 else "from the start"
        lines += [f"  They fan out {when}.", "", "How far they are apart"]
        keys = ("largest_spread", "at", "last_spread")
        rows = [(row["name"], *(f"{row[key]:.4g}" for key in keys)) for row in json["coordinates"]]
        head = ("coordinate", "at most", "at t [s]", "at the end")
        lines += [f"  {line}" for line in table(head, rows, right=(1, 2, 3))]
    title = f"{scene.name}: {len(motions)} motions"
    figure = partial(write_figure, "bundle_overview", bundle, title=title)
    files: dict[str, Writer] = {"bundle.npz": bundle.save, "bundle.png": figure}
    return Report("bundle", "\n".join(lines), json, files, FILES, cut_short)


def _coordinates(bundle: Bundle, times: FloatArray, spread: FloatArray) -> list[dict[str, Any]]:
    """Return how far each coordinate differs among motions."""
    from carom.systems.names import names

    motion = bundle.trajectories[0]
    last = bundle.q_at(times[-1:])[:, 0]
    return [
        {
            "name": str(name),
            "largest_spread": spread[:, i].max(),
            "at": times[spread[:, i].argmax()],
            "last_spread": spread[-1, i],
            "last_range": [np.nanmin(last[:, i]), np.nanmax(last[:, i])],
        }
        for i, name in enumerate(names(motion.system, motion.layout.nq))
    ]
