"""carom simulate: simulate a scene through its impacts, once or many times."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from carom.cli import show
from carom.cli.impact import OPTIONS, looks_like_file, refuse_useless
from carom.cli.options import (
    Command,
    coefficient,
    complete_scene,
    count,
    none_if_empty,
    numbers,
    option,
    output,
    positive,
    seed,
)
from carom.cli.outcomes import LAWS, law_settings, make_law
from carom.cli.robot import ROBOTS, read_mjcf, read_urdf, robot_options
from carom.errors import CaromError, InvalidOption

if TYPE_CHECKING:
    from carom.scenes import Scene

EPILOG = """\
Files in DIR, each of which appears whole or not at all:
  summary.txt     what is printed
  motion.json     what --json prints: impacts, segments and the end
  trajectory.npz  the motion, as carom.load reads it
  motion.png      coordinates, velocities, energy and impulses over time; in space base, gaps,
      forces and energy
  motion.gif      the motion as an animation, if the scene is planar
  motion.html     the same as a page with a player (with --animate); a robot's needs viser

With --many, in place of those from motion.json on:
  bundle.json  what --json prints: how far the motions are apart
  bundle.npz   all motions, as carom.load reads them
  bundle.png   every coordinate of all motions over time

Examples:
  carom simulate zeno-block  A block rocks ever faster: infinitely many impacts in finite time.
  carom simulate rocking-block --duration 0.1 --seed 1 --out block  A block lands flat, and nobody
      can know on which corner it will rock.
  carom simulate rocking-block --duration 0.1 --many 10  So it may move like this, or like that.
  carom simulate zeno-block --time-step 0.001  In time steps, which nothing stops.

A robot, by --mjcf or --urdf:
  steps   it moves in time steps, of 1 ms unless --time-step says otherwise
  joints  they are limp, but for what MuJoCo's model has, unless --hold is given
  floor   part of an MJCF file; with --urdf it is z = 0
"""
TIME_STEP = "Time step [s]; default: from event to event for scenes, 1e-3 for robots."
DROP = "Lift the base first [m]."
HOLD = "Gains of a controller that holds all joints where they are [N m/rad, N m s/rad]."
BOUNCES = "Restitution of one contact of a robot, e.g. A=0.5, or of all, e.g. 0.5."
FLOATING, HEIGHT = 7, 2
"""Number of coordinates of a base that floats, and which of them is its height."""
ROBOT_STEP, ROBOT_DURATION, MARGIN = 1e-3, 1.0, 5e-3
"""Step and duration of a robot's motion [s], and gap up to which MuJoCo sees contacts [m]."""
LAW = f"{', '.join(LAWS)}; default: the scene's."


def takes_a_robot(function: Any) -> Any:
    """Declare the options that tell of a robot, and of what is done to it."""
    group = "A robot in place of SCENE"
    robot = partial(option, group=group)
    bounces: Any = {"type": coefficient, "multiple": True, "callback": none_if_empty}
    declarations = [
        *robot_options(group),
        robot("--restitution", metavar="[CONTACT=]X", **bounces, help=BOUNCES),
        robot("--drop", metavar="L", type=positive, help=DROP),
        robot("--hold", metavar="KP,KD", type=numbers, help=HOLD),
    ]
    for declare in reversed(declarations):
        function = declare(function)
    return function


@click.command(
    "simulate", cls=Command, epilog=EPILOG, short_help="simulate a scene through its impacts"
)
@click.argument("scene", metavar="[SCENE]", required=False, shell_complete=complete_scene)
@option("--law", metavar="LAW", type=click.Choice([*LAWS]), help=LAW)
@option("--duration", metavar="T", type=positive, help="Simulated time [s]; default: the scene's.")
@option("--time-step", metavar="H", type=positive, help=TIME_STEP)
@option("--seed", metavar="N", type=seed, default=0, help="Seed of all random draws; default: 0.")
@option("--many", metavar="N", type=count, help="Draw N motions.")
@option("--processes", metavar="N", type=count, help="With --many; default: one per core.")
@output
@option("--animate", is_flag=True, help="With --out: write motion.html too (needs matplotlib).")
@takes_a_robot
def command(
    scene: str | None,
    law: str | None,
    duration: float | None,
    time_step: float | None,
    seed: int,
    many: int | None,
    processes: int | None,
    out: Path | None,
    animate: bool,
    as_json: bool,
    **robot: Any,
) -> list[CaromError]:
    """Simulate a scene, or a robot from a file, through its impacts and print what happens.

    Where a law permits several outcomes, the seed draws one: another seed may give another motion.
    Printed are how the motion ended, its energy before and after, its impacts with what each
    contact does afterwards, and the segments between them with what each contact does meanwhile.

    --many N draws N motions instead, and prints until when they are alike and how far they are
    apart afterwards.
    """
    if animate and (out is None or many is not None):
        raise InvalidOption("--animate: shows one motion in a file; add --out DIR, without --many")
    if processes is not None and many is None:
        raise InvalidOption("--processes: one motion runs in one; add --many, or leave it out")
    import carom
    from carom.cli.motions import bundle_report, motion_report

    what = _moving(scene, robot)
    if scene is None:
        time_step = time_step or ROBOT_STEP
    name, duration = law or what.law, duration or what.duration
    # A scene's step suits its first impact only. An outer set has no outcome that could be drawn.
    chosen: Any = {"routh": {"num_samples": 1}, "exact": {"on_budget": "raise"}}.get(name, {})
    resolve = make_law(name, **chosen)
    # A motion draws one outcome at a time, with seeds of its own.
    settings = {k: x for k, x in law_settings(resolve).items() if k not in ("num_samples", "seed")}
    by = {"name": name, "settings": settings}
    state = (what.system, what.q, what.v, duration, resolve)
    with show.progress() as begin:
        progress = begin("motion" if many is None else "motions")
        if many is None:
            report = motion_report(
                what, by, carom.simulate(*state, seed=seed, time_step=time_step), page=animate
            )
        else:
            workers: Any = {"num_processes": processes, "progress": progress}
            bundle = carom.simulate_many(*state, many, seed=seed, time_step=time_step, **workers)
            report = bundle_report(what, by, bundle)
    about = {"scene": what.name, "law": by, "duration": duration}
    report.json = about | ({} if time_step is None else {"time_step": time_step}) | report.json
    report.finish(out, as_json=as_json)
    return [CaromError(words) for words in report.failures]


def _moving(name: str | None, given: dict[str, Any]) -> Scene:
    """Return a scene by its name, or a robot from a file as one."""
    import carom

    named = [flag for flag in ROBOTS if given[flag[2:]] is not None]
    if len(named) + (name is not None) != 1:
        what = " and ".join([*named, *([] if name is None else ["SCENE"])]) or "none"
        raise InvalidOption(f"expected one of SCENE, --mjcf and --urdf, got {what}")
    if name is not None:
        for key, value in given.items():
            if value is not None:
                flag = key.replace("_", "-")
                raise InvalidOption(f"--{flag}: does not apply to SCENE; leave it out")
        if name not in carom.scenes.names() and looks_like_file(name):
            raise InvalidOption(
                f"{name}: expected a scene, since a file with an impact has no bodies to move; in "
                f"Python, build a carom.systems.PlanarSystem and call carom.simulate, or take one "
                f"of the scenes {', '.join(carom.scenes.names())}, or a robot by --mjcf or --urdf"
            )
        return carom.scenes.load(name)
    return _robot(named[0], given)


def _robot(kind: str, given: dict[str, Any]) -> Scene:
    """Return a robot from a file as a scene."""
    import numpy as np

    from carom.scenes import Scene

    file = given[kind[2:]]
    if not file.is_file():
        raise InvalidOption(f"{kind}: there is no file {str(file)!r}")
    refuse_useless(given, OPTIONS, [kind], kind)
    if kind == "--mjcf":
        _, data, system, _ = read_mjcf(file, given, margin=MARGIN)
        q, v = data.qpos.copy(), data.qvel.copy()
    else:
        system, q, v = read_urdf(file, given)
    q = np.array(q, dtype=np.float64)
    if given["drop"] is not None:
        if len(q) < FLOATING or any(pair[0] == HEIGHT for pair in system.joints.values()):
            raise InvalidOption("--drop: lifts a base that floats; give --qpos instead")
        q[HEIGHT] += given["drop"]
    if given["hold"] is not None:
        if len(given["hold"]) != 2:
            raise InvalidOption(f"--hold: expected two gains, as in 10,0.3, got {given['hold']!r}")
        stiffness, damping = given["hold"]
        system = system.holding(q, stiffness=stiffness, damping=damping)
    words = f"a robot of {len(system.contacts)} contacts, in time steps"
    return Scene(file.name, words, system, q, v, 1.0, 1, 1, duration=ROBOT_DURATION)
