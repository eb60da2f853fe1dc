import json

from carom.cli.report import as_json


def test_json_holds_no_nan():
    content = {"a": [1.0, float("nan")], "b": {"c": (float("inf"), -float("inf"))}, "d": "NaN"}
    found = json.loads(as_json(content))
    assert found == {"a": [1.0, None], "b": {"c": [None, None]}, "d": "NaN"}
