"""Add to the site what lies outside of the folder docs, and see that it needs no network."""

import logging
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.pages import Page

from carom.cli import COMMANDS

ROOT = Path(__file__).parents[1]
HELP_MARK = "<!-- the help of every command -->"
LOADS = re.compile(r'<(?:script|img|link|iframe|source|video)\b[^>]*\b(?:src|href)="(?:https?:)?//')

# A warning of a plugin ends a strict build.
log = logging.getLogger("mkdocs.plugins.hooks")


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Show CONTRIBUTING.md as a page, and the help of every command where a page asks for it."""
    if page.file.src_uri == "contributing.md":
        text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
        # Its links start from the top folder.
        return text.replace("](docs/", "](")
    if HELP_MARK in markdown:
        return markdown.replace(HELP_MARK, "\n".join(_help(name) for name in COMMANDS))
    return markdown


def on_post_page(output: str, page: Page, **_: Any) -> str:
    """Warn of anything that a browser would load from elsewhere."""
    for found in LOADS.findall(output):
        log.warning("%s loads from the network: %s", page.file.src_uri, found)
    return output


def _help(command: str) -> str:
    text = subprocess.run(
        [sys.executable, "-m", "carom", command, "--help"],
        env=os.environ | {"COLUMNS": "90"},
        capture_output=True,
        check=True,
        encoding="utf-8",
    ).stdout
    return f"## carom {command}\n\n```text\n{text}```\n"
