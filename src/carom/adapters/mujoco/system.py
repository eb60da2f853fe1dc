"""A MuJoCo model as a system."""

from __future__ import annotations

from typing import final

import numpy as np

from carom.adapters.engine import SAME, EngineSystem, tangents
from carom.adapters.mujoco.contacts import (
    check_model,
    check_supported,
    contact_names,
    find_pairs,
    mujoco,
)
from carom.adapters.mujoco.limits import limits_reached, warn_of_limits
from carom.adapters.mujoco.model import copy_inputs, vector, velocity_map, with_margin
from carom.errors import InvalidProblem
from carom.systems.system import Dynamics
from carom.typing import ArrayLike, FloatArray, IntArray

MARGIN = 1e-3
STEP = 1e-5
"""How far, as the length of a change of v, the robot is moved to see how Jacobians change."""
OFF = int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)


@final
class MujocoSystem(EngineSystem):
    """Describe a robot by its MuJoCo model.

    Contacts are those that MuJoCo finds itself, at distances up to `margin` instead of the
    model's own. There is one entry for each contact that each pair of geoms can have. A contact is
    named by its geoms, such as "floor/foot"; a geom without a name has that of its body. Further
    contacts of a pair are "floor/foot 2" and so on. The corners of a box on a plane, and the ends
    of a capsule, are told by their signs along the geom's own axes: "floor/box --+", "floor/foot
    -". A contact beyond the margin has an infinite gap and Jacobians of zeros.

    What is there: armature, springs, damping, gravity, actuators and applied forces; sliding
    friction of each pair as MuJoCo combines it. What is left out: limits of joints and tendons,
    friction loss in joints, torsional and rolling friction, adhesion, and how soft contacts are.
    `impact_problem` warns (`LimitIgnored`) of joints and tendons at the end of their range.

    Contacts with planes and between boxes, spheres and capsules are exact. For other convex geoms,
    such as meshes and cylinders on a box, MuJoCo makes several contacts of nearly parallel faces:
    their normal may be that of either face, which are up to some 7 degrees apart, and gaps of
    cylinders err by up to 0.5 mm. Use planes for floors, or have one contact for each pair, with
    <flag multiccd="disable"/>.

    Model and data are copied: later changes of theirs have no effect here, nor the other way round.
    Two threads must not ask one system at the same time.

    Args:
        model: The model, an `mujoco.MjModel`.
        data: An `mujoco.MjData` from which controls, activations, applied forces, poses of mocap
            bodies and switches of equality constraints are taken; what a new one has if not
            given. Its positions and velocities do not matter.
        margin: Contacts that are farther apart are not looked at [m].

    Attributes:
        model: The copy of the model, with wider margins.
        margin: As given [m].

    Raises:
        InvalidProblem: The margin is not positive, or the model has parts that are not supported:
            active equality constraints, flexible bodies, height fields, friction that differs
            along the two tangents, surfaces that move, a pair of geoms that is told twice, contact
            that is switched off.

    Examples:
        A ball of 2 kg and radius 0.1 m lies on a floor.

        >>> import mujoco
        >>> import numpy as np
        >>> from carom.adapters.mujoco import MujocoSystem
        >>> model = mujoco.MjModel.from_xml_string('''<mujoco><worldbody>
        ...   <geom name="floor" type="plane" size="1 1 1" friction="0.5"/>
        ...   <body name="ball" pos="0 0 0.1"><freejoint/>
        ...     <geom size="0.1" mass="2" friction="0.3"/></body>
        ... </worldbody></mujoco>''')
        >>> system = MujocoSystem(model)
        >>> system.nq, system.nv, system.contacts, system.mu.tolist(), system.margin
        (7, 6, ('floor/ball',), [0.5], 0.001)
        >>> here = system.dynamics(model.qpos0)
        >>> here.M.diagonal().round(9).tolist(), here.phi.tolist(), here.J_n.tolist()
        ([2.0, 2.0, 2.0, 0.008, 0.008, 0.008], [0.0], [[0.0, 0.0, 1.0, 0.0, 0.0, 0.0]])
        >>> round(system.potential_energy(model.qpos0), 9), system.velocity_map(model.qpos0).shape
        (1.962, (7, 6))
        >>> system.impact_problem(model.qpos0, [0.3, 0.0, -1.0, 0.0, 0.0, 0.0]).contacts
        ('floor/ball',)
        >>> bool((system.model.geom_margin >= system.margin).all())
        True
        >>> system.limits_reached(model.qpos0)
        ()

        A force of 3 N pushes it along x.

        >>> data = mujoco.MjData(model)
        >>> data.qfrc_applied[0] = 3.0
        >>> system.take_inputs(data)
        >>> system.smooth_force(model.qpos0, np.zeros(6)).round(9).tolist()[:3]
        [3.0, 0.0, -19.62]
    """

    def __init__(
        self, model: mujoco.MjModel, data: mujoco.MjData | None = None, *, margin: float = MARGIN
    ) -> None:
        if not (np.isfinite(margin) and margin > 0.0):
            raise InvalidProblem(f"margin: expected a number > 0, got {margin!r}")
        check_model(model)
        source = mujoco.MjData(model) if data is None else data
        check_supported(model, source)
        self.margin = float(margin)
        self.model = with_margin(model, margin)
        self._data = mujoco.MjData(self.model)
        self.take_inputs(source)
        self._pairs = find_pairs(model)
        self._contacts = contact_names(model, self._pairs)
        mu = [pair.mu for pair in self._pairs.values() for _ in pair.labels]
        self._mu = np.array(mu, dtype=np.float64)
        self._mu.flags.writeable = False

    def take_inputs(self, data: mujoco.MjData) -> None:
        """Let controls, activations, applied forces and mocap poses be those of a state.

        Args:
            data: Of the model that this system was made of.
        """
        copy_inputs(self.model, data, self._data)

    @property
    def nq(self) -> int:
        """Return the number nq of configuration coordinates, quaternions included."""
        return int(self.model.nq)

    @property
    def nv(self) -> int:
        """Return the number nv of velocities."""
        return int(self.model.nv)

    @property
    def contacts(self) -> tuple[str, ...]:
        """Return the name of every contact that may close."""
        return self._contacts

    @property
    def mu(self) -> FloatArray:
        """Return the coefficients of sliding friction, (m,)."""
        return self._mu

    def velocity_map(self, q: ArrayLike) -> FloatArray:
        """Return Γ(q), (nq, nv), so that dq/dt = Γ v.

        Args:
            q: Configuration, (nq,).

        Raises:
            InvalidProblem: q has another length, or a number that is not finite.
        """
        return velocity_map(self.model, vector("q", q, self.nq))

    def potential_energy(self, q: ArrayLike) -> float:
        """Return the energy of gravity and springs [J].

        Args:
            q: Configuration, (nq,).

        Raises:
            InvalidProblem: q has another length, or a number that is not finite.
        """
        self._place(vector("q", q, self.nq))
        mujoco.mj_tendon(self.model, self._data)
        mujoco.mj_energyPos(self.model, self._data)
        return float(self._data.energy[0])

    def dynamics(self, q: ArrayLike, v: ArrayLike | None = None, t: float = 0.0) -> Dynamics:
        """Return everything at one state and time; a gap beyond the margin is infinite.

        Args:
            q: Configuration, (nq,).
            v: Velocity, (nv,); at rest if not given.
            t: Time [s].

        Raises:
            InvalidProblem: q or v has another length or a number that is not finite, or two geoms
                have more contacts than can be told apart.
        """
        position = vector("q", q, self.nq)
        velocity = np.zeros(self.nv) if v is None else vector("v", v, self.nv)
        data = self._data
        data.qpos[:], data.qvel[:], data.time = position, velocity, t
        # Limits and friction loss are constraints too, and none of them may act.
        self.model.opt.disableflags |= OFF
        mujoco.mj_forward(self.model, data)
        M, force = np.zeros((self.nv, self.nv)), data.qfrc_smooth.copy()
        mujoco.mj_fullM(self.model, data, M)
        phi, J = self._find_contacts()
        J[phi > self.margin] = 0.0
        phi[phi > self.margin] = np.inf
        bias = self._bias(position, velocity, phi)
        return Dynamics(M, force, phi, J[:, 0], J[:, 1:], bias)

    def limits_reached(self, q: ArrayLike) -> tuple[str, ...]:
        """Name the joints and tendons that are at the end of their range, or beyond it.

        Args:
            q: Configuration, (nq,).

        Raises:
            InvalidProblem: q has another length, or a number that is not finite.
        """
        self._place(vector("q", q, self.nq))
        mujoco.mj_tendon(self.model, self._data)
        return limits_reached(self.model, self._data)

    def _warn(self, q: ArrayLike) -> None:
        """Warn of joints and tendons at the end of their range."""
        warn_of_limits(self.limits_reached(q))

    def _near(self, here: Dynamics, gap_tolerance: float) -> IntArray:
        """Return the contacts that touch in a state, but for those that no motion opens.

        Raises:
            InvalidProblem: There are no others, one penetrates by more than the tolerance, or the
                tolerance is above the margin.
        """
        if not 0.0 <= gap_tolerance <= self.margin:
            raise InvalidProblem(
                f"gap_tolerance: expected from 0 to the margin of {self.margin:g} m, got "
                f"{gap_tolerance:g} m; give MujocoSystem a larger margin"
            )
        found = np.flatnonzero(here.phi <= gap_tolerance)
        opening = self._opening(here, found)
        if found.size and not opening.size:
            raise InvalidProblem(
                f"no motion opens or closes {self.contacts[found[0]]!r}, and nothing else touches"
            )
        phi = here.phi.copy()
        phi[np.setdiff1d(found, opening)] = np.inf
        return self._touching(phi, gap_tolerance)

    def _opening(self, here: Dynamics, near: IntArray) -> IntArray:
        """Return those of some contacts, by their numbers (m,), that some motion opens.

        A planar robot may touch a wall beside it for all time, and an arm its own base.
        """
        rows = np.abs(here.J_n[near]).max(axis=1, initial=0.0)
        return near[rows > SAME * np.abs(here.J_t[near]).max(initial=rows.max(initial=0.0))]

    def _place(self, q: FloatArray) -> None:
        """Move the bodies to a configuration (nq,)."""
        self._data.qpos[:] = q
        mujoco.mj_kinematics(self.model, self._data)
        mujoco.mj_comPos(self.model, self._data)

    def _find_contacts(self) -> tuple[FloatArray, FloatArray]:
        """Return gaps (m,) and rows (m, 3, nv), normal first, where MuJoCo's data are."""
        model, data = self.model, self._data
        model.opt.disableflags &= ~OFF
        mujoco.mj_collision(model, data)
        phi = np.full(len(self._contacts), np.inf)
        J = np.zeros((len(phi), 3, self.nv))
        found = data.contact
        for one, other, dist, pos, frame in zip(
            *found.geom.T, found.dist, found.pos, found.frame, strict=True
        ):
            i = self._slot(int(one), int(other), pos, phi)
            normal = frame[:3]
            # MuJoCo's point is half way between the surfaces; the matter that slides is on them.
            half = 0.5 * dist * normal
            relative = self._point_jacobian(pos + half, other)
            relative -= self._point_jacobian(pos - half, one)
            phi[i] = dist
            J[i] = np.vstack([normal, tangents(normal)]) @ relative
        return phi, J

    def _slot(self, one: int, other: int, pos: FloatArray, phi: FloatArray) -> int:
        """Return the number of a contact, of which none has been found yet.

        Raises:
            InvalidProblem: All contacts of the pair have been found.
        """
        pair = self._pairs[min(one, other), max(one, other)]
        if pair.feature >= 0:
            turn = self._data.geom_xmat[pair.feature].reshape(3, 3)
            local = turn.T @ (pos - self._data.geom_xpos[pair.feature])
            i = pair.first + pair.number(self.model, local)
            if np.isinf(phi[i]):
                return i
        for i in range(pair.first, pair.first + len(pair.labels)):
            if np.isinf(phi[i]):
                return i
        raise InvalidProblem(
            f"MuJoCo finds more than {len(pair.labels)} contacts of "
            f"{self._contacts[pair.first]!r}; use simpler geoms"
        )

    def _point_jacobian(self, pos: FloatArray, geom: int) -> FloatArray:
        """Return the Jacobian (3, nv) of the point of a geom's body that is at `pos`."""
        J = np.zeros((3, self.nv))
        mujoco.mj_jac(self.model, self._data, J, None, pos, int(self.model.geom_bodyid[geom]))
        return J

    def _bias(self, q: FloatArray, v: FloatArray, phi: FloatArray) -> FloatArray:
        """Return dJ/dt v, (m, 3), by the Jacobians a little before and after, where v leads."""
        speed = float(np.abs(v).max(initial=0.0))
        near = np.isfinite(phi)
        bias = np.zeros((len(phi), 3))
        if speed == 0.0 or not near.any():
            return bias
        dt = STEP / speed
        sides = []
        for sign in (1.0, -1.0):
            position = q.copy()
            mujoco.mj_integratePos(self.model, position, v, sign * dt)
            self._place(position)
            there, J = self._find_contacts()
            near &= np.isfinite(there)
            sides.append(J @ v)
        bias[near] = (sides[0] - sides[1])[near] / (2.0 * dt)
        return bias
