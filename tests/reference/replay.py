"""Judge a path of an impact by the inclusion itself, in plain NumPy [HalmPosa, eq:multicontact].

A path claims to be a sequence of straight motions of the velocity. Nothing is taken on trust but
the impulses: velocities are computed again from M, J and the impulses.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

TOLERANCE = 1e-9
"""Of the impact's speed. The exact law rounds its input to 1e-12, which some hundred operations and
the conditioning of a random M may raise to this; a wrong sign or mode is off by far more."""


class Path(Protocol):
    """What a path must tell: velocities (steps + 1, nv), impulses (steps, m) and (steps, m, 1)."""

    v: FloatArray
    lambda_n: FloatArray
    lambda_t: FloatArray


def check_path(
    M: FloatArray,
    J_n: FloatArray,
    J_t: FloatArray,
    mu: FloatArray,
    path: Path,
    v_pre: FloatArray,
    v_post: FloatArray,
    tolerance: float = TOLERANCE,
) -> None:
    """Assert that a path of planar contacts obeys the inclusion and leads from v_pre to v_post."""
    to_velocity_n = np.linalg.solve(M, J_n.T)
    to_velocity_t = np.linalg.solve(M, J_t.T)
    speed = np.sqrt(v_pre @ M @ v_pre)
    unit_n = speed * np.sqrt(np.einsum("ij,ji->i", J_n, to_velocity_n))
    unit_t = speed * np.sqrt(np.einsum("ij,ji->i", J_t, to_velocity_t))
    # What an impulse of this size does cannot be seen in velocities.
    unit_impulse = speed**2 / unit_n
    size = np.linalg.norm(v_pre)
    v = v_pre
    assert _near(path.v[0], v_pre, 0.0), "the path starts elsewhere"
    assert len(path.v) == len(path.lambda_n) + 1 == len(path.lambda_t) + 1
    for k, (push, drag) in enumerate(zip(path.lambda_n, path.lambda_t[:, :, 0], strict=True)):
        after = v + to_velocity_n @ push + to_velocity_t @ drag
        assert _near(path.v[k + 1], after, tolerance * size), "impulses do not explain the motion"
        small = tolerance * unit_impulse
        assert (push >= 0.0).all(), "a contact pulls"
        pushes = push > small
        for end in (v, after):
            assert (J_n @ end <= tolerance * unit_n)[pushes].all(), "a parting contact pushes"
        assert (np.abs(drag) <= mu * push * (1 + tolerance) + small).all(), "friction is too large"
        slip = np.stack([J_t @ v, J_t @ after])
        turns = (slip.min(axis=0) < -tolerance * unit_t) & (slip.max(axis=0) > tolerance * unit_t)
        assert not (turns & pushes).any(), "slip turns within a step"
        mean = slip.mean(axis=0)
        slides = np.abs(mean) > tolerance * unit_t
        opposing = -mu * push * np.sign(mean)
        assert (np.abs(drag - opposing) <= tolerance * np.abs(opposing) + small)[slides].all(), (
            "friction does not oppose slip"
        )
        v = after
    assert (J_n @ v >= -tolerance * unit_n).all(), "the end collides"
    assert _near(v, v_post, tolerance * size), "the end is another one"


def _near(a: FloatArray, b: FloatArray, slack: float) -> bool:
    return bool(np.linalg.norm(a - b) <= slack)
