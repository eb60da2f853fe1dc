"""The paper's scenes before and after their impacts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

from carom.laws.routh import Routh
from carom.laws.sequential import Sequential
from carom.outcomes.kinds import describe_kinds
from carom.paper.exhibit import Effort, Finding, Made, Progress, Table, exhibit
from carom.paper.exhibits.collision import Collision, collide, flat, headings
from carom.plots import plot_scene
from carom.plots.scene import view_of
from carom.systems import PlanarSystem
from carom.typing import FloatArray

ARROW = 0.5
"""Length of an arrow of the speed with which contacts meet, as a share of the view."""
WIDTH = 12.0
"""Width of a figure [in]."""


class State(NamedTuple):
    """A velocity of a scene at its impact, with the words that name it."""

    title: str
    v: FloatArray


@exhibit(
    "rocking-block-outcomes",
    "Figure 1 (fig:phone)",
    "A block lands flat on two corners: three outcomes by the order of impulses",
    1.5,
)
def block(_effort: Effort, _progress: Progress) -> Made:
    """Draw the block that lands flat, and its three outcomes."""
    collision = collide("rocking-block")
    speed = -float(collision.scene.v[1])
    states = [_before(collision), *_simultaneous(collision)]
    for i, name in enumerate(("A then B", "B then A")):
        path = collision.sequential.path_to(collision.sequential.v_post[i]).v
        states += [State(f"{name}: between", path[1]), State(f"{name}: after", path[-1])]
    lifts = [float((collision.problem.J_n @ states[i].v).max()) for i in (3, 5)]
    findings = (
        _all_differ(
            "rest, a pivot on B and a pivot on A: three outcomes by one model in three orders",
            [states[i].v for i in (1, 3, 5)],
        ),
        Finding(
            "the two pivots mirror each other",
            abs(lifts[0] - lifts[1]) <= 1e-12 * speed,
            f"the other corner lifts with {lifts[0]:.6f} and {lifts[1]:.6f} m/s",
        ),
    )
    remarks = (
        "Agrees. Black arrows are velocities of centres of mass, red ones of contact points, all "
        "in one scale. One model of impact, applied at once or in either order, has three ends. "
        "After a first impact at one corner, that corner lifts with 0.3 x 0.7 = 0.21 of the "
        "falling speed, which follows from angular momentum by hand."
    )
    return _made(collision, states, remarks, findings)


@exhibit(
    "compass-gait-outcomes",
    "Figure 4 (fig:compass_setup)",
    "A compass gait takes a wide step: three outcomes at once",
    1.5,
)
def compass(_effort: Effort, _progress: Progress) -> Made:
    """Draw the compass gait and its three simultaneous outcomes."""
    collision = collide("compass-gait")
    states = [_before(collision), *_simultaneous(collision)]
    sticks, slides, lifts = collision.simultaneous.contact_states
    one_each = all(state[:, 1].sum() == 1 for state in (sticks, slides, lifts))
    findings = (
        Finding(
            "the simultaneous law has three outcomes: B lifts, slides or comes to rest",
            bool(sticks[:, 0].all()) and one_each,
            "; ".join(collision.simultaneous.kinds),
        ),
    )
    remarks = (
        "Agrees. carom finds every solution of the law's LCP; a solver returns one of the three, "
        "and which one is its own affair."
    )
    return _made(collision, states, remarks, findings)


@exhibit(
    "box-wall-outcomes",
    "Figure 5 (fig:box)",
    "A box slides into a wall: at once, and in sequence",
    1.5,
)
def box(_effort: Effort, _progress: Progress) -> Made:
    """Draw the box at the wall, at once and in sequence."""
    collision = collide("box-wall")
    path = Sequential(order=("B", "A")).draw_path(collision.problem, seed=0).v
    at_once = _simultaneous(collision)
    states = [
        _before(collision),
        *at_once,
        State("B then A: between", path[1]),
        State("B then A: after", path[-1]),
    ]
    end = collision.problem.contact_velocity(path[-1])
    rest = float(np.abs(at_once[0].v).max())
    findings = (
        Finding("at once, the box comes to rest", rest < 1e-9, f"largest velocity {rest:.1e}"),
        Finding(
            "B before A: A slides on and B lifts off the wall",
            bool(abs(end[0, 0]) < 1e-9 and end[0, 1] > 0.01 and end[1, 0] > 0.01),
            f"A slides with {end[0, 1]:.6f} m/s, B lifts with {end[1, 0]:.6f} m/s",
        ),
    )
    remarks = "Agrees. A does not approach the floor, so that A then B is the same as B then A."
    return _made(collision, states, remarks, findings)


@exhibit("ramone-outcomes", "Figure 13a (fig:ramone_diagram)", "RAMone at a footfall", 1.5)
def ramone(_effort: Effort, _progress: Progress) -> Made:
    """Draw RAMone at its footfall."""
    collision = collide("ramone")
    fastest = State("set: B lifts the fastest", collision.exact.maximizer(collision.problem.J_n[1]))
    states = [_before(collision), *_simultaneous(collision), fastest]
    approach = collision.problem.contact_velocity(collision.scene.v)
    findings = (
        Finding(
            "A hits the ground while B rests on it",
            bool(approach[0, 0] < -0.1 and np.abs(approach[1]).max() < 1e-9),
            f"A approaches with {-approach[0, 0]:.4f} m/s",
        ),
    )
    remarks = (
        "Agrees. The trailing knee is solved for, so that both feet touch exactly (-92.486 "
        "degrees; the paper rounds to -92.48), and the trunk's velocity so that the trailing foot "
        "is at rest exactly."
    )
    return _made(collision, states, remarks, findings)


@exhibit(
    "disk-stack-outcomes",
    "Figure 14a (fig:stack_diagram)",
    "A disc falls on two others",
    3.0,
    quickly=2.0,
)
def stack(effort: Effort, _progress: Progress) -> Made:
    """Draw the stack of discs, and two of the ways in which it can fall apart."""
    collision = collide("disk-stack")
    scene = collision.scene
    outcomes = Routh(effort.samples(2**14), scene.step_impulse).resolve(collision.problem)
    normal = outcomes.contact_velocities[..., 0]
    states = [_before(collision), *_simultaneous(collision)]
    for contact, words in ((2, "the left disc rolls away"), (0, "the left disc lifts")):
        states.append(State(f"set: {words}", outcomes.v_post[normal[:, contact].argmax()]))
    findings = (
        Finding(
            "the top disc alone moves before the impact",
            bool(np.abs(np.delete(scene.v, 7)).max() == 0.0 and scene.v[7] < 0.0),
            f"it falls with {-scene.v[7]:g} m/s",
        ),
    )
    remarks = (
        "Agrees with the drawing of the initial condition; the outcomes beside it are the samples "
        "in which contacts C and A open the fastest."
    )
    return _made(collision, states, remarks, findings)


def _before(collision: Collision) -> State:
    return State("before the impact", collision.scene.v)


def _simultaneous(collision: Collision) -> list[State]:
    outcomes = collision.simultaneous
    words = describe_kinds(collision.problem, outcomes.v_post)
    if len(outcomes) == 1:
        return [State("at once: after", outcomes.v_post[0])]
    return [State(f"at once: {kind}", v) for kind, v in zip(words, outcomes.v_post, strict=True)]


def _all_differ(sentence: str, velocities: list[FloatArray]) -> Finding:
    apart = min(
        float(np.linalg.norm(one - other))
        for i, one in enumerate(velocities)
        for other in velocities[:i]
    )
    return Finding(sentence, apart > 1e-3, f"they are at least {apart:.4f} apart in |v|")


def _made(
    collision: Collision, states: Sequence[State], remarks: str, findings: tuple[Finding, ...]
) -> Made:
    scene, problem = collision.scene, collision.problem
    assert isinstance(scene.system, PlanarSystem)
    width, height = np.ptp(view_of(scene.system, [scene.q]), axis=0)
    columns = _columns(len(states), height / width)
    rows = -(-len(states) // columns)
    size = (WIDTH, rows * (WIDTH / columns * min(height / width, 1.6) + 1.0))
    figure = Figure(figsize=size, layout="constrained")
    before = np.abs(problem.contact_velocity(scene.v)).max()
    seconds = ARROW * max(width, height) / before
    for i, state in enumerate(states):
        ax = figure.add_subplot(rows, columns, i + 1)
        plot_scene(
            scene.system, scene.q, ax, v=state.v, contact_arrows=True, seconds=float(seconds)
        )
        ax.set_title(state.title, fontsize=10)
    velocities = np.array([state.v for state in states])
    v_c = flat(problem.contact_velocity(velocities))
    table = Table(
        ("state", *headings(problem), *(f"v[{i}]" for i in range(problem.num_velocities))),
        [[state.title, *row, *state.v.tolist()] for state, row in zip(states, v_c, strict=True)],
    )
    return Made(remarks, {"scenes": figure}, {"velocities": table}, findings)


def _columns(count: int, slenderness: float) -> int:
    """Return how many pictures to put side by side: slender ones take less room."""
    if slenderness > 1.5:
        return count
    return 2 if slenderness < 0.5 else (4 if count == 4 else 3)
