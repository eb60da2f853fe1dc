"""What commands print: results on stdout, all else on stderr, and files in a folder."""

from __future__ import annotations

import json
import math
import re
import shutil
import sys
import textwrap
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from io import BytesIO, StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from carom import __version__

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DELAY = 0.5
"""Time before a progress bar appears [s]."""
COMPILING = "kernels are compiled once, on first use"

MAX_ROWS = 20
"""Longer tables lose their middle."""
LAST_ROWS = 5
MIN_WIDTH = 20
"""Text is never wrapped to fewer characters."""
DPI = 200

Progress = Callable[[int, int], None]
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
    if _is_watched():
        say(message)


def _is_watched() -> bool:
    return not _is_quiet and sys.stderr.isatty()


def show(result: str | dict[str, Any]) -> None:
    """Print a result: text, wrapped to the terminal, or one JSON object."""
    print(fit(result, terminal_width()) if isinstance(result, str) else as_json(result))


def as_json(content: dict[str, Any]) -> str:
    """Return one JSON object with carom's version; numbers that are not finite become null."""
    return json.dumps({"carom": __version__, **_finite(content)}, indent=2, allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def terminal_width() -> int | None:
    """Return the number of columns of stdout; None if it is not a terminal."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def fit(text: str, width: int | None) -> str:
    """Wrap long lines; they continue below their second column, or indented if there is none."""
    if width is None or width < MIN_WIDTH:
        return text
    return "\n".join(
        line if len(line) <= width else _hanging(line, width) for line in text.split("\n")
    )


def _hanging(line: str, width: int) -> str:
    indent = len(line) - len(line.lstrip()) + 2
    column = re.match(r" *\S+( \S+)*  +", line)
    if column is not None and column.end() <= width - MIN_WIDTH:
        indent = column.end()
    wrapper = textwrap.TextWrapper(width, subsequent_indent=" " * indent, break_long_words=False)
    wrapper.replace_whitespace = wrapper.break_on_hyphens = False
    return wrapper.fill(line)


def table(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    right: Collection[int] = (),
    width: int | None = None,
) -> list[str]:
    """Return the lines of a table, with columns `right` aligned right and the last one wrapped."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for i, name in enumerate(head):
        justify = "right" if i in right else "left"
        grid.add_column(Text(name), justify=justify, no_wrap=i < len(head) - 1)
    for row in rows:
        grid.add_row(*map(Text, row))
    # Narrower than this, Rich would cut cells off.
    widths = [max(map(len, column)) + 2 for column in zip(head, *rows, strict=True)]
    narrowest = sum(widths[:-1]) + min(widths[-1], MIN_WIDTH)
    wide = sum(widths) if width is None else max(width, narrowest)
    console = Console(file=StringIO(), width=wide, color_system=None)
    with console.capture() as captured:
        console.print(grid)
    return [line.rstrip() for line in captured.get().splitlines()]


def shortened(lines: list[str]) -> list[str]:
    """Return the lines of a table with a head, without their middle if there are many."""
    left_out = len(lines) - 1 - MAX_ROWS
    if left_out < 2:
        return lines
    middle = f"… {left_out} more; see --json"
    return [*lines[: -LAST_ROWS - left_out], middle, *lines[-LAST_ROWS:]]


@contextmanager
def progress(seconds: Sequence[float] = ()) -> Iterator[Begin]:
    """Yield a function that begins a part of the work and returns what to call as it proceeds.

    A bar appears on a terminal only. With the expected `seconds` of all parts it runs over the
    whole work, otherwise anew over each part.
    """
    if not _is_watched():
        yield lambda _name, _hint="": lambda _done, _total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn())
    # The speed is that of the last minutes, because the expected times are rough.
    bar = Bar(
        *(*columns, TimeRemainingColumn()),
        console=Console(stderr=True),
        transient=True,
        speed_estimate_period=120.0,
    )
    task = bar.add_task("", total=sum(seconds) or None)
    begun = 0

    def begin(name: str, hint: str = COMPILING) -> Progress:
        nonlocal begun
        begun += 1
        if not seconds:
            bar.reset(task, total=None, description=f"{name} ({hint})" if hint else name)
            return lambda done, total: bar.update(
                task, completed=done, total=total, description=name
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


@dataclass(frozen=True, eq=False)
class Report:
    """The results of a command: text, a JSON object, and what writes further files by their names.

    What an earlier run left under one of these names, or of `others`, is removed.
    """

    name: str
    text: str
    json: dict[str, Any]
    files: dict[str, Writer]
    others: Collection[str] = ()

    def finish(self, out: Path | None, *, as_json: bool, begin: Begin) -> None:
        """Write the files and print the results; raise only then what was wrong with a file."""
        failures: dict[str, Exception] = {}
        if out is not None:
            begin("files", "")
            failures = self._write(out)
        show(self.json if as_json else self.text)
        if failures:
            what = [f"{name}: {type(why).__name__}: {why}" for name, why in failures.items()]
            raise RuntimeError(f"not written: {'; '.join(what)}") from next(iter(failures.values()))

    def _write(self, folder: Path) -> dict[str, Exception]:
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
        note(f"wrote {', '.join(written)} to {folder}")
        return failures


def _write_text(text: str, path: Path) -> None:
    """Write a text to a file, whole or not at all."""
    from carom.io import write_atomically

    write_atomically(path, f"{text}\n".encode())


def write_png(make: Callable[..., Figure], path: Path) -> None:
    """Draw a figure and write it to a file, whole or not at all."""
    from carom.io import write_atomically

    buffer = BytesIO()
    make().savefig(buffer, format="png", dpi=DPI)
    write_atomically(path, buffer.getvalue())
