"""What commands print: results on stdout, all else on stderr, and files in a folder."""

from __future__ import annotations

import json
import math
import re
import shutil
import sys
import textwrap
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

from carom import __version__

DELAY = 0.5
"""Time before a progress bar appears [s]."""
COMPILING = "kernels are compiled once, on first use"

MIN_WIDTH = 20
"""Text is never wrapped to fewer characters."""
DPI = 200

Progress = Callable[..., None]
"""Takes what is done, what there is in all and, optionally, what to say of it."""
Begin = Callable[..., Progress]
"""Begins a part of the work by its name and, if it is not compiling, a hint at what takes long."""
Writer = Callable[[Path], None]

_is_quiet = False


def be_quiet(quiet: bool) -> None:
    """Silence all but results and errors, or not."""
    global _is_quiet
    _is_quiet = quiet


def say(message: str) -> None:
    """Print one line on stderr, which --quiet does not silence."""
    print("carom:", " ".join(message.split()), file=sys.stderr)


def warn(message: str) -> None:
    """Print what a result lacks, on stderr."""
    if not _is_quiet:
        say(message)


def note(message: str) -> None:
    """Print what was done, if stderr is a terminal."""
    if is_watched():
        say(message)


def is_watched() -> bool:
    """Return whether a person sees what is printed on stderr."""
    return not _is_quiet and sys.stderr.isatty()


def show(result: str | dict[str, Any]) -> None:
    """Print a result: text, wrapped to the terminal, or one JSON object."""
    print(fit(result, terminal_width()) if isinstance(result, str) else as_json(result))


def as_json(content: dict[str, Any]) -> str:
    """Return one JSON object with carom's version; numbers that are not finite become null."""
    return json.dumps({"carom": __version__, **_plain(content)}, indent=2, allow_nan=False)


def pick(thing: object, *names: str) -> dict[str, Any]:
    """Return some attributes of a thing by their names."""
    return {name: getattr(thing, name) for name in names}


def _plain(value: Any) -> Any:
    """Return a value without arrays, and with None for what is not finite."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def terminal_width() -> int:
    """Return the number of columns of stdout; 0 if it is not a terminal."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 0


def fit(text: str, width: int) -> str:
    """Wrap lines that are longer than a width, if there is one; they continue indented."""
    wrapper = textwrap.TextWrapper(width, break_long_words=False, break_on_hyphens=False)
    wrapper.replace_whitespace = False
    lines = text.split("\n")
    for i, line in enumerate(lines):
        if len(line) > width >= MIN_WIDTH:
            # Below the second column, if there is one and enough is left of the line.
            column = re.match(r" *(- )?(\S+( \S+)*  +)?", line)
            assert column is not None
            wrapper.subsequent_indent = " " * min(column.end() or 4, width - MIN_WIDTH)
            lines[i] = wrapper.fill(line)
    return "\n".join(lines)


def table(
    head: Sequence[str], rows: Iterable[Sequence[str]], right: Collection[int] = (), width: int = 0
) -> list[str]:
    """Return the lines of a table, with columns `right` aligned right; a width of 0 is none."""
    from rich.console import Console
    from rich.table import Table

    grid = Table(*head, box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for i, column in enumerate(grid.columns):
        column.justify, column.overflow = "right" if i in right else "left", "fold"
    for row in rows:
        grid.add_row(*row)
    plain: dict[str, Any] = {"color_system": None, "markup": False, "emoji": False}
    console = Console(width=width or 10_000, highlight=False, **plain)
    with console.capture() as captured:
        console.print(grid)
    return [line.rstrip() for line in captured.get().splitlines()]


@contextmanager
def progress(seconds: Sequence[float] = ()) -> Iterator[Begin]:
    """Yield a function that begins a part of the work and returns what to call as it proceeds.

    A bar appears on a terminal only. With the expected `seconds` of all parts it runs over the
    whole work, otherwise anew over each part.
    """
    if not is_watched():
        yield lambda _name, _hint="": lambda _done, _total, _text="": None
        return
    from rich.console import Console
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn())
    # The speed is that of the last minutes, because the expected times are rough.
    how: Any = {"transient": True, "speed_estimate_period": 120.0}
    bar = Bar(*columns, TimeRemainingColumn(), console=Console(stderr=True), **how)
    task = bar.add_task("", total=sum(seconds) or None)
    begun = 0

    def begin(name: str, hint: str = COMPILING) -> Progress:
        nonlocal begun
        begun += 1
        if not seconds:
            bar.reset(task, total=None, description=f"{name} ({hint})" if hint else name)
            update = partial(bar.update, task)
            return lambda done, total, text=name: update(
                completed=done, total=total, description=text
            )
        before, own = sum(seconds[: begun - 1]), seconds[begun - 1]
        bar.update(task, completed=before, description=f"{begun} of {len(seconds)}: {name}")
        return lambda done, total: bar.update(task, completed=before + own * done / total)

    timer = threading.Timer(DELAY, bar.start)
    timer.daemon = True
    timer.start()
    try:
        yield begin
    finally:
        timer.cancel()
        timer.join()
        bar.stop()


@dataclass(eq=False)
class Report:
    """The results of a command: text, a JSON object, and what writes further files by their names.

    What an earlier run left under one of these names, or of `others`, is removed. Failures are what
    the results lack, in words.
    """

    name: str
    text: str
    json: dict[str, Any]
    files: dict[str, Writer]
    others: Collection[str] = ()
    failures: Sequence[str] = ()

    def finish(self, out: Path | None, *, as_json: bool) -> None:
        """Write the files and print the results; raise only then what was wrong with a file."""
        failures: dict[str, Exception] = {}
        if out is not None:
            with progress() as begin:
                begin("files", "")
                written, failures = self._write(out)
            note(f"wrote {', '.join(written)} to {out}")
        show(self.json if as_json else self.text)
        if failures:
            what = [f"{name}: {type(why).__name__}: {why}" for name, why in failures.items()]
            raise RuntimeError(f"not written: {'; '.join(what)}") from next(iter(failures.values()))

    def _write(self, folder: Path) -> tuple[list[str], dict[str, Exception]]:
        """Write all files, none of them by half; a picture that fails must not cost the data."""
        folder.mkdir(parents=True, exist_ok=True)
        files: dict[str, Writer] = {
            "summary.txt": partial(_write_text, self.text),
            f"{self.name}.json": partial(_write_text, as_json(self.json)),
            **self.files,
        }
        written, failures = [], {}
        for name, write in files.items():
            try:
                write(folder / name)
                written.append(name)
            except OSError:
                raise
            except ImportError as error:
                warn(f"{name} is left out: {error}")
            except Exception as error:
                failures[name] = error
        # What an earlier run left would be mistaken for a part of this one.
        for name in {*files, *self.others}.difference(written):
            (folder / name).unlink(missing_ok=True)
        return written, failures


def _write_text(text: str, path: Path) -> None:
    """Write a text to a file, whole or not at all."""
    from carom.io import write_atomically

    write_atomically(path, f"{text}\n".encode())


def write_figure(name: str, what: Any, path: Path, **options: Any) -> None:
    """Draw a figure with a function of carom.plots and write it, whole or not at all."""
    from carom import plots
    from carom.io import write_atomically

    buffer = BytesIO()
    getattr(plots, name)(what, **options).savefig(buffer, format="png", dpi=DPI)
    write_atomically(path, buffer.getvalue())
