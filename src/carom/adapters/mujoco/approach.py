"""Tell whether an impact begins in a state of a simulation; quick, as it is asked every step."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import mujoco
import numpy as np

from carom.adapters.engine import SAME, Touching
from carom.adapters.mujoco import model as models
from carom.adapters.mujoco.contacts import contact_numbers
from carom.adapters.mujoco.rows import equality_rows
from carom.systems.constraints import Closure
from carom.typing import FloatArray

if TYPE_CHECKING:
    from carom.adapters.mujoco.system import MujocoSystem


class Approach(NamedTuple):
    """Hold what an impact is made of: M, velocity, contacts that touch, names of the fast."""

    M: FloatArray
    v: FloatArray
    touching: Touching
    hits: frozenset[str]


class Ends(NamedTuple):
    """Hold the numbers, among all contacts, of limits that are reached, and their rows (k, nv)."""

    numbers: list[int]
    rows: FloatArray


def approaching(
    system: MujocoSystem, data: mujoco.MjData, gap_tolerance: float, speed: float, fewest: int = 1
) -> Approach | None:
    """Return which contacts touch in a state, and which of them approach faster than `speed`.

    Returns None if none does, or if fewer than `fewest` touch. A simulation asks before every
    step, and most often this is the answer, so it has to take microseconds only. Therefore it
    asks in the simulation's own data, which the step that follows needs in the processor's
    cache as well. Poses and contacts in them change; a step of MuJoCo finds them anew.
    """
    model = system.model
    mujoco.mj_kinematics(model, data)
    mujoco.mj_collision(model, data)
    ends = system._no_ends or _ends_reached(system, data, gap_tolerance)
    if data.ncon + len(ends.numbers) < fewest:
        return None
    near = [k for k, gap in enumerate(data.contact.dist.tolist()) if gap <= gap_tolerance]
    if len(near) + len(ends.numbers) < fewest:
        return None
    mujoco.mj_comPos(model, data)
    rows, facts = system._tree.rows(data, data.qvel)
    is_found = ends.numbers and (ends.rows @ data.qvel < -speed).any()
    for k in near:
        is_found = is_found or facts[k][0] < -speed
    if is_found:
        return _touch(system, data, near, rows, facts, speed, ends)
    return None


def _ends_reached(system: MujocoSystem, data: mujoco.MjData, gap_tolerance: float) -> Ends:
    """Return the limits that are reached in a state."""
    gaps, rows = system._limits.gaps(data.qpos), system._limits.rows
    if system._other_limits is not None and system._other_limits.units:
        mujoco.mj_comPos(system.model, data)
        mujoco.mj_tendon(system.model, data)
        others = system._other_limits.look(system.model, data, data.qvel)
        gaps, rows = np.concatenate([gaps, others.gaps]), np.concatenate([rows, others.rows])
    if not (gaps <= gap_tolerance).any():
        return Ends([], rows[:0])
    reached = np.flatnonzero(gaps <= gap_tolerance)
    return Ends([system.num_body_contacts + i for i in reached.tolist()], rows[reached])


def _touch(
    system: MujocoSystem,
    data: mujoco.MjData,
    near: list[int],
    rows: FloatArray,
    facts: list[list[float]],
    speed: float,
    ends: Ends,
) -> Approach | None:
    """Return what touches, if anything that some motion opens approaches."""
    numbers = contact_numbers(data, system._pairs, system.contacts)
    # As `_opening` has it.
    least = SAME * max((max(facts[k][1:]) for k in near), default=0.0)
    near = sorted((k for k in near if facts[k][1] > least), key=numbers.__getitem__)
    J = np.zeros((len(near) + len(ends.numbers), 3, system.nv))
    J[: len(near)], J[len(near) :, 0] = rows[near], ends.rows
    touching, v = [numbers[k] for k in near] + ends.numbers, np.array(data.qvel)
    if not (J[:, 0] @ v < -speed).any():
        return None
    models.make_mass_matrix(system.model, data)
    M = models.mass_matrix(system.model, data)
    if system.constraints:
        closure = Closure.of(M, equality_rows(system.model, data).J)
        v, J = closure.allowed(v), closure.rows(J.reshape(-1, system.nv)).reshape(J.shape)
        free = np.flatnonzero(J[:, 0].any(axis=1))
        J, touching = J[free], [touching[i] for i in free]
    hits = np.flatnonzero(J[:, 0] @ v < -speed)
    if not hits.size:
        return None
    names = tuple([system.contacts[i] for i in touching])
    found = Touching(names, J[:, 0], J[:, 1:], system.mu[touching], system.restitution[touching])
    return Approach(M, v, found, frozenset(names[i] for i in hits))
