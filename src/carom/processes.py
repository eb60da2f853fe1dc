"""Processes that work for another one, and end with it."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from multiprocessing.connection import wait

WATCH = 0.5
"""How often a worker looks whether its parent lives [s]."""


@contextmanager
def deaf_to_ctrl_c() -> Iterator[None]:
    """Start processes inside that Ctrl-C never reaches, not even while they begin.

    A terminal sends Ctrl-C to all processes; the parent alone decides what ends.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    # It would unblock the signal once it has started.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


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
