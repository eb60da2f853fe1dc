"""Tables of text, and text that fits a terminal."""

from __future__ import annotations

import re
import shutil
import sys
import textwrap
from collections.abc import Collection, Sequence

MOST_ROWS = 20
"""Of longer tables the middle is left out."""
LAST_ROWS = 5

NARROWEST = 20
"""Text is not wrapped to fewer characters than that."""


def table(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    right: Collection[int] = (),
    width: int | None = None,
) -> list[str]:
    """Return lines whose columns are aligned.

    Args:
        head: Names of the columns.
        rows: Cells, as many in each as there are names.
        right: Columns that are aligned at their right.
        width: Where lines end at most, by wrapping the last column if enough is left of it.
    """
    lines = [head, *rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    left = len(widths) * 2 - 2 + sum(widths[:-1])
    if width is not None and width - left >= NARROWEST:
        lines = [cells for line in lines for cells in _wrapped(line, width - left)]
        widths[-1] = min(widths[-1], width - left)
    return [
        "  ".join(
            f"{cell:>{width}}" if i in right else f"{cell:<{width}}"
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]


def shortened(lines: list[str]) -> list[str]:
    """Return the lines of a table with a head, without their middle if they are many."""
    left_out = len(lines) - 1 - MOST_ROWS
    if left_out < 2:
        return lines
    middle = f"… {left_out} more; --json tells all"
    return [*lines[: -LAST_ROWS - left_out], middle, *lines[-LAST_ROWS:]]


def terminal_width() -> int | None:
    """Return the number of columns of stdout; None if it is no terminal."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def fit(text: str, width: int | None) -> str:
    """Wrap lines that are too long between words.

    They go on below their second column, where there is one, else with a deeper indent.
    """
    if width is None or width < NARROWEST:
        return text
    return "\n".join(
        line if len(line) <= width else _hanging(line, width) for line in text.split("\n")
    )


def _hanging(line: str, width: int) -> str:
    indent = len(line) - len(line.lstrip()) + 2
    column = re.match(r" *\S+( \S+)*  +", line)
    if column is not None and column.end() <= width - NARROWEST:
        indent = column.end()
    return textwrap.fill(
        line,
        width,
        subsequent_indent=" " * indent,
        replace_whitespace=False,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _wrapped(line: Sequence[str], width: int) -> list[list[str]]:
    """Return a line of a table as several, whose last cells are no wider than that."""
    first, *more = textwrap.wrap(line[-1], width) or [""]
    return [[*line[:-1], first], *([*[""] * (len(line) - 1), part] for part in more)]
