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

from carom.cli import COMMANDS, main

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
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


def without_events(text):
    """Return a text without numbers of events, which depend on the rounding of a compiler.

    A search goes on from the better of two motions, and rounding decides between equals.
    """
    return re.sub(r"^  events .*$", "  events", text, flags=re.MULTILINE)


def name_of(path):
    return path.relative_to(ROOT).as_posix()


def pages():
    """Return the pages with Python, marked where they need a physics engine."""
    for path in PAGES:
        code = "".join(block.text for block in blocks(path) if block.language == "python")
        if code:
            marks = [pytest.mark.engines] if "carom.adapters" in code else []
            # Without PPL `check` answers with less, and raises no error.
            marks += (
                [pytest.mark.needs("ppl")]
                if "carom.check(" in code or "worst_case(" in code
                else []
            )
            yield pytest.param(path, marks=marks, id=name_of(path))


@pytest.mark.parametrize("path", [*pages()])
def test_page_runs_and_prints_what_it_shows(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for block, printed, shown in run_page(path):
        # A block without a text block after it only has to run.
        if shown is not None:
            where = f"{name_of(path)}, block at line {block.line}"
            assert without_events(printed) == without_events(shown), where


def quoted(text):
    return re.findall(r"`([^`]+)`", text)


def resolve(name):
    """Return what a dotted name means in Python."""
    first, *parts = name.split(".")
    found, module = importlib.import_module(first), first
    for part in parts:
        module = f"{module}.{part}"
        if not hasattr(found, part):
            importlib.import_module(module)
        found = getattr(found, part)
    return found


def functions_of(path):
    """Return the names of the functions of a file."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


@pytest.fixture(scope="module")
def theory():
    """Return the rows of the theory map: paper, code, tests."""
    lines = (DOCS / "theory.md").read_text(encoding="utf-8").splitlines()
    rows = [line for line in lines if line.startswith("| ") and not line.startswith("| paper")]
    return [[cell.strip() for cell in row.strip("|").split(" | ")] for row in rows]


class TestTheoryMap:
    def test_every_row_is_checked_or_says_that_it_is_not(self, theory):
        assert len(theory) > 30
        for row in theory:
            assert len(row) == 3, row
            assert "tests/" in row[2] or row[2].startswith("not checked"), row

    def test_everything_named_exists(self, theory):
        names = [name for row in theory for name in quoted(row[1])]
        assert len(names) > 30
        for name in names:
            assert name.startswith("carom.")
            assert resolve(name) is not None

    def test_every_test_named_exists(self, theory):
        named = [name for row in theory for name in quoted(row[2]) if name.startswith("tests/")]
        assert len(named) > 30
        for name in named:
            path, _, test = name.partition("::")
            assert test in functions_of(path), name


def entries(path):
    """Return the entries of a page of the reference: where a thing is defined, and its heading."""
    entry = re.compile(r"^::: (\S+)\n    options:\n      heading: (\S+)\n", re.MULTILINE)
    return entry.findall(path.read_text(encoding="utf-8"))


def reference_pages():
    for path in filter(entries, sorted(DOCS.glob("api/*.md"))):
        marks = [pytest.mark.engines] if path.stem == "adapters" else []
        yield pytest.param(path, marks=marks, id=path.stem)


@pytest.fixture(scope="module")
def reference():
    return [entry for path in DOCS.glob("api/*.md") for entry in entries(path)]


class TestReference:
    @pytest.mark.parametrize("path", [*reference_pages()])
    def test_headings_are_names_of_what_is_shown(self, path):
        for home, heading in entries(path):
            module, _, name = home.rpartition(".")
            # By its module: a function may hide the module of its own name.
            shown = resolve(heading)
            assert getattr(importlib.import_module(module), name) is shown

    @pytest.mark.parametrize(
        "module", ["carom", "carom.paper.compliant", "carom.plots", "carom.scenes", "carom.systems"]
    )
    def test_every_public_name_has_an_entry(self, module, reference):
        shown = {heading for _, heading in reference}
        names = importlib.import_module(module).__all__
        # What carom itself exports is shown under that name.
        assert not {n for n in names if not {f"{module}.{n}", f"carom.{n}"} & shown}


def commands(path):
    """Return the command lines of carom in a page's shell blocks."""
    lines = [
        line for block in blocks(path) if block.language == "sh" for line in block.text.splitlines()
    ]
    return [line for line in lines if line.startswith("carom ")]


def test_commands_are_understood(monkeypatch, capsys):
    """Every command line is read without complaint; what it would do is left out."""
    for command in COMMANDS.values():
        monkeypatch.setattr(command, "callback", lambda **_: None)
    lines = [line for path in [ROOT / "README.md", *PAGES] for line in commands(path)]
    assert len(lines) > 10
    for line in lines:
        assert main(shlex.split(line, comments=True)[1:]) == 0, (line, capsys.readouterr().err)


def test_links_lead_to_files():
    """They do so in the repository too, where nothing builds the pages."""
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *PAGES]
    count = 0
    for page in pages:
        text = FENCE.sub("", page.read_text(encoding="utf-8"))
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
            if not target.startswith(("http:", "https:")):
                assert (page.parent / target).exists(), f"{name_of(page)}: {target}"
                count += 1
    assert count > 100
