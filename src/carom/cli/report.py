"""What a command found: as text, as JSON and as files."""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from carom.cli.console import note
from carom.cli.tables import fit, terminal_width
from carom.io import write_atomically

File = bytes | Callable[[Path], None]
"""The content of a file, or what writes it."""


class Report(ABC):
    """What a command found about a scene or an impact.

    Attributes:
        name: Of the file with its JSON.
    """

    name: ClassVar[str]

    @abstractmethod
    def text(self) -> str:
        """Return the report for people."""

    @abstractmethod
    def json(self) -> dict[str, Any]:
        """Return the report for programs."""

    @abstractmethod
    def files(self) -> dict[str, File]:
        """Return further files by their names."""

    def show(self, *, as_json: bool) -> None:
        """Print the report in one form or the other."""
        show(self.json() if as_json else self.text())

    def write(self, folder: Path) -> None:
        """Write all files; none is ever half-written."""
        files: dict[str, File] = {
            "summary.txt": (self.text() + "\n").encode(),
            f"{self.name}.json": (as_json(self.json()) + "\n").encode(),
            **self.files(),
        }
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            if isinstance(content, bytes):
                write_atomically(folder / name, content)
            else:
                content(folder / name)
        note(f"wrote {', '.join(files)} to {folder}")


def show(result: str | dict[str, Any]) -> None:
    """Print a result: text, which is made to fit a terminal, or one JSON object."""
    print(fit(result, terminal_width()) if isinstance(result, str) else as_json(result))


def as_json(content: dict[str, Any]) -> str:
    """Return one JSON object; JSON has no NaN and no infinity, which become null."""
    return json.dumps(_finite(content), indent=2, allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
