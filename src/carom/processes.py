"""Processes that work for another one, and end with it."""

from __future__ import annotations

import multiprocessing
import os
import threading
from multiprocessing.connection import wait

WATCH = 0.5
"""How often a worker looks whether its parent lives [s]."""


def end_with_parent() -> None:
    """Let this process end when its parent does, whose pipes it would else hold open for ever."""
    threading.Thread(target=_watch, args=(os.getppid(),), daemon=True).start()


def _watch(parent: int) -> None:
    # The sentinel works everywhere, but forked siblings may hold it open; then the number changes.
    process = multiprocessing.parent_process()
    sentinels = [] if process is None else [process.sentinel]
    while os.getppid() == parent and not wait(sentinels, WATCH):
        pass
    os._exit(1)
