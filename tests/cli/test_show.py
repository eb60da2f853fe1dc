"""Tables, JSON and text, as commands print them."""

import json

import numpy as np

from carom.cli.show import as_json, fit, table


def test_json_holds_no_nan():
    content = {"a": [1.0, float("nan")], "b": {"c": (float("inf"), -float("inf"))}, "d": "NaN"}
    found = json.loads(as_json(content | {"e": np.array([0.5, np.nan])}))
    del found["carom"]
    assert found == {"a": [1.0, None], "b": {"c": [None, None]}, "d": "NaN", "e": [0.5, None]}


def test_columns_are_aligned():
    assert table(("a", "b"), [("long", "1"), ("x", "22")], right=(1,)) == [
        "a      b",
        "long   1",
        "x     22",
    ]


def test_cells_are_text_and_no_markup():
    assert table(("a",), [("[bold]x[/bold] :smile:",)])[1] == "[bold]x[/bold] :smile:"


def test_widest_column_is_wrapped_below_itself():
    lines = table(("a", "b"), [("x", "one two three four five six")], width=24)
    assert lines == ["a  b", "x  one two three four", "   five six"]


def test_long_lines_hang():
    text = "head\n  - one two three four five six"
    assert fit(text, 24) == "head\n  - one two three four\n    five six"
    assert fit(text, 0) == fit(text, 200) == text
    assert fit("x" * 30, 20) == "x" * 30


def test_long_lines_hang_below_their_second_column():
    line = "  holds  one two three four five"
    assert fit(line, 29) == "  holds  one two three four\n         five"
