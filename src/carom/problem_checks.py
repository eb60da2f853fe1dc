"""Checks of the data of an impact problem: shapes, values, names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from carom import checks
from carom.errors import InvalidProblem
from carom.kernels.contact_coordinates import LARGEST_JACOBIAN, LARGEST_MASS
from carom.kernels.tolerances import SYMMETRY
from carom.typing import ArrayLike, FloatArray

ARRAYS = ("M", "J_n", "J_t", "mu", "v_pre")


def _wrong(field: str, expected: str, value: FloatArray) -> InvalidProblem:
    # A missing array has no shape, but is no number either.
    checks.finite(field, value, InvalidProblem)
    return InvalidProblem(f"{field}: expected {expected}, got an array of shape {value.shape}")


def shaped(
    M: ArrayLike, J_n: ArrayLike, J_t: ArrayLike, mu: ArrayLike, v_pre: ArrayLike
) -> dict[str, FloatArray]:
    """Return arrays of the right shapes, by their names."""
    velocity = checks.numbers("v_pre", v_pre, InvalidProblem)
    mass = checks.numbers("M", M, InvalidProblem)
    normal = checks.numbers("J_n", J_n, InvalidProblem)
    tangent = checks.numbers("J_t", J_t, InvalidProblem)
    friction = checks.numbers("mu", mu, InvalidProblem)
    if velocity.ndim != 1 or len(velocity) == 0:
        raise _wrong("v_pre", "a vector (nv,)", velocity)
    nv = len(velocity)
    agreed = {*mass.shape, *normal.shape[1:]}
    if (mass.ndim, normal.ndim, len(agreed)) == (2, 2, 1) and agreed != {nv}:
        raise _wrong("v_pre", f"({agreed.pop()},) to go with M and J_n", velocity)
    if normal.ndim == 2 and len(normal) == 0:
        raise InvalidProblem("J_n: expected at least one contact, got none")
    if normal.ndim != 2 or normal.shape[1] != nv:
        raise _wrong("J_n", f"(m, {nv}) to go with v_pre", normal)
    if mass.shape != (nv, nv):
        raise _wrong("M", f"({nv}, {nv}) to go with v_pre", mass)
    m, given = len(normal), tangent
    if tangent.ndim == 2:
        tangent = tangent[:, None, :]
    if tangent.ndim != 3 or tangent.shape[::2] != (m, nv) or tangent.shape[1] not in (1, 2):
        expected = f"({m}, {nv}), ({m}, 1, {nv}) or ({m}, 2, {nv}) to go with J_n"
        raise _wrong("J_t", expected, given)
    if friction.shape not in ((), (m,)):
        raise _wrong("mu", f"one number or ({m},)", friction)
    if friction.ndim == 0:
        friction = np.full(m, friction)
    return {"M": mass, "J_n": normal, "J_t": tangent, "mu": friction, "v_pre": velocity}


def checked_mass(
    M: FloatArray, J_n: FloatArray, J_t: FloatArray, mu: FloatArray, v_pre: FloatArray
) -> FloatArray:
    """Return the mass matrix, or raise an error that says what is wrong with a value."""
    for name, array in zip(ARRAYS, (M, J_n, J_t, mu, v_pre), strict=True):
        checks.finite(name, array, InvalidProblem)
    if not J_n.any(axis=1).all():
        raise InvalidProblem(
            f"J_n: expected rows that are not all zero, got zero in row "
            f"{J_n.any(axis=1).argmin()}; no motion opens or closes that contact"
        )
    _check_sizes("J_n", J_n)
    M = _mass_matrix(M)
    _check_sizes("J_t", J_t)
    if (mu < 0.0).any():
        raise InvalidProblem(f"mu: expected numbers >= 0, got {mu.min():.3g}")
    with np.errstate(over="ignore", invalid="ignore"):
        if not np.isfinite(v_pre @ M @ v_pre):
            raise InvalidProblem("v_pre: expected a finite kinetic energy, got one that is not")
    return M


def _mass_matrix(matrix: FloatArray) -> FloatArray:
    asymmetry = np.abs(matrix - matrix.T).max()
    if asymmetry > SYMMETRY * np.abs(matrix).max():
        raise InvalidProblem(
            f"M: expected a symmetric matrix, got one that differs from its transpose by "
            f"{asymmetry:.3g}"
        )
    matrix = 0.5 * (matrix + matrix.T)
    try:
        np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        smallest = np.linalg.eigvalsh(matrix)[0]
        raise InvalidProblem(
            f"M: expected a positive definite matrix, got one with eigenvalue {smallest:.3g}"
        ) from None
    extremes = np.diag(matrix).min(), np.diag(matrix).max()
    if extremes[0] < 1.0 / LARGEST_MASS or extremes[1] > LARGEST_MASS:
        raise InvalidProblem(
            f"M: expected a diagonal between {1.0 / LARGEST_MASS:g} and {LARGEST_MASS:g}, got "
            f"numbers from {extremes[0]:.3g} to {extremes[1]:.3g}; choose other units"
        )
    return matrix


def _check_sizes(field: str, jacobian: FloatArray) -> None:
    """Raise an error if the largest entry of a row is out of range; rows of zeros pass."""
    sizes = np.abs(jacobian).max(axis=-1)
    sizes = sizes[sizes > 0.0]
    if (sizes > LARGEST_JACOBIAN).any() or (sizes < 1.0 / LARGEST_JACOBIAN).any():
        raise InvalidProblem(
            f"{field}: expected rows whose largest entry is between {1.0 / LARGEST_JACOBIAN:g} and "
            f"{LARGEST_JACOBIAN:g}, got one from {sizes.min():.3g} to {sizes.max():.3g}; choose "
            f"other units"
        )


def contact_names(contacts: Sequence[str] | None, m: int) -> tuple[str, ...]:
    """Return m different names: those given, or letters."""
    if isinstance(contacts, str):
        contacts = (contacts,)
    if contacts is None:
        alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
        return tuple(alphabet[i] if m <= len(alphabet) else f"C{i + 1}" for i in range(m))
    names: tuple[Any, ...]
    try:
        names = tuple(contacts)
    except TypeError:
        names = (contacts,)
    if len(names) != m or not all(isinstance(name, str) and name for name in names):
        raise InvalidProblem(f"contacts: expected {m} names, got {names!r}")
    if len(set(names)) < m:
        repeated = min(name for name in names if names.count(name) > 1)
        raise InvalidProblem(f"contacts: expected different names, got {repeated!r} repeatedly")
    return names


def restitution(given: ArrayLike, m: int) -> FloatArray:
    """Return the coefficients of restitution (m,)."""
    if isinstance(given, float) and given == 0.0:
        # The usual case, in a simulation many times per second.
        return np.zeros(m)
    array = checks.numbers("restitution", given, InvalidProblem)
    if array.shape not in ((), (m,)):
        raise _wrong("restitution", f"one number or ({m},)", array)
    checks.finite("restitution", array, InvalidProblem)
    if ((array < 0.0) | (array > 1.0)).any():
        worst = array.min() if (array < 0.0).any() else array.max()
        raise InvalidProblem(f"restitution: expected numbers from 0 to 1, got {worst:.3g}")
    return np.full(m, array) if array.ndim == 0 else array


def flag(field: str, value: bool) -> bool:
    """Return a value that is true or false."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    raise InvalidProblem(f"{field}: expected True or False, got {value!r}")
