"""A bar over several parts of known size, with the time that is left."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from carom.cli import console

BeginPart = Callable[[str], console.Progress]
"""Begins the next part, by its name, and returns what to call as it proceeds."""


@contextmanager
def parts(seconds: Sequence[float]) -> Iterator[BeginPart]:
    """Yield a function that begins one part after another.

    A bar is shown on a terminal only.

    Args:
        seconds: About how long each part takes.
    """
    if not console.is_watched():
        yield lambda _name: lambda _done, _total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn())
    # The speed is that of the last minutes: parts are not foretold to the second.
    bar = Progress(
        *columns,
        TimeRemainingColumn(),
        TextColumn("left"),
        console=Console(stderr=True),
        transient=True,
        speed_estimate_period=120.0,
    )
    task = bar.add_task("", total=sum(seconds))
    number = 0

    def begin(name: str) -> console.Progress:
        nonlocal number
        before, own = sum(seconds[:number]), seconds[number]
        number += 1
        words = f"{number} of {len(seconds)}: {name}"
        bar.update(task, completed=before, description=words)
        return lambda done, total: bar.update(task, completed=before + own * done / total)

    with bar:
        yield begin
