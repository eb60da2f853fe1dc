"""A MuJoCo model as a system."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import final

import mujoco
import numpy as np

from carom.adapters.engine import SAME, EngineSystem, Restitution, coefficients
from carom.adapters.limits import Limits, LimitState
from carom.adapters.mujoco import model as models
from carom.adapters.mujoco.approach import Approach, Ends, approaching
from carom.adapters.mujoco.contacts import (
    Tree,
    contact_names,
    contact_numbers,
    find_pairs,
    supported_state,
)
from carom.adapters.mujoco.rows import (
    OtherLimits,
    coordinate_ranges,
    equality_names,
    equality_rows,
    widen_limits,
)
from carom.adapters.mujoco.solids import placements_of, solids_of
from carom.checks import between, positive
from carom.errors import InvalidOption, InvalidProblem
from carom.problem import ImpactProblem
from carom.systems.constraints import Constraints, no_constraints
from carom.systems.solids import Solid
from carom.systems.system import Dynamics, Input
from carom.typing import ArrayLike, FloatArray, IntArray

MARGIN = GAP_TOLERANCE = 1e-3
FARTHEST = 1e3
"""Largest margin with which the nearest contact is looked for [m]."""
TOUCHING = 1e-9
"""Largest gap at which `stand` ends [m]."""
MOST_STEPS = 50
STEP = 1e-5
"""How far, as the length of a change of v, the robot is moved to see how Jacobians change."""
OFF = int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)


@final
class MujocoSystem(EngineSystem):
    """Describe a robot by its MuJoCo model.

    Contacts are those that MuJoCo finds itself, at distances up to `margin` instead of the
    model's own. There is one entry for each contact that each pair of geoms can have. A contact is
    named by its geoms, such as "floor/foot"; a geom without a name has that of its body. Further
    contacts of a pair are "floor/foot 2" and so on. Corners of a box on a plane, and ends of a
    capsule, are named by their signs along the geom's own axes: "floor/box (--+)", "floor/foot
    (-)". A contact beyond the margin has an infinite gap and Jacobians of zeros.

    Limits of joints and tendons are contacts without friction, named "knee (low)" and "knee
    (high)", with gaps in radians or metres; of a ball joint it is the angle that it is turned by.
    They are soft in MuJoCo: for an impact, a joint beyond its limit is at it, however far.
    Equality constraints that are active are kept exactly: connects, welds, joints, tendons.

    Modelled: armature, springs, damping, gravity, actuators and applied forces; sliding friction
    of each pair as MuJoCo combines it. Not modelled: friction loss in joints, torsional and rolling
    friction, adhesion, and softness of contacts, limits and constraints: MuJoCo has no coefficient
    of restitution, and what its `solref` returns depends on masses, forces and time step. Contacts
    do not bounce unless `restitution` says so.

    Contacts with planes and between boxes, spheres and capsules are exact. For other convex geoms,
    such as meshes and cylinders on a box, MuJoCo makes several contacts of nearly parallel faces:
    their normal may be that of either face, which are up to some 7 degrees apart, and gaps of
    cylinders err by up to 0.5 mm. Use planes for floors, or have one contact for each pair, with
    <flag multiccd="disable"/>.

    Refused: flexible bodies, height fields, friction that differs
    along the two tangents, surfaces that move, and several <pair>s of the same geoms.

    Model and data are copied: later changes of theirs have no effect here, nor the other way round.
    The attribute `model` is the copy, with wider margins. A system is not safe to share between
    threads.

    Args:
        model: The model, an `mujoco.MjModel`.
        data: An `mujoco.MjData` from which controls, activations, applied forces, poses of mocap
            bodies and switches of equality constraints are taken; a new one if not given. Its
            positions and velocities do not matter.
        margin: Largest gap of contacts that are looked at [m].
        restitution: Coefficient of restitution of all contacts, or of some, by their names; 0 for
            limits that are not named.
        limits: Whether limits of joints and tendons are contacts.

    Examples:
        A ball of 2 kg and radius 0.1 m lies on a floor.

        >>> import mujoco
        >>> from carom.adapters.mujoco import MujocoSystem
        >>> model = mujoco.MjModel.from_xml_string('''<mujoco><worldbody>
        ...   <geom name="floor" type="plane" size="1 1 1" friction="0.5"/>
        ...   <body name="ball" pos="0 0 0.1"><freejoint/>
        ...     <geom size="0.1" mass="2" friction="0.3"/></body>
        ... </worldbody></mujoco>''')
        >>> system = MujocoSystem(model)
        >>> system.nq, system.nv, system.contacts, system.mu.tolist()
        (7, 6, ('floor/ball',), [0.5])
        >>> problem = system.impact_problem(model.qpos0, [0.3, 0.0, -1.0, 0.0, 0.0, 0.0])
        >>> system.stand(model.qpos0 + [0.0, 0.0, 0.005, 0.0, 0.0, 0.0, 0.0]).round(9).tolist()
        [0.0, 0.0, 0.1, 1.0, 0.0, 0.0, 0.0]
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        data: mujoco.MjData | None = None,
        *,
        margin: float = MARGIN,
        restitution: Restitution = 0.0,
        limits: bool = True,
    ) -> None:
        self.margin = positive("margin", margin)
        source = supported_state(model, data)
        self.model = models.with_margin(model, self.margin)
        has_limits = limits and not model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_LIMIT
        self._limits = Limits.of(coordinate_ranges(model) if has_limits else (), model.nv)
        self._other_limits = OtherLimits(model) if has_limits else None
        widen_limits(self.model)
        self._data = mujoco.MjData(self.model)
        self._active: list[int] | None = None
        # The state at which inputs were seen last, and their force: a step asks there again.
        self._driven = (np.empty(0), np.empty(0), np.nan), np.empty(0)
        self._damping = models.damping(self.model)
        self.take_inputs(source)
        self._pairs, self._tree = find_pairs(model), Tree(model)
        names = contact_names(model, self._pairs)
        mu = [pair.mu for pair in self._pairs.values() for _ in pair.labels]
        others = self._other_limits.units if self._other_limits else {}
        units = {**self._limits.units, **others}
        # A simulation without limits does not ask for them in every step.
        self._no_ends = None if units else Ends([], self._limits.rows)
        bounces = coefficients(names, restitution, [*units])
        super().__init__((model.nq, model.nv), names, mu, bounces, units)

    def take_inputs(self, data: mujoco.MjData) -> None:
        """Take controls, applied forces, mocap poses and active constraints from a state."""
        models.copy_inputs(self.model, data, self._data)
        active = np.flatnonzero(data.eq_active).tolist()
        if active != self._active:
            self._active = active
            mujoco.mj_fwdPosition(self.model, self._data)
            self.constraints = equality_names(self.model, equality_rows(self.model, self._data))

    @property
    def joints(self) -> dict[str, tuple[int, int]]:
        return models.joints(self.model)

    def solids(self) -> list[Solid]:
        """Return the shapes of the model, for drawing."""
        return solids_of(self.model)

    def placements(self, q: ArrayLike) -> FloatArray:
        """Return the poses (n, 4, 4) of all solids at a configuration."""
        self._place(self._checked(q))
        return placements_of(self.model, self._data)

    def contact_places(self, q: ArrayLike) -> FloatArray:
        """Return where contacts are (m, 3) [m]; NaN for those that are far apart.

        Limits are at their joints, those of tendons at the centre of mass of all.
        """
        self._place(self._checked(q))
        self._find_contacts()
        places = np.full((len(self.contacts), 3), np.nan)
        found = contact_numbers(self._data, self._pairs, self.contacts)
        places[found] = self._data.contact.pos
        places[self.num_body_contacts :] = self._data.subtree_com[0]
        joints = self.model.dof_jntid[self._limits.velocity].tolist()
        if self._other_limits is not None:
            joints += self._other_limits.balls
        for k, joint in enumerate(joints):
            places[self.num_body_contacts + k] = self._data.xanchor[joint]
        return places

    def contact_motions(self, q: ArrayLike, v: ArrayLike) -> FloatArray:
        """Return the velocities (m, 3) of the points in contact, relative to what they touch.

        Those of limits are zero.
        """
        self._place(self._checked(q))
        self._find_contacts()
        motions = np.full((len(self.contacts), 3), np.nan)
        motions[self.num_body_contacts :] = 0.0
        found = contact_numbers(self._data, self._pairs, self.contacts)
        rates = np.asarray(v, dtype=np.float64)
        for number, contact in zip(found, self._data.contact, strict=True):
            own = [int(self.model.geom_bodyid[geom]) for geom in contact.geom]
            first, second = (self._point_velocity(contact.pos, body, rates) for body in own)
            # The world does not move: the other one is the robot's.
            motions[number] = first - second if own[1] == 0 else second - first
        return motions

    def _point_velocity(self, point: FloatArray, body: int, v: FloatArray) -> FloatArray:
        """Return the velocity (3,) of the point of a body that is at a place in the world."""
        J = np.zeros((3, self.nv))
        mujoco.mj_jac(self.model, self._data, J, None, point, body)
        return J @ v

    def integrate(self, q: ArrayLike, v: ArrayLike, duration: float) -> FloatArray:
        """Return the configuration (nq,) that a constant velocity leads to."""
        position = self._checked(q).copy()
        mujoco.mj_integratePos(self.model, position, np.array(v, dtype=np.float64), duration)
        return position

    def _velocity_map(self, q: FloatArray) -> FloatArray:
        return models.velocity_map(self.model, q)

    def _potential_energy(self, q: FloatArray) -> float:
        self._place(q)
        mujoco.mj_energyPos(self.model, self._data)
        return float(self._data.energy[0])

    def _look(self, q: FloatArray, v: FloatArray, t: float) -> tuple[Dynamics, Constraints]:
        data = self._data
        data.qpos[:], data.qvel[:], data.time = q, v, t
        # Limits and friction loss are constraints too, and none of them may act.
        self.model.opt.disableflags |= OFF
        mujoco.mj_forward(self.model, data)
        M, force = models.mass_matrix(self.model, data), data.qfrc_smooth.copy()
        self._driven = (q.copy(), v.copy(), t), force + data.qfrc_bias - data.qfrc_spring
        phi, J = self._find_contacts()
        J[phi > self.margin] = 0.0
        phi[phi > self.margin] = np.inf
        constraints = no_constraints(self.nv)
        if self.constraints:
            residual, G = self._see_constraints()
            rates = self._rates_along(q, v, self._see_constraints, len(G))
            constraints = Constraints(residual, G, rates)
        near = np.isfinite(phi)
        bias = np.zeros((len(phi), 3))
        if near.any():
            bias = self._rates_along(q, v, self._find_contacts, len(phi), 3)
            bias[~near] = 0.0
        return Dynamics(M, force, phi, J[:, 0], J[:, 1:], bias), constraints

    def input_at(self, q: ArrayLike, v: ArrayLike, t: float = 0.0) -> Input:
        """Return the force of actuators, damping and applied forces; damping is known as such."""
        at, rates = self._checked(q), self._rates(v)
        (q_known, v_known, t_known), force = self._driven
        if t != t_known or not (np.array_equal(at, q_known) and np.array_equal(rates, v_known)):
            self._look(at, rates, t)
            force = self._driven[1]
        return Input(force, np.zeros_like(self._damping), self._damping)

    def _look_at_limits(self, q: FloatArray, v: FloatArray) -> LimitState:
        scalar, others = self._limits.look(q), self._other_limits
        if others is None or not others.units:
            return scalar
        self._place(q)
        found = others.look(self.model, self._data, v)
        bias = found.bias
        if others.tendons:
            cords = slice(len(others.balls), None)
            see = partial(self._see_limits, others, v)
            bias[cords] = self._rates_along(q, v, see, len(bias))[cords]
        return LimitState(
            *(np.concatenate(pair) for pair in zip(scalar, found._replace(bias=bias), strict=True))
        )

    def _see_limits(self, limits: OtherLimits, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return gaps (k,) and rows (k, nv) of limits of ball joints and tendons."""
        return limits.look(self.model, self._data, v)[:2]

    def _see_constraints(self) -> tuple[FloatArray, FloatArray]:
        """Return residuals (c,) and rows (c, nv) of equality constraints where the data are."""
        rows = equality_rows(self.model, self._data)
        return rows.pos, rows.J

    def stand(self, q: ArrayLike) -> FloatArray:
        """Return a configuration in which a floating robot touches what is below it.

        All that floats is moved along gravity, as it is and together, until the first contact has
        no gap; a robot that penetrates is lifted.
        """
        at = self._checked(q)
        self._place(at)
        down = models.way_down(self.model, self._data)
        if not down.any():
            raise InvalidProblem(
                "stand: no body can be lowered as it is; give the robot a free joint, or set qpos"
            )
        for _ in range(MOST_STEPS):
            here, bodies = self._seen(at, down), slice(0, self.num_body_contacts)
            rate = -here.J_n[bodies] @ down
            below = rate > SAME
            if not below.any():
                break
            # Gaps over planes change at a constant rate: this is exact for the first to close.
            step = (here.phi[bodies][below] / rate[below]).min()
            if abs(step) <= TOUCHING:
                return at
            mujoco.mj_integratePos(self.model, at, down, step)
        raise InvalidProblem("stand: nothing is below the robot; give the model a floor")

    def detect_impact(
        self, data: mujoco.MjData, *, gap_tolerance: float = GAP_TOLERANCE, speed: float = 0.1
    ) -> ImpactProblem | None:
        """Return the impact that begins in a state of a simulation, or None if none does.

        Contacts that penetrate count as touching, however deep: MuJoCo's are soft.

        Args:
            data: State of the model that this system was made of; its inputs are taken as well.
            gap_tolerance: Largest gap of a contact that touches, at most the margin [m].
            speed: An impact begins if a contact approaches faster than this [m/s]. Choose more than
                gravity makes of rest in one step.
        """
        positive("speed", speed)
        between("gap_tolerance", gap_tolerance, 0.0, self.margin)
        self.take_inputs(data)
        found = self._approaching(self._data, gap_tolerance, speed)
        return None if found is None else self._gather(found.M, found.touching, found.v)

    def _approaching(
        self, data: mujoco.MjData, gap_tolerance: float, speed: float, fewest: int = 1
    ) -> Approach | None:
        return approaching(self, data, gap_tolerance, speed, fewest)

    def _near(self, here: Dynamics, gap_tolerance: float) -> IntArray:
        """Return the contacts that touch in a state, but for those that no motion opens."""
        if gap_tolerance > self.margin:
            raise InvalidOption(
                f"gap_tolerance: expected at most the margin of {self.margin:g} m, got "
                f"{gap_tolerance:g} m; give MujocoSystem a larger margin"
            )
        # Limits are soft, and give way by more than contacts do: beyond one is at it.
        phi = here.phi.copy()
        phi[self.num_body_contacts :] = np.maximum(0.0, phi[self.num_body_contacts :])
        return super()._near(here._replace(phi=phi), gap_tolerance)

    def _nothing_touches(self, phi: FloatArray, gap_tolerance: float) -> str:
        bodies = self.num_body_contacts
        if not bodies:
            return super()._nothing_touches(phi, gap_tolerance)
        # The data are where the question was asked.
        there = self._seen(np.array(self._data.qpos))
        found = self._opening(there, np.flatnonzero(np.isfinite(there.phi[:bodies])))
        if not found.size:
            return "no contact touches: no motion brings any two geoms together; add a floor"
        nearest = found[np.argmin(there.phi[found])]
        return (
            f"no contact touches: the nearest is {self.contacts[nearest]!r} with a gap of "
            f"{1e3 * there.phi[nearest]:.4g} mm, above gap_tolerance = {1e3 * gap_tolerance:g} mm; "
            f"lower the robot with data.qpos[:] = MujocoSystem(model).stand(data.qpos), or raise "
            f"the tolerance"
        )

    def _seen(self, q: FloatArray, v: FloatArray | None = None) -> Dynamics:
        """Return the dynamics with a margin that shows a contact that v, or any motion, closes."""
        margin = self.margin
        try:
            while True:
                here = self.dynamics(q)
                seen = np.isfinite(here.phi[: self.num_body_contacts])
                near = self._opening(here, np.flatnonzero(seen))
                rows = here.J_n[: self.num_body_contacts]
                is_seen = near.size if v is None else (rows @ v < -SAME).any()
                if is_seen or self.margin >= FARTHEST:
                    return here
                self.margin *= 10.0
                models.set_margin(self.model, self.margin)
        finally:
            self.margin = margin
            models.set_margin(self.model, margin)

    def _place(self, q: FloatArray) -> None:
        """Move bodies and tendons to a configuration (nq,)."""
        self._data.qpos[:] = q
        mujoco.mj_kinematics(self.model, self._data)
        mujoco.mj_comPos(self.model, self._data)
        mujoco.mj_tendon(self.model, self._data)

    def _find_contacts(self) -> tuple[FloatArray, FloatArray]:
        """Return gaps (m,) and rows (m, 3, nv), normal first, where the data are."""
        self.model.opt.disableflags &= ~OFF
        mujoco.mj_collision(self.model, self._data)
        phi = np.full(self.num_body_contacts, np.inf)
        J = np.zeros((len(phi), 3, self.nv))
        found = contact_numbers(self._data, self._pairs, self.contacts)
        phi[found] = self._data.contact.dist
        J[found], _ = self._tree.rows(self._data, self._data.qvel)
        return phi, J

    def _rates_along(
        self,
        q: FloatArray,
        v: FloatArray,
        look: Callable[[], tuple[FloatArray, FloatArray]],
        *shape: int,
    ) -> FloatArray:
        """Return dJ/dt v by Jacobians J a little before and after, where v leads.

        `look` returns gaps and J where the data are; what is not seen on both sides does not count.
        """
        speed = float(np.abs(v).max(initial=0.0))
        if speed == 0.0:
            return np.zeros(shape)
        dt = STEP / speed
        sides, is_seen = [], np.full(shape[0], True)
        for sign in (1.0, -1.0):
            position = q.copy()
            mujoco.mj_integratePos(self.model, position, v, sign * dt)
            self._place(position)
            gaps, J = look()
            is_seen &= np.isfinite(gaps)
            sides.append(J @ v)
        rates = (sides[0] - sides[1]) / (2.0 * dt)
        rates[~is_seen] = 0.0
        return rates
