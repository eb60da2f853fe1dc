"""The paper's scenes before and after their impacts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure
from scipy.spatial.distance import pdist

from carom.laws.routh import Routh
from carom.laws.sequential import Sequential
from carom.outcomes.kinds import describe_kinds
from carom.paper.exhibit import Effort, Finding, Made, Progress, Table, exhibit
from carom.paper.exhibits.collision import Collision, collide, flat, headings
from carom.plots import plot_scene
from carom.systems import PlanarSystem
from carom.systems.views import view_of
from carom.typing import FloatArray

ARROW = 0.5
"""Length of an arrow of the speed with which contacts meet, as a share of the view."""
WIDTH = 12.0
"""Width of a figure [in]."""


class State(NamedTuple):
    """A velocity of a scene at its impact, with the words that name it."""

    title: str
    v: FloatArray


@exhibit("rocking-block-outcomes", "Figure 1 (fig:phone)", 1.5)
def block(_effort: Effort, _progress: Progress) -> Made:
    """A block lands flat on two corners: three outcomes by the order of impulses."""
    collision = collide("rocking-block")
    speed = -float(collision.scene.v[1])
    states = _before_and_at_once(collision)
    for i, name in enumerate(("A then B", "B then A")):
        path = collision.sequential.path_to(collision.sequential.v_post[i]).v
        states += [State(f"{name}: between", path[1]), State(f"{name}: after", path[-1])]
    lifts = [float((collision.problem.J_n @ states[i].v).max()) for i in (3, 5)]
    apart = float(pdist([states[i].v for i in (1, 3, 5)]).min())
    findings = (
        Finding(
            "rest, a pivot on B and a pivot on A: three outcomes by one model in three orders",
            apart > 1e-3,
            f"they are at least {apart:.4f} apart in |v|",
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
    return _made(collision, states, remarks, *findings)


@exhibit("compass-gait-outcomes", "Figure 4 (fig:compass_setup)", 1.5)
def compass(_effort: Effort, _progress: Progress) -> Made:
    """A compass gait takes a wide step: three outcomes at once."""
    collision = collide("compass-gait")
    states = _before_and_at_once(collision)
    sticks, slides, lifts = collision.simultaneous.contact_states
    one_each = all(state[:, 1].sum() == 1 for state in (sticks, slides, lifts))
    finding = Finding(
        "the simultaneous law has three outcomes: B lifts, slides or comes to rest",
        sticks[:, 0].all() and one_each,
        "; ".join(collision.simultaneous.kinds),
    )
    remarks = (
        "Agrees. carom finds every solution of the law's LCP; a solver returns one of the three, "
        "and which one is its own affair."
    )
    return _made(collision, states, remarks, finding)


@exhibit("box-wall-outcomes", "Figure 5 (fig:box)", 1.5)
def box(_effort: Effort, _progress: Progress) -> Made:
    """A box slides into a wall: at once, and in sequence."""
    collision = collide("box-wall")
    path = Sequential(order=("B", "A")).draw_path(collision.problem, seed=0).v
    states = _before_and_at_once(collision)
    rest = float(np.abs(states[1].v).max())
    states += [State("B then A: between", path[1]), State("B then A: after", path[-1])]
    end = collision.problem.contact_velocity(path[-1])
    findings = (
        Finding("at once, the box comes to rest", rest < 1e-9, f"largest velocity {rest:.1e}"),
        Finding(
            "B before A: A slides on and B lifts off the wall",
            abs(end[0, 0]) < 1e-9 and end[0, 1] > 0.01 and end[1, 0] > 0.01,
            f"A slides with {end[0, 1]:.6f} m/s, B lifts with {end[1, 0]:.6f} m/s",
        ),
    )
    remarks = "Agrees. A does not approach the floor, so that A then B is the same as B then A."
    return _made(collision, states, remarks, *findings)


@exhibit("ramone-outcomes", "Figure 13a (fig:ramone_diagram)", 1.5)
def ramone(_effort: Effort, _progress: Progress) -> Made:
    """RAMone at a footfall."""
    collision = collide("ramone")
    fastest = State("set: B lifts the fastest", collision.exact.maximizer(collision.problem.J_n[1]))
    states = [*_before_and_at_once(collision), fastest]
    approach = collision.problem.contact_velocity(collision.scene.v)
    finding = Finding(
        "A hits the ground while B rests on it",
        approach[0, 0] < -0.1 and np.abs(approach[1]).max() < 1e-9,
        f"A approaches with {-approach[0, 0]:.4f} m/s",
    )
    remarks = (
        "Agrees. The trailing knee is solved for, so that both feet touch exactly (-92.486 "
        "degrees; the paper rounds to -92.48), and the trunk's velocity so that the trailing foot "
        "is at rest exactly."
    )
    return _made(collision, states, remarks, finding)


@exhibit("disk-stack-outcomes", "Figure 14a (fig:stack_diagram)", 3.0, quickly=2.0)
def stack(effort: Effort, _progress: Progress) -> Made:
    """A disc falls on two others."""
    collision = collide("disk-stack")
    scene = collision.scene
    outcomes = Routh(effort.samples(2**14), scene.step_impulse).resolve(collision.problem)
    normal = outcomes.contact_velocities[..., 0]
    states = _before_and_at_once(collision)
    for contact, words in ((2, "the left disc rolls away"), (0, "the left disc lifts")):
        states.append(State(f"set: {words}", outcomes.v_post[normal[:, contact].argmax()]))
    finding = Finding(
        "the top disc alone moves before the impact",
        not np.delete(scene.v, 7).any() and scene.v[7] < 0.0,
        f"it falls with {-scene.v[7]:g} m/s",
    )
    remarks = (
        "Agrees with the drawing of the initial condition; the outcomes beside it are the samples "
        "in which contacts C and A open the fastest."
    )
    return _made(collision, states, remarks, finding)


def _before_and_at_once(collision: Collision) -> list[State]:
    """Return the state before the impact, and those after it by the simultaneous law."""
    v_post = collision.simultaneous.v_post
    words = describe_kinds(collision.problem, v_post) if len(v_post) > 1 else ["after"]
    after = [State(f"at once: {word}", v) for word, v in zip(words, v_post, strict=True)]
    return [State("before the impact", collision.scene.v), *after]


def _made(collision: Collision, states: list[State], remarks: str, *findings: Finding) -> Made:
    scene, problem = collision.scene, collision.problem
    assert isinstance(scene.system, PlanarSystem)
    width, height = np.ptp(view_of(scene.system, [scene.q]), axis=0)
    columns = 2 if height / width < 0.5 else (4 if len(states) == 4 else 3)
    # Slender ones take less room.
    columns = len(states) if height / width > 1.5 else columns
    rows = -(-len(states) // columns)
    size = (WIDTH, rows * (WIDTH / columns * min(height / width, 1.6) + 1.0))
    figure = Figure(figsize=size, layout="constrained")
    before = np.abs(problem.contact_velocity(scene.v)).max()
    seconds = float(ARROW * max(width, height) / before)
    for i, (title, v) in enumerate(states, 1):
        ax = figure.add_subplot(rows, columns, i)
        plot_scene(scene.system, scene.q, ax, v=v, contact_arrows=True, seconds=seconds)
        ax.set_title(title, fontsize=10)
    v_c = flat(problem.contact_velocity(np.array([state.v for state in states])))
    names = ("state", *headings(problem), *(f"v[{i}]" for i in range(problem.num_velocities)))
    cells = [[title, *row, *v.tolist()] for (title, v), row in zip(states, v_c, strict=True)]
    table = Table(names, cells)
    return Made(remarks, {"scenes": figure}, {"velocities": table}, findings)
