"""Answers to a page's requests, stage by stage, as JSON; runs in the worker's process."""

from __future__ import annotations

import base64
import json
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from itertools import chain, combinations
from typing import Any

import numpy as np

from carom.errors import CaromError, ImpactNotResolved, NotResolvedExactly
from carom.explorer import drawings, snippets
from carom.explorer.controls import friction_range
from carom.explorer.hulls import nearest_weights
from carom.explorer.messages import Request, State
from carom.explorer.outcomes import (
    ONE_SAMPLE,
    at_point,
    describe_motion,
    describe_outcome,
    outcome_tolerance,
)
from carom.explorer.subjects import Case, Subject
from carom.extremes.worst_case import worst_case
from carom.laws.anitescu_potra import AnitescuPotra
from carom.laws.law import ImpactLaw
from carom.laws.routh_exact import RouthExact
from carom.laws.sequential import Sequential
from carom.motion.simulation import simulate
from carom.outcomes.finite import FiniteSet
from carom.outcomes.kinds import describe_kinds
from carom.outcomes.outcome_set import OutcomeSet
from carom.outcomes.polyhedral import PolyhedralSet
from carom.problem import ImpactProblem
from carom.typing import FloatArray

SAMPLES = 400
"""Number of samples that are drawn first: enough to see a shape, few enough to be sent often."""
LIVE_SAMPLES = 120
"""Number of samples while a slider is dragged, when there are sixty sets a second to draw."""
SLOW = 0.25
"""Exact sets that take longer are left out most of the time while a slider is dragged [s]."""
PAUSE = 4.0
"""How long they are then left out, in multiples of what the last one took."""
PROVING = 2.0
"""Time budget for extremes that no exact set gives [s]."""
COMPILING = 240.0
"""Time that a stage of the first request of a kind may take, since it may compile kernels [s]."""
MOST_ORDERED = 4
"""Maximum number of contacts whose every order is followed: of five there are 120."""
CLEARER = 2.0
"""How many times wider samples must spread over other velocities than normal ones to show these."""
REMEMBERED = 16
"""Number of states whose sets are kept, for questions about their outcomes."""

Stage = tuple[str, str, float]
"""Type and JSON text, and the time that the next may take [s]; 0 stands for the usual time."""


class Answers:
    """Answer requests about some subjects, and remember the last sets."""

    def __init__(self, subjects: Mapping[str, Subject], budget: float) -> None:
        self.subjects = subjects
        self.budget = budget
        self._sets: OrderedDict[State, OutcomeSet] = OrderedDict()
        self._pause_until: dict[tuple[int, int], float] = {}
        self._known: set[tuple[str, int, int]] = set()
        self._usual: dict[str, tuple[int, int]] = {}

    def answer(self, request: Request) -> Iterator[Stage]:
        """Yield the stages of an answer; an error of carom is an answer too."""
        stages: dict[str, Callable[[Request, Case], Iterator[dict[str, Any]]]] = {
            "set": self._set,
            "outcome": self._outcome,
            "motion": self._motion,
            "extremes": self._extremes,
        }
        compiling = *_encode(request, {"type": "compiling", "of": request.kind}), COMPILING
        try:
            # Any stage of the first of its kind may compile for a while; of the very first, even
            # the making of the case.
            is_first = not self._known
            if is_first:
                yield compiling
            case = self._case(request.state)
            shape = (request.kind, case.problem.num_contacts, case.problem.num_tangents)
            is_new = shape not in self._known
            if is_new and not is_first:
                yield compiling
            allowed = COMPILING if is_new else 0.0
            for stage in stages[request.kind](request, case):
                yield *_encode(request, stage), allowed
            self._known.add(shape)
        except (CaromError, np.linalg.LinAlgError) as error:
            about = {"type": "failed", "of": request.kind, "message": str(error)}
            yield *_encode(request, about), 0.0

    def _case(self, state: State) -> Case:
        subject = self.subjects.get(state.subject)
        if subject is None:
            raise CaromError(f"{state.subject!r} is not explored here")
        return subject.make(state)

    def _set(self, request: Request, case: Case) -> Iterator[dict[str, Any]]:
        """Yield the scene with samples, then the exact set."""
        problem = case.problem
        # Before anything is shown that cannot be drawn.
        shown = self._planes(case)
        _rows(case, shown[0])
        code = snippets.of(case, self.subjects[case.state.subject], self.budget)
        scene = _scene(case, shown)
        yield {"type": "scene", **scene, "snippets": code}
        sampled: OutcomeSet | None = None
        try:
            count = LIVE_SAMPLES if request.live else SAMPLES
            sampled = ONE_SAMPLE(count).resolve(problem)
            self._remember(case.state, sampled)
            # Endings are for pressing, which nobody does while dragging.
            endings = [] if request.live else _sampled_endings(case, sampled)
            yield {"type": "samples", **_samples(case, sampled), "endings": endings}
        except ImpactNotResolved as error:
            yield {"type": "samples", "count": 0, "data": "", "message": str(error)}
        shape = (problem.num_contacts, problem.num_tangents)
        if problem.bounces:
            yield _left_out("of contacts with restitution there is no exact set")
        elif request.live and time.perf_counter() < self._pause_until.get(shape, 0.0):
            yield _left_out("the exact set follows when you let go")
        elif find_spec("ppl") is None:
            yield _left_out('exact sets need pplpy: pip install "carom[exact]"')
        else:
            begin = time.perf_counter()
            yield self._exact(case, scene)
            now = time.perf_counter()
            if now - begin > SLOW:
                self._pause_until[shape] = now + PAUSE * (now - begin)

    def _exact(self, case: Case, scene: dict[str, Any]) -> dict[str, Any]:
        begin = time.perf_counter()
        try:
            law = RouthExact(max_seconds=self.budget, on_budget="outer", num_samples=SAMPLES)
            outcomes = law.resolve(case.problem)
        except NotResolvedExactly as error:
            return _left_out(str(error))
        if outcomes.is_complete or case.state not in self._sets:
            self._remember(case.state, outcomes)
        polygons = [
            {"plane": plane, "polygons": [x.tolist() for x in _outlines(outcomes, case, plane)]}
            for plane in self._planes(case)
        ]
        return {
            "type": "exact",
            "complete": outcomes.is_complete,
            "polygons": polygons,
            "vertices": _marks(case, outcomes.v_post) if outcomes.is_complete else [],
            "endings": _endings(case, outcomes) if outcomes.is_complete else [],
            "outside": {
                law: _are_outside(outcomes, scene[law]) for law in ("simultaneous", "sequential")
            },
            "kinds": outcomes.kinds,
            "bounds": outcomes.contact_bounds().tolist(),
            # Corners of an outer set need be no outcomes.
            "energy": energy_kept(outcomes) if outcomes.is_complete else None,
            "notes": outcomes.notes,
            "milliseconds": 1e3 * (time.perf_counter() - begin),
        }

    def _outcome(self, request: Request, case: Case) -> Iterator[dict[str, Any]]:
        yield describe_outcome(case, self._set_of(case), self._v(request, case))

    def _motion(self, request: Request, case: Case) -> Iterator[dict[str, Any]]:
        if case.system is None or case.q is None:
            raise CaromError("an impact without bodies has no motion to play")
        v = self._v(request, case)
        seconds = case.duration if request.duration is None else request.duration
        motion = simulate(case.system, case.q, v, seconds, ONE_SAMPLE(1))
        yield describe_motion(case, motion)

    def _extremes(self, _request: Request, case: Case) -> Iterator[dict[str, Any]]:
        found = worst_case(case.problem, max_seconds=PROVING)
        width = 1 + case.problem.num_tangents
        table = np.empty((case.problem.num_contacts * width, 2, 2))
        for k, each in enumerate(found):  # type: ignore[arg-type]
            # Least and largest alternate; a least value is the largest of its negative.
            sign = -1.0 if each.name.startswith("-") else 1.0
            table[k // 2, int(sign > 0)] = sign * each.reached, sign * each.proved
        shape = (case.problem.num_contacts, width, 2, 2)
        yield {"type": "extremes", "table": _finite(table.reshape(shape).tolist())}

    def _v(self, request: Request, case: Case) -> FloatArray:
        """Return the outcome that is asked about."""
        nv = case.problem.num_velocities
        if request.v is not None:
            if len(request.v) != nv:
                raise CaromError(f"v: expected {nv} numbers, got {len(request.v)}")
            return np.array(request.v)
        assert request.plane is not None
        assert request.at is not None
        return at_point(self._set_of(case), _rows(case, request.plane), np.array(request.at))

    def _set_of(self, case: Case) -> OutcomeSet:
        """Return the set of a state, anew if it is no longer remembered."""
        if case.state not in self._sets:
            law: ImpactLaw = ONE_SAMPLE(SAMPLES)
            if find_spec("ppl") is not None and not case.problem.bounces:
                law = RouthExact(max_seconds=self.budget, on_budget="outer", num_samples=SAMPLES)
            self._remember(case.state, law.resolve(case.problem))
        return self._sets[case.state]

    def _planes(self, case: Case) -> list[tuple[int, int]]:
        """Return the rows of the large plane, then those of one per contact: slip and normal."""
        own = _of_contacts(case.problem)
        if case.state.axes is not None:
            return [case.state.axes, *own]
        name = case.state.subject
        if name not in self._usual:
            # Of the subject without changes, so that axes stay while something is dragged.
            self._usual[name] = _usual_axes(self._case(State(name)))
        return [self._usual[name], *own]

    def _remember(self, state: State, outcomes: OutcomeSet) -> None:
        self._sets[state] = outcomes
        self._sets.move_to_end(state)
        if len(self._sets) > REMEMBERED:
            self._sets.popitem(last=False)


def _of_contacts(problem: ImpactProblem) -> list[tuple[int, int]]:
    """Return the rows of the slip and the normal velocity of each contact."""
    width = 1 + problem.num_tangents
    return [(width * i + 1, width * i) for i in range(problem.num_contacts)]


def _usual_axes(case: Case) -> tuple[int, int]:
    """Return two rows of contacts: the first two normal ones, or those that tell clearly more.

    A contact that cannot leave has the same normal velocity in every outcome.
    """
    own = _of_contacts(case.problem)
    if len(own) == 1:
        return own[0]
    usual = own[0][1], own[1][1]
    try:
        v = ONE_SAMPLE(LIVE_SAMPLES).resolve(case.problem).v_post
    except ImpactNotResolved:
        return usual
    pairs = [usual, *((x, y) for x, y in combinations(chain(*own), 2) if (x, y) != usual)]
    areas = [np.linalg.det(np.cov(v @ _rows(case, pair).T, rowvar=False)) for pair in pairs]
    best = int(np.argmax(areas))
    return pairs[best] if areas[best] > CLEARER**2 * areas[0] else usual


def energy_kept(outcomes: OutcomeSet) -> list[float] | None:
    """Return the least and the largest share of kinetic energy that outcomes keep."""
    problem = outcomes.problem
    before = problem.kinetic_energy(problem.v_pre)
    if before <= 0.0:
        return None
    # Energy is convex: it is largest in a vertex.
    most = float(problem.kinetic_energy(outcomes.v_post).max())
    least = float(problem.kinetic_energy(outcomes.v_post).min())
    if isinstance(outcomes, PolyhedralSet):
        least = min(_least_energy(problem, each.vertices) for each in outcomes.polytopes)
    return [least / before, most / before]


def _least_energy(problem: ImpactProblem, vertices: FloatArray) -> float:
    """Return the least kinetic energy in the convex hull of vertices (k, nv) [J]."""
    weights = nearest_weights(vertices @ np.linalg.cholesky(problem.M))
    return float(problem.kinetic_energy(weights @ vertices))


def _rows(case: Case, plane: tuple[int, int]) -> FloatArray:
    if max(plane) >= len(case.rows):
        raise CaromError(f"axes: expected numbers below {len(case.rows)}")
    return case.rows[[*plane]]


def _outlines(outcomes: OutcomeSet, case: Case, plane: tuple[int, int]) -> tuple[FloatArray, ...]:
    return outcomes.project(_rows(case, plane)).polytopes


def _scene(case: Case, shown: list[tuple[int, int]]) -> dict[str, Any]:
    """Return the impact and its drawing."""
    problem = case.problem
    return {
        "contacts": problem.contacts,
        "tangents": problem.num_tangents,
        "mu": problem.mu.tolist(),
        "ownMu": case.own_mu.tolist(),
        "mostMu": [friction_range(mu) for mu in case.own_mu.tolist()],
        "restitution": problem.restitution.tolist(),
        "ownRestitution": case.own_restitution.tolist(),
        "v": problem.v_pre.tolist(),
        "ownV": case.own_v.tolist(),
        "names": [{"word": each.word, "unit": each.unit} for each in case.velocities],
        "before": (case.rows @ problem.v_pre).tolist(),
        "energy": problem.kinetic_energy(problem.v_pre),
        "collides": bool(problem.is_colliding(problem.v_pre)),
        "planes": shown,
        "drawing": drawings.draw(case),
        "simultaneous": _classical(case, AnitescuPotra()),
        "sequential": _classical(case, Sequential())
        if problem.num_contacts <= MOST_ORDERED
        else [],
    }


def _classical(case: Case, law: ImpactLaw) -> list[dict[str, Any]]:
    """Return the outcomes of a classical law; none where it has no answer."""
    try:
        outcomes = law.resolve(case.problem)
    except CaromError:
        return []
    assert isinstance(outcomes, FiniteSet)
    marks = _marks(case, outcomes.v_post)
    return [{**mark, "label": label} for mark, label in zip(marks, outcomes.labels, strict=True)]


def _samples(case: Case, outcomes: OutcomeSet) -> dict[str, Any]:
    """Return samples as numbers of four bytes, and what can be read off them."""
    seen = (outcomes.v_post @ case.rows.T).astype("<f4")
    return {
        "count": len(seen),
        "data": base64.b64encode(seen.tobytes()).decode("ascii"),
        "bounds": outcomes.contact_bounds().tolist(),
        "kinds": outcomes.kinds,
        "energy": energy_kept(outcomes),
        "complete": outcomes.is_complete,
    }


def _marks(case: Case, v_post: FloatArray) -> list[dict[str, Any]]:
    """Return outcomes with all velocities that can be axes."""
    return [{"v": v.tolist(), "at": (case.rows @ v).tolist()} for v in v_post]


def _endings(case: Case, outcomes: PolyhedralSet) -> list[dict[str, Any]]:
    """Return one outcome of each kind: the vertex with most energy, which has the clearest path.

    Where every vertex of a polytope is of another kind, the middle stands for it.
    """
    chosen: dict[str, FloatArray] = {}
    for polytope in outcomes.polytopes:
        vertices = polytope.vertices
        own = [
            i for i, x in enumerate(describe_kinds(case.problem, vertices)) if x == polytope.kind
        ]
        found = vertices[own] if own else vertices.mean(axis=0)[None]
        best = found[int(np.argmax(case.problem.kinetic_energy(found)))]
        chosen.setdefault(polytope.kind, best)
    return _kind_marks(case, chosen)


def _sampled_endings(case: Case, outcomes: OutcomeSet) -> list[dict[str, Any]]:
    """Return one sample of each kind, the one with most energy."""
    v_post = outcomes.v_post
    kinds = describe_kinds(case.problem, v_post)
    chosen: dict[str, FloatArray] = {}
    for i in np.argsort(-case.problem.kinetic_energy(v_post)).tolist():
        chosen.setdefault(kinds[i], v_post[i])
    return _kind_marks(case, chosen)


def _kind_marks(case: Case, chosen: dict[str, FloatArray]) -> list[dict[str, Any]]:
    kinds = sorted(chosen)
    marks = _marks(case, np.array([chosen[kind] for kind in kinds]))
    return [{"kind": kind, **mark} for kind, mark in zip(kinds, marks, strict=True)]


def _are_outside(outcomes: PolyhedralSet, marks: list[dict[str, Any]]) -> list[bool]:
    """Return which answers of a classical law no order of pushes leads to.

    What lies outside of an outer set lies outside of the set, too.
    """
    if not marks:
        return []
    v = np.array([mark["v"] for mark in marks])
    tolerance = outcome_tolerance(outcomes.problem)
    if not outcomes.is_complete:
        return [not each for each in outcomes.contains(v, tolerance)]
    # Facets take longer than all else while a slider is dragged; vertices are at hand.
    hulls = [each.vertices for each in outcomes.polytopes]
    return [not any(_is_in_hull(hull, each, tolerance) for hull in hulls) for each in v]


def _is_in_hull(vertices: FloatArray, v: FloatArray, tolerance: float) -> bool:
    """Return whether a velocity is in the convex hull of vertices (k, nv)."""
    to_vertices = vertices - v
    # Most answers of classical laws are vertices.
    if np.linalg.norm(to_vertices, axis=1).min() <= tolerance:
        return True
    return bool(np.linalg.norm(nearest_weights(to_vertices) @ to_vertices) <= tolerance)


def _left_out(why: str) -> dict[str, Any]:
    return {"type": "exact", "polygons": None, "message": why}


def _finite(value: Any) -> Any:
    """Return nested lists in which None stands for what is not finite."""
    if isinstance(value, list):
        return [_finite(each) for each in value]
    return value if np.isfinite(value) else None


def _encode(request: Request, stage: dict[str, Any]) -> tuple[str, str]:
    text = json.dumps({"number": request.number, **stage}, allow_nan=False)
    return stage["type"], text
