"""The set-valued law of Halm and Posa, sampled [HalmPosa, Algorithms 1 and 2]."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import final

import numpy as np

from carom import checks, stepping
from carom.errors import ImpactNotResolved, InvalidOption
from carom.laws.law import NUM_SEEDS, ImpactLaw, draw_seed, refuse_bounces
from carom.laws.sample_replay import SampleReplay
from carom.outcomes.holdout import Holdout, velocity_map
from carom.outcomes.path import ImpactPath
from carom.outcomes.sampled import SampledSet
from carom.problem import ImpactProblem
from carom.typing import ArrayLike, FloatArray, IntArray

STEP_OPTIONS = ("step_impulse", "max_steps", "draw", "selection", "points", "epsilon")
"""Options of the paper's steps; naming one of them selects these."""

Ends = tuple[FloatArray, FloatArray, IntArray, IntArray]
"""Impulses (n, c) [N s], velocities (n, nv), statuses (n,) and numbers of steps or events (n,)."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class Routh(ImpactLaw):
    """Sample the outcomes of an impact.

    Each sample is an exact motion: normal impulses grow at random rates, from event to event (slip
    ends, a contact stops), until no contact approaches. There is no step and no error but rounding;
    in space, slip against the round friction cone is integrated to about 1e-9. Part of the samples
    search for extreme contact velocities, which random motions seldom reach.

    A contact with `problem.restitution` e goes on to push, at rates that nobody knows either, until
    it has returned e^2 of the work of its normal force in compression.

    With `step_impulse`, or any other option of steps, samples follow the paper instead, in implicit
    steps with an error proportional to h: where contacts change from sliding to sticking, such
    samples can leave the set, by some per cent of the impact's speed at the largest h. In space,
    friction then acts along the k directions of the problem.

    Sample i of a seed is the same on any number of threads. If `problem.without_collision` and no
    contact approaches, contacts at rest act first.

    Args:
        num_samples: Number of samples.
        step_impulse: Largest normal impulse h of a contact in one step [N s]. If only other options
            of steps are named, the impulse that stops one contact with all of the impact's energy.
        max_steps: Number of steps after which a sample counts as unfinished. Default: 1000, or for
            small h the number that amounts to 100 times that impulse, ten times a usual impact.
        seed: Seed of the random generator.
        draw: Distribution of the caps on impulses in [0, h]^m. "persistent", the default: a random
            subset of contacts acts at random rates for a random stretch of impulse, so that
            coverage does not depend on h. "subset": subset and rates are drawn anew in every step.
            "uniform", as in the paper: independent and uniform; for small h, samples cluster inside
            the set.
        selection: Solution to take if a step has several: "random", the default, with equal
            probability, or "lemke" for the one that Lemke's algorithm finds.
        points: (n, steps * m) points of the unit cube, e.g. from scipy.stats.qmc, which replace
            draw, num_samples and max_steps: m numbers per step, times h, are the caps.
        epsilon: Accuracy of Algorithm 2 [m/s]: a sample that still collides after
            max_steps takes one more step with the caps epsilon / (3 psi). Default: a millionth of
            |v_pre|.
        num_threads: Number of threads; default all cores.
        progress: Function that is called with (samples done, samples in total).
        until: (epsilon, p, delta): sample until, with confidence 1 - delta, a further random draw
            lies more than epsilon from every sample with probability at most p. The num_samples
            samples, all of them random, are compared with as many fresh draws, which then join
            them; this repeats, doubling the number each time. The result is `outcomes.holdout`.
        norm: Norm of epsilon in `until`: "contact" for the Euclidean norm of all contact
            velocities [m/s], "energy" for |v|_M as a share of |v_pre|_M.
        max_samples: Maximum number of samples with `until`. If they are not enough,
            `outcomes.holdout` holds the bound that they do give.
        extremes: Share of the samples that search for extremes; 0 for random draws only, which
            represent a distribution.

    Examples:
        A block lands flat with 1 m/s. It rests, or pivots on one corner while the other lifts with
        at most 0.21 m/s.

        >>> import carom
        >>> block = carom.scenes.load("rocking-block", speed=1.0).problem
        >>> outcomes = carom.Routh(num_samples=1000).resolve(block)
        >>> outcomes.contact_bounds()[:, 0, 1].round(3).tolist()
        [0.21, 0.21]
        >>> path = carom.Routh().draw_path(block, seed=1)
        >>> path.v.shape == (path.num_steps + 1, 3)
        True
    """

    num_samples: int = 2**14
    step_impulse: float | None = None
    max_steps: int | None = None
    seed: int = 0
    draw: str | None = None
    selection: str | None = None
    points: FloatArray | None = None
    epsilon: float | None = None
    num_threads: int | None = None
    progress: stepping.Progress | None = field(default=None, metadata={"saved": False})
    until: tuple[float, float, float] | None = None
    norm: str = "contact"
    max_samples: int = 2**22
    extremes: float = 0.25

    def __post_init__(self) -> None:
        if self.points is not None:
            points = _check_points(self.points)
            object.__setattr__(self, "points", points)
            object.__setattr__(self, "num_samples", len(points))
        checks.integer("num_samples", self.num_samples, 1)
        for name in ("max_steps", "num_threads"):
            if getattr(self, name) is not None:
                checks.integer(name, getattr(self, name), 1)
        checks.integer("seed", self.seed, 0, NUM_SEEDS)
        for name, known in (("draw", stepping.DRAWS), ("selection", stepping.SELECTIONS)):
            if getattr(self, name) is not None:
                checks.choice(name, getattr(self, name), known)
        for name in ("step_impulse", "epsilon"):
            if getattr(self, name) is not None:
                checks.positive(name, getattr(self, name))
        checks.between("extremes", self.extremes, 0.0, 1.0)
        if self.until is not None:
            goal = self._goal(self.until)
            object.__setattr__(self, "until", (goal.epsilon, goal.p, goal.delta))

    @cached_property
    def takes_steps(self) -> bool:
        """Return whether samples take the paper's steps instead of exact motions."""
        options = (f for f in fields(self) if f.name in STEP_OPTIONS)
        return any(getattr(self, f.name) is not f.default for f in options)

    def resolve(self, problem: ImpactProblem) -> SampledSet:
        """Return the sampled post-impact set.

        Args:
            problem: The impact.

        Raises:
            ImpactNotResolved: No sample ended, or contacts at rest must act and cannot.
        """
        sampler = self._prepare(problem)
        if self.until is None:
            runs, holdout = self._run(problem, sampler, 0, self.num_samples), None
        else:
            runs, holdout = self._run_until(problem, sampler, self._goal(self.until))
        totals, v_post, statuses, steps = runs
        unfinished = v_post[statuses != stepping.FINISHED]
        totals, v_post, steps, numbers = stepping.gather_finished(statuses, totals, v_post, steps)
        impulses = totals.reshape(len(totals), problem.num_contacts, -1)
        stays = problem.stays
        return SampledSet(
            problem=problem,
            law=self._name(),
            v_post=v_post,
            impulse_n=impulses[:, :, 0],
            impulse_t=impulses[:, :, 1:],
            num_steps=steps,
            is_complete=stays,
            notes=() if stays else self._notes(sampler),
            v_unfinished=unfinished,
            unfinished=self._reasons(statuses),
            holdout=holdout,
            step_impulse=None if stays else self._step(problem),
            numbers=numbers,
            origin=replace(self, progress=None),
            # Where a motion ends was checked.
            is_checked=not self.takes_steps and not len(unfinished),
        )

    def replay(self, problem: ImpactProblem) -> SampleReplay:
        """Prepare to run samples of this law again by their numbers."""
        return SampleReplay(problem, self._prepare(problem))

    def _name(self) -> str:
        """Return the name of the law and of its samples."""
        if not self.takes_steps:
            return "Routh, exact motions"
        draw = "points" if self.points is not None else self.draw or "persistent"
        return f"Routh, {draw} draws"

    def _notes(self, sampler: stepping.AnySampler) -> tuple[str, ...]:
        """Return what part of the samples is not random."""
        if not isinstance(sampler, stepping.MotionSampler) or not sampler.num_per_search:
            return ()
        searched = self.num_samples - sampler.num_random
        return (
            f"{searched:,} of {self.num_samples:,} samples search for extreme contact velocities; "
            f"the others are random",
        )

    def _prepare(self, problem: ImpactProblem) -> stepping.AnySampler:
        if self.takes_steps:
            refuse_bounces(problem, "Routh with steps")
            return stepping.prepare_sampler(problem, self._rule(problem), self.num_samples)
        share = 0.0 if self.until is not None or problem.stays else self.extremes
        return stepping.prepare_motions(problem, self.seed, self.num_samples, share)

    def _run(
        self, problem: ImpactProblem, sampler: stepping.AnySampler, first: int, count: int
    ) -> Ends:
        """Run samples from number `first` on."""
        report = self.progress

        def progress(done: int, all_: int) -> None:
            if report is not None:
                report(first + done, first + all_)

        if problem.stays:
            runs = stepping.nothing_happens(problem, count)
        else:
            runs = stepping.begin_at(sampler, first).run(count, self.num_threads, progress)
        return self._judge(problem, *runs, may_fail=first > 0)

    def _judge(
        self,
        problem: ImpactProblem,
        totals: FloatArray,
        statuses: IntArray,
        steps: IntArray,
        may_fail: bool = False,
    ) -> Ends:
        """Return how runs end, with what is not physical marked as failed."""
        unit = np.repeat(problem.space.impulse_unit, problem.space.width)
        v_post = stepping.end_velocities(problem, totals, self.num_threads, unit)
        if self.takes_steps:
            # Exact motions are checked one by one as they end.
            stepping.fail_unphysical(problem, totals, statuses, self.num_threads)
        if problem.starts_at_rest and not totals.any():
            raise stepping.nothing_acts(problem)
        if not may_fail and not (statuses == stepping.FINISHED).any():
            raise ImpactNotResolved(
                "no sample ended: " + "; ".join(self._reasons(statuses)), problem
            )
        return totals, v_post, statuses, steps

    def _run_until(
        self, problem: ImpactProblem, sampler: stepping.AnySampler, goal: stepping.Goal
    ) -> tuple[Ends, Holdout]:
        """Run samples until fresh ones prove the requested bound, or there are max_samples."""
        to_points = velocity_map(problem, goal.norm) @ problem.impulse_to_velocity
        batches: list[Ends] = []

        def draw(first: int, count: int) -> FloatArray:
            batches.append(self._run(problem, sampler, first, count))
            totals, _, statuses, _ = batches[-1]
            return totals[statuses == stepping.FINISHED] @ to_points.T

        count = stepping.whole_turns(sampler, self.num_samples)
        holdout = stepping.draw_until(draw, count, goal, self.num_threads)
        totals, v_post, statuses, steps = map(np.concatenate, zip(*batches, strict=True))
        return (totals, v_post, statuses, steps), holdout

    def _step(self, problem: ImpactProblem) -> float | None:
        """Return the step h, or None for exact motions [N s]."""
        if not self.takes_steps:
            return None
        return self.step_impulse or stepping.stopping_impulse(problem)

    def _goal(self, until: tuple[float, float, float]) -> stepping.Goal:
        if self.points is not None:
            raise InvalidOption("until: expected draws, got points, which cannot be continued")
        return stepping.Goal.check(until, self.norm, self.max_samples, self.num_samples)

    def draw_path(self, problem: ImpactProblem, seed: int) -> ImpactPath:
        """Run one sample with another seed and return its path; with points, the seed picks a row.

        Args:
            problem: The impact.
            seed: Seed of the random generator, an integer from 0 to 2^53 - 1.

        Raises:
            ImpactNotResolved: The sample did not end, or contacts at rest must act and cannot.
        """
        checks.integer("seed", seed, 0, NUM_SEEDS)
        if self.takes_steps:
            law = replace(self, num_samples=1, seed=seed, progress=None, until=None)
            if self.points is not None:
                row = int(np.random.default_rng(seed).integers(len(self.points)))
                law = replace(law, points=self.points[row : row + 1])
            replay = law.replay(problem)
        else:
            replay = SampleReplay(problem, stepping.prepare_motions(problem, seed, 1, 0.0))
        if problem.stays:
            return replay.path(0, 0)
        runs, record = replay.sampler.draw()
        if self.takes_steps or problem.starts_at_rest or runs[1][0] != stepping.FINISHED:
            self._judge(problem, *runs)
        num_steps = int(runs[2][0])
        if num_steps > len(record):
            return replay.path(0, num_steps)
        return replay.path_of(record[:num_steps])

    def draw_end(self, problem: ImpactProblem, seed: int) -> tuple[FloatArray, FloatArray]:
        # Without the path, which takes longer to describe than to find.
        if self.takes_steps or problem.stays:
            return super().draw_end(problem, seed)
        sampler = stepping.prepare_motions(problem, seed, 1, 0.0)
        totals, statuses, steps = sampler.draw_end()
        if statuses[0] != stepping.FINISHED:
            self._judge(problem, totals, statuses, steps)
        space = problem.space
        impulse = totals[0] * np.repeat(space.impulse_unit, space.width)
        return problem.velocity_after(impulse), impulse.reshape(-1, space.width)

    def draw_velocity(
        self, problem: ImpactProblem, rng: np.random.Generator | int | None = None
    ) -> FloatArray:
        return self.draw_end(problem, draw_seed(rng))[0]

    def sampler(self, problem: ImpactProblem) -> stepping.Sampler:
        """Prepare the kernels for a problem that collides."""
        return stepping.Sampler.prepare(problem.space, self._rule(problem), self.num_samples)

    def _rule(self, problem: ImpactProblem) -> stepping.Rule:
        options = {name: getattr(self, name) for name in STEP_OPTIONS}
        return stepping.step_rule(problem, self.seed, **options)

    def _reasons(self, statuses: IntArray) -> tuple[str, ...]:
        reasons = []
        count = len(statuses)
        late = int((statuses == stepping.UNFINISHED).sum())
        failed = int((statuses == stepping.FAILED).sum())
        if late and not self.takes_steps:
            reasons.append(
                f"{late:,} of {count:,} motions did not end: contacts press against each other, "
                f"see what carom.check says of the friction cone, or set each other back for long"
            )
        elif late:
            reasons.append(
                f"{late:,} of {count:,} samples still collided after the last step; "
                f"{'raise max_steps' if self.points is None else 'give points for more steps'} "
                f"or step_impulse"
            )
        if failed:
            reasons.append(
                f"{failed:,} of {count:,} samples lost accuracy; look for nearly dependent "
                f"contacts, or scales that differ by 1e10"
            )
        return tuple(reasons)


def _check_points(points: ArrayLike) -> FloatArray:
    array = checks.floats("points", points)
    if array.ndim != 2 or array.size == 0:
        raise InvalidOption(f"points: expected (n, steps * m), got shape {array.shape}")
    if not ((array >= 0.0) & (array <= 1.0)).all():
        raise InvalidOption("points: expected numbers from 0 to 1")
    return array
