"""carom simulate: simulate a scene through its impacts, once or many times."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from carom.cli import show
from carom.cli.impact import looks_like_file
from carom.cli.options import Command, complete_scene, count, option, output, positive, seed
from carom.cli.outcomes import LAWS, law_settings, make_law
from carom.errors import CaromError, InvalidOption

EPILOG = """\
Files in DIR, each of which appears whole or not at all:
  summary.txt     what is printed
  motion.json     what --json prints: impacts, segments and the end
  trajectory.npz  the motion, as carom.load reads it
  motion.png      coordinates, velocities, energy and impulses over time
  motion.gif      the motion as an animation, if the scene is planar
  motion.html     the same as a page with a player (with --animate)

With --many, in place of those from motion.json on:
  bundle.json  what --json prints: how far the motions are apart
  bundle.npz   all motions, as carom.load reads them
  bundle.png   every coordinate of all motions over time

Examples:
  carom simulate zeno-block  A block rocks ever faster: infinitely many impacts in finite time.
  carom simulate rocking-block --duration 0.1 --seed 1 --out block  A block lands flat, and nobody
      can know on which corner it will rock.
  carom simulate rocking-block --duration 0.1 --many 10  So it may move like this, or like that.
"""
LAW = f"{', '.join(LAWS)}; default: the scene's."


@click.command(
    "simulate", cls=Command, epilog=EPILOG, short_help="simulate a scene through its impacts"
)
@click.argument("scene", shell_complete=complete_scene)
@option("--law", metavar="LAW", type=click.Choice([*LAWS]), help=LAW)
@option("--duration", metavar="T", type=positive, help="Simulated time [s]; default: the scene's.")
@option("--seed", metavar="N", type=seed, default=0, help="Seed of all random draws; default: 0.")
@option("--many", metavar="N", type=count, help="Draw N motions.")
@option("--processes", metavar="N", type=count, help="With --many; default: one per core.")
@output
@option("--animate", is_flag=True, help="With --out: write motion.html too (needs matplotlib).")
def command(
    scene: str,
    law: str | None,
    duration: float | None,
    seed: int,
    many: int | None,
    processes: int | None,
    out: Path | None,
    animate: bool,
    as_json: bool,
) -> list[CaromError]:
    """Simulate a scene through its impacts and print what happens.

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

    if scene not in carom.scenes.names() and looks_like_file(scene):
        raise InvalidOption(
            f"{scene}: expected a scene, since a file with an impact has no bodies to move; in "
            f"Python, build a carom.systems.PlanarSystem and call carom.simulate, or take one of "
            f"the scenes {', '.join(carom.scenes.names())}"
        )
    what = carom.scenes.load(scene)
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
            report = motion_report(what, by, carom.simulate(*state, seed=seed), page=animate)
        else:
            workers: Any = {"num_processes": processes, "progress": progress}
            bundle = carom.simulate_many(*state, many, seed=seed, **workers)
            report = bundle_report(what, by, bundle)
    report.json = {"scene": scene, "law": by, "duration": duration} | report.json
    report.finish(out, as_json=as_json)
    return [CaromError(words) for words in report.failures]
