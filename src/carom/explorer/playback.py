"""The page without a server: exact sets over two sliders, computed in advance.

`python -m carom.explorer.playback docs/playback.html` writes the page of the documentation.
"""

from __future__ import annotations

import base64
import gzip
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import Any

from carom.explorer.answers import Answers
from carom.explorer.controls import Control
from carom.explorer.messages import Request, State
from carom.explorer.page import page
from carom.explorer.subjects import SceneSubject

STEPS = 16
"""Number of steps of a slider."""
DIGITS = 5
"""Significant digits of numbers that are only drawn."""
MU = Control("mu", "friction μ", "", 0.0, 1.6, 1.0)
RECORDED = {
    "rocking-block": (MU, Control("width", "width", "m", 0.2, 1.8, 1.0)),
    "box-wall": (MU, Control("tilt", "tilt", "rad", 0.0875, 1.4875, 0.175)),
}
"""Sliders of each scene; those that they begin with are on the grid."""


@dataclass(frozen=True)
class Recorder:
    """Record the answers to a grid of states."""

    answers: Answers

    def ask(self, request: Request) -> Iterator[dict[str, Any]]:
        """Yield the answers to a request."""
        for kind, text, _ in self.answers.answer(request):
            if kind == "failed":
                raise ValueError(json.loads(text)["message"])
            if kind != "compiling":
                found = json.loads(text)
                # The page gives its own numbers.
                del found["number"]
                yield found

    def tape(self, state: State) -> dict[str, Any]:
        """Return the stages of a state's set, and outcomes to point at."""
        scene, samples, exact = self.ask(Request("set", 0, state))
        # How long it took is another number on every machine.
        samples |= {"count": 0, "data": ""}
        exact["milliseconds"] = None
        marks = [
            *exact["endings"],
            *exact["vertices"],
            *scene["simultaneous"],
            *scene["sequential"],
        ]
        velocities = dict.fromkeys(tuple(each["v"]) for each in marks)
        outcomes = [
            found for v in velocities for found in self.ask(Request("outcome", 0, state, v=v))
        ]
        return {"stages": [scene, samples, exact], "outcomes": outcomes}


def grid(controls: tuple[Control, ...]) -> Iterator[tuple[tuple[int, ...], dict[str, float]]]:
    """Yield the places of sliders, and the values there."""
    for places in product(range(STEPS + 1), repeat=len(controls)):
        both = zip(controls, places, strict=True)
        yield places, {x.key: round(x.low + k * (x.high - x.low) / STEPS, 6) for x, k in both}


def record() -> dict[str, Any]:
    """Return all answers, by the subject and the places of its sliders."""
    subjects = [SceneSubject(name) for name in RECORDED]
    recorder = Recorder(Answers({each.name: each for each in subjects}, budget=60.0))
    tapes = {
        "|".join([name, *map(str, places)]): recorder.tape(State(name, tuple(sorted(at.items()))))
        for name, controls in RECORDED.items()
        for places, at in grid(controls)
    }
    known = [
        {
            "name": each.name,
            "description": each.description,
            "controls": [asdict(x) | {"steps": STEPS} for x in RECORDED[each.name]],
        }
        for each in subjects
    ]
    first: dict[str, Any] = {
        "subject": subjects[0].name,
        "parameters": {},
        "mu": {},
        "restitution": {},
        "v": None,
        "axes": None,
    }
    about = {"type": "hello", "subjects": known, "first": first, "version": version("carom")}
    return {"hello": about, "answers": tapes}


def _rounded(text: str) -> float:
    return float(f"{float(text):.{DIGITS}g}")


def write(path: Path) -> None:
    """Write the page."""
    # Numbers are only drawn from here on, and short ones pack well.
    short = json.loads(json.dumps(record()), parse_float=_rounded)
    text = json.dumps(short, separators=(",", ":"))
    # Without a time, so that the same answers make the same file.
    packed = base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode("ascii")
    tape = f'<script id="recorded" type="application/octet-stream">{packed}</script>\n'
    made, _ = page()
    path.write_text(made.replace("<script>", f"{tape}<script>", 1), encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
