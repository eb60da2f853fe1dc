"""Types of options, and commands whose help has groups of options and sections."""

from __future__ import annotations

import math
import os
import re
import sys
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from glob import escape, glob
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem


class Option(click.Option):
    """An option that help shows under the title of its group."""

    def __init__(self, *arguments: Any, group: str = "Options", **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.group = group


option = partial(click.option, cls=Option)

COMMON: list[click.Parameter] = [
    Option([flag], is_flag=True, expose_value=False, help=words)
    for flag, words in {
        "--quiet": "Print nothing but results and errors.",
        "--debug": "Print where an error came from.",
    }.items()
]
"""They stand before or after the name of a command: `main` looks for them before all else."""


class Command(click.Command):
    """A command whose help has groups of options, and an epilog of titled lists.

    In the epilog an empty line ends a list; in a list, two blanks stand between a term and what it
    means, and deeper lines continue the one above.
    """

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.params += [each for each in COMMON if each not in self.params]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write one list per group of options."""
        groups: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for each in self.get_params(ctx):
            record = each.get_help_record(ctx)
            if record is not None and isinstance(each, click.Option):
                groups[getattr(each, "group", "Options")].append(record)
        for title, rows in groups.items():
            with formatter.section(title):
                formatter.write_dl(rows)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the lists."""
        for block in re.sub(r"\n {4,}", " ", self.epilog or "").strip().split("\n\n"):
            title, *lines = block.splitlines()
            with formatter.section(title.removesuffix(":")):
                rows = [re.split(r" {2,}", f"{line.strip()}  ", maxsplit=1) for line in lines]
                formatter.write_dl([(term, text.strip()) for term, text in rows])


class Group(click.Group, Command):
    """All commands, in their own order."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of commands as they were added."""
        return list(self.commands)


def _number(kind: type, low: float, high: float, expected: str) -> Callable[[Any], Any]:
    """Return what reads a number within a range."""

    def number(text: Any) -> Any:
        with suppress(ValueError):
            value = kind(text)
            if low <= value <= high:
                return value
        raise click.BadParameter(f"expected {expected}, got {text!r}")

    return number


count = _number(int, 1, 2**40, "an integer from 1 to 2^40")
seed = _number(int, 0, 2**53 - 1, "an integer from 0 to 2^53 - 1")
positive = _number(float, math.ulp(0.0), sys.float_info.max, "a number > 0")


def numbers(text: str) -> tuple[float, ...]:
    """Read numbers with commas or blanks between them."""
    try:
        return tuple(map(float, text.replace(",", " ").split()))
    except ValueError:
        raise click.BadParameter(f"expected numbers, as in 0,0.5,-1, got {text!r}") from None


def assignment(text: str) -> tuple[str, float]:
    """Read a name and a number with an equals sign between them."""
    # A contact's name may have one of its own.
    name, _, number = text.rpartition("=")
    with suppress(ValueError):
        if name and math.isfinite(float(number)):
            return name, float(number)
    raise click.BadParameter(f"expected a name and a number, as in width=0.7, got {text!r}")


def coefficient(text: str) -> tuple[str | None, float]:
    """Read a number for all contacts, or the name of one and its number."""
    with suppress(ValueError):
        if math.isfinite(float(text)):
            return None, float(text)
    try:
        return assignment(text)
    except click.BadParameter:
        message = f"expected a number, or a contact and a number as in A=0.5, got {text!r}"
        raise click.BadParameter(message) from None


def none_if_empty(_context: Any, _option: Any, values: tuple[Any, ...]) -> Any:
    """Return None for an option that may be given several times and was not given."""
    return values or None


def names(text: str) -> tuple[str, ...]:
    """Read names with commas between them."""
    return tuple(name.strip() for name in text.split(",") if name.strip())


FILE = click.Path(path_type=Path)
FOLDER = click.Path(file_okay=False, path_type=Path)


def check_folder(_context: Any, _option: Any, folder: Path | None) -> Path | None:
    """Refuse a folder that cannot be written to before the work, not after."""
    if folder is not None:
        existing = next(path for path in (folder, *folder.absolute().parents) if path.exists())
        if not existing.is_dir():
            raise click.BadParameter(f"expected a folder, got the file {existing}")
        if not os.access(existing, os.W_OK):
            raise click.BadParameter(f"expected a folder to write to, but {existing} is read-only")
    return folder


to_folder: Any = {"metavar": "DIR", "type": FOLDER, "callback": check_folder}
json_option = option("--json", "as_json", is_flag=True, help="Print one JSON object.")


def output(function: Callable[..., Any]) -> Callable[..., Any]:
    """Declare the options of a command that writes a report: --out and --json."""
    return option("--out", **to_folder, help="Write files to this folder.")(json_option(function))


def complete_scene(_context: Any, _parameter: Any, typed: str) -> list[CompletionItem]:
    """Return the scenes that begin with what was typed."""
    from carom.scenes import names

    return [CompletionItem(name) for name in names() if name.startswith(typed)]


def complete_scene_or_file(*where: Any) -> list[CompletionItem]:
    """Return scenes and files with an impact that begin with what was typed."""
    scenes = complete_scene(*where)
    if not scenes:
        # The shell completes files itself, folder by folder.
        return [CompletionItem(where[-1], type="file")]
    files = [file for file in glob(f"{escape(where[-1])}*") if file.endswith((".json", ".npz"))]
    return scenes + [CompletionItem(file) for file in sorted(files)]
