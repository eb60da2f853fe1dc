"""Save motions and load them again.

A file is a NumPy archive: one array a field, and a JSON text on how they belong together.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np

from carom.errors import InvalidProblem
from carom.io import write_atomically
from carom.motion.parts import Impact, Layout, Segment
from carom.motion.trajectory import Trajectory

if TYPE_CHECKING:
    from carom.systems.system import System

FORMAT = "carom trajectory 1"

_ARRAYS = {"segment": ("knots", "coefficients"), "impact": ("q", "v", "impulse", "energy")}


def save_trajectory(trajectory: Trajectory, path: str | os.PathLike[str]) -> None:
    """Write a motion to a file (.npz) that appears whole or not at all.

    The system is not saved: it may be any Python object.

    Args:
        trajectory: The motion.
        path: The file.

    Raises:
        OSError: The file cannot be written.

    Examples:
        >>> import tempfile
        >>> from pathlib import Path
        >>> import carom
        >>> block = carom.scenes.load("rocking-block")
        >>> motion = carom.simulate(block.system, block.q, block.v, 0.01, carom.AnitescuPotra())
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder) / "motion.npz"
        ...     carom.save_trajectory(motion, path)
        ...     loaded = carom.load_trajectory(path)
        >>> loaded.system is None, bool((loaded.q == motion.q).all())
        (True, True)
    """
    arrays: dict[str, Any] = {}
    parts = []
    for index, part in enumerate(trajectory.parts):
        kind = "segment" if isinstance(part, Segment) else "impact"
        for name in _ARRAYS[kind]:
            arrays[f"{index}.{name}"] = getattr(part, name)
        parts.append({"type": kind} | _words(part))
    about = {
        "format": FORMAT,
        "contacts": trajectory.contacts,
        "layout": list(trajectory.layout),
        "status": trajectory.status,
        "message": trajectory.message,
        "seed": trajectory.seed,
        "parts": parts,
    }
    buffer = io.BytesIO()
    np.savez_compressed(buffer, about=np.array(json.dumps(about)), **arrays)
    write_atomically(path, buffer.getvalue())


def load_trajectory(path: str | os.PathLike[str], system: System | None = None) -> Trajectory:
    """Read a motion from a file.

    Args:
        path: The file.
        system: The system that moved, for what needs it: energy and animation.

    Raises:
        OSError: The file cannot be read.
        InvalidProblem: The file holds no motion, or that of another system.

    Examples:
        >>> import tempfile
        >>> from pathlib import Path
        >>> import carom
        >>> block = carom.scenes.load("rocking-block")
        >>> motion = carom.simulate(block.system, block.q, block.v, 0.01, carom.AnitescuPotra())
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder) / "motion.npz"
        ...     carom.save_trajectory(motion, path)
        ...     loaded = carom.load_trajectory(path, block.system)
        >>> loaded.status, bool((loaded.energy == motion.energy).all())
        ('finished', True)
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            about = json.loads(str(file["about"]))
            if about["format"] != FORMAT:
                raise InvalidProblem(f"{path}: expected {FORMAT!r}, got {about['format']!r}")
            parts = tuple(
                _part(words, {name: file[f"{index}.{name}"] for name in _ARRAYS[words["type"]]})
                for index, words in enumerate(about["parts"])
            )
    except (EOFError, KeyError, TypeError, ValueError, zipfile.BadZipFile) as error:
        if isinstance(error, InvalidProblem):
            raise
        raise InvalidProblem(f"{path}: expected a motion saved by save_trajectory") from error
    contacts = tuple(about["contacts"])
    layout = Layout(*about["layout"])
    if system is not None and (system.nq, system.nv, system.contacts) != (*layout[:2], contacts):
        raise InvalidProblem(
            f"system: expected one with {layout.nq} coordinates and contacts "
            f"{', '.join(contacts)}, got {system.nq} and {', '.join(system.contacts)}"
        )
    return Trajectory(
        contacts, layout, parts, about["status"], about["message"], about["seed"], system
    )


def _words(part: Segment | Impact) -> dict[str, Any]:
    if isinstance(part, Segment):
        return {"modes": part.modes, "num_solutions": part.num_solutions}
    return {
        "kind": part.kind,
        "t": part.t,
        "duration": part.duration,
        "contacts": part.contacts,
        "modes": part.modes,
    }


def _part(words: dict[str, Any], arrays: dict[str, Any]) -> Segment | Impact:
    if words["type"] == "segment":
        return Segment(modes=tuple(words["modes"]), num_solutions=words["num_solutions"], **arrays)
    return Impact(
        kind=words["kind"],
        t=words["t"],
        duration=words["duration"],
        contacts=tuple(words["contacts"]),
        modes=tuple(tuple(step) for step in words["modes"]),
        **arrays,
    )
