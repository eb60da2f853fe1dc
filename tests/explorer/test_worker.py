"""Requests past their budget are cut, processes that die come back, none is left behind."""

import asyncio
import os
import signal
import time
from dataclasses import dataclass

import pytest

from carom.explorer.messages import Request, State
from carom.explorer.subjects import SceneSubject, Subject
from carom.explorer.worker import Desk, Worker


@dataclass(frozen=True)
class Endless(Subject):
    """A subject whose case is never made."""

    name: str = "endless"
    description: str = "never ends"

    def make(self, state):
        while True:
            time.sleep(0.01)


SUBJECTS = {"endless": Endless(), "rocking-block": SceneSubject("rocking-block")}
ENDLESS = Request("set", 1, State("endless"))
BLOCK = Request("set", 2, State("rocking-block"))


def is_running(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def answers(desk, request):
    """Return the types and texts that a request brings, up to the last of its stages."""
    found = []
    over = asyncio.Event()

    def deliver(kind, text):
        found.append((kind, text))
        if kind in ("exact", "failed"):
            over.set()

    desk.ask("page", request, deliver)
    await asyncio.wait_for(over.wait(), 240)
    return found


def test_a_request_that_does_not_end_is_cut_and_the_next_is_answered():
    async def run():
        worker = Worker(SUBJECTS, budget=1.0, seconds=60.0)
        desk = Desk(worker)
        task = asyncio.create_task(desk.run())
        try:
            # The first request of a process may compile, and is given far more time.
            assert (await answers(desk, BLOCK))[-1][0] == "exact"
            before = worker.pid
            worker.seconds = 0.5
            ((kind, text),) = await answers(desk, ENDLESS)
            assert kind == "failed"
            assert "more than 0.5 s and was cut" in text
            assert '"cut": true' in text
            assert not is_running(before)
            worker.seconds = 60.0
            assert (await answers(desk, BLOCK))[-1][0] == "exact"
            assert worker.pid != before
        finally:
            task.cancel()
            desk.stop()
        assert worker.pid is None

    asyncio.run(run())


@pytest.mark.slow
def test_compiling_takes_nothing_from_the_time_of_a_request(tmp_path, monkeypatch):
    """With nothing compiled, a request takes far longer than any other may."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))

    async def run():
        worker = Worker(SUBJECTS, budget=0.3, seconds=1.0)
        desk = Desk(worker)
        task = asyncio.create_task(desk.run())
        try:
            kinds = [kind for kind, _ in await answers(desk, BLOCK)]
            assert kinds == ["compiling", "scene", "samples", "exact"]
            before = worker.pid
            # What is interpreted at first would be compiled in the midst of these.
            for number in range(3, 60):
                asked = Request("set", number, State("rocking-block"), live=True)
                assert (await answers(desk, asked))[-1][0] == "exact"
            assert worker.pid == before
        finally:
            task.cancel()
            desk.stop()

    asyncio.run(run())


def test_a_process_that_dies_is_started_again():
    async def run():
        worker = Worker(SUBJECTS, budget=1.0, seconds=60.0)
        desk = Desk(worker)
        task = asyncio.create_task(desk.run())
        try:
            assert (await answers(desk, BLOCK))[-1][0] == "exact"
            asked = asyncio.create_task(answers(desk, ENDLESS))
            await asyncio.sleep(0.2)
            os.kill(worker.pid, signal.SIGKILL)
            ((kind, text),) = await asked
            assert kind == "failed"
            assert "ended" in text
            assert (await answers(desk, BLOCK))[-1][0] == "exact"
        finally:
            task.cancel()
            desk.stop()

    asyncio.run(run())


def test_of_waiting_requests_only_the_latest_is_answered():
    async def run():
        desk = Desk(Worker(SUBJECTS, budget=1.0))
        seen = []
        for number in range(5):
            desk.ask("page", Request("set", number, State("rocking-block")), seen.append)
        desk.ask("other", BLOCK, seen.append)
        assert [request.number for request, _ in desk._waiting.values()] == [4, 2]
        desk.forget("page")
        assert [request.number for request, _ in desk._waiting.values()] == [2]

    asyncio.run(run())
