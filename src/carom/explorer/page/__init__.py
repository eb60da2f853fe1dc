"""The page: hand-written HTML, CSS and JavaScript, put together into one file."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files

SCRIPTS = (
    "svg.js",
    "state.js",
    "scene.js",
    "planes.js",
    "table.js",
    "player.js",
    "recorded.js",
    "main.js",
)


@cache
def page() -> tuple[str, str]:
    """Return the page and its content security policy, which lets nothing else run or load."""
    folder = files(__package__)
    style = folder.joinpath("style.css").read_text(encoding="utf-8")
    parts = [folder.joinpath(name).read_text(encoding="utf-8") for name in SCRIPTS]
    # In one scope, in this order, without names that other scripts could see.
    script = '"use strict";\n(() => {\n' + "\n".join(parts) + "\n})();\n"
    text = folder.joinpath("index.html").read_text(encoding="utf-8")
    text = text.replace("/* style */", style).replace("/* script */", script)
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        f"connect-src 'self'; img-src data: blob:; base-uri 'none'; form-action 'none'; "
        f"frame-ancestors 'none'"
    )
    return text, policy


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
