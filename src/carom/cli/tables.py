"""Tables of text."""

from __future__ import annotations

from collections.abc import Collection, Sequence

MOST_ROWS = 20
"""Of longer tables the middle is left out."""
LAST_ROWS = 5


def table(
    head: Sequence[str], rows: Sequence[Sequence[str]], *, right: Collection[int] = ()
) -> list[str]:
    """Return lines whose columns are aligned.

    Args:
        head: Names of the columns.
        rows: Cells, as many in each as there are names.
        right: Columns that are aligned at their right.
    """
    lines = [head, *rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
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
