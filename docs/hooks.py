"""Add to the site what lies outside of the folder docs."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from carom.cli import COMMANDS

ROOT = Path(__file__).parents[1]
HELP_MARK = "<!-- the help of every command -->"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Make CONTRIBUTING.md a page, with links that work from there."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    files.append(File.generated(config, "contributing.md", content=text.replace("](docs/", "](")))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put the help of every command where a page asks for it."""
    if HELP_MARK not in markdown:
        return markdown
    return markdown.replace(HELP_MARK, "\n".join(_help(name) for name in COMMANDS))


def _help(command: str) -> str:
    text = subprocess.run(
        [sys.executable, "-m", "carom", command, "--help"],
        env=os.environ | {"COLUMNS": "100"},
        capture_output=True,
        check=True,
        encoding="utf-8",
    ).stdout
    return f"## carom {command}\n\n```text\n{text}```\n"
