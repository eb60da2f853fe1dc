"""A server in the test's own event loop, and a client that speaks as a page does."""

import contextlib
import json

from websockets.asyncio.client import connect

from carom.explorer.messages import State
from carom.explorer.server import Settings, running
from carom.explorer.subjects import SceneSubject

SUBJECTS = [SceneSubject("rocking-block"), SceneSubject("box-wall")]
TOKEN = "a-token-of-tests"


@contextlib.asynccontextmanager
async def serving(subjects=SUBJECTS, **settings):
    """Yield the port of a server."""
    settings = Settings(State(subjects[0].name), token=TOKEN, **settings)
    async with running(subjects, settings) as address:
        yield int(address.split(":")[2].split("/")[0])


def opened(port, *, token=TOKEN, host=None, origin=..., **options):
    """Return a connection to the socket, with the headers that a page's would have."""
    host = f"127.0.0.1:{port}" if host is None else host
    origin = f"http://127.0.0.1:{port}" if origin is ... else origin
    # The address decides Host, and where to connect is said apart.
    return connect(
        f"ws://{host}/socket?token={token}",
        host="127.0.0.1",
        port=port,
        origin=origin,
        open_timeout=20,
        compression=None,
        proxy=None,
        **options,
    )


class Page:
    """One side of a conversation."""

    def __init__(self, connection):
        self.connection = connection
        self.number = 0

    async def hello(self):
        answer = json.loads(await self.connection.recv())
        assert answer["type"] == "hello"
        return answer

    async def ask(self, kind="set", subject="rocking-block", **fields):
        state = fields.pop("state", {})
        self.number += 1
        message = {"kind": kind, "number": self.number, "state": {"subject": subject, **state}}
        await self.connection.send(json.dumps(message | fields))
        return self.number

    async def answer(self, *types, number=None):
        """Return the next answer of some types, to a request if its number is given."""
        while True:
            found = json.loads(await self.connection.recv())
            if found["type"] in types and number in (None, found.get("number")):
                return found
