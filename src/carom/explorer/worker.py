"""Computing in another process, which can be killed: one request at a time, the latest wins."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import threading
from collections.abc import Callable, Hashable, Mapping
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

from carom.explorer.messages import Request
from carom.explorer.subjects import Subject
from carom.processes import deaf_to_ctrl_c

STARTING = 120.0
"""Time that a new process may take to import what it needs [s]."""
GRACE = 3.0
"""How many times its budget a request may take before its process is killed; an outer set takes
about 1.3 times the budget, and samples a fifth of it in addition."""
MARGIN = 2.0
"""Time for all else that a request does [s]."""

Deliver = Callable[[str, str], None]
"""Takes the type of a message and its text."""
Subjects = Mapping[str, Subject]


def work(connection: Connection, subjects: Subjects, budget: float) -> None:
    """Answer requests until the other end is closed; the process's main function."""
    from carom.explorer.answers import Answers
    from carom.kernels.jit import compile_at_once

    # With the first request, which may take its time, and not in the middle of a drag.
    compile_at_once()
    answers = Answers(subjects, budget)
    with suppress(EOFError, OSError):
        connection.send(None)
        while True:
            request = connection.recv()
            for stage in answers.answer(request):
                connection.send(stage)
            connection.send(None)


class Cut(Exception):
    """Raised when a request was given up, and its process with it; the text says why."""


class Worker:
    """A process that computes, started anew whenever it was killed or died.

    Args:
        subjects: What can be explored.
        budget: Time budget of an exact set [s].
        seconds: Time that a request may take; then its process is killed [s].
    """

    def __init__(self, subjects: Subjects, budget: float, seconds: float | None = None) -> None:
        self._arguments = (subjects, budget)
        self.seconds = GRACE * budget + MARGIN if seconds is None else seconds
        self._process: Any = None
        self._connection: Connection | None = None
        self._inbox: asyncio.Queue[Any] = asyncio.Queue()

    @property
    def pid(self) -> int | None:
        """Return the number of the process, or None if there is none."""
        return None if self._process is None else self._process.pid

    async def start(self) -> None:
        """Start the process, unless it runs."""
        if self._process is not None:
            return
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        arguments = (theirs, *self._arguments)
        self._process = context.Process(target=work, args=arguments, daemon=True)
        with deaf_to_ctrl_c():
            self._process.start()
        # Only the process holds its end now, so that its death ends our reading.
        theirs.close()
        self._inbox = asyncio.Queue()
        loop, inbox, ours = asyncio.get_running_loop(), self._inbox, self._connection
        threading.Thread(target=_read, args=(ours, loop, inbox), daemon=True).start()
        await self._next(STARTING)

    async def answer(self, request: Request, deliver: Deliver) -> None:
        """Have a request answered, and deliver every stage.

        Raises:
            Cut: The process took too long, or died.
        """
        await self.start()
        assert self._connection is not None
        allowed = self.seconds
        with suppress(OSError):
            # A dead process is noticed below.
            self._connection.send(request)
        while (stage := await self._next(allowed)) is not None:
            kind, text, seconds = stage
            allowed = seconds or self.seconds
            deliver(kind, text)

    async def _next(self, seconds: float) -> Any:
        try:
            found = await asyncio.wait_for(self._inbox.get(), seconds)
        except TimeoutError:
            self.stop()
            raise Cut(f"the computation took more than {seconds:g} s and was cut") from None
        if isinstance(found, EOFError):
            self.stop()
            raise Cut("the computing process ended, perhaps for want of memory")
        return found

    def stop(self) -> None:
        """Kill the process."""
        if self._process is not None:
            self._process.kill()
            self._process.join(5.0)
            self._process = None
        # The thread that reads closes it: its number must not be given away while it is read.
        self._connection = None


def _read(ours: Connection, loop: asyncio.AbstractEventLoop, inbox: asyncio.Queue[Any]) -> None:
    """Hand over what a process sends, until it ends; runs in a thread of its own."""
    found: Any = None
    while not isinstance(found, EOFError):
        try:
            found = ours.recv()
        except (EOFError, OSError, TypeError):
            # A connection that is closed meanwhile raises any of them.
            found = EOFError()
        with suppress(RuntimeError):
            # The loop may be over.
            loop.call_soon_threadsafe(inbox.put_nowait, found)
    ours.close()


class Desk:
    """A worker and the requests that wait for it: one per page and kind, the latest."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._waiting: dict[tuple[Hashable, str], tuple[Request, Deliver]] = {}
        self._something = asyncio.Event()

    def ask(self, page: Hashable, request: Request, deliver: Deliver) -> None:
        """Take a request in place of one that still waits."""
        # It keeps the place of the one it replaces, so that pages take turns.
        self._waiting[page, request.kind] = (request, deliver)
        self._something.set()

    def forget(self, page: Hashable) -> None:
        """Drop what a page waits for."""
        for key in [key for key in self._waiting if key[0] == page]:
            del self._waiting[key]

    async def run(self) -> None:
        """Answer requests, one after another, forever."""
        while True:
            await self._something.wait()
            while self._waiting:
                request, deliver = self._waiting.pop(next(iter(self._waiting)))
                try:
                    await self._worker.answer(request, deliver)
                except Cut as error:
                    about = {"type": "failed", "of": request.kind, "message": str(error)}
                    deliver("failed", json.dumps({"number": request.number, "cut": True, **about}))
            self._something.clear()

    def stop(self) -> None:
        """Kill the process."""
        self._worker.stop()
