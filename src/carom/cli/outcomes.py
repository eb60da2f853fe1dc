"""carom outcomes: resolve an impact with one law or all."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from functools import cached_property, partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from carom.cli import impact, show
from carom.cli.options import Command, count, names, option, output, positive, seed
from carom.errors import ImpactNotResolved, MissingExtra

if TYPE_CHECKING:
    from carom.laws.law import ImpactLaw
    from carom.problem import ImpactProblem

LAWS = {
    "routh": (
        *("num_samples", "step_impulse", "max_steps", "seed"),
        *("draw", "selection", "num_threads"),
    ),
    "exact": ("max_seconds", "on_budget", "seed"),
    "anitescu-potra": ("seed",),
    "sequential": ("order",),
    "routh-single": (),
}
"""Fields of each law that are options."""
DRAWS = ("persistent", "subset", "uniform")
SELECTIONS = ("random", "lemke")
ON_BUDGET = ("outer", "raise")
MOST_CONTACTS_TO_BE_EXACT = 3
"""With more, an exact set is rarely found in time; --law exact tries all the same."""
MOST_UNFINISHED = 0.01
"""Share of samples that may be lost before the rest counts as biased."""
MOST_CONTACTS_TO_ORDER = 6
"""Seven contacts have 5,040 orders, which can take minutes."""
FILES = {name: f"{name}.npz" if name == "routh" else f"{name}.json" for name in LAWS}
"""Files with the sets of laws."""
FIGURE = "contact_velocities.png"

EPILOG = f"""\
Laws:
  routh           the set-valued law, sampled; outcomes may be missing
  exact           the whole set of the same law, as polytopes (needs pplpy)
  anitescu-potra  all contacts at once: every solution of its LCP
  sequential      one contact after another, in every order
  routh-single    one planar contact, in closed form
  all             all that apply; the default

{impact.EPILOG}
Files in DIR, each of which appears whole or not at all:
  summary.txt    what is printed
  outcomes.json  what --json prints: settings, ranges and shares per law
  routh.npz      the samples, as carom.load reads them; numpy.load finds arrays in it: v_post
      (n, nv), impulse_n (n, m), impulse_t (n, m, d), num_steps (n,), problem.M, …
  LAW.json       the set of any other law, to the last digit, as carom.load reads it
  contact_velocities.png  the outcomes and the ways there (needs matplotlib)

Examples:
  carom outcomes rocking-block --out block
  carom outcomes compass-gait --law exact --budget 60  Every outcome and nothing else.
  carom scenes compass-gait --save my-impact.json
  carom outcomes my-impact.json --law routh --samples 100000 --seed 1 --json
"""
STEP = "Take the paper's steps, of this impulse per contact [N s]; default: exact motions."
STEPS = "Steps after which a sample is unfinished; selects steps. Default: 1000 or more."
LIMIT = "Time limit of an exact or outer set; default: 10."
AT_LIMIT = "Return an outer set, or fail, at the end of the budget; default: outer."

_routh = partial(option, group="Law routh")
_exact = partial(option, group="Law exact")


@click.command(
    "outcomes", cls=Command, epilog=EPILOG, short_help="resolve an impact: every way it can end"
)
@impact.takes_an_impact
@option("--law", metavar="LAW", type=click.Choice([*LAWS, "all"]), default="all", help="See below.")
@output
@_routh("--samples", "num_samples", metavar="N", type=count, help="Default: the scene's, or 16384.")
@_routh("--step", "step_impulse", metavar="H", type=positive, help=STEP)
@_routh("--max-steps", metavar="N", type=count, help=STEPS)
@_routh("--seed", metavar="N", type=seed, help="Seed of all random draws; default: 0.")
@_routh("--draw", type=click.Choice(DRAWS), help="How steps are drawn; selects steps.")
@_routh(
    "--selection",
    type=click.Choice(SELECTIONS),
    help="Choice among solutions of a step; selects steps.",
)
@_routh("--threads", "num_threads", metavar="N", type=count, help="Default: all cores.")
@_exact("--budget", "max_seconds", metavar="SECONDS", type=positive, help=LIMIT)
@_exact("--on-budget", type=click.Choice(ON_BUDGET), help=AT_LIMIT)
@option("--order", metavar="A,B", type=names, group="Law sequential", help="Default: every order.")
def command(
    target: str | None, law: str, out: Path | None, as_json: bool, **given: Any
) -> list[ImpactNotResolved]:
    """Resolve an impact, with one law or all, and print the ways in which it can end.

    Per law are printed the number of outcomes, and whether some may be missing; per contact its
    normal velocity before the impact (< 0 approaches), the least and the largest one after it (0:
    it stays closed), the same of its tangential velocity, and how often it sticks, slides or lifts;
    and the share of kinetic energy that is kept.
    """
    about = impact.load_impact(target, given)
    chosen = _chosen_laws(law, given, about.problem)
    found = Found(about)
    with show.progress() as begin:
        for name in chosen:
            hints = ("follows every order of events",) if name == "exact" else ()
            try:
                found.add(name, _law(name, given, about, begin(name, *hints)))
            except ImpactNotResolved as error:
                # The failure of the only law is the failure of the command.
                if len(chosen) == 1:
                    raise
                found.not_resolved[name] = str(error)
                found.failures.append(ImpactNotResolved(f"{name}: {error}", about.problem))
    names = [*FILES.values(), FIGURE]
    report = show.Report("outcomes", found.text(), found.json(), found.files(), names)
    report.finish(out, as_json=as_json)
    return found.failures


def _chosen_laws(law: str, given: dict[str, Any], problem: ImpactProblem) -> list[str]:
    """Return the names of the laws to use; refuse options that apply to none of them."""
    chosen = [law]
    if law == "all":
        chosen = ["routh", "anitescu-potra", "sequential"]
        if problem.num_contacts <= MOST_CONTACTS_TO_BE_EXACT and problem.num_tangents == 1:
            if find_spec("ppl") is not None:
                chosen.insert(1, "exact")
            else:
                missing = MissingExtra.of("exact sets", "pplpy", "exact")
                show.warn(f"exact is left out: {missing}")
        if problem.num_contacts == 1 and problem.num_tangents == 1:
            chosen.append("routh-single")
        if problem.num_contacts > MOST_CONTACTS_TO_ORDER and given["order"] is None:
            chosen.remove("sequential")
            orders = math.factorial(problem.num_contacts)
            show.warn(f"sequential is left out: {orders:,} orders; name one with --order")
    impact.refuse_useless(given, LAWS, chosen, f"--law {law}")
    return chosen


def _law(
    name: str, given: dict[str, Any], about: impact.Target, progress: show.Progress
) -> ImpactLaw:
    settings: dict[str, Any] = {"exact": {"on_budget": ON_BUDGET[0]}}.get(name, {})
    if name == "routh":
        settings = {"progress": progress}
        if (scene := about.scene) is not None:
            settings |= {"num_samples": scene.num_samples}
            if any(given[key] is not None for key in ("max_steps", "draw", "selection")):
                # Any of these selects steps, and a scene has the paper's.
                settings |= {"step_impulse": scene.step_impulse}
    chosen = {key: given[key] for key in LAWS[name] if given[key] is not None}
    return make_law(name, **(settings | chosen))


def make_law(name: str, **settings: Any) -> ImpactLaw:
    """Return a law by its name on the command line, with defaults for what is not set."""
    import carom

    law = "RouthExact" if name == "exact" else name.title().replace("-", "")
    return getattr(carom, law)(**settings)


def law_settings(law: Any) -> dict[str, Any]:
    """Return the settings of a law that affect its results; None was left to the law."""
    names = [each.name for each in fields(law)]
    return show.pick(law, *(x for x in names if x not in ("num_threads", "points", "progress")))


@dataclass(eq=False)
class Found:
    """The outcomes of some laws on one problem."""

    about: impact.Target
    sets: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, dict[str, Any]] = field(default_factory=dict)
    not_resolved: dict[str, str] = field(default_factory=dict)
    failures: list[ImpactNotResolved] = field(default_factory=list)

    def add(self, name: str, law: ImpactLaw) -> None:
        """Resolve the impact with a law; few lost samples are a warning, many a failure."""
        outcomes: Any = law.resolve(self.about.problem)
        self.sets[name], self.settings[name] = outcomes, law_settings(law)
        if lost := getattr(outcomes, "num_unfinished", 0):
            total, why = lost + len(outcomes), "; ".join(outcomes.unfinished)
            what = f"{name}: {lost:,} of {total:,} samples did not end, so that ranges are biased"
            if lost > MOST_UNFINISHED * total:
                self.failures.append(ImpactNotResolved(f"{what}: {why}", self.about.problem))
            else:
                show.warn(f"warning: {what}: {why}")

    def text(self) -> str:
        """Return the report for people."""
        parts = [self.about.title, *(outcomes.summary() for outcomes in self.sets.values())]
        if self.sample_error == 0.0:
            parts.append("Samples of routh lie in the exact set.")
        elif self.sample_error is not None:
            far = f"{self.sample_error:.3g} m/s of contact velocity from the exact set"
            parts.append(f"Samples of routh lie up to {far}; a smaller --step brings them closer.")
        return "\n\n".join(parts)

    @cached_property
    def sample_error(self) -> float | None:
        """Return how far samples lie from the exact set, where both are known [m/s]."""
        samples, exact = self.sets.get("routh"), self.sets.get("exact")
        if samples is None or exact is None or not exact.is_complete or samples.is_complete:
            return None
        from carom.kernels.tolerances import STICKING
        from carom.outcomes.distances import sample_error

        error, unit = sample_error(samples, exact), self.about.problem.space.velocity_unit.max()
        return error if error > STICKING * float(unit) else 0.0

    def json(self) -> dict[str, Any]:
        """Return the report for programs; a setting that is None was left to the law."""
        problem = self.about.problem
        before = {
            "contact_velocities": problem.contact_velocity(problem.v_pre),
            "kinetic_energy": problem.kinetic_energy(problem.v_pre),
        }
        known = show.pick(problem, "contacts", "num_velocities", "num_tangents", "v_pre")
        laws = {
            name: {"settings": self.settings[name], **_describe(outcomes)}
            for name, outcomes in self.sets.items()
        }
        about = {"problem": {"source": self.about.source, **known, **before}, "laws": laws}
        return about | show.pick(self, "sample_error", "not_resolved")

    def files(self) -> dict[str, show.Writer]:
        """Return what writes the sets and the figure."""
        files: dict[str, show.Writer] = {FILES[name]: x.save for name, x in self.sets.items()}
        get = self.sets.get
        exact = get("exact")
        drawn = [get("routh"), get("routh-single"), None if exact is None else exact.inner]
        points = next((outcomes for outcomes in drawn if outcomes is not None), None)
        others = {"simultaneous": get("anitescu-potra"), "sequential": get("sequential")}
        system = getattr(self.about.scene, "system", None)
        options: Any = {"exact": exact, "title": self.about.title, "system": system, **others}
        if self.sets:
            files[FIGURE] = partial(show.write_figure, "outcomes_overview", points, **options)
        return files


def _describe(outcomes: Any) -> dict[str, Any]:
    """Return what a set is: ranges [m/s], shares, and polytopes or labelled outcomes."""
    from carom import FiniteSet, PolyhedralSet

    ranges = [{"normal": own[0], "tangential": own[1:]} for own in outcomes.contact_bounds()]
    found = {"name": outcomes.law, **show.pick(outcomes, "is_complete", "kinds", "notes")}
    found["contacts"] = dict(zip(outcomes.problem.contacts, ranges, strict=True))
    if isinstance(outcomes, PolyhedralSet):
        found |= show.pick(outcomes, "outer_excess", "num_polyhedra")
        polytopes = [show.pick(x, "kind", "dimension", "vertices") for x in outcomes.polytopes]
        return found | {"polytopes": polytopes}
    for word, occurs in outcomes.contact_states._asdict().items():
        for own, share in zip(ranges, occurs.mean(axis=0), strict=True):
            own[word] = share
    problem, steps = outcomes.problem, outcomes.num_steps
    before = problem.kinetic_energy(problem.v_pre)
    kept = problem.kinetic_energy(outcomes.v_post) / before if before > 0.0 else None
    found |= {
        "num_outcomes": len(outcomes),
        **show.pick(outcomes, "num_unfinished", "unfinished"),
        "energy_kept": None if kept is None else [kept.min(), kept.max()],
        "steps": {"mean": steps.mean(), "max": steps.max()},
    }
    if isinstance(outcomes, FiniteSet):
        rows = zip(outcomes.labels, outcomes.v_post, outcomes.contact_velocities, strict=True)
        keys = ("label", "v_post", "contact_velocities")
        found["outcomes"] = [dict(zip(keys, row, strict=True)) for row in rows]
    return found
