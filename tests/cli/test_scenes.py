import sys

import numpy as np
import pytest

import carom
from carom.cli import main
from tests.cli.helpers import on_a_terminal, read_error, read_json


@pytest.fixture
def block():
    return carom.scenes.load("rocking-block")


class TestScenes:
    def test_table_has_a_line_for_each_scene(self, capsys, block):
        assert main(["scenes"]) == 0
        head, *lines = capsys.readouterr().out.splitlines()
        assert head.split() == ["scene", "contacts", "velocities", "description"]
        assert [line.split()[0] for line in lines] == list(carom.scenes.names())
        assert lines[0].split(maxsplit=4)[1:] == ["A", "B", "3", block.description]
        assert len({line.index(line.split("  ")[-1]) for line in lines}) == 1

    def test_json(self, capsys, block):
        report = read_json(capsys, "scenes")
        assert report["carom"] == carom.__version__
        assert [row["name"] for row in report["scenes"]] == list(carom.scenes.names())
        rows = {row["name"]: row for row in report["scenes"]}
        assert rows["rocking-block"] == {
            "name": "rocking-block",
            "description": block.description,
            "contacts": ["A", "B"],
            "num_velocities": 3,
            "step_impulse": block.step_impulse,
            "max_steps": block.max_steps,
            "num_samples": block.num_samples,
        }

    def test_one_scene(self, capsys):
        (row,) = read_json(capsys, "scenes", "box-wall")["scenes"]
        assert row["name"] == "box-wall"
        assert main(["scenes", "box-wall"]) == 0
        assert len(capsys.readouterr().out.splitlines()) == 2

    @pytest.mark.parametrize("name", ["impact.json", "impact.npz"])
    def test_saved_impact_is_that_of_the_scene(self, capsys, tmp_path, block, name):
        assert main(["scenes", "rocking-block", "--save", str(tmp_path / name)]) == 0
        saved = carom.load(tmp_path / name)
        for field in ("M", "J_n", "J_t", "mu", "v_pre"):
            np.testing.assert_array_equal(getattr(saved, field), getattr(block.problem, field))
        assert saved.contacts == block.problem.contacts

    def test_where_it_was_saved_is_told_on_a_terminal(self, capsys, monkeypatch, tmp_path):
        arguments = ["scenes", "rocking-block", "--save", str(tmp_path / "impact.json")]
        assert main(arguments) == 0
        assert capsys.readouterr().err == ""
        on_a_terminal(monkeypatch, sys.stderr)
        assert main(arguments) == 0
        assert f"wrote {tmp_path / 'impact.json'}" in capsys.readouterr().err

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (["--save", "x.json"], "--save: name the scene"),
            (["rocking-blok"], "did you mean 'rocking-block'?"),
            (["ramone", "--save", "x.txt"], "x.txt: expected a file that ends in .json or .npz"),
            (["ramone", "--save", "none/x.json"], "none: no such folder"),
            (["ramone", "--save", "folder.json"], "folder.json: Is a directory"),
            (["ramone", "box-wall"], "unexpected extra argument (box-wall)"),
        ],
    )
    def test_bad_input_is_one_line(self, capsys, monkeypatch, tmp_path, arguments, words):
        (tmp_path / "folder.json").mkdir()
        monkeypatch.chdir(tmp_path)
        assert words in read_error(capsys, ["scenes", *arguments], 2)

    @pytest.mark.parametrize("columns", [60, 80, 100])
    def test_fits_a_terminal(self, capsys, monkeypatch, columns):
        assert main(["scenes"]) == 0
        whole = capsys.readouterr().out
        monkeypatch.setenv("COLUMNS", str(columns))
        on_a_terminal(monkeypatch, sys.stdout)
        assert main(["scenes"]) == 0
        lines = capsys.readouterr().out
        assert max(map(len, lines.splitlines())) <= columns
        assert sorted(lines.split()) == sorted(whole.split())
