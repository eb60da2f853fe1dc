"""The documentation tells the truth: its code runs, prints what it shows, and names what exists."""

import ast
import contextlib
import importlib
import io
import re
import shlex
from dataclasses import dataclass
from pathlib import Path

import pytest

import carom

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.glob("tutorial/*.md"), *DOCS.glob("how-to/*.md")])
ALL_PAGES = sorted(DOCS.rglob("*.md"))
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass
class Block:
    language: str
    text: str
    line: int


def blocks(path):
    """Return the fenced blocks of a page, in order."""
    text = path.read_text(encoding="utf-8")
    return [
        Block(found[1], found[2], text[: found.start()].count("\n") + 2)
        for found in FENCE.finditer(text)
    ]


def run_page(path):
    """Run the Python blocks of a page as one script; yield (block, printed, shown or None).

    A text block that comes right after a Python block shows what that one prints.
    """
    scope = {"__name__": "__main__"}
    own = blocks(path)
    for block, after in zip(own, [*own[1:], None], strict=True):
        if block.language != "python":
            continue
        printed = io.StringIO()
        # Empty lines put errors on the line that the page has them on.
        code = compile("\n" * (block.line - 1) + block.text, str(path), "exec")
        with contextlib.redirect_stdout(printed):
            exec(code, scope)
        shown = after.text if after is not None and after.language == "text" else None
        yield block, printed.getvalue(), shown


def name_of(path):
    return path.relative_to(DOCS).as_posix()


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_page_runs_and_prints_what_it_shows(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for block, printed, shown in run_page(path):
        if shown is not None:
            assert printed == shown, f"{name_of(path)}, block at line {block.line}"
