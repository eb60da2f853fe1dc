"""The explorer's page in a real browser: what it shows is asserted as data."""

import json
import os
import re
import signal
import time
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import sync_playwright

import carom
from carom.explorer.messages import State
from carom.explorer.subjects import SceneSubject
from tests.browser.chromium import (
    CHROMIUM,
    FLAGS,
    MISSING,
    Server,
    children,
    data,
    free_port,
    settled,
    until,
)

FOUR = ("rocking-block", "compass-gait", "box-wall", "ramone")


@pytest.fixture(scope="module")
def browser():
    if CHROMIUM is None:
        pytest.fail(MISSING)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def server():
    found = Server("rocking-block")
    yield found
    found.end()


@pytest.fixture
def context(browser):
    made = browser.new_context(
        viewport={"width": 1400, "height": 1000}, permissions=["clipboard-read", "clipboard-write"]
    )
    yield made
    made.close()


@pytest.fixture
def open_page(context):
    """Return what opens a page, and watch that it asks nobody else and complains about nothing."""
    wrong, asked = [], []

    def opened(address):
        page = context.new_page()
        page.on("console", lambda m: wrong.append(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.on("websocket", lambda socket: asked.append(socket.url))
        page.goto(address)
        return page

    opened.wrong = wrong
    yield opened
    assert wrong == []
    hosts = {urlsplit(url).hostname for url in asked if not url.startswith(("data:", "blob:"))}
    assert hosts == {"127.0.0.1"}


@pytest.fixture
def page(open_page, server):
    page = open_page(server.address)
    settled(page)
    return page


def exact_bounds(state):
    """Return the bounds of what a page shows, computed here."""
    pairs = [tuple(sorted(state[key].items())) for key in ("parameters", "mu")]
    v = None if state["v"] is None else tuple(state["v"])
    case = SceneSubject(state["subject"]).make(State(state["subject"], *pairs, v))
    return carom.RouthExact().resolve(case.problem).contact_bounds().tolist()


def assert_true(page):
    """Assert that the set on the screen is that of the state; return the data."""
    shown = settled(page)
    assert shown["exact"]["bounds"] == exact_bounds(shown["state"])
    return shown


def test_loads_and_shows_the_exact_set(page):
    shown = assert_true(page)
    assert shown["exact"]["complete"]
    assert page.inner_text("#status") == "exact, complete"
    endings = page.locator("#endings button").all_inner_texts()
    assert endings == shown["exact"]["kinds"]
    rows = page.locator("#bounds tbody tr").count()
    assert rows == 4


@pytest.mark.parametrize("name", FOUR)
def test_every_slider_moves_the_set(page, name):
    page.select_option("#subject", name)
    until(page, f"carom.data().state.subject === '{name}'")
    settled(page)
    keys = page.locator(".control[data-key]").evaluate_all("all => all.map(x => x.dataset.key)")
    # Of contacts that bounce there is no exact set.
    keys = [key for key in keys if not key.startswith("e.")]
    assert len(keys) >= 6
    for key in keys:
        before = settled(page)
        slider = page.locator(f'.control[data-key="{key}"] input[type=range]')
        slider.scroll_into_view_if_needed()
        box = slider.bounding_box()
        start = float(slider.evaluate("x => (x.value - x.min) / (x.max - x.min)"))
        middle = box["y"] + box["height"] / 2
        page.mouse.move(box["x"] + 8 + start * (box["width"] - 16), middle)
        page.mouse.down()
        for share in (0.55, 0.5, 0.45):
            page.mouse.move(box["x"] + share * box["width"], middle)
        page.mouse.up()
        shown = settled(page)
        state = shown["state"]
        changed = state["mu"][key[3:]] if key.startswith("mu.") else state["parameters"][key]
        assert changed != before["state"]["parameters"].get(key)
        if shown["failed"] is None:
            assert_true(page)
        else:
            # A configuration that cannot be is said, and the last set stays.
            with pytest.raises(carom.InvalidProblem, match=re.escape(shown["failed"]["message"])):
                exact_bounds(state)
            assert shown["failed"]["message"] in page.inner_text("#scene-hint")
        page.locator(f'.control[data-key="{key}"] button').click()
        shown = assert_true(page)
        assert key not in shown["state"]["parameters"]
        assert shown["failed"] is None


def test_the_arrow_drags_the_velocity(page):
    before = settled(page)
    box = page.locator("#scene .handle").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    for k in range(1, 11):
        page.mouse.move(x + 6 * k, y - 2 * k)
    page.mouse.up()
    shown = assert_true(page)
    assert shown["state"]["v"][0] > 0.1
    assert shown["state"]["v"][1] > before["scene"]["v"][1]
    assert shown["state"]["v"][2] == 0.0
    # By keys, too.
    page.locator("#scene .handle").focus()
    page.keyboard.press("ArrowRight")
    assert assert_true(page)["state"]["v"][0] > shown["state"]["v"][0]


def test_velocities_can_be_typed_and_wrong_ones_are_not_taken(page):
    page.fill("#v-2", "0.3")
    page.press("#v-2", "Enter")
    until(page, "carom.data().state.v !== null")
    assert assert_true(page)["state"]["v"][2] == 0.3
    page.locator("#velocity .control").nth(2).locator("button").click()
    assert assert_true(page)["state"]["v"] is None
    page.fill("#v-2", "")
    page.press("#v-2", "Enter")
    assert assert_true(page)["state"]["v"] is None


def test_a_number_that_cannot_be_dims_what_is_no_longer_true(page):
    field = page.locator('.control[data-key="mu.A"] input[type=number]')
    field.fill("")
    page.keyboard.press("Enter")
    until(page, "document.querySelector('#right').classList.contains('stale')")
    assert field.get_attribute("aria-invalid") == "true"
    field.fill("0.3")
    page.keyboard.press("Enter")
    until(page, "carom.data().state.mu.A === 0.3")
    assert_true(page)
    until(page, "!document.querySelector('#right').classList.contains('stale')")
    assert field.get_attribute("aria-invalid") == "false"


def test_keys_step_finely_with_shift(page):
    field = page.locator('.control[data-key="mu.A"] input[type=number]')
    before = float(field.input_value())
    field.focus()
    page.keyboard.press("ArrowUp")
    step = float(field.input_value()) - before
    assert step > 0.0
    page.keyboard.press("Shift+ArrowUp")
    until(page, f"Math.abs(carom.data().state.mu.A - {before + 1.1 * step}) < 1e-9")
    assert_true(page)


def test_sliders_that_a_typed_velocity_overrides_say_so(page):
    is_marked = "document.querySelector('.control[data-key=speed]').matches('.overridden')"
    assert not page.evaluate(is_marked)
    page.fill("#v-2", "0.3")
    page.press("#v-2", "Enter")
    until(page, is_marked)
    page.locator("#velocity .control").nth(2).locator("button").click()
    until(page, f"!{is_marked}")


def test_endings_of_samples_are_buttons_too(page):
    page.select_option("#subject", "disk-stack")
    until(page, "carom.data().state.subject === 'disk-stack'")
    until(page, "document.querySelectorAll('#endings.sampled button').length > 5")
    name = page.locator("#endings button").first.inner_text()
    page.locator("#endings button").first.focus()
    until(page, f"carom.data().outcome?.kind === {json.dumps(name)}")
    assert data(page)["outcome"]["words"]


def test_what_is_reached_and_proved_is_drawn_where_the_set_is_not_exact(page):
    assert page.locator("#planes .extremes").count() == 0
    page.select_option("#subject", "disk-stack")
    until(page, "carom.data().state.subject === 'disk-stack' && carom.data().extremes !== null")
    assert not settled(page)["exact"]["complete"]
    # The large plane shows two of the contact velocities: those of A, normal first, then of B.
    known = [interval for row in data(page)["extremes"]["table"] for interval in row]
    across, up = data(page)["scene"]["planes"][0]
    (a_low, a_high), (b_low, b_high) = known[across], known[up]
    figure = page.locator("#planes figure").first
    for k, kind in enumerate(("reached", "proved")):
        drawn = figure.locator(f"rect.{kind}").evaluate(
            "r => ['x', 'y', 'width', 'height'].map((key) => Number(r.getAttribute(key)))"
        )
        x0, y0, x1, y1 = figure.evaluate(
            "(f, [x0, y0, x1, y1]) => [f.map.X(x0), f.map.Y(y0), f.map.X(x1), f.map.Y(y1)]",
            [a_low[k], b_low[k], a_high[k], b_high[k]],
        )
        assert drawn == pytest.approx([x0, y1, x1 - x0, y0 - y1], abs=1e-6)


def test_pointing_tells_a_way_and_clicking_plays(page):
    # The middle of the segment in which A lifts, in the large plane.
    figure = page.locator("#planes figure").first
    at = figure.evaluate("f => [f.map.X(0.05) / f.map.W, f.map.Y(0) / f.map.H]")
    box = figure.locator("svg").bounding_box()
    x, y = box["x"] + at[0] * box["width"], box["y"] + at[1] * box["height"]
    page.mouse.move(x, y)
    until(page, "carom.data().outcome !== null")
    outcome = data(page)["outcome"]
    assert outcome["kind"] == "A lifts, B sticks"
    assert outcome["at"][0] == pytest.approx(0.05, abs=5e-3)
    assert page.inner_text("#outcome h2") == outcome["kind"]
    assert page.locator("#outcome li").count() == len(outcome["words"]) - 1
    assert page.locator("#planes .way").count() == 3
    assert page.locator("#scene .ghost").count() > 0
    page.mouse.move(box["x"] + 5, box["y"] - 40)
    until(page, "carom.data().outcome === null")
    page.mouse.click(x, y)
    until(page, "carom.data().motion !== null")
    motion = data(page)["motion"]
    assert motion["status"] == "finished"
    assert motion["poses"][0][0] == pytest.approx([0.0, 1.0, 0.0])
    until(page, "Number(document.getElementById('time').value) > 0.05")
    page.click("#play")
    page.click("#stop")
    assert data(page)["motion"] is None


def test_endings_are_buttons_that_the_keyboard_reaches(page):
    page.locator("#endings button", has_text="A sticks, B lifts").focus()
    until(page, "carom.data().outcome?.kind === 'A sticks, B lifts'")
    page.locator("#planes svg").first.focus()
    page.keyboard.press("ArrowRight")
    first = until(page, "carom.data().outcome?.v")
    page.keyboard.press("ArrowRight")
    until(page, f"JSON.stringify(carom.data().outcome?.v) !== '{json.dumps(first)}'")
    page.keyboard.press("Escape")
    until(page, "carom.data().outcome === null")


def test_every_control_has_a_label(page):
    page.select_option("#subject", "ramone")
    settled(page)
    nameless = page.evaluate(
        """() => [...document.querySelectorAll("button, input, select, svg[tabindex], .handle")]
        .filter((x) => !(x.getAttribute("aria-label") || x.textContent.trim() || x.labels?.length))
        .map((x) => x.outerHTML)"""
    )
    assert nameless == []


def test_copied_python_gives_the_same_bounds(page):
    page.locator('.control[data-key="mu.A"] input[type=number]').fill("0.2")
    page.keyboard.press("Enter")
    page.locator('.control[data-key="width"] input[type=number]').fill("0.6")
    page.keyboard.press("Enter")
    until(page, "carom.data().state.parameters.width === 0.6")
    shown = assert_true(page)
    page.click("#copy-python")
    names = {}
    exec(page.evaluate("navigator.clipboard.readText()"), names)
    assert names["outcomes"].contact_bounds().tolist() == shown["exact"]["bounds"]
    page.click("#copy-command")
    command = page.evaluate("navigator.clipboard.readText()")
    assert command.startswith("carom outcomes rocking-block --set width=0.6 --friction A=0.2")


def test_files_can_be_downloaded(page):
    page.click("#downloads summary")
    for choice, start in (
        ('[data-figure="scene"][data-format="svg"]', b"<svg"),
        ('[data-figure="planes"][data-format="svg"]', b"<svg"),
        ('[data-figure="planes"][data-format="png"]', b"\x89PNG"),
        ("#download-json", b"{"),
    ):
        with page.expect_download() as waiting:
            page.click(choice)
        content = waiting.value.path().read_bytes()
        assert content.startswith(start)
    assert json.loads(content)["exact"]["complete"]


def test_contacts_that_bounce_show_samples_and_say_so(page, open_page):
    page.locator('.control[data-key="e.A"] input[type=number]').fill("0.5")
    page.keyboard.press("Enter")
    until(page, "carom.data().state.restitution.A === 0.5")
    until(page, "carom.data().exact?.message?.includes('restitution')")
    until(page, "carom.data().samples?.count > 0")
    assert page.inner_text("#status") == "samples only"
    assert "of contacts with restitution there is no exact set" in page.inner_text("#facts")
    until(page, "location.hash.includes('e.A=0.5')")
    other = open_page(page.url)
    until(other, "carom.data().samples?.count > 0")
    assert other.evaluate("carom.data().state.restitution") == {"A": 0.5}
    page.locator('.control[data-key="e.A"] button').click()
    assert_true(page)


def test_the_address_holds_the_state(page, open_page):
    page.select_option("#subject", "box-wall")
    settled(page)
    page.locator('.control[data-key="mu.B"] input[type=number]').fill("0.35")
    page.keyboard.press("Enter")
    until(page, "carom.data().state.mu.B === 0.35")
    before = assert_true(page)
    until(page, "location.hash.includes('mu.B=0.35')")
    page.reload()
    assert settled(page)["exact"]["bounds"] == before["exact"]["bounds"]
    other = open_page(page.url)
    assert settled(other)["state"] == before["state"]


NO_CHANGE = {"parameters": {}, "mu": {}, "restitution": {}, "v": None, "axes": None}
LONG = "x" * 250


@pytest.mark.parametrize(
    "odd",
    [
        "scene=nothing&v=1,x&mu.A=&%zz=1&axes=-1,0",
        "set.width=1e300&mu.A=-1e10&v=1e12,0,0",
        f"set.wings=2&set.=1&mu.{LONG}=1&set.__proto__=1&v=&outcome=",
    ],
)
def test_what_makes_no_sense_in_an_address_is_left_out(open_page, server, odd):
    page = open_page(f"{server.address}#{odd}")
    shown = assert_true(page)
    assert shown["state"] == {"subject": "rocking-block", **NO_CHANGE}


@pytest.mark.parametrize(
    ("odd", "why"),
    [
        ("mu.Z=1", "no contact 'Z'"),
        ("v=1,2", "v_pre: expected (3,)"),
        ("axes=900,0", "axes: expected numbers below 7"),
        ("set.width=0", "width: expected a number > 0"),
        ("&".join(f"mu.c{i}=1" for i in range(80)), "no contact 'c0'"),
    ],
)
def test_an_address_that_cannot_be_shows_the_scene_as_it_is(open_page, server, odd, why):
    page = open_page(f"{server.address}#scene=rocking-block&{odd}")
    until(page, "!!document.getElementById('toast').textContent")
    assert why in page.inner_text("#toast")
    shown = assert_true(page)
    assert shown["state"] == {"subject": "rocking-block", **NO_CHANGE}
    assert page.locator("#friction .control").count() == 2


def test_an_outcome_of_another_impact_in_the_address_does_not_stop_pointing(open_page, server):
    page = open_page(f"{server.address}#scene=rocking-block&outcome=1,2")
    settled(page)
    page.locator("#endings button", has_text="A sticks, B lifts").hover()
    until(page, "carom.data().outcome?.kind === 'A sticks, B lifts'")


def test_answers_about_an_earlier_state_are_not_shown(page):
    """A motion and proofs take their time; meanwhile something else is on the screen."""
    page.locator("#endings button", has_text="A sticks, B lifts").click()
    until(page, "!document.getElementById('player').hidden")
    field = page.locator('.control[data-key="width"] input[type=number]')
    field.fill("0.8")
    page.keyboard.press("Enter")
    assert_true(page)
    # A motion that is asked for later is answered later.
    page.locator("#endings button", has_text="A lifts, B sticks").focus()
    page.keyboard.press("Enter")
    motion = until(page, "carom.data().motion")
    # It pivots to the right at first, the other one to the left.
    assert motion["poses"][1][0][2] < 0.0
    assert motion["number"] > data(page)["exact"]["number"]
    page.click("#stop")
    page.select_option("#subject", "disk-stack")
    until(page, "carom.data().state.subject === 'disk-stack' && carom.data().scene !== null")
    page.select_option("#subject", "box-wall")
    until(page, "carom.data().extremes !== null")
    shown = assert_true(page)
    assert len(shown["extremes"]["table"]) == 2
    assert shown["extremes"]["number"] > shown["scene"]["number"]


def test_a_velocity_as_large_as_can_be_is_dragged_no_further(page):
    for k in (0, 1):
        page.fill(f"#v-{k}", "1e9")
        page.press(f"#v-{k}", "Enter")
    until(page, "carom.data().state.v?.[1] === 1e9")
    settled(page)
    page.locator("#scene .handle").focus()
    page.keyboard.press("ArrowRight")
    assert settled(page)["state"]["v"][:2] == [1e9, 1e9]


def test_names_from_outside_are_text(open_page, tmp_path):
    block = carom.scenes.load("rocking-block").problem
    evil = "<img src=x onerror=alert(1)>"
    file = tmp_path / "impact.json"
    replace(block, contacts=(evil, "</script><b>")).save(file)
    server = Server(str(file))
    try:
        page = open_page(server.address)
        settled(page)
        assert page.locator("img").count() == 0
        assert evil in page.inner_text("#bounds")
        assert page.locator("#endings button").count() == 3
    finally:
        server.end()


def test_dark_and_light(browser, server):
    for scheme in ("dark", "light"):
        context = browser.new_context(color_scheme=scheme)
        page = context.new_page()
        page.goto(server.address)
        settled(page)
        color = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)[0]"
        assert (page.evaluate(color) < 60) == (scheme == "dark")
        page.click("#theme")
        assert (page.evaluate(color) < 60) == (scheme == "light")
        context.close()


def test_axes_do_not_jump_while_dragging(page):
    slider = page.locator('.control[data-key="height"] input[type=range]')
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    middle = box["y"] + box["height"] / 2
    view = "document.querySelector('#planes figure').map.view.map((r) => [r.low, r.high])"
    page.mouse.move(box["x"] + 0.64 * box["width"], middle)
    page.mouse.down()
    seen = []
    for k in range(30):
        page.mouse.move(box["x"] + (0.64 - 0.015 * k) * box["width"], middle)
        settled(page)
        seen.append(page.evaluate(view))
    page.mouse.up()
    # A range may grow, but it never shrinks or slides.
    for before, after in pairwise(seen):
        for (low, high), (new_low, new_high) in zip(before, after, strict=True):
            assert new_low <= low
            assert new_high >= high


def test_two_tabs_do_not_disturb_each_other(page, open_page, server):
    other = open_page(server.address)
    settled(other)
    other.select_option("#subject", "box-wall")
    for k in range(10):
        for each, key in ((page, "width"), (other, "side")):
            each.locator(f'.control[data-key="{key}"] input[type=number]').fill(str(0.5 + 0.1 * k))
            each.keyboard.press("Enter")
    assert assert_true(page)["state"]["parameters"] == {"width": 1.4}
    assert assert_true(other)["state"]["parameters"] == {"side": 1.4}


def test_a_page_finds_a_server_that_was_killed_and_started_again(open_page):
    port, token = free_port(), "a-token-of-the-browser-tests"
    server = Server("box-wall", port=port, token=token)
    try:
        page = open_page(server.address)
        settled(page)
        page.locator('.control[data-key="mu.A"] input[type=number]').fill("0.4")
        page.keyboard.press("Enter")
        until(page, "carom.data().state.mu.A === 0.4")
        before = assert_true(page)
        server.end("kill")
        until(page, "document.getElementById('status').dataset.kind === 'off'")
        # The page tries again at least once before there is a server to find.
        page.wait_for_event("console")
        server = Server("box-wall", port=port, token=token)
        until(page, "document.getElementById('status').dataset.kind === 'exact'")
        assert assert_true(page)["exact"]["bounds"] == before["exact"]["bounds"]
        # Chromium reports every attempt to connect; nothing else may have gone wrong.
        refused = [text for text in open_page.wrong if "WebSocket connection" in text]
        assert refused
        assert refused == open_page.wrong
        open_page.wrong.clear()
    finally:
        server.end()


def test_ctrl_c_ends_the_server_and_all_its_processes(open_page):
    server = Server("rocking-block")
    page = open_page(server.address)
    settled(page)
    started = children(server.process.pid)
    assert len(started) > 1
    os.kill(server.process.pid, signal.SIGINT)
    assert server.process.wait(30) == 0
    end = time.monotonic() + 30.0
    while any(Path(f"/proc/{pid}").exists() for pid in started[1:]):
        assert time.monotonic() < end
        time.sleep(0.05)
    page.close()
    server.process.stdout.close()
    open_page.wrong.clear()
