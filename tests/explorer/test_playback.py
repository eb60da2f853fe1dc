"""The page without a server holds what the laws say."""

import base64
import gzip
import json

import pytest

import carom
from carom.explorer import playback
from carom.explorer.answers import Answers
from carom.explorer.messages import State
from carom.explorer.subjects import SceneSubject

pytestmark = pytest.mark.needs("ppl")


def test_sliders_begin_on_the_grid():
    for controls in playback.RECORDED.values():
        values = [at for _, at in playback.grid(controls)]
        assert len(values) == (playback.STEPS + 1) ** 2
        assert {each.key: each.default for each in controls} in values


def test_a_tape_is_the_exact_set():
    recorder = playback.Recorder(Answers({"box-wall": SceneSubject("box-wall")}, budget=10.0))
    tape = recorder.tape(State("box-wall", (("mu", 0.6), ("tilt", 0.35))))
    exact = carom.RouthExact().resolve(carom.scenes.load("box-wall", mu=0.6, tilt=0.35).problem)
    scene, _, found = tape["stages"]
    assert found["bounds"] == exact.contact_bounds().tolist()
    assert scene["type"] == "scene"
    assert all(each["words"] for each in tape["outcomes"] if exact.contains(each["v"]))


def test_the_page_of_the_documentation_holds_every_state(request):
    page = (request.config.rootpath / "docs" / "playback.html").read_text(encoding="utf-8")
    assert len(page) < 1_000_000
    packed = page.partition('type="application/octet-stream">')[2].partition("</script>")[0]
    tapes = json.loads(gzip.decompress(base64.b64decode(packed)))
    for name, controls in playback.RECORDED.items():
        for places, at in playback.grid(controls):
            assert "|".join([name, *map(str, places)]) in tapes["answers"], at
    # One of them, against the law.
    key = "box-wall|10|1"
    shown = tapes["answers"][key]["stages"][2]["bounds"]
    exact = carom.RouthExact().resolve(carom.scenes.load("box-wall", mu=1.0, tilt=0.175).problem)
    for own, expected in zip(shown, exact.contact_bounds().tolist(), strict=True):
        for pair, bound in zip(own, expected, strict=True):
            assert pair == pytest.approx(bound, rel=1e-4, abs=1e-9)
