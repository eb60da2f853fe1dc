"""One motion: coordinates, velocities, energy and impulses, over time or over s."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from carom import checks
from carom.errors import InvalidOption
from carom.motion.parts import Impact, Segment, States
from carom.plots import style
from carom.systems.names import Name, names

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from carom.motion.trajectory import Trajectory
    from carom.typing import FloatArray

CLOSE = 1500
"""A motion is drawn with about this number of states beside those that it records."""
CLOCKS = {"t": "time t [s]", "s": "parameter s [s or N s]"}
_WORDS = {"q": "coordinates", "v": "velocities"}
_TANGENTS = {1: [("--", "tangential")], 2: [("--", "along tangent 1"), (":", "along tangent 2")]}
"""How tangential impulses are drawn, by the number of tangents, and what the legend calls them."""
SHADES = "impacts"
"""Mark of the shades, by which they are found again."""
FLAT = 1e-3
"""An energy that changes by less than this share of the kinetic one is drawn as constant."""


def plot_states(
    trajectory: Trajectory,
    ax: Axes,
    *,
    clock: str = "t",
    rows: Iterable[int] | None = None,
    of: str = "q",
    labels: Sequence[str] | None = None,
) -> Axes:
    """Draw coordinates or velocities over time, or over the paper's parameter s.

    Over t an impact is a jump; over s it takes its time, while coordinates stand still: that
    stretch is shaded.

    Args:
        trajectory: Motion to draw.
        ax: Where to draw; new lines get other colours than those that are there.
        clock: "t" for time [s]; "s" for time plus the normal impulses so far [s or N s].
        rows: Indices of coordinates or velocities; default: all.
        of: "q" for coordinates, "v" for velocities.
        labels: Legend entries, one per row. Default: those of the system's joints with their
            units, or numbers if they have no names.

    Examples:
        >>> import carom
        >>> from matplotlib.figure import Figure
        >>> scene = carom.scenes.load("rocking-block")
        >>> motion = carom.simulate(scene.system, scene.q, scene.v, 0.05, carom.Routh(), seed=3)
        >>> ax = carom.plots.plot_states(motion, Figure().subplots(), clock="s", of="v", rows=[2])
        >>> ax.get_xlabel(), ax.get_ylabel()
        ('parameter s [s or N s]', 'angle [rad/s]')
    """
    found = state_names(trajectory, checks.choice("of", of, _WORDS))
    chosen = list(range(len(found)) if rows is None else rows)
    for row in chosen:
        checks.integer("rows", row, 0, len(found) - 1)
    if labels is not None and len(labels) != len(chosen):
        raise InvalidOption(f"labels: expected {len(chosen)}, got {len(labels)}")
    mark_impacts(trajectory, ax, clock)
    states = all_states(trajectory)
    first = len(ax.lines)
    for i, row in enumerate(chosen):
        label = style.literal(str(found[row])) if labels is None else labels[i]
        values = getattr(states, of)[:, row]
        ax.plot(getattr(states, clock), values, label=label, **style.line(first + i))
    word, units = _WORDS[of], style.units(found[row] for row in chosen)
    several = f"{word} [{units}]" if units else word
    ax.set_ylabel(style.literal(str(found[chosen[0]])) if len(chosen) == 1 else several)
    if len(ax.lines) > 1:
        ax.legend(frameon=False)
    return ax


def plot_rates(trajectory: Trajectory, ax: Axes) -> Axes:
    """Draw the rates of time and of the normal impulse of each contact, over s.

    dt/ds and the rates of all contacts add up to 1. In an impact dt/ds = 0; where nothing touches
    it is 1 [HalmPosa, Section 4].

    Args:
        trajectory: Motion to draw.
        ax: Where to draw: rates [1] over s [s or N s].

    Examples:
        >>> import carom
        >>> from matplotlib.figure import Figure
        >>> scene = carom.scenes.load("rocking-block")
        >>> motion = carom.simulate(scene.system, scene.q, scene.v, 0.05, carom.Routh(), seed=3)
        >>> carom.plots.plot_rates(motion, Figure().subplots()).get_ylabel()
        'rate by s [1]'
    """
    mark_impacts(trajectory, ax, "s")
    pieces = []
    for part, states in zip(trajectory.parts, part_states(trajectory), strict=True):
        s, rate = states.s, states.rate[..., 0]
        if isinstance(part, Segment):
            # A second takes 1 + Σ λ_n of s.
            pieces.append((s, rate / (1.0 + rate.sum(axis=1, keepdims=True))))
        else:
            # Rates are constant within a step; one without any impulse takes up nothing of s.
            keep = np.repeat(np.diff(s) > 0.0, 2)
            pieces.append((np.repeat(s, 2)[1:-1][keep], np.repeat(rate[:-1], 2, axis=0)[keep]))
    s, normal = (np.concatenate(column) for column in zip(*pieces, strict=True))
    ax.plot(s, 1.0 - normal.sum(axis=1), color=style.DARK, linewidth=1.2, label="dt/ds")
    for i, name in enumerate(trajectory.contacts):
        # Contacts that share a load have one curve: the later lies within the earlier.
        width = 1.2 + 1.4 * (len(trajectory.contacts) - 1 - i) / len(trajectory.contacts)
        label = f"normal impulse of {style.contact(name)}"
        ax.plot(s, normal[:, i], label=label, linewidth=width, **style.line(i))
    ax.set_ylabel("rate by s [1]")
    # Rates fill the ax from 0 to 1, and leave no room within it.
    style.legend_below(ax)
    return ax


def plot_energy(trajectory: Trajectory, ax: Axes) -> Axes:
    """Draw kinetic plus potential energy over time.

    Args:
        trajectory: Motion to draw, with its system.
        ax: Where to draw: energy [J] over time [s].

    Examples:
        >>> import carom
        >>> from matplotlib.figure import Figure
        >>> scene = carom.scenes.load("rocking-block")
        >>> motion = carom.simulate(scene.system, scene.q, scene.v, 0.05, carom.Routh(), seed=3)
        >>> carom.plots.plot_energy(motion, Figure().subplots()).get_ylabel()
        'energy [J]'
    """
    system = trajectory.require_system()
    mark_impacts(trajectory, ax, "t")
    states = all_states(trajectory)
    pairs = list(zip(states.q, states.v, strict=True))
    total = np.array([system.energy(q, v) for q, v in pairs])
    kinetic = total - np.array([system.potential_energy(q) for q, _ in pairs])
    ax.plot(states.t, total, **style.line(0))
    ax.set_ylabel("energy [J]")
    # Rounding of an energy that is kept would fill the ax.
    least = FLAT * float(kinetic.max()) or 1.0
    low, high = ax.get_ylim()
    if high - low < least:
        ax.set_ylim(0.5 * (low + high - least), 0.5 * (low + high + least))
    return ax


def plot_impulses(trajectory: Trajectory, ax: Axes) -> Axes:
    """Draw the accrued impulses of all contacts, normal and (broken lines) tangential, over time.

    Args:
        trajectory: Motion to draw.
        ax: Where to draw: impulses [N s] over time [s].

    Examples:
        >>> import carom
        >>> from matplotlib.figure import Figure
        >>> scene = carom.scenes.load("rocking-block")
        >>> motion = carom.simulate(scene.system, scene.q, scene.v, 0.05, carom.Routh(), seed=3)
        >>> carom.plots.plot_impulses(motion, Figure().subplots()).get_ylabel()
        'impulse [N s]'
    """
    mark_impacts(trajectory, ax, "t")
    states = all_states(trajectory)
    words = _TANGENTS[trajectory.layout.num_tangents]
    for i, name in enumerate(trajectory.contacts):
        normal, *tangential = states.impulse[:, i].T
        ax.plot(states.t, normal, label=style.contact(name), **style.line(i))
        for values, (dashes, _) in zip(tangential, words, strict=True):
            ax.plot(states.t, values, linewidth=1.0, **style.line(i) | {"linestyle": dashes})
    ax.set_ylabel("impulse [N s]")
    if trajectory.contacts:
        for dashes, word in words:
            ax.plot([], [], color=style.DARK, linestyle=dashes, linewidth=1.0, label=word)
        ax.legend(frameon=False)
    return ax


def plot_phase(
    trajectory: Trajectory,
    ax: Axes,
    *,
    coordinate: int,
    color: str | None = None,
    label: str | None = None,
) -> Axes:
    """Draw a coordinate against its rate, with impacts as dashed vertical lines.

    Args:
        trajectory: Motion to draw.
        ax: Where to draw: the coordinate [m or rad], and its rate [m/s or rad/s] above it.
        coordinate: Index of the coordinate, from 0 to nq - 1.
        color: Colour of the line; default: the next of the cycle.
        label: Legend entry.

    Examples:
        >>> import carom
        >>> from matplotlib.figure import Figure
        >>> scene = carom.scenes.load("rocking-block")
        >>> motion = carom.simulate(scene.system, scene.q, scene.v, 0.05, carom.Routh(), seed=3)
        >>> carom.plots.plot_phase(motion, Figure().subplots(), coordinate=2).get_ylabel()
        'rate of angle [rad/s]'
    """
    checks.integer("coordinate", coordinate, 0, trajectory.layout.nq - 1)
    # A motion is two lines: its segments and its impacts.
    own = style.CYCLE[len(ax.lines) // 2 % len(style.CYCLE)] if color is None else color
    # Where there are fewer velocities than coordinates, a rate is none of them.
    is_velocity = trajectory.layout.nq == trajectory.layout.nv
    system = trajectory.system if is_velocity else trajectory.require_system()
    pieces: dict[type, list[FloatArray]] = {Segment: [], Impact: []}
    for part, (_, _, q, v, *_) in zip(trajectory.parts, part_states(trajectory), strict=True):
        pairs = zip(q, v, strict=True)
        rates = v if system is None else np.array([system.velocity_map(a) @ b for a, b in pairs])
        pieces[type(part)].append(np.column_stack([q[:, coordinate], rates[:, coordinate]]))
    ax.plot(*_interrupted(pieces[Segment]).T, color=own, label=label)
    ax.plot(*_interrupted(pieces[Impact]).T, color=own, **style.JUMP)
    position = state_names(trajectory, "q")[coordinate]
    rate = state_names(trajectory, "v")[coordinate] if is_velocity else position
    ax.set(xlabel=style.literal(str(position)), ylabel=style.literal(f"rate of {rate}"))
    return ax


def state_names(trajectory: Trajectory, of: str) -> list[Name]:
    """Return the names of all coordinates ("q") or velocities ("v")."""
    return names(trajectory.system, getattr(trajectory.layout, f"n{of}"), of)


def mark_impacts(trajectory: Trajectory, ax: Axes, clock: str) -> None:
    """Name the axis of a clock, and shade impacts where they take up some of it."""
    ax.set_xlabel(CLOCKS[checks.choice("clock", clock, CLOCKS)])
    ax.margins(x=0.01)
    # Once: several functions may draw on one ax.
    is_marked = any(each.get_gid() == SHADES for each in ax.collections)
    if clock == "s" and trajectory.impacts and not is_marked:
        bars = [(start, end - start) for start, end in impact_spans(trajectory).tolist()]
        place = ax.get_xaxis_transform()
        ax.broken_barh(bars, (0.0, 1.0), transform=place, gid=SHADES, **style.FROZEN)


def part_states(trajectory: Trajectory, num: int = CLOSE) -> list[States]:
    """Return the states of each part: close to each other in segments, all steps of impacts."""
    interval = (trajectory.end_time - trajectory.start_time) / num or 1.0
    found, row = [], 0
    for part in trajectory.parts:
        count = len(part.knots if isinstance(part, Segment) else part.v)
        if isinstance(part, Segment):
            close = int(np.ceil((part.end - part.start) / interval)) + 1
            t = np.union1d(part.knots, np.linspace(part.start, part.end, close))
            found.append(trajectory.segment_states(part, t))
        else:
            # It begins in the state in which the part before it ends, before its impulses act.
            found.append(States(*(column[row : row + count] for column in trajectory.states)))
        row += count
    return found


def all_states(trajectory: Trajectory) -> States:
    """Return the states of all parts in one."""
    states = States(*map(np.concatenate, zip(*part_states(trajectory), strict=True)))
    # Where parts meet, rounding must not let a clock go back.
    return states._replace(s=np.maximum.accumulate(states.s))


def impact_spans(trajectory: Trajectory) -> FloatArray:
    """Return from which s to which s (n, 2) impacts last."""
    pairs = zip(trajectory.parts, part_states(trajectory, 1), strict=True)
    spans = [(states.s[0], states.s[-1]) for part, states in pairs if not isinstance(part, Segment)]
    return np.array(spans).reshape(-1, 2)


def _interrupted(pieces: list[FloatArray]) -> FloatArray:
    """Return curves (n, 2) as one, with a gap between two."""
    gap = np.full((1, 2), np.nan)
    return np.concatenate([gap, *(part for piece in pieces for part in (piece, gap))])
