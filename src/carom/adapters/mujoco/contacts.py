"""Find which contacts a MuJoCo model can have, with names and friction, and what is refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container
from dataclasses import dataclass
from itertools import combinations, product

import mujoco
import numpy as np

from carom.errors import InvalidOption, InvalidProblem
from carom.kernels.point_jacobians import contact_jacobians
from carom.typing import FloatArray

GEOM = mujoco.mjtGeom
ROUND = (GEOM.mjGEOM_SPHERE, GEOM.mjGEOM_ELLIPSOID)
REFUSED = {int(GEOM.mjGEOM_HFIELD): "height field", int(GEOM.mjGEOM_SDF): "signed distance field"}
MOST_SLOTS = 8
"""MuJoCo returns no more contacts than this for two convex geoms."""


@dataclass(frozen=True)
class Pair:
    """Hold how two geoms can touch: from contact number `first` on, one contact per label.

    The corner or end of the geom `feature` says which contact is which, by the signs of some of
    its `axes`; if it is -1, they are taken as they come.
    """

    first: int
    labels: tuple[str, ...]
    feature: int
    axes: tuple[int, ...]
    mu: float

    def slot(self, data: mujoco.MjData, pos: list[float], taken: Container[int]) -> int | None:
        """Return the number of a contact at a point (3,), other than those that are taken."""
        if self.feature >= 0:
            # For a few numbers, Python is quicker than NumPy.
            turn = data.geom_xmat[self.feature].tolist()
            a, b, c = data.geom_xpos[self.feature].tolist()
            x, y, z = pos[0] - a, pos[1] - b, pos[2] - c
            i = self.first
            for k, axis in enumerate(self.axes):
                i += (x * turn[axis] + y * turn[3 + axis] + z * turn[6 + axis] > 0.0) << k
            if i not in taken:
                return i
        slots = range(self.first, self.first + len(self.labels))
        return next((i for i in slots if i not in taken), None)


def find_pairs(model: mujoco.MjModel) -> dict[tuple[int, int], Pair]:
    """Return all pairs of geoms that can collide, by the numbers of their geoms."""
    explicit = _explicit_pairs(model)
    filtered = (key for key in combinations(range(model.ngeom), 2) if _may_collide(model, *key))
    pairs: dict[tuple[int, int], Pair] = {}
    first = 0
    for key in sorted({*explicit, *filtered}):
        if {int(model.geom_type[i]) for i in key} == {int(GEOM.mjGEOM_PLANE)}:
            continue
        _check_geoms(model, key)
        labels, feature, axes = _slots(model, key)
        pairs[key] = Pair(first, labels, feature, axes, _friction(model, key, explicit.get(key)))
        first += len(labels)
    return pairs


def contact_names(model: mujoco.MjModel, pairs: dict[tuple[int, int], Pair]) -> tuple[str, ...]:
    """Return a name for each contact, as "floor/foot", "floor/foot 2" or "floor/box (--+)"."""
    names = _geom_names(model)
    return tuple(
        f"{names[one]}/{names[other]}{label}"
        for (one, other), pair in pairs.items()
        for label in pair.labels
    )


class Tree:
    """Hold which velocities move which geoms of a model."""

    def __init__(self, model: mujoco.MjModel) -> None:
        bodies = model.geom_bodyid
        self.centre = model.body_rootid[bodies]
        # A body that is welded to another one moves with it.
        moving = model.body_weldid[bodies]
        counts = model.body_dofnum[moving]
        self.last_dof = np.where(counts > 0, model.body_dofadr[moving] + counts - 1, -1)
        self.dof_parent = model.dof_parentid.copy()

    def rows(self, data: mujoco.MjData, v: FloatArray) -> tuple[FloatArray, list[list[float]]]:
        """Return rows (n, 3, nv) of the contacts that MuJoCo has found, and facts about each.

        These are J_n v [m/s], and the largest entries of J_n and of J_t.
        """
        found, motions = data.contact, data.cdof
        dist = found.dist
        J, facts = np.zeros((len(dist), 3, len(motions))), np.empty((len(dist), 3))
        contact_jacobians(
            *(found.geom, found.pos, found.frame, dist),
            *(self.last_dof, self.centre, self.dof_parent, motions, data.subtree_com),
            *(v, J, facts),
        )
        return J, facts.tolist()


def contact_numbers(
    data: mujoco.MjData, pairs: dict[tuple[int, int], Pair], names: tuple[str, ...]
) -> list[int]:
    """Return the number of each contact that MuJoCo has found."""
    numbers: list[int] = []
    found = data.contact
    for geoms, pos in zip(found.geom.tolist(), found.pos.tolist(), strict=True):
        pair = pairs[min(geoms), max(geoms)]
        i = pair.slot(data, pos, numbers)
        if i is None:
            raise InvalidProblem(
                f"MuJoCo finds more than {len(pair.labels)} contacts of {names[pair.first]!r}; use "
                f"simpler geoms"
            )
        numbers.append(i)
    return numbers


def supported_state(model: mujoco.MjModel, data: mujoco.MjData | None) -> mujoco.MjData:
    """Return a state of a model, or refuse what is no model, or has parts unknown to carom."""
    if not isinstance(model, mujoco.MjModel):
        raise InvalidOption(
            f"model: expected a mujoco.MjModel, got {model!r}; read a file with "
            f"mujoco.MjModel.from_xml_path"
        )
    if model.nflex:
        raise InvalidProblem(
            "the model has flexible bodies (flex), and carom knows rigid ones only: remove them"
        )
    data = mujoco.MjData(model) if data is None else data
    disabled = model.opt.disableflags
    for word in ("contact", "constraint"):
        if disabled & getattr(mujoco.mjtDisableBit, f"mjDSBL_{word.upper()}"):
            raise InvalidProblem(
                f'the model switches contact off: remove <flag {word}="disable"/> from its option'
            )
    return data


def _explicit_pairs(model: mujoco.MjModel) -> dict[tuple[int, int], int]:
    """Return the number of each <pair> of the model, by the numbers of its geoms."""
    geoms = np.sort(np.column_stack([model.pair_geom1, model.pair_geom2]).reshape(-1, 2))
    keys = [(one, other) for one, other in geoms.tolist()]
    for (one, other), count in Counter(keys).items():
        # MuJoCo makes their contacts as often, each with its own friction.
        if count > 1:
            names = _geom_names(model)
            raise InvalidProblem(
                f"{names[one]}/{names[other]} are a <pair> {count} times; remove all but one"
            )
    return {key: i for i, key in enumerate(keys)}


def _may_collide(model: mujoco.MjModel, one: int, other: int) -> bool:
    """Return whether two geoms that are no explicit pair collide, by MuJoCo's rules."""
    kind, affinity = model.geom_contype, model.geom_conaffinity
    if not (kind[one] & affinity[other] or kind[other] & affinity[one]):
        return False
    bodies = int(model.geom_bodyid[one]), int(model.geom_bodyid[other])
    welded = [int(model.body_weldid[body]) for body in bodies]
    if welded[0] == welded[1]:
        return False
    parents = [int(model.body_weldid[model.body_parentid[body]]) for body in welded]
    keeps_parents = model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_FILTERPARENT
    is_parent = welded[0] == parents[1] or welded[1] == parents[0]
    if not keeps_parents and 0 not in welded and is_parent:
        return False
    return (min(bodies) << 16) + max(bodies) not in model.exclude_signature


def _check_geoms(model: mujoco.MjModel, key: tuple[int, int]) -> None:
    for i in key:
        if word := REFUSED.get(int(model.geom_type[i])):
            raise InvalidProblem(
                f"geom {_geom_names(model)[i]!r} is a {word}, of which carom cannot tell contacts "
                f"apart: use planes, boxes or meshes, or switch its collisions off with "
                f'contype="0" conaffinity="0"'
            )
        # Older versions of MuJoCo have no such surfaces.
        if np.any(getattr(model, "geom_surfacevel", {i: 0.0})[i]):
            raise InvalidProblem(
                f"geom {_geom_names(model)[i]!r} has a surface that moves (surfacevel), and carom "
                f"knows surfaces that move with their body only: set it to zero"
            )


def _slots(
    model: mujoco.MjModel, key: tuple[int, int]
) -> tuple[tuple[str, ...], int, tuple[int, ...]]:
    """Return how the contacts of a pair are told apart, by which geom and which of its axes.

    MuJoCo returns those of a box on a plane in an order that changes while it turns. They are told
    apart by the signs of the corner, or of the end of a capsule, in the geom's own frame.
    """
    kinds = [int(model.geom_type[i]) for i in key]
    if any(kind in ROUND for kind in kinds):
        return ("",), -1, ()
    if GEOM.mjGEOM_PLANE in kinds:
        feature = key[1 - kinds.index(GEOM.mjGEOM_PLANE)]
        if GEOM.mjGEOM_CAPSULE in kinds:
            return (" (-)", " (+)"), feature, (2,)
        if GEOM.mjGEOM_BOX in kinds:
            # The sign along x changes fastest, as in `Pair.slot`.
            corners = tuple(f" ({x}{y}{z})" for z, y, x in product("-+", repeat=3))
            return corners, feature, (0, 1, 2)
    count = 2 if GEOM.mjGEOM_CAPSULE in kinds else MOST_SLOTS
    return ("", *(f" {i}" for i in range(2, count + 1))), -1, ()


def _friction(model: mujoco.MjModel, key: tuple[int, int], explicit: int | None) -> float:
    """Return the coefficient of sliding friction of a pair, combined as MuJoCo does."""
    one, other = key
    is_overridden = model.opt.enableflags & mujoco.mjtEnableBit.mjENBL_OVERRIDE
    if explicit is not None:
        dim, sliding = int(model.pair_dim[explicit]), model.pair_friction[explicit][:2]
    else:
        order = int(model.geom_priority[one]) - int(model.geom_priority[other])
        chosen = key if order == 0 else key[:1] if order > 0 else key[1:]
        dim = max(int(model.geom_condim[i]) for i in chosen)
        sliding = np.full(2, max(float(model.geom_friction[i][0]) for i in chosen))
    if dim == 1:
        return 0.0
    if is_overridden:
        sliding = model.opt.o_friction[:2]
    if sliding[0] != sliding[1]:
        names = _geom_names(model)
        raise InvalidProblem(
            f"friction of {names[one]}/{names[other]} differs along its two tangents "
            f"({sliding[0]:g} and {sliding[1]:g}), and carom's cone is round: give both the same"
        )
    return float(sliding[0])


def _geom_names(model: mujoco.MjModel) -> list[str]:
    """Return a name of its own for each geom: that of its body if it has none."""
    names = [
        model.geom(i).name or model.body(body).name or f"body{body}"
        for i, body in enumerate(model.geom_bodyid.tolist())
    ]
    seen: Counter[str] = Counter()
    for i, name in enumerate(tuple(names)):
        seen[name] += 1
        if names.count(name) > 1 or seen[name] > 1:
            names[i] = f"{name}#{seen[name]}"
    return names
