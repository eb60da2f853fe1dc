"""Keep an impact problem in a file."""

from __future__ import annotations

import io
import json
import os
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from carom.errors import InvalidProblem
from carom.io import write_atomically
from carom.problem import ImpactProblem

REQUIRED = ("M", "J_n", "J_t", "mu", "v_pre")
OPTIONAL = ("contacts", "num_directions", "without_collision")

_Function = TypeVar("_Function", bound=Callable[..., Any])


def load_problem(path: str | os.PathLike[str]) -> ImpactProblem:
    """Read an impact problem from a .json or .npz file.

    The file has the fields of `ImpactProblem`: M, J_n, J_t, mu, v_pre and, if wanted, contacts,
    num_directions and without_collision. In .json they are keys of one object, in .npz arrays
    (never pickles).

    Args:
        path: The file.

    Raises:
        InvalidProblem: The file is missing or unreadable, has another ending, lacks a field or
            has one too many, or a field is wrong.

    Examples:
        >>> import json, tempfile
        >>> from pathlib import Path
        >>> import carom
        >>> ball = {"M": [[2.0]], "J_n": [[1.0]], "J_t": [[0.0]], "mu": 0.5, "v_pre": [-1.0]}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder) / "ball.json"
        ...     _ = path.write_text(json.dumps(ball))
        ...     carom.load_problem(path).contacts
        ('A',)
    """
    file = Path(path)
    read = _by_ending(_READERS, file)
    if not file.exists():
        raise InvalidProblem(f"{file}: there is no such file")
    try:
        fields = read(file)
    except _UNREADABLE as error:
        raise InvalidProblem(
            f"{file}: expected a readable {file.suffix} file ({type(error).__name__}: {error})"
        ) from error
    _check_names(file, fields)
    try:
        return ImpactProblem(**fields)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidProblem(f"{file}: {error}") from error


def save_problem(problem: ImpactProblem, path: str | os.PathLike[str]) -> None:
    """Write an impact problem to a .json or .npz file that `load_problem` reads.

    The file appears whole or not at all.

    Args:
        problem: The impact.
        path: The file.

    Raises:
        InvalidProblem: The file has another ending.
        OSError: The file cannot be written.

    Examples:
        >>> import tempfile
        >>> from pathlib import Path
        >>> import carom
        >>> walker = carom.scenes.load("compass-gait").problem
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder) / "walker.npz"
        ...     carom.save_problem(walker, path)
        ...     bool((carom.load_problem(path).M == walker.M).all())
        True
    """
    file = Path(path)
    encode = _by_ending(_WRITERS, file)
    write_atomically(file, encode(problem_fields(problem)))


def problem_fields(problem: ImpactProblem) -> dict[str, Any]:
    """Return the fields of a problem by name, as they stand in a file."""
    return {name: getattr(problem, name) for name in (*REQUIRED, *OPTIONAL)}


def encode_npz(arrays: dict[str, Any]) -> bytes:
    """Return the content of an .npz file that is read without pickles."""
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def _encode_json(fields: dict[str, Any]) -> bytes:
    plain = {key: np.asarray(value).tolist() for key, value in fields.items()}
    lines = [f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in plain.items()]
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def _read_json(file: Path) -> dict[str, Any]:
    content = json.loads(file.read_text(encoding="utf-8"))
    if not isinstance(content, dict):
        raise ValueError(f"one object with the fields of a problem, not a {type(content).__name__}")
    return content


def _read_npz(file: Path) -> dict[str, Any]:
    # Opened here, because np.load does not close a file that it cannot read.
    with file.open("rb") as stream:
        archive = np.load(stream, allow_pickle=False)
        if not isinstance(archive, np.lib.npyio.NpzFile):
            raise ValueError("one array instead of an archive of arrays")
        with archive:
            fields: dict[str, Any] = {name: archive[name] for name in archive.files}
    for name in OPTIONAL:
        if name in fields:
            fields[name] = fields[name].tolist()
    return fields


_READERS = {".json": _read_json, ".npz": _read_npz}
_WRITERS = {".json": _encode_json, ".npz": encode_npz}
# What json, zipfile, zlib and NumPy raise on broken or hostile content.
_UNREADABLE = (
    OSError,
    EOFError,
    KeyError,
    MemoryError,
    NotImplementedError,
    RecursionError,
    RuntimeError,
    SyntaxError,
    ValueError,
    zipfile.BadZipFile,
    zlib.error,
)


def _by_ending(table: dict[str, _Function], file: Path) -> _Function:
    if file.suffix.lower() not in table:
        raise InvalidProblem(f"{file}: expected a file that ends in {' or '.join(table)}")
    return table[file.suffix.lower()]


def _check_names(file: Path, fields: dict[str, Any]) -> None:
    missing = [name for name in REQUIRED if name not in fields]
    unknown = [name for name in fields if name not in (*REQUIRED, *OPTIONAL)]
    found = [f"misses {', '.join(missing)}"] if missing else []
    if unknown:
        what = "unknown field" if len(unknown) == 1 else "unknown fields"
        found.append(f"has the {what} {', '.join(map(repr, unknown))}")
    if found:
        raise InvalidProblem(
            f"{file}: {' and '.join(found)}; expected {', '.join(REQUIRED)} and, if wanted, "
            f"{', '.join(OPTIONAL)}"
        )
