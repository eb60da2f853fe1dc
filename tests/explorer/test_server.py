"""Who is let in, what is answered, and what closes a connection; the server stays alive."""

import asyncio
import contextlib
import http.client
import json
import random
from dataclasses import replace

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

import carom
from carom.explorer.server import BURST
from tests.explorer.clients import SUBJECTS, TOKEN, Page, opened, serving
from tests.explorer.test_messages import mutated


def get(port, path, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.request("GET", path, headers=headers)
    response = connection.getresponse()
    return response.status, dict(response.getheaders()), response.read().decode()


async def reason_of_close(connection):
    """Wait until the server closes a connection; return its code and reason."""
    await connection.wait_closed()
    reason = connection.close_reason
    return connection.close_code, "" if "frame" in reason else reason


async def is_alive(port):
    async with opened(port) as connection:
        page = Page(connection)
        await page.hello()
        number = await page.ask()
        answer = await page.answer("exact", "failed", number=number)
        return answer["type"] == "exact"


def test_the_page_is_whole_and_may_load_nothing():
    async def run():
        async with serving() as port:
            status, headers, text = await asyncio.to_thread(get, port, f"/?token={TOKEN}")
            assert status == 200
            policy = headers["Content-Security-Policy"]
            assert "default-src 'none'" in policy
            assert "unsafe" not in policy
            assert headers["Cache-Control"] == "no-store"
            assert headers["X-Frame-Options"] == "DENY"
            # Nothing is named that another machine would have to send.
            assert "http://" not in text.replace("http://www.w3.org/2000/svg", "")
            assert "https://" not in text
            assert "/* script */" not in text

    asyncio.run(run())


@pytest.mark.parametrize(
    ("path", "headers", "status", "word"),
    [
        ("/", {}, 403, "token"),
        ("/?token=", {}, 403, "token"),
        ("/?token=wrong", {}, 403, "token"),
        (f"/?token={TOKEN}x", {}, 403, "token"),
        (f"/?token={TOKEN}", {"Host": "evil.example"}, 403, "Host"),
        (f"/?token={TOKEN}", {"Host": ""}, 403, "Host"),
        (f"/?token={TOKEN}", {"Origin": "http://evil.example"}, 403, "Origin"),
        (f"/?token={TOKEN}", {"Origin": "null"}, 403, "Origin"),
        (f"/etc/passwd?token={TOKEN}", {}, 404, "nothing"),
        (f"/../../etc/passwd?token={TOKEN}", {}, 404, "nothing"),
        (f"//evil.example/?token={TOKEN}", {}, 200, "<!doctype html>"),
    ],
)
def test_requests_are_refused_with_a_reason(path, headers, status, word):
    async def run():
        async with serving() as port:
            found, _, text = await asyncio.to_thread(get, port, path, **headers)
            assert found == status
            assert word in text

    asyncio.run(run())


@pytest.mark.parametrize(
    "headers",
    [
        {"token": "wrong"},
        {"token": ""},
        {"origin": "http://evil.example"},
        {"origin": None},
        {"origin": "https://127.0.0.1:1"},
        {"host": "evil.example"},
        {"host": "127.0.0.1:1"},
    ],
)
def test_sockets_of_others_are_refused(headers):
    async def run():
        async with serving() as port:
            with pytest.raises(InvalidStatus) as refusal:
                await opened(port, **headers)
            assert refusal.value.response.status_code == 403

    asyncio.run(run())


def test_a_set_comes_as_scene_samples_and_exact():
    async def run():
        async with serving() as port, opened(port) as connection:
            page = Page(connection)
            hello = await page.hello()
            assert [each["name"] for each in hello["subjects"]] == ["rocking-block", "box-wall"]
            number = await page.ask(state={"parameters": {"width": 0.5}, "mu": {"A": 0.3}})
            kinds = []
            while "exact" not in kinds:
                found = json.loads(await connection.recv())
                assert found["number"] == number
                kinds.append(found["type"])
            assert [kind for kind in kinds if kind != "compiling"] == ["scene", "samples", "exact"]
            return found

    exact = asyncio.run(run())
    block = carom.scenes.load("rocking-block", width=0.5).problem
    expected = carom.RouthExact().resolve(replace(block, mu=[0.3, 1.0]))
    assert exact["bounds"] == expected.contact_bounds().tolist()
    assert tuple(exact["kinds"]) == expected.kinds
    assert exact["complete"]


def test_malformed_messages_close_with_a_reason_and_change_nothing():
    async def run():
        rng = random.Random(1)
        async with serving() as port:
            closed = 0
            for _ in range(150):
                async with opened(port) as connection:
                    await Page(connection).hello()
                    await connection.send(mutated(rng))
                    try:
                        await connection.recv()
                    except ConnectionClosed:
                        assert connection.close_code == 1007
                        assert connection.close_reason.startswith("malformed message: ")
                        closed += 1
            assert closed > 75
            for text in ("x" * 20_000, "x" * 10**6):
                async with opened(port) as connection:
                    await Page(connection).hello()
                    await connection.send(text)
                    assert await reason_of_close(connection) == (1009, "")
            assert await is_alive(port)

    asyncio.run(run())


@pytest.mark.slow
def test_ten_thousand_fuzzed_messages_leave_the_server_alive():
    async def run():
        rng = random.Random(2)
        async with serving() as port:
            for _ in range(10_000):
                async with opened(port) as connection:
                    await Page(connection).hello()
                    await connection.send(mutated(rng))
            assert await is_alive(port)

    asyncio.run(run())


def test_unknown_subjects_are_refused():
    async def run():
        async with serving() as port, opened(port) as connection:
            page = Page(connection)
            await page.hello()
            await page.ask(subject="../../etc/passwd")
            reason = "malformed message: subject: not explored here"
            assert await reason_of_close(connection) == (1007, reason)

    asyncio.run(run())


def test_too_many_messages_close_the_connection(monkeypatch):
    # A slow machine must not send fewer than are allowed.
    monkeypatch.setattr("carom.explorer.server.RATE", 1.0)

    async def run():
        async with serving() as port:
            async with opened(port) as connection:
                page = Page(connection)
                await page.hello()
                with contextlib.suppress(ConnectionClosed):
                    for _ in range(4 * int(BURST)):
                        await page.ask("extremes")
                assert await reason_of_close(connection) == (1008, "too many messages")
            assert await is_alive(port)

    asyncio.run(run())


def test_the_latest_request_wins_and_nothing_queues_up():
    async def run():
        async with serving() as port, opened(port) as connection:
            page = Page(connection)
            await page.hello()
            await page.answer("exact", number=await page.ask())
            for width in range(1, 201):
                last = await page.ask(state={"parameters": {"width": 0.01 * width}})
            answered = []
            while not answered or answered[-1] != last:
                answered.append((await page.answer("exact"))["number"])
            # Far fewer than were asked for, in their order, and the last one is the last.
            assert answered == sorted(answered)
            assert len(answered) < 150

    asyncio.run(run())


def test_two_pages_take_turns():
    async def run():
        async with serving() as port, opened(port) as first, opened(port) as second:
            pages = [Page(first), Page(second)]
            for page in pages:
                await page.hello()
            asked = [
                await page.ask(subject=s.name) for page, s in zip(pages, SUBJECTS, strict=True)
            ]
            both = [await p.answer("exact", number=n) for p, n in zip(pages, asked, strict=True)]
            assert both[0]["kinds"] != both[1]["kinds"]

    asyncio.run(run())


def test_what_cannot_be_is_an_answer():
    async def run():
        async with serving() as port, opened(port) as connection:
            page = Page(connection)
            await page.hello()
            for state, word in (
                ({"parameters": {"width": -1}}, "width"),
                ({"parameters": {"wings": 2}}, "wings"),
                ({"mu": {"Z": 1}}, "Z"),
                ({"v": [1]}, "v_pre"),
                ({"axes": [0, 900]}, "axes"),
            ):
                number = await page.ask(state=state)
                answer = await page.answer("failed", number=number)
                assert word in answer["message"]
            answer = await page.answer("exact", number=await page.ask())
            assert answer["complete"]

    asyncio.run(run())


def test_a_port_in_use_is_an_error_in_one_sentence():
    async def run():
        async with serving() as port:
            with pytest.raises(carom.InvalidOption, match="cannot listen"):
                async with serving(port=port):
                    pass

    asyncio.run(run())
