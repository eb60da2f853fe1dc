"""carom simulate: move a scene through its impacts, once or many times."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from carom.cli import console
from carom.cli.arguments import check_folder, count, looks_like_file, positive, seed
from carom.cli.laws import make_law
from carom.errors import CaromError, InvalidProblem

if TYPE_CHECKING:
    from carom.cli.bundle_report import BundleReport
    from carom.cli.motion_report import MotionReport, Setting
    from carom.laws.law import ImpactLaw

LAWS = ("routh", "exact", "anitescu-potra", "sequential", "routh-single")

HELP = "move a scene through its impacts"
DESCRIPTION = """\
Move a scene through its impacts and tell what happens.

Where a law leaves a choice of outcomes, one is drawn by the seed: another seed
may give another motion. Printed are how the motion ended, its energy before
and after, its impacts with what each contact does afterwards, and the segments
between them with what each contact does meanwhile.

--many N draws N motions instead, and tells until when they are alike and how
far they are apart afterwards."""
EPILOG = """\
files in DIR, each of which appears whole or not at all:
  summary.txt     what is printed
  motion.json     what --json prints: impacts, segments and the end
  trajectory.npz  the motion, as carom.load reads it
  motion.png      coordinates, velocities, energy and impulses over time
  motion.gif      the motion as a moving picture, if the scene is planar
  motion.html     the same as a page with a player (with --animate)
and with --many, in place of those from motion.json on:
  bundle.json     what --json prints: how far the motions are apart
  bundle.npz      arrays: times (n,), q (N, n, nq), v (N, n, nv), seeds (N,)
  bundle.png      every coordinate of all motions over time
Pictures need carom[plots].

examples:
  carom simulate zeno-block
      A block rocks ever faster: infinitely many impacts in finite time.
  carom simulate rocking-block --duration 0.1 --seed 1 --out block
      A block lands flat, and nobody can know on which corner it will rock.
  carom simulate rocking-block --duration 0.1 --many 10
      So it may move like this, or like that.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add = parser.add_argument
    add("target", metavar="SCENE", help="a scene; `carom scenes` lists them")
    add("--law", choices=LAWS, metavar="LAW", help=f"{', '.join(LAWS)}; default: the scene's")
    add("--duration", metavar="T", type=positive, help="seconds to move; default: the scene's")
    add("--seed", metavar="N", type=seed, default=0, help="of all random draws; default: 0")
    add("--many", metavar="N", type=count, help="draw N motions")
    add("--processes", metavar="N", type=count, help="for --many; default: one a core")
    add("--out", metavar="DIR", type=Path, help="write files to this folder")
    add("--animate", action="store_true", help="with --out: write motion.html too")
    add("--json", action="store_true", help="print one JSON object")


def run(options: argparse.Namespace) -> list[CaromError]:
    """Print what happens; return why motions were cut short."""
    from carom import scenes
    from carom.cli.motion_report import Setting

    _check(options)
    if options.target not in scenes.names() and looks_like_file(options.target):
        raise InvalidProblem(
            f"{options.target}: expected a scene, since a file with an impact has no bodies to "
            f"move; in Python, build a carom.systems.PlanarSystem and call carom.simulate, or take "
            f"one of the scenes {', '.join(scenes.names())}"
        )
    scene = scenes.load(options.target)
    name = options.law or scene.law
    setting = Setting(scene, name, _law(name), options.duration or scene.duration)
    report: MotionReport | BundleReport
    with console.progress() as begin:
        if options.many is None:
            report = _one(setting, options, begin)
        else:
            report = _many(setting, options, begin)
        if options.out is not None:
            begin("files", "")
            report.write(options.out)
    report.show(as_json=options.json)
    return [CaromError(words) for words in report.cut_short()]


def _check(options: argparse.Namespace) -> None:
    """Refuse options that do not go together."""
    if options.animate and options.out is None:
        raise InvalidProblem("--animate: needs a folder for its file; name one with --out DIR")
    if options.animate and options.many is not None:
        raise InvalidProblem("--animate: shows one motion; leave it or --many out")
    if options.processes is not None and options.many is None:
        raise InvalidProblem(
            "--processes: one motion runs in one; give --many too, or leave it out"
        )
    if options.out is not None:
        check_folder(options.out)


def _law(name: str) -> ImpactLaw:
    """Return a law for impacts of any size: a scene's step suits its first impact alone."""
    if name == "routh":
        return make_law(name, num_samples=1)
    # An outer set holds no outcome that could be drawn.
    return make_law(name, on_budget="raise") if name == "exact" else make_law(name)


def _one(setting: Setting, options: argparse.Namespace, begin: console.Begin) -> MotionReport:
    from carom import simulate
    from carom.cli.motion_report import MotionReport

    begin("motion")
    scene = setting.scene
    motion = simulate(
        scene.system, scene.q, scene.v, setting.duration, setting.law, seed=options.seed
    )
    return MotionReport(setting, motion, with_page=options.animate)


def _many(setting: Setting, options: argparse.Namespace, begin: console.Begin) -> BundleReport:
    from carom import simulate_many
    from carom.cli.bundle_report import BundleReport

    scene = setting.scene
    bundle = simulate_many(
        scene.system,
        scene.q,
        scene.v,
        setting.duration,
        setting.law,
        options.many,
        seed=options.seed,
        num_processes=options.processes,
        progress=begin("motions"),
    )
    return BundleReport(setting, bundle)
