"""The five impacts of the paper: what it says of each, and what comes out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from carom.outcomes.distances import sample_error
from carom.outcomes.polytope import nearest_in_hull
from carom.paper.exhibit import Effort, Exhibit, Finding, Made, Progress
from carom.paper.exhibits.evolution import Evolution

if TYPE_CHECKING:
    from carom.outcomes.sampled import SampledSet
    from carom.plots.contact_velocities import Coordinate
    from carom.typing import ArrayLike, FloatArray

NORMALS: tuple[Coordinate, Coordinate] = (("A", 0), ("B", 0))
STACK_MASS = 5.0
"""Of a disc [kg] in the published runs, whose script puts the number of contacts there."""
SAME = 1e-9
"""Velocities that differ by less than this share of the impact's are the same."""


def of_contact(name: str) -> tuple[Coordinate, Coordinate]:
    """Return a contact's tangential and normal velocity."""
    return ((name, 1), (name, 0))


def block(effort: Effort, progress: Progress) -> Made:
    """Make the block's evolution plots."""
    evolution = Evolution.of("rocking-block", effort, progress)
    normal = evolution.outcomes.contact_velocities[..., 0]
    speed = -float(evolution.problem.v_pre[1])
    both = normal.min(axis=1).max()
    findings = (
        holds_all(evolution, "rest and the two pivots of Figure 1 are in the set"),
        Finding(
            "between rest and a pivot lies every slower pivot on the same corner",
            _fills(normal[:, 0]) and _fills(normal[:, 1]),
            f"largest hole {_hole(normal[:, 0]) * speed:.1e} m/s in A's normal velocity, "
            f"which goes up to {normal[:, 0].max():.6f} m/s",
        ),
        Finding(
            "one corner at least stays on the ground",
            bool(both <= SAME * speed),
            f"the slower of the two lifts with at most {both:.1e} m/s",
        ),
    )
    remarks = (
        "Agrees. The exact set is rest and two segments: a pivot on either corner with any speed "
        "up to the sequential outcome, 0.21 times the falling speed. The paper draws impulses "
        f"uniformly, which at its step reaches {100 * _reached(evolution, 'papers'):.1f} % of that "
        f"with so many samples; carom's draws reach {100 * _reached(evolution, 'outcomes'):.1f} %."
    )
    return Made(
        remarks,
        {"evolution": evolution.figure([NORMALS, of_contact("A")])},
        evolution.tables(),
        findings,
    )


def compass(effort: Effort, progress: Progress) -> Made:
    """Make the compass gait's evolution plots."""
    evolution = Evolution.of("compass-gait", effort, progress)
    _, slides, lifts = evolution.outcomes.kinds()
    grounded = ~lifts[:, 1]
    findings = (
        holds_all(evolution, "the three outcomes of Figure 4 are in the set"),
        Finding(
            "the simultaneous law alone has three outcomes: B sticks, slides or lifts",
            len(evolution.simultaneous) == 3,
            ", ".join(evolution.simultaneous.labels or ()),
        ),
        Finding(
            "impulses that alternate between the feet let A slide while B keeps contact",
            bool((slides[:, 0] & grounded).any()),
            f"{_count(slides[:, 0] & grounded)} samples",
        ),
        Finding(
            "or let A lift while B keeps contact",
            bool((lifts[:, 0] & grounded).any()),
            f"{_count(lifts[:, 0] & grounded)} samples",
        ),
    )
    remarks = (
        "Agrees. The exact set is five polytopes, so that the set can be read off with certainty: "
        "where A moves, B sticks. A step of this walker has several solutions, and a solver that "
        "always returns the same one misses most of the set: the rows of paper's draws above take "
        "Lemke's solution and never let A move. carom chooses among all solutions at random. "
        "Samples agree with the exact set although the step is coarse: "
        f"{_beyond(evolution)}."
    )
    return _made(evolution, remarks, findings)


def box(effort: Effort, progress: Progress) -> Made:
    """Make the box's evolution plots."""
    evolution = Evolution.of("box-wall", effort, progress)
    _, slides, lifts = evolution.outcomes.kinds()
    v_c = evolution.outcomes.contact_velocities
    sequential = evolution.sequential.contact_velocities[0]
    fastest = float(v_c[:, 0, 1].max())
    findings = (
        holds_all(evolution, "the simultaneous and the sequential outcome of Figure 5 are there"),
        Finding(
            "between them, A slides on while B lifts, at all speeds up to the sequential outcome",
            _fills(v_c[slides[:, 0] & lifts[:, 1], 1, 0]),
            f"{_count(slides[:, 0] & lifts[:, 1])} samples, B's normal velocity up to "
            f"{v_c[:, 1, 0].max():.6f} m/s (sequential: {sequential[1, 0]:.6f})",
        ),
        Finding(
            "in some sequences A slides on even faster",
            fastest > sequential[0, 1],
            f"up to {fastest:.6f} m/s, against {sequential[0, 1]:.6f} m/s",
        ),
        Finding(
            "in others B slides along the wall",
            bool(slides[:, 1].any()),
            f"{_count(slides[:, 1])} samples",
        ),
    )
    remarks = (
        "Agrees. The exact set is a triangle with the outcomes of the two laws among its corners; "
        f"the third is the fastest slide. Samples lie in it: {_beyond(evolution)}."
    )
    return _made(evolution, remarks, findings)


def ramone(effort: Effort, progress: Progress) -> Made:
    """Make RAMone's evolution plots."""
    evolution = Evolution.of("ramone", effort, progress)
    v_c = evolution.outcomes.contact_velocities
    scale = float(np.abs(evolution.problem.contact_velocity(evolution.problem.v_pre)).max())
    slip = _largest_slip_on_the_way(evolution.outcomes, 0)
    assert evolution.exact is not None
    corners = evolution.simultaneous.v_post
    outside = max(
        float(np.linalg.norm(nearest_in_hull(corners, v) - v)) for v in evolution.exact.v_post
    )
    findings = (
        holds_all(evolution, "A rests, while B rests, slides or lifts: the three are in the set"),
        Finding(
            "A sticks in every outcome",
            bool(np.abs(v_c[:, 0]).max() <= 1e-6 * scale),
            f"A moves with at most {np.abs(v_c[:, 0]).max():.1e} m/s",
        ),
        Finding(
            "A does not slip during the impact either",
            slip <= 1e-6 * scale,
            f"it slips with at most {slip:.1e} m/s on the way, in 500 samples",
        ),
        Finding(
            "every outcome lies between the three of the simultaneous law",
            outside <= 1e-6 * scale,
            f"to the eye: the exact set's corners leave their convex hull by {outside:.1e}",
        ),
    )
    remarks = (
        "Agrees. The friction coefficient of 10^5 mixes numbers of very different size in one "
        "LCP, so tolerances are relative. B lifts with at most 0.33 mm/s: the paper's plot of its "
        f"normal velocity spans less than a millimetre a second. Samples: {_beyond(evolution)}."
    )
    return _made(evolution, remarks, findings)


def stack(effort: Effort, progress: Progress) -> Made:
    """Make the disk stack's evolution plots."""
    evolution = Evolution.of("disk-stack", effort, progress, mass=STACK_MASS)
    views = [NORMALS, (("C", 0), ("D", 0)), of_contact("A"), of_contact("C"), of_contact("E")]
    figure = evolution.figure(views)
    findings = stack_findings(evolution)
    remarks = (
        "Agrees in the main, with two exceptions: in some samples the top disc parts from both "
        "others, though slowly, and in very few both lower discs leave the ground. The paper's "
        "draws show the first as well, but seldom. The table of the paper gives a disc 1 kg; its "
        f"script overwrites the mass by the number of contacts, so that {STACK_MASS:g} kg "
        "reproduce the published run, and are used here. Five contacts are too many for the exact "
        "set, so that samples are all there is: an outcome that is not drawn may still be "
        "possible. carom's draws reach further than the paper's, as the ranges show; they take six "
        "times the LCPs a sample."
    )
    return Made(remarks, {"evolution": figure}, evolution.tables(), findings)


def stack_findings(evolution: Evolution) -> tuple[Finding, ...]:
    """Judge what the paper says of the disk stack."""
    _, slides, lifts = evolution.outcomes.kinds()
    normal = evolution.outcomes.contact_velocities[..., 0]
    ground, top = np.minimum(*normal[:, :2].T), np.minimum(*normal[:, 2:4].T)
    papers = np.minimum(*evolution.papers.contact_velocities[:, 2:4, 0].T)
    count = len(evolution.outcomes)
    parts, rises = top > 1e-6, ground > 1e-6
    parts_in_papers = papers > 1e-6
    return (
        Finding(
            "the simultaneous law only says that the stack comes to rest",
            len(evolution.simultaneous) == 1
            and bool(np.abs(evolution.simultaneous.contact_velocities).max() < 1e-9),
            f"{len(evolution.simultaneous)} outcome, at rest",
        ),
        Finding(
            "the top disc may keep only one of its contacts while the other opens",
            bool((lifts[:, 2] ^ lifts[:, 3]).any()),
            f"{_count(lifts[:, 2] ^ lifts[:, 3])} of {count:,} samples",
        ),
        Finding(
            "a lower disc may leave the ground slightly",
            bool(lifts[:, :2].any()),
            f"{_count(lifts[:, :2].any(axis=1))} samples, by up to "
            f"{normal[:, :2].max():.3f} m/s of an impact at 1 m/s",
        ),
        Finding(
            "contacts that are kept may slide",
            bool(slides[:, :4].any()),
            f"{_count(slides[:, :4].any(axis=1))} samples",
        ),
        Finding(
            "the top disc always keeps contact with one of the others at least",
            not parts.any(),
            f"it parts from both in {_count(parts)} of {count:,} samples, by up to "
            f"{top.max():.4f} m/s; with the paper's draws in {_count(parts_in_papers)} of "
            f"{len(papers):,}, by up to {papers.max():.4f} m/s",
        ),
        Finding(
            "one of the lower discs always stays on the ground",
            not rises.any(),
            f"both leave it in {_count(rises)} of {count:,} samples, by up to "
            f"{ground.max():.4f} m/s",
        ),
    )


def holds_all(evolution: Evolution, sentence: str) -> Finding:
    """Judge whether what classical laws say is in the set, exactly or among the samples."""
    classical = np.vstack([evolution.simultaneous.v_post, evolution.sequential.v_post])
    size = float(np.linalg.norm(evolution.problem.v_pre))
    whole = evolution.outcomes if evolution.exact is None else evolution.exact
    distances = [whole.distance(v) for v in classical]
    return Finding(
        sentence,
        max(distances) <= SAME * size,
        f"{len(classical)} outcomes of the simultaneous and sequential laws, all within "
        f"{max(distances):.1e} of the exact set",
    )


def _made(evolution: Evolution, remarks: str, findings: tuple[Finding, ...]) -> Made:
    """Gather the three plots that the paper shows of two contacts."""
    views = [of_contact("A"), NORMALS, of_contact("B")]
    return Made(remarks, {"evolution": evolution.figure(views)}, evolution.tables(), findings)


def _beyond(evolution: Evolution) -> str:
    assert evolution.exact is not None
    error = sample_error(evolution.outcomes, evolution.exact)
    return f"none is farther from it than {error:.1e} m/s"


def _reached(evolution: Evolution, name: str) -> float:
    """Return what share of the exact range of the first normal velocity samples reach."""
    assert evolution.exact is not None
    samples: SampledSet = getattr(evolution, name)
    return float(samples.contact_bounds()[0, 0, 1] / evolution.exact.contact_bounds()[0, 0, 1])


def _count(test: ArrayLike) -> str:
    return f"{int(np.count_nonzero(test)):,}"


def _fills(values: FloatArray) -> bool:
    """Tell whether values leave no hole that is wider than 5 % of the largest."""
    return len(values) > 1 and _hole(values) <= 0.05


def _hole(values: FloatArray) -> float:
    """Return the widest hole between 0 and the largest value, as a share of the latter."""
    ordered = np.concatenate([[0.0], np.sort(values)])
    return float(np.diff(ordered).max() / ordered[-1])


def _largest_slip_on_the_way(outcomes: SampledSet, contact: int) -> float:
    paths = [outcomes.path(i).v for i in range(min(500, len(outcomes)))]
    return max(float(np.abs(v @ outcomes.problem.J_t[contact, 0]).max()) for v in paths)


BLOCK = Exhibit(
    "rocking-block-evolution",
    "Figure 9 (fig:phone_evolution)",
    "The velocities of a block that lands flat on two corners",
    block,
    (3.0, 1.0),
)
COMPASS = Exhibit(
    "compass-gait-evolution",
    "Figure 10 (fig:compass_evolution)",
    "The velocities of a compass gait that takes a wide step",
    compass,
    (8.0, 2.0),
)
BOX = Exhibit(
    "box-wall-evolution",
    "Figure 11 (fig:box_evolution)",
    "The velocities of a box that slides into a wall",
    box,
    (6.0, 2.0),
)
RAMONE = Exhibit(
    "ramone-evolution",
    "Figure 13 (fig:ramone)",
    "The velocities of the walker RAMone at a footfall",
    ramone,
    (8.0, 2.0),
)
STACK = Exhibit(
    "disk-stack-evolution",
    "Figure 14 (fig:stack)",
    "The velocities of a disc that falls on two others",
    stack,
    (160.0, 4.0),
)
