from carom.cli.tables import LAST_ROWS, MOST_ROWS, fit, shortened, table


def test_columns_are_aligned():
    assert table(("a", "b"), [("long", "1"), ("x", "22")], right=(1,)) == [
        "a      b",
        "long   1",
        "x     22",
    ]


def test_long_tables_lose_their_middle():
    lines = ["head", *(str(i) for i in range(50))]
    short = shortened(lines)
    assert len(short) == MOST_ROWS + 2
    assert short[:2] == ["head", "0"]
    assert short[-1] == "49"
    assert short[-LAST_ROWS - 1] == "… 30 more; --json tells all"
    few = lines[: MOST_ROWS + 2]
    assert shortened(few) == few


def test_last_column_is_wrapped_below_itself():
    lines = table(("a", "b"), [("x", "one two three four five six")], width=24)
    assert lines == ["a  b", "x  one two three four", "   five six"]


def test_little_space_is_left_alone():
    row = ("x" * 20, "one two three")
    assert table(("a", "b"), [row], width=30)[1] == "  ".join(row)


def test_long_lines_hang():
    text = "head\n  - one two three four five six"
    assert fit(text, 20) == "head\n  - one two three\n    four five six"
    assert fit(text, None) == fit(text, 200) == text
    assert fit("x" * 30, 20) == "x" * 30


def test_long_lines_hang_below_their_second_column():
    assert (
        fit("  holds  one two three four five", 29) == "  holds  one two three four\n         five"
    )
    # Too little would be left of it.
    assert fit("  holds  one two three four five", 28) == "  holds  one two three four\n    five"
