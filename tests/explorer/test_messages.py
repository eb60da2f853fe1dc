"""What a page may send, and that nothing else passes."""

import json
import random
from copy import deepcopy

import pytest

from carom.explorer.messages import MOST_BYTES, BadMessage, Request, State, parse

GOOD = {
    "kind": "set",
    "number": 3,
    "live": True,
    "state": {
        "subject": "rocking-block",
        "parameters": {"width": 0.7},
        "mu": {"B": 0.5, "A": 1},
        "restitution": {"B": 0.25, "A": 0},
        "v": [0, -1, 0.5],
        "axes": [0, 2],
    },
}


def test_a_message_becomes_a_request():
    state = State(
        "rocking-block",
        (("width", 0.7),),
        (("A", 1.0), ("B", 0.5)),
        (0, -1, 0.5),
        (0, 2),
        (("A", 0.0), ("B", 0.25)),
    )
    assert parse(json.dumps(GOOD)) == Request("set", 3, state, live=True)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"kind": "shell"}, "kind"),
        ({"kind": ["set"]}, "kind"),
        ({"number": -1}, "number"),
        ({"number": True}, "number"),
        ({"number": 1.5}, "number"),
        ({"live": 1}, "live"),
        ({"extra": 1}, "unknown"),
        ({"state": {}}, "state"),
        ({"state": {"subject": ""}}, "subject"),
        ({"state": {"subject": "a", "v": [1e400]}}, "JSON|number"),
        ({"state": {"subject": "a", "v": [10**400]}}, "number"),
        ({"state": {"subject": "a", "v": ["1"]}}, "number"),
        ({"state": {"subject": "a", "v": [0] * 65}}, "at most"),
        ({"state": {"subject": "a", "mu": {"A": None}}}, "number"),
        ({"state": {"subject": "a", "restitution": {"A": "high"}}}, "number"),
        ({"state": {"subject": "a", "restitution": [0.5]}}, "restitution: expected an object"),
        ({"state": {"subject": "a", "axes": [0]}}, "two whole numbers"),
        ({"kind": "outcome"}, "expected v, or plane and at"),
        ({"kind": "motion", "v": [0], "duration": 1e3}, "duration"),
    ],
)
def test_what_is_wrong_is_named(change, reason):
    with pytest.raises(BadMessage, match=reason):
        parse(json.dumps(GOOD | change))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "null",
        "[]",
        '"set"',
        b"{}",
        "[" * 10_000,
        '{"number": NaN}',
        " " * (MOST_BYTES + 1),
    ],
)
def test_what_is_no_object_is_refused(text):
    with pytest.raises(BadMessage):
        parse(text)


def mutated(rng):
    """Return a message with some bytes changed, cut or repeated, or of random JSON values."""
    text = json.dumps(GOOD)
    if rng.random() < 0.5:
        letters = list(text)
        for _ in range(rng.randint(1, 6)):
            place = rng.randrange(len(letters))
            letters[place : place + rng.randint(0, 3)] = rng.choice('{}[]",:0-9eE.ntf\\u0000 é🎱')
        return "".join(letters)
    values = [None, True, -1, 2**80, 1e308, "", "x" * 300, [], {}, [[]], {"a": {}}, float("nan")]
    message = json.loads(text)
    for _ in range(rng.randint(1, 4)):
        where = rng.choice([message, message.get("state")])
        if isinstance(where, dict):
            where[rng.choice([*where, "__proto__", "kind", "v"])] = deepcopy(rng.choice(values))
    return json.dumps(message)


def test_ten_thousand_fuzzed_messages_are_read_or_refused():
    rng = random.Random(0)
    reasons = []
    for _ in range(10_000):
        try:
            assert isinstance(parse(mutated(rng)), Request)
        except BadMessage as error:
            reasons.append(f"malformed message: {error}")
    assert 5_000 < len(reasons) < 10_000
    # A reason goes into a close frame, which holds 123 bytes.
    assert max(len(reason.encode()) for reason in reasons) <= 123
