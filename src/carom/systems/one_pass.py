"""Systems that find everything at a state in one pass, as engines and planar bodies do."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable

import numpy as np

from carom.systems.system import Dynamics, System
from carom.typing import ArrayLike, FloatArray


class OnePassSystem(System):
    """Answer all questions at a state from `open_dynamics`, which finds everything in one pass."""

    # Facts rather than questions: a subclass hands them to `__init__`.
    nq: int = 0
    nv: int = 0
    contacts: tuple[str, ...] = ()
    mu: FloatArray = np.empty(0)
    restitution: FloatArray = np.empty(0)

    def __init__(
        self,
        nq: int,
        nv: int,
        contacts: Iterable[str],
        mu: Iterable[float],
        restitution: Iterable[float] | None = None,
    ) -> None:
        self.nq, self.nv, self.contacts = int(nq), int(nv), tuple(contacts)
        self.mu = np.array(list(mu), dtype=np.float64)
        none = np.zeros(len(self.mu))
        self.restitution = none if restitution is None else np.array(list(restitution), np.float64)
        for coefficients in (self.mu, self.restitution):
            coefficients.flags.writeable = False

    @abstractmethod
    def open_dynamics(self, q: ArrayLike, v: ArrayLike | None = None, t: float = 0.0) -> Dynamics:
        """Return everything at one state and time, without constraints."""

    def mass_matrix(self, q: ArrayLike) -> FloatArray:
        return self.open_dynamics(q).M

    def smooth_force(self, q: ArrayLike, v: ArrayLike, t: float = 0.0) -> FloatArray:
        return self.open_dynamics(q, v, t).force

    def gap(self, q: ArrayLike) -> FloatArray:
        return self.open_dynamics(q).phi

    def normal_jacobian(self, q: ArrayLike) -> FloatArray:
        return self.open_dynamics(q).J_n

    def tangent_jacobian(self, q: ArrayLike) -> FloatArray:
        return self.open_dynamics(q).J_t

    def contact_bias(self, q: ArrayLike, v: ArrayLike) -> FloatArray:
        return self.open_dynamics(q, v).bias
