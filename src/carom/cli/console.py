"""What is said beside the results: on stderr."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = Callable[[int, int], None]
Begin = Callable[..., Progress]
"""Begins a part of the work: its name and, if it is not compiling, what may take long."""

DELAY = 0.5
COMPILING = "kernels are compiled once, on first use"

_is_quiet = False


def be_quiet(quiet: bool) -> None:
    """Leave out all but errors, or not."""
    global _is_quiet
    _is_quiet = quiet


def say(message: str) -> None:
    """Tell something that is no result, on one line; --quiet does not silence it."""
    print("carom:", " ".join(message.split()), file=sys.stderr)


def warn(message: str) -> None:
    """Tell what a result lacks."""
    if not _is_quiet:
        say(message)


def note(message: str) -> None:
    """Tell a person what was done; programs need no such words."""
    if is_watched():
        say(message)


@contextmanager
def progress() -> Iterator[Begin]:
    """Yield a function that begins a part of the work and returns what to call as it proceeds.

    A bar is shown on a terminal only, and once the work has taken half a second.
    """
    if not is_watched():
        yield lambda _name, _hint="": lambda _done, _total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn())
    bar = Bar(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True)
    task = bar.add_task("", total=None)

    def begin(name: str, hint: str = COMPILING) -> Progress:
        bar.reset(task, total=None, description=f"{name} ({hint})" if hint else name)
        return lambda done, total: bar.update(task, completed=done, total=total, description=name)

    timer = threading.Timer(DELAY, bar.start)
    timer.daemon = True
    timer.start()
    try:
        yield begin
    finally:
        timer.cancel()
        timer.join()
        bar.stop()


def is_watched() -> bool:
    """Tell whether somebody sees what is said, and wants to."""
    return not _is_quiet and sys.stderr.isatty()
