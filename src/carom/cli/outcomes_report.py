"""What several laws say of one impact."""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, final

import numpy as np

from carom import __version__
from carom.cli.figures import load_plots, png
from carom.cli.laws import law_settings
from carom.cli.report import File, Report
from carom.kernels.tolerances import STICKING
from carom.laws.files import encode_npz, problem_fields
from carom.laws.set_files import save_set
from carom.outcomes.distances import sample_error
from carom.outcomes.polyhedral import PolyhedralSet
from carom.outcomes.sampled import SampledSet

if TYPE_CHECKING:
    from carom.laws.law import ImpactLaw
    from carom.outcomes.outcome_set import OutcomeSet
    from carom.problem import ImpactProblem

ARRAYS = ("v_post", "impulse_n", "impulse_t", "num_steps", "v_unfinished", "labels")


@final
class OutcomesReport(Report):
    """The outcomes of some laws on one problem."""

    name = "outcomes"

    def __init__(self, source: str, title: str, problem: ImpactProblem) -> None:
        self.source = source
        self.title = title
        self.problem = problem
        self.sets: dict[str, SampledSet | PolyhedralSet] = {}
        self.settings: dict[str, dict[str, Any]] = {}
        self.not_resolved: dict[str, str] = {}

    def add(self, name: str, law: ImpactLaw, outcomes: OutcomeSet) -> None:
        """Take in what a law says."""
        assert isinstance(outcomes, SampledSet | PolyhedralSet)
        self.sets[name] = outcomes
        self.settings[name] = law_settings(law)

    def text(self) -> str:
        """Return the report for people."""
        parts = [self.title, *(outcomes.summary() for outcomes in self.sets.values())]
        if self.sample_error is not None:
            parts.append(_beside_the_exact_set(self.sample_error))
        return "\n\n".join(parts)

    @cached_property
    def sample_error(self) -> float | None:
        """Return how far samples lie from the exact set, where both are known [m/s]."""
        samples, exact = self.sampled("routh"), self._exact()
        if samples is None or exact is None or not exact.is_complete or samples.is_complete:
            return None
        error = sample_error(samples, exact)
        return error if error > STICKING * float(self.problem.space.velocity_unit.max()) else 0.0

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
            "sample_error": self.sample_error,
            "not_resolved": self.not_resolved,
        }

    def files(self) -> dict[str, File]:
        """Return the arrays, the figure and the exact set."""
        exact = self._exact()
        return {
            "outcomes.npz": encode_npz(self.arrays()),
            **self.figure(),
            **({} if exact is None else {"exact.json": partial(save_set, exact)}),
        }

    def arrays(self) -> dict[str, Any]:
        """Return the content of outcomes.npz."""
        arrays = {f"problem/{key}": value for key, value in problem_fields(self.problem).items()}
        for name, outcomes in self.sets.items():
            arrays |= {f"{name}/{key}": value for key, value in _arrays(outcomes).items()}
        return arrays

    def figure(self) -> dict[str, bytes]:
        """Return the figure by its file name; nothing, but a word, without matplotlib."""
        if not self.sets:
            return {}
        plots = load_plots()
        if plots is None:
            return {}
        exact = self._exact()
        inner = None if exact is None else exact.inner
        figure = plots.outcomes_overview(
            self.sampled("routh") or self.sampled("routh-single") or inner,
            exact=exact,
            simultaneous=self.sampled("anitescu-potra"),
            sequential=self.sampled("sequential"),
            title=self.title,
        )
        return {"contact_velocities.png": png(figure)}

    def sampled(self, name: str) -> SampledSet | None:
        """Return what a law says, if it says it in samples."""
        outcomes = self.sets.get(name)
        return outcomes if isinstance(outcomes, SampledSet) else None

    def _exact(self) -> PolyhedralSet | None:
        outcomes = self.sets.get("exact")
        return outcomes if isinstance(outcomes, PolyhedralSet) else None


def _beside_the_exact_set(error: float) -> str:
    if error == 0.0:
        return "Samples of routh lie in the exact set."
    return (
        f"Samples of routh lie up to {error:.3g} m/s of contact velocity from the exact set; a "
        f"smaller --step brings them closer."
    )


def _arrays(outcomes: SampledSet | PolyhedralSet) -> dict[str, Any]:
    """Return the arrays of a set; the piece of each vertex tells polytopes apart."""
    if isinstance(outcomes, PolyhedralSet):
        sizes = [len(piece.vertices) for piece in outcomes.pieces]
        return {"v_post": outcomes.v_post, "piece": np.repeat(np.arange(len(sizes)), sizes)}
    values = {field: getattr(outcomes, field) for field in ARRAYS}
    return {field: value for field, value in values.items() if value is not None}


def _describe(outcomes: SampledSet | PolyhedralSet) -> dict[str, Any]:
    if isinstance(outcomes, PolyhedralSet):
        return _describe_polyhedral(outcomes)
    return _describe_sampled(outcomes)


def _describe_polyhedral(outcomes: PolyhedralSet) -> dict[str, Any]:
    """Return ranges [m/s] and polytopes of a set."""
    return {
        "name": "Routh, outer set" if outcomes.is_outer else "Routh, exact",
        "is_complete": outcomes.is_complete,
        "is_outer": outcomes.is_outer,
        "contacts": _ranges(outcomes),
        "gap": None if outcomes.gap is None else outcomes.gap.tolist(),
        "kinds": list(outcomes.kinds),
        "notes": list(outcomes.notes),
        "num_polyhedra": outcomes.num_polyhedra,
        "pieces": [
            {
                "kind": piece.kind,
                "dimension": piece.dimension,
                "vertices": piece.vertices.tolist(),
            }
            for piece in outcomes.pieces
        ],
    }


def _describe_sampled(outcomes: SampledSet) -> dict[str, Any]:
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
    sticks, slides, lifts = (kind.mean(axis=0) for kind in outcomes.kinds())
    return {
        name: {
            **ranges,
            "sticks": float(sticks[i]),
            "slides": float(slides[i]),
            "lifts": float(lifts[i]),
        }
        for i, (name, ranges) in enumerate(_ranges(outcomes).items())
    }


def _ranges(outcomes: OutcomeSet) -> dict[str, dict[str, Any]]:
    bounds = outcomes.contact_bounds()
    return {
        name: {"normal": bounds[i, 0].tolist(), "tangential": bounds[i, 1:].tolist()}
        for i, name in enumerate(outcomes.problem.contacts)
    }
