"""Whatever is wrong with the input, one line says so and what to do."""

import json
import os

import numpy as np
import pytest

import carom
from carom.cli import main
from tests.cli.helpers import FEW, read_error

FIELDS = ("M", "J_n", "J_t", "mu", "v_pre", "contacts", "num_directions", "without_collision")


class TestCommandLine:
    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (["scene"], "No such command 'scene'"),
            (["--quite", "scenes"], "--quiet"),
            (["--json", "scenes"], "No such option"),
            (["outcomes"], "expected one of SCENE|FILE, --mjcf and --urdf, got none"),
            (["outcomes", "ramone", "--samples", "0"], "'--samples': expected an integer from 1"),
            (["outcomes", "ramone", "--samples", "many"], "got 'many'"),
            (["outcomes", "ramone", "--step", "-1"], "--step"),
            (["outcomes", "ramone", "--step", "nan"], "'--step': expected a number > 0"),
            (["outcomes", "ramone", "--step", "inf"], "'--step': expected a number > 0"),
            (["outcomes", "ramone", "--seed", str(2**53)], "'--seed': expected an integer from 0"),
            (["outcomes", "ramone", "--threads", "0"], "--threads"),
            (["outcomes", "ramone", "--draw", "none"], "persistent"),
            (["outcomes", "ramone", "--sample", "3"], "--samples"),
            (["outcomes", "ramone", "--sample=3"], "see: carom outcomes --help"),
            (["outcomes", "ramone", "box-wall"], "unexpected extra argument (box-wall)"),
            (["outcomes", "ramone", "--law", "rout"], "'routh'"),
            (["outcomes", "ramone", "--law"], "'--law' requires an argument"),
            (["outcomes", "ramone", "--law", "routh", "--order", "A,B"], "--order: does not apply"),
            (["outcomes", "ramone", "--law", "sequential", "--max-steps", "3"], "--max-steps: "),
            (["outcomes", "ramone", "--law", "sequential", "--order", "A,C"], "A, C"),
            (["outcomes", "ramone", "--law", "routh-single"], "one planar contact"),
            (["outcomes", "ramone", "--law", "exact", "--samples", "9"], "--samples: does not"),
            (["outcomes", "ramone", "--law", "routh", "--budget", "9"], "--budget: does not apply"),
            (["outcomes", "ramone", "--budget", "0"], "'--budget': expected a number > 0"),
            (["outcomes", "ramone", "--budget", "nan"], "'--budget': expected a number > 0"),
            (["outcomes", "ramone", "--on-budget", "none"], "outer"),
            (["outcomes", "ramone", "--samples", "9" * 30], "'--samples': expected an integer"),
            (["outcomes", "ramone", "--qpos", "0,x"], "expected numbers, as in 0,0.5,-1"),
        ],
    )
    def test_is_answered_with_advice(self, capsys, arguments, words):
        assert words in read_error(capsys, arguments, 2)

    @pytest.mark.parametrize("command", ["outcomes", "worst-case", "check", "simulate", "scenes"])
    @pytest.mark.parametrize(
        ("name", "words"),
        [("roking-block", "did you mean 'rocking-block'?"), ("", "the scenes are rocking-block")],
    )
    def test_unknown_scene(self, capsys, command, name, words):
        assert words in read_error(capsys, [command, name], 2)


def change(**fields):
    """Return the impact of a scene as JSON, with other fields."""
    problem = carom.scenes.load("rocking-block").problem
    plain = {name: np.asarray(getattr(problem, name)).tolist() for name in FIELDS}
    return json.dumps(plain | fields)


EYE = np.eye(3).tolist()


class TestFiles:
    @pytest.mark.parametrize("command", ["outcomes", "worst-case", "check"])
    @pytest.mark.parametrize(
        ("name", "content", "words"),
        [
            ("empty.json", "", "expected a file that carom saved"),
            ("empty.npz", "", "expected a file that carom saved"),
            ("open.json", "{", "expected a file that carom saved"),
            ("list.json", "[]", "expected one object, got a list"),
            ("deep.json", "[" * 100_000, "expected a file that carom saved"),
            ("binary.json", b"\x93\xff\x00\xfe", "expected a file that carom saved"),
            ("binary.npz", b"\x93\xff\x00\xfe", "expected a file that carom saved"),
            ("zip.npz", b"PK\x03\x04 broken", "expected a file that carom saved"),
            ("ending.txt", "{}", "ends in .json or .npz"),
            ("ending", "{}", "ends in .json or .npz"),
            ("fields.json", "{}", "misses M, J_n, J_t, mu, v_pre"),
            ("field.json", change(extra=1), "has the unknown field 'extra'"),
            ("shape.json", change(J_n=[[1.0, 2.0]]), "J_n: expected (m, 3) to go with v_pre"),
            ("ragged.json", change(J_n=[[1.0], [2.0, 3.0]]), "J_n: expected numbers in a regular"),
            ("words.json", change(M="heavy"), "M: expected numbers"),
            ("none.json", change(M=None), "M: expected finite numbers"),
            ("nan.json", change(mu=float("nan")), "mu: expected finite numbers, got nan"),
            ("mass.json", change(M=[[-1.0, 0, 0], *EYE[1:]]), "M: expected a positive definite"),
            ("asymmetric.json", change(M=[[1, 2, 0], *EYE[1:]]), "M: expected a symmetric matrix"),
            ("friction.json", change(mu=-1.0), "mu: expected numbers >= 0, got -1"),
            ("names.json", change(contacts=["A"]), "contacts: expected 2 names"),
            ("fast.json", change(v_pre=[0, -1e200, 0]), "v_pre: expected a finite kinetic energy"),
        ],
    )
    def test_content(self, capsys, tmp_path, command, name, content, words):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        error = read_error(capsys, [command, str(path)], 2)
        assert words in error
        assert name in error

    @pytest.mark.parametrize("command", ["outcomes", "check"])
    def test_place(self, capsys, monkeypatch, tmp_path, command):
        (tmp_path / "folder.json").mkdir()
        monkeypatch.chdir(tmp_path)
        assert "missing.json: No such file" in read_error(capsys, [command, "missing.json"], 2)
        for folder in (".", "folder.json"):
            error = read_error(capsys, [command, folder], 2)
            assert f"{folder}: expected a scene or a file, got a folder" in error

    def test_pickle_is_not_opened(self, capsys, tmp_path):
        path = tmp_path / "pickle.npz"
        np.savez(path, M=np.array([{}], dtype=object), allow_pickle=True)
        assert "allow_pickle=False" in read_error(capsys, ["check", str(path)], 2)

    def test_motion_of_a_file(self, capsys, tmp_path):
        path = tmp_path / "impact.json"
        path.write_text(change())
        error = read_error(capsys, ["simulate", str(path)], 2)
        assert "expected a scene" in error
        assert "build a carom.systems.PlanarSystem and call carom.simulate" in error
        assert "rocking-block" in error


class TestFolders:
    def test_folder_that_is_read_only(self, capsys, monkeypatch, tmp_path):
        monkeypatch.setattr(os, "access", lambda *_: False)
        for command in ("outcomes", "simulate"):
            error = read_error(capsys, [command, "ramone", "--out", str(tmp_path / "new")], 2)
            assert f"expected a folder to write to, but {tmp_path} is read-only" in error

    def test_folder_in_the_way_of_a_file(self, capsys, tmp_path):
        (tmp_path / "summary.txt").mkdir()
        arguments = ["outcomes", "rocking-block", "--law", "sequential", "--out", str(tmp_path)]
        error = read_error(capsys, arguments, 2)
        assert f"{tmp_path / 'summary.txt'}: Is a directory" in error

    def test_folder_that_is_a_file(self, capsys, tmp_path):
        (tmp_path / "file").write_text("")
        for path in (tmp_path / "file", tmp_path / "file" / "below"):
            error = read_error(capsys, ["outcomes", "ramone", "--out", str(path)], 2)
            assert "--out" in error
            assert "file" in error

    @pytest.mark.needs("ppl")
    def test_folder_that_cannot_be_made(self, capsys, monkeypatch, tmp_path):
        def refuse(*_, **__):
            raise PermissionError(13, "Permission denied", "locked")

        monkeypatch.setattr("pathlib.Path.mkdir", refuse)
        arguments = ["outcomes", "rocking-block", *FEW, "--out", str(tmp_path / "new")]
        assert "locked: Permission denied" in read_error(capsys, arguments, 2)

    @pytest.mark.needs("ppl")
    def test_other_laws_answer_where_one_fails(self, capsys, tmp_path):
        arguments = ["outcomes", "rocking-block", *FEW, "--max-steps", "1", "--step", "1e-3"]
        assert main([*arguments, "--json", "--out", str(tmp_path)]) == 1
        captured = capsys.readouterr()
        report = json.loads(captured.out)
        assert list(report["laws"]) == ["exact", "anitescu-potra", "sequential"]
        assert "no sample ended" in report["not_resolved"]["routh"]
        assert captured.err.startswith("carom: error: routh: no sample ended")
        written = {path.name for path in tmp_path.iterdir()}
        assert "routh.npz" not in written
        assert {"summary.txt", "outcomes.json", "exact.json", "sequential.json"} <= written
