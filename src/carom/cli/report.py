"""What several laws say of one impact: as text, as JSON and as files."""

from __future__ import annotations

import dataclasses
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from carom import __version__
from carom.cli.console import say
from carom.files import write_atomically
from carom.impact.files import encode_npz, problem_fields
from carom.outcomes.sampled import SampledSet

if TYPE_CHECKING:
    from carom.impact.law import ImpactLaw
    from carom.impact.problem import ImpactProblem
    from carom.outcomes.outcome_set import OutcomeSet

ARRAYS = ("v_post", "impulse_n", "impulse_t", "num_steps", "v_unfinished", "labels")
# These change no result, or cannot be written down.
NO_SETTINGS = ("num_threads", "points", "progress")


class Report:
    """The outcomes of some laws on one problem."""

    def __init__(self, source: str, title: str, problem: ImpactProblem) -> None:
        self.source = source
        self.title = title
        self.problem = problem
        self.sets: dict[str, SampledSet] = {}
        self.settings: dict[str, dict[str, Any]] = {}
        self.not_resolved: dict[str, str] = {}

    def add(self, name: str, law: ImpactLaw, outcomes: OutcomeSet) -> None:
        """Take in what a law says."""
        assert isinstance(outcomes, SampledSet)
        assert dataclasses.is_dataclass(law)
        self.sets[name] = outcomes
        self.settings[name] = {
            field.name: getattr(law, field.name)
            for field in dataclasses.fields(law)
            if field.name not in NO_SETTINGS
        }

    def text(self) -> str:
        """Return the report for people."""
        head = self.title
        if not self.problem.is_colliding(self.problem.v_pre):
            head += "\nNo contact approaches: the velocity stays as it is."
        return "\n\n".join([head, *(outcomes.summary() for outcomes in self.sets.values())])

    def json(self) -> dict[str, Any]:
        """Return the report for programs; a setting that is None was left to the law."""
        problem = self.problem
        return {
            "carom": __version__,
            "problem": {
                "source": self.source,
                "contacts": list(problem.contacts),
                "num_velocities": problem.num_velocities,
                "num_tangents": problem.num_tangents,
                "v_pre": problem.v_pre.tolist(),
                "contact_velocities": problem.contact_velocity(problem.v_pre).tolist(),
                "kinetic_energy": problem.kinetic_energy(problem.v_pre),
            },
            "laws": {
                name: {"settings": self.settings[name], **_describe(outcomes)}
                for name, outcomes in self.sets.items()
            },
            "not_resolved": self.not_resolved,
        }

    def write(self, folder: Path) -> None:
        """Write all files; none is ever half-written."""
        contents = {
            "summary.txt": (self.text() + "\n").encode(),
            "outcomes.json": (json.dumps(self.json(), indent=2) + "\n").encode(),
            "outcomes.npz": encode_npz(self.arrays()),
            **self.figure(),
        }
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in contents.items():
            write_atomically(folder / name, content)

    def arrays(self) -> dict[str, Any]:
        """Return the content of outcomes.npz."""
        arrays = {f"problem/{key}": value for key, value in problem_fields(self.problem).items()}
        for name, outcomes in self.sets.items():
            values = {field: getattr(outcomes, field) for field in ARRAYS}
            arrays |= {f"{name}/{key}": item for key, item in values.items() if item is not None}
        return arrays

    def figure(self) -> dict[str, bytes]:
        """Return the figure by its file name; nothing, but a word, without matplotlib."""
        if not self.sets:
            return {}
        try:
            from carom import plots
        except ModuleNotFoundError as error:
            say(f"no figure: {error}")
            return {}
        figure = plots.overview(
            self.sets.get("routh", self.sets.get("routh-single")),
            simultaneous=self.sets.get("anitescu-potra"),
            sequential=self.sets.get("sequential"),
            title=self.title,
        )
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", dpi=200)
        return {"contact_velocities.png": buffer.getvalue()}


def _describe(outcomes: SampledSet) -> dict[str, Any]:
    """Return counts, ranges [m/s] and shares of a set."""
    problem = outcomes.problem
    before = problem.kinetic_energy(problem.v_pre)
    kept = problem.kinetic_energy(outcomes.v_post) / before if before > 0.0 else None
    steps = outcomes.num_steps
    description = {
        "name": outcomes.law,
        "num_outcomes": len(outcomes),
        "is_complete": outcomes.is_complete,
        "num_unfinished": outcomes.num_unfinished,
        "unfinished": list(outcomes.unfinished),
        "contacts": _describe_contacts(outcomes),
        "energy_kept": None if kept is None else [float(kept.min()), float(kept.max())],
        "steps": {"mean": float(steps.mean()), "max": int(steps.max())},
    }
    if outcomes.labels is not None:
        rows = zip(outcomes.labels, outcomes.v_post, outcomes.contact_velocities, strict=True)
        description["outcomes"] = [
            {"label": label, "v_post": v.tolist(), "contact_velocities": v_c.tolist()}
            for label, v, v_c in rows
        ]
    return description


def _describe_contacts(outcomes: SampledSet) -> dict[str, dict[str, Any]]:
    bounds = outcomes.contact_bounds()
    sticks, slides, lifts = (kind.mean(axis=0) for kind in outcomes.kinds())
    return {
        name: {
            "normal": bounds[i, 0].tolist(),
            "tangential": bounds[i, 1:].tolist(),
            "sticks": float(sticks[i]),
            "slides": float(slides[i]),
            "lifts": float(lifts[i]),
        }
        for i, name in enumerate(outcomes.problem.contacts)
    }
