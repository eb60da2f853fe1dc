"""Save carom's objects to files and load them again.

There is one format in two containers: `.json` is readable text, `.npz` a NumPy archive that keeps
large arrays small. Both hold the fields of a dataclass by name, except those with
`metadata={"saved": False}`, the class's name and the format's version. Both restore every bit.
Files are written whole or not at all, and nothing in a file is ever executed.
"""

from __future__ import annotations

import dataclasses
import errno
import inspect
import io
import json
import os
import uuid
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from carom.errors import CaromError, InvalidFile, InvalidOption

VERSION = 1

HOMES = {
    "AnitescuPotra": "carom.laws.anitescu_potra",
    "Bundle": "carom.motion.bundle",
    "Certificate": "carom.proofs.certificate",
    "Compliant": "carom.paper.compliant.law",
    "CoverCertificate": "carom.reach.certificate",
    "Extreme": "carom.extremes.extreme",
    "Extremes": "carom.extremes.extreme",
    "FiniteSet": "carom.outcomes.finite",
    "Holdout": "carom.outcomes.holdout",
    "Impact": "carom.motion.parts",
    "ImpactPath": "carom.outcomes.path",
    "ImpactProblem": "carom.problem",
    "Layout": "carom.motion.parts",
    "PolyhedralSet": "carom.outcomes.polyhedral",
    "Polytope": "carom.outcomes.polytope",
    "Routh": "carom.laws.routh",
    "RouthExact": "carom.laws.routh_exact",
    "RouthSingle": "carom.laws.routh_single",
    "SampledSet": "carom.outcomes.sampled",
    "SearchRecord": "carom.reach.record",
    "Segment": "carom.motion.parts",
    "Sequential": "carom.laws.sequential",
    "Trajectory": "carom.motion.trajectory",
}
"""Modules of the classes that a file may contain; no other class is ever loaded."""

TOP = {"ImpactProblem", "FiniteSet", "SampledSet", "PolyhedralSet"} | {"Trajectory", "Bundle"}
TOP |= {"Extreme", "Extremes"}
"""Classes of the object that a file may hold; its fields may hold any class of `HOMES`."""

KIND = "carom"
"""Key of an object's class name, and archive entry of everything but arrays."""

ENDINGS = (".json", ".npz")

PLAIN = 2**53
"""Integers from this size on are written in hexadecimal."""


class Saved:
    """A dataclass that is saved and pickled by its fields alone."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write this to a .json or .npz file that `carom.load` reads, to the last bit.

        The file appears whole or not at all.

        Args:
            path: The file.
        """
        save(self, path)

    def __getstate__(self) -> dict[str, Any]:
        # What is derived or cached is made again where it is needed.
        return {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}  # type: ignore[arg-type]


def save(thing: Any, path: str | os.PathLike[str]) -> None:
    """Write a problem, set, motion or extreme; their methods `save(path)` call this."""
    file = _checked(path)
    tree = {"version": VERSION} | _encode(thing)
    write_atomically(file, _to_json(tree) if file.suffix.lower() == ".json" else _to_npz(tree))


def load(path: str | os.PathLike[str]) -> Any:
    """Load a problem, set, trajectory, bundle or extreme that its method `save` wrote.

    A problem may also be written by hand, as a JSON object or a NumPy archive with the fields of
    `ImpactProblem` by name.

    Args:
        path: File that ends in .json or .npz.

    Raises:
        FileNotFoundError: There is no such file.
        InvalidOption: The file has another ending.
        InvalidFile: The file is damaged, or holds something else.

    Examples:
        >>> import tempfile
        >>> from pathlib import Path
        >>> import carom
        >>> block = carom.scenes.load("rocking-block").problem
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder) / "block.json"
        ...     block.save(path)
        ...     carom.load(path) == block
        True
    """
    file = _checked(path)
    content = file.read_bytes()
    try:
        tree = json.loads(content) if file.suffix.lower() == ".json" else _from_npz(content)
        if not isinstance(tree, dict):
            raise ValueError(f"expected one object, got a {type(tree).__name__}")
        version = tree.pop("version", VERSION)
        if not isinstance(version, int) or version > VERSION:
            raise ValueError(f"version {version!r} is newer than this carom, which reads {VERSION}")
        # A file without a header was written by hand, and is a problem.
        tree.setdefault(KIND, "ImpactProblem")
        if tree[KIND] not in TOP:
            raise ValueError(f"expected one of {', '.join(sorted(TOP))}, got {tree[KIND]!r}")
        return _decode(tree)
    except CaromError as error:
        # Constructors check their fields.
        raise InvalidFile(f"{file}: {error}") from error
    except Exception as error:
        # Hostile or damaged content makes parsers raise nearly anything.
        raise InvalidFile(
            f"{file}: expected a file that carom saved ({type(error).__name__}: {error})"
        ) from error


def write_atomically(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file under a temporary name and rename it, so that it is never incomplete."""
    target = Path(path)
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "no such folder", str(target.parent))
    # Files of tempfile would be readable by their owner only.
    temporary = target.with_name(f".{target.name}.{uuid.uuid4().hex}.tmp")
    try:
        with temporary.open("xb") as file:
            file.write(data)
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def _checked(path: str | os.PathLike[str]) -> Path:
    file = Path(path)
    if file.suffix.lower() not in ENDINGS:
        raise InvalidOption(f"{file}: expected a file that ends in {' or '.join(ENDINGS)}")
    return file


def _encode(value: Any) -> Any:
    """Return a value as dicts, lists, strings, numbers and arrays."""
    if isinstance(value, Fraction):
        # In hexadecimal: Python refuses to print integers of thousands of decimal digits.
        return {KIND: "fraction", "is": f"{value.numerator:#x}/{value.denominator:#x}"}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, int) and abs(value) >= PLAIN:
        return {KIND: "integer", "is": f"{value:#x}"}
    if type(value).__name__ in HOMES:
        return {KIND: type(value).__name__} | {
            name: _encode(getattr(value, name)) for name in _saved(type(value))
        }
    if isinstance(value, tuple | list):
        return [_encode(each) for each in value]
    if value is not None and not isinstance(value, bool | int | float | str | np.ndarray):
        raise InvalidOption(
            f"{type(value).__name__}: files hold only classes of carom.io.HOMES; a set of a law of "
            f"your own is saved by dataclasses.replace(outcomes, origin=None).save(path)"
        )
    return value


def _saved(cls: type) -> list[str]:
    """Return the names of the saved fields of a class."""
    if not dataclasses.is_dataclass(cls):
        return list(cls._fields)  # type: ignore[attr-defined]
    fields = dataclasses.fields(cls)
    return [each.name for each in fields if each.init and each.metadata.get("saved", True)]


def _decode(value: Any) -> Any:
    """Invert `_encode`; lists become tuples."""
    if isinstance(value, list):
        return tuple(_decode(each) for each in value)
    if not isinstance(value, dict):
        return value
    fields = dict(value)
    kind = fields.pop(KIND)
    if kind == "fraction":
        numerator, denominator = fields["is"].split("/")
        return Fraction(int(numerator, 16), int(denominator, 16))
    if kind == "integer":
        return int(fields["is"], 16)
    if kind == "array":
        return np.array(fields["data"], dtype=_dtype(fields["dtype"])).reshape(fields["shape"])
    cls = getattr(import_module(HOMES[kind]), kind)
    _check_names(cls, fields)
    return cls(**{name: _decode(each) for name, each in fields.items()})


def _check_names(cls: type, fields: dict[str, Any]) -> None:
    """Raise an error if fields are missing or unknown."""
    names = _saved(cls)
    taken = inspect.signature(cls).parameters
    missing = [n for n in names if n not in fields and taken[n].default is inspect.Parameter.empty]
    unknown = [repr(name) for name in fields if name not in names]
    found = [f"misses {', '.join(missing)}"] if missing else []
    found += [f"has the unknown field {', '.join(unknown)}"] if unknown else []
    if found:
        raise InvalidFile(f"{cls.__name__} {' and '.join(found)}; expected {', '.join(names)}")


def _dtype(name: str) -> np.dtype[Any]:
    dtype = np.dtype(name)
    if dtype.kind not in "biuf":
        raise ValueError(f"arrays of {dtype} are not read")
    return dtype


def _to_json(tree: Any) -> bytes:
    lines = (f"  {json.dumps(k)}: {json.dumps(_plain(v, tree))}" for k, v in tree.items())
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def _plain(value: Any, parent: Any) -> Any:
    """Replace arrays by lists, bare ones in a readable problem, else with dtype and shape."""
    if isinstance(value, np.ndarray):
        if parent.get(KIND) == "ImpactProblem":
            return value.tolist()
        data = value.ravel().tolist()
        return {KIND: "array", "dtype": value.dtype.str, "shape": value.shape, "data": data}
    if isinstance(value, dict):
        return {key: _plain(each, value) for key, each in value.items()}
    if isinstance(value, list):
        return [_plain(each, {}) for each in value]
    return value


def _to_npz(tree: Any) -> bytes:
    arrays: dict[str, Any] = {}
    header = json.dumps(_without_arrays(tree, "", arrays))
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **{KIND: np.array(header)}, **arrays)
    return buffer.getvalue()


def _without_arrays(value: Any, name: str, arrays: dict[str, Any]) -> Any:
    """Move arrays out, under dotted names such as `problem.M`."""
    if isinstance(value, np.ndarray):
        arrays[name] = value
        return {KIND: "entry", "name": name}
    if isinstance(value, dict):
        items = value.items()
        return {k: _without_arrays(v, f"{name}.{k}" if name else k, arrays) for k, v in items}
    if isinstance(value, list):
        return [_without_arrays(each, f"{name}.{i}", arrays) for i, each in enumerate(value)]
    return value


def _from_npz(content: bytes) -> Any:
    archive = np.load(io.BytesIO(content), allow_pickle=False)
    if not isinstance(archive, np.lib.npyio.NpzFile):
        raise ValueError("expected an archive of arrays, got one array")
    with archive:
        if KIND in archive.files:
            return _with_arrays(json.loads(str(archive[KIND])), archive)
        # A problem written by hand, whose numbers and names are arrays too.
        fields = {name: archive[name] for name in archive.files}
    for name in ("contacts", "num_directions", "without_collision"):
        if name in fields:
            fields[name] = fields[name].tolist()
    return fields


def _with_arrays(value: Any, archive: Any) -> Any:
    if isinstance(value, dict):
        if value.get(KIND) == "entry":
            array = archive[value["name"]]
            _dtype(array.dtype.str)
            return array
        return {key: _with_arrays(each, archive) for key, each in value.items()}
    if isinstance(value, list):
        return [_with_arrays(each, archive) for each in value]
    return value
