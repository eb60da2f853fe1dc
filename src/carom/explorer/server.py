"""The server of the page: loopback only, one token, checked hosts, origins, sizes and rates."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import json
import secrets
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict, dataclass, field
from http import HTTPStatus
from importlib.metadata import version
from typing import Any
from urllib.parse import parse_qs, urlsplit

from carom.errors import InvalidOption, MissingExtra
from carom.explorer.messages import MOST_BYTES, BadMessage, State, parse
from carom.explorer.page import page
from carom.explorer.subjects import Subject
from carom.explorer.worker import Desk, Subjects, Worker

try:
    from websockets.asyncio.server import Server, ServerConnection, serve
    from websockets.datastructures import Headers
    from websockets.exceptions import ConnectionClosed
    from websockets.http11 import Request as HttpRequest
    from websockets.http11 import Response
except ModuleNotFoundError as error:
    raise MissingExtra.of("the explorer", "websockets", "explore") from error

LOOPBACK = ("127.0.0.1", "::1", "localhost")
SOCKET = "/socket"
RATE = 250.0
"""Messages per second that a page may send for long; a screen shows 60 to 240 pictures."""
BURST = 500.0
"""Messages that it may send at once."""
MOST_PAGES = 32
"""Maximum number of pages at a time."""
QUICK = ("set", "outcome")
"""Requests that follow the hand; others take longer, and have a process of their own."""
PATIENCE = 20.0
"""Time that the others may take [s]."""
BAD_MESSAGE, REFUSED = 1007, 1008


@dataclass(frozen=True)
class Settings:
    """How the explorer is served.

    Attributes:
        first: State that a page without one begins with.
        host: Address to listen on.
        port: Port, or 0 for any that is free.
        budget: Time budget of an exact set [s].
        token: What an address must contain to be answered.
    """

    first: State
    host: str = "127.0.0.1"
    port: int = 0
    budget: float = 1.0
    token: str = field(default_factory=lambda: secrets.token_urlsafe(18))


@contextlib.asynccontextmanager
async def running(subjects: Sequence[Subject], settings: Settings) -> AsyncIterator[str]:
    """Serve pages as long as the context lasts; yields the address."""
    explorer = Explorer({each.name: each for each in subjects}, settings)
    limits: Any = {"max_size": MOST_BYTES, "max_queue": 16, "compression": None}
    # Pages that do not answer, and connections that browsers open and never use, must not hold up
    # the end.
    limits |= {"close_timeout": 1.0, "open_timeout": 3.0}
    async with explorer.desks():
        try:
            server = await serve(
                explorer.attend,
                settings.host,
                settings.port,
                process_request=explorer.admit,
                **limits,
                server_header=None,
            )
        except OSError as error:
            where = f"{settings.host}:{settings.port}"
            raise InvalidOption(f"cannot listen on {where}: {error.strerror or error}") from error
        async with server:
            yield explorer.listen_on(server)


class Explorer:
    """Admit pages, and answer them."""

    def __init__(self, subjects: Subjects, settings: Settings) -> None:
        self._subjects = subjects
        self._settings = settings
        self._port = settings.port
        self._pages = 0
        self._quick = Desk(Worker(subjects, settings.budget))
        self._patient = Desk(Worker(subjects, settings.budget, PATIENCE))

    @contextlib.asynccontextmanager
    async def desks(self) -> AsyncIterator[None]:
        """Run the desks as long as the context lasts."""
        desks = (self._quick, self._patient)
        tasks = [asyncio.create_task(desk.run()) for desk in desks]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            for desk in desks:
                desk.stop()

    def listen_on(self, server: Server) -> str:
        """Learn the port that was given, and return the address of the page."""
        self._port = next(iter(server.sockets)).getsockname()[1]
        host = self._settings.host
        shown = f"[{host}]" if ":" in host else host
        return f"http://{shown}:{self._port}/?token={self._settings.token}"

    def _hosts(self) -> set[str]:
        """Return the values of Host that name this server, whatever a page's own name is.

        A page of another name that resolves to this address (DNS rebinding) has another Host.
        """
        names = {*LOOPBACK, self._settings.host}
        bracketed = {f"[{name}]" if ":" in name else name for name in names}
        return {f"{name}:{self._port}" for name in bracketed}

    def admit(self, connection: ServerConnection, request: HttpRequest) -> Response | None:
        """Answer a request for the page, let one for its socket pass, refuse all others."""
        try:
            host = request.headers.get("Host", "")
            origin = request.headers.get("Origin")
            address = urlsplit(request.path)
            token = parse_qs(address.query).get("token", [""])[0]
        except (LookupError, ValueError):
            return _respond(HTTPStatus.BAD_REQUEST, "malformed request")
        hosts = self._hosts()
        if host.lower() not in hosts:
            return _respond(HTTPStatus.FORBIDDEN, "wrong Host")
        if origin is not None and origin.lower() not in {f"http://{each}" for each in hosts}:
            return _respond(HTTPStatus.FORBIDDEN, "wrong Origin")
        if not hmac.compare_digest(token.encode(), self._settings.token.encode()):
            return _respond(HTTPStatus.FORBIDDEN, "wrong token: open the address that was printed")
        if address.path == "/":
            text, policy = page()
            return _respond(HTTPStatus.OK, text, "text/html", policy)
        if address.path != SOCKET:
            return _respond(HTTPStatus.NOT_FOUND, "there is nothing here")
        if origin is None:
            # A browser always names the page's origin when it opens a socket.
            return _respond(HTTPStatus.FORBIDDEN, "wrong Origin")
        if self._pages >= MOST_PAGES:
            return _respond(HTTPStatus.SERVICE_UNAVAILABLE, "too many pages")
        return None

    async def attend(self, connection: ServerConnection) -> None:
        """Answer the messages of one page until it leaves."""
        self._pages += 1
        outbox = Outbox()
        sender = asyncio.create_task(outbox.run(connection))
        tokens, then = BURST, time.monotonic()
        try:
            outbox.put("hello", self._hello())
            async for text in connection:
                now = time.monotonic()
                tokens = min(BURST, tokens + RATE * (now - then)) - 1.0
                then = now
                if tokens < 0.0:
                    await connection.close(REFUSED, "too many messages")
                    return
                request = parse(text)
                if request.state.subject not in self._subjects:
                    raise BadMessage("subject: not explored here")
                desk = self._quick if request.kind in QUICK else self._patient
                desk.ask(connection.id, request, outbox.put)
        except BadMessage as error:
            await connection.close(BAD_MESSAGE, f"malformed message: {error}")
        except ConnectionClosed:
            pass
        finally:
            self._pages -= 1
            for desk in (self._quick, self._patient):
                desk.forget(connection.id)
            sender.cancel()

    def _hello(self) -> str:
        """Return what a page must know before all else."""
        subjects = [
            {
                "name": each.name,
                "description": each.description,
                "controls": [asdict(control) for control in each.controls],
            }
            for each in self._subjects.values()
        ]
        first = asdict(self._settings.first)
        first |= {key: dict(first[key]) for key in ("parameters", "mu", "restitution")}
        about = {"version": version("carom"), "budget": self._settings.budget}
        return json.dumps({"type": "hello", "subjects": subjects, "first": first, **about})


class Outbox:
    """What is to be sent to a page; a later message of a type replaces one that still waits."""

    def __init__(self) -> None:
        self._waiting: dict[str, str] = {}
        self._something = asyncio.Event()

    def put(self, kind: str, text: str) -> None:
        """Take a message to be sent."""
        self._waiting.pop(kind, None)
        self._waiting[kind] = text
        self._something.set()

    async def run(self, connection: ServerConnection) -> None:
        """Send messages as fast as the page takes them."""
        with contextlib.suppress(ConnectionClosed):
            while True:
                await self._something.wait()
                self._something.clear()
                while self._waiting:
                    await connection.send(self._waiting.pop(next(iter(self._waiting))))


def _respond(
    status: HTTPStatus, text: str, kind: str = "text/plain", policy: str = "default-src 'none'"
) -> Response:
    """Return a response that no other page can read, frame or keep."""
    body = text.encode()
    headers = {
        "Content-Type": f"{kind}; charset=utf-8",
        "Content-Length": str(len(body)),
        "Content-Security-Policy": policy,
        "Cache-Control": "no-store",
        "Connection": "close",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
    }
    return Response(status.value, status.phrase, Headers(headers), body)
