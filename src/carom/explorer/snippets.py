"""What is on the screen as code: lines of Python and a command that give the same set."""

from __future__ import annotations

import shlex
from typing import Any

import numpy as np

from carom.explorer.subjects import Case, GivenSubject, Subject


def of(case: Case, subject: Subject, budget: float) -> dict[str, str | None]:
    """Return the snippets of a case; there is no command where nothing can be named on it."""
    return {"python": python(case, subject, budget), "command": command(case, subject, budget)}


def python(case: Case, subject: Subject, budget: float) -> str:
    """Return lines that pose the impact of a case and resolve it."""
    state, problem = case.state, case.problem
    lines = ["import carom", ""]
    if isinstance(subject, GivenSubject) and subject.source is None:
        given = {name: getattr(problem, name) for name in ("M", "J_n", "J_t", "mu", "v_pre")}
        if problem.bounces:
            given["restitution"] = problem.restitution
        lines += ["problem = carom.ImpactProblem("]
        lines += [f"    {name}={_array(value)}," for name, value in given.items()]
        lines += [f"    contacts={problem.contacts!r},"]
        lines += [f"    num_directions={problem.num_directions},"]
        lines += [f"    without_collision={problem.without_collision},", ")"]
    else:
        if isinstance(subject, GivenSubject):
            lines += [f"problem = carom.load({subject.source!r})"]
        else:
            parts = [repr(subject.name), *(f"{key}={x!r}" for key, x in state.parameters)]
            lines += [f"scene = carom.scenes.load({', '.join(parts)})", "problem = scene.problem"]
        changes = [f"mu={_array(problem.mu)}"] if state.mu else []
        changes += [f"restitution={_array(problem.restitution)}"] if state.restitution else []
        changes += [] if state.v is None else [f"v_pre={_array(problem.v_pre)}"]
        if changes:
            lines.insert(0, "from dataclasses import replace\n")
            lines += [f"problem = replace(problem, {', '.join(changes)})"]
    law = f'carom.RouthExact(max_seconds={budget!r}, on_budget="outer")'
    if problem.bounces:
        # Of impacts that bounce there are samples only.
        law = "carom.Routh()"
    lines += [f"outcomes = {law}.resolve(problem)", "print(outcomes.summary())"]
    lines += ["print(outcomes.contact_bounds())"]
    return "\n".join([*lines, ""])


def command(case: Case, subject: Subject, budget: float) -> str | None:
    """Return a command that prints the set of a case."""
    if isinstance(subject, GivenSubject) and subject.source is None:
        return None
    source = subject.source if isinstance(subject, GivenSubject) else subject.name
    words = ["carom", "outcomes", str(source)]
    for key, x in case.state.parameters:
        words += ["--set", f"{key}={x!r}"]
    for name, x in case.state.mu:
        words += ["--friction", f"{name}={x!r}"]
    for name, x in case.state.restitution:
        words += ["--restitution", f"{name}={x!r}"]
    if case.state.v is not None:
        # With an equals sign, since the first number may be negative.
        words += [f"--v-pre={','.join(map(repr, case.state.v))}"]
    law = ["routh"] if case.problem.bounces else ["exact", "--budget", repr(budget)]
    return shlex.join([*words, "--law", *law])


def _array(value: Any) -> str:
    return repr(np.asarray(value).tolist())
