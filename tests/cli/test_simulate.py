import json
import sys
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image, ImageSequence

import carom
from carom.cli import main, simulate
from tests.cli.helpers import interrupt, no_matplotlib, on_a_terminal, read_error, read_json, run

BLOCK = ["simulate", "rocking-block", "--duration", "0.05"]
FEW = [*BLOCK, "--many", "4", "--processes", "1"]
FILES = {"summary.txt", "motion.json", "trajectory.npz", "motion.png", "motion.gif"}


@pytest.fixture
def scene():
    return carom.scenes.load("rocking-block")


def motion_of(scene, duration, seed=0):
    law = carom.Routh(num_samples=1)
    return carom.simulate(scene.system, scene.q, scene.v, duration, law, seed=seed)


class TestText:
    def test_tells_what_happens(self, capsys, scene):
        assert main([*BLOCK, "--seed", "3"]) == 0
        captured = capsys.readouterr()
        assert captured.err == ""
        motion = motion_of(scene, 0.05, seed=3)
        assert captured.out.startswith(f"rocking-block: {scene.description}\n\n")
        assert "Motion by law routh, seed 3: finished" in captured.out
        assert f"0 … 0.05 s; s up to {motion.s[-1]:.5g}" in captured.out
        lines = captured.out.splitlines()
        count = len(motion.impacts)
        start = lines.index("1 impact" if count == 1 else f"{count} impacts")
        first = lines[start + 2].split(maxsplit=5)
        lost = f"{motion.impacts[0].energy_lost:.4g}"
        assert first[:5] == ["0", "collision", "A", "B", lost]
        assert first[5] in ("A lifts, B sticks", "A sticks, B lifts", "A lifts, B lifts")

    def test_accumulation_is_called_so(self, capsys):
        assert main(["simulate", "zeno-block", "--duration", "2.7"]) == 0
        out = capsys.readouterr().out
        assert "Motion by law sequential" in out
        assert "Infinitely many impacts up to t = 2.67142" in out
        assert "more; see --json" in out

    def test_impact_without_collision(self, capsys):
        assert main(["simulate", "painleve-rod", "--duration", "0.01"]) == 0
        assert "without collision  A" in capsys.readouterr().out

    def test_choice_of_friction_is_told(self, capsys, monkeypatch):
        monkeypatch.setattr("carom.simulate", several_ways(carom.simulate))
        assert main(BLOCK) == 0
        assert "s friction leaves 3 ways to go on; the seed drew one." in capsys.readouterr().out

    def test_motion_without_impacts(self, capsys, monkeypatch, scene):
        falling = replace(scene, q=scene.q + np.array([0.0, 1.0, 0.0]), v=0 * scene.v)
        monkeypatch.setattr("carom.scenes.load", lambda _: falling)
        assert main(BLOCK) == 0
        out = capsys.readouterr().out
        assert "No impacts" in out
        assert "1 segment" in out

    @pytest.mark.parametrize("law", ["exact", "anitescu-potra"])
    def test_law_can_be_chosen(self, capsys, law):
        arguments = ["simulate", "rocking-block", "--duration", "0.01", "--law", law]
        assert read_json(capsys, *arguments)["law"]["name"] == law

    def test_seed_matters(self, capsys):
        ends = [read_json(capsys, *BLOCK, "--seed", seed)["end"]["q"] for seed in "0124"]
        assert len({tuple(q) for q in ends}) > 1


class TestJson:
    def test_is_the_motion(self, capsys, scene):
        report = read_json(capsys, *BLOCK)
        motion = motion_of(scene, 0.05)
        assert report["carom"] == carom.__version__
        assert report["scene"] == "rocking-block"
        assert report["law"]["name"] == "routh"
        assert report["law"]["settings"]["step_impulse"] is None
        assert report["duration"] == 0.05
        assert report["status"] == "finished"
        assert report["contacts"] == ["A", "B"]
        assert report["end"]["q"] == motion.q[-1].tolist()
        assert report["end"]["v"] == motion.v[-1].tolist()
        assert report["end"]["s"] == motion.s[-1]
        assert len(report["impacts"]) == len(motion.impacts)
        for written, impact in zip(report["impacts"], motion.impacts, strict=True):
            assert written["t"] == impact.t
            assert written["contacts"] == list(impact.contacts)
            assert written["v_post"] == impact.v_post.tolist()
            assert written["energy_lost"] == impact.energy_lost
            assert set(written["afterwards"]) == set(impact.contacts)
        for written, part in zip(report["segments"], motion.segments, strict=True):
            assert written["modes"] == dict(zip("AB", part.modes, strict=True))
            assert (written["start"], written["end"]) == (part.start, part.end)
        assert report["accumulations"] == report["indeterminate"] == []

    def test_words_are_those_of_the_outcome(self, capsys, scene):
        (first, *_) = read_json(capsys, *BLOCK)["impacts"]
        v_c = scene.problem.contact_velocity(np.array(first["v_post"]))
        for (normal, slide), name in zip(v_c, "AB", strict=True):
            word = "lifts" if normal > 1e-9 else "slides" if abs(slide) > 1e-9 else "sticks"
            assert first["afterwards"][name] == word

    def test_defaults_come_from_the_scene(self, capsys, monkeypatch, scene):
        other = replace(scene, duration=0.02, law="sequential")
        monkeypatch.setattr("carom.scenes.load", lambda _: other)
        report = read_json(capsys, "simulate", "rocking-block")
        assert report["duration"] == 0.02
        assert report["law"]["name"] == "sequential"

    def test_every_scene_has_a_law_that_can_be_asked_for(self):
        for name in carom.scenes.names():
            assert carom.scenes.load(name).law in simulate.LAWS

    def test_files_of_an_earlier_run_are_removed(self, capsys, tmp_path):
        (tmp_path / "mine.txt").write_text("kept")
        assert main([*FEW, "--out", str(tmp_path)]) == 0
        assert main([*BLOCK, "--out", str(tmp_path)]) == 0
        assert {path.name for path in tmp_path.iterdir()} == FILES | {"mine.txt"}


class TestOut:
    def test_writes_all_files(self, capsys, tmp_path, scene):
        folder = tmp_path / "new" / "folder"
        assert main([*BLOCK, "--out", str(folder)]) == 0
        printed = capsys.readouterr().out
        assert {path.name for path in folder.iterdir()} == FILES
        assert (folder / "summary.txt").read_text() == printed
        assert json.loads((folder / "motion.json").read_text()) == read_json(capsys, *BLOCK)
        assert (folder / "motion.png").read_bytes()[1:4] == b"PNG"
        motion = motion_of(scene, 0.05)
        loaded = carom.load(folder / "trajectory.npz").with_system(scene.system)
        np.testing.assert_array_equal(loaded.q, motion.q)
        with Image.open(folder / "motion.gif") as gif:
            # Short motions are shown slowly, for two seconds.
            frames = ImageSequence.Iterator(gif)
            assert sum(frame.info["duration"] for frame in frames) == pytest.approx(2000, rel=0.05)

    def test_page_with_a_player(self, capsys, tmp_path):
        assert main([*BLOCK, "--out", str(tmp_path), "--animate"]) == 0
        capsys.readouterr()
        assert {path.name for path in tmp_path.iterdir()} == FILES | {"motion.html"}

    def test_without_matplotlib_says_how_to_get_a_figure(self, capsys, tmp_path, monkeypatch):
        no_matplotlib(monkeypatch)
        assert main([*BLOCK, "--out", str(tmp_path / "one")]) == 0
        assert 'pip install "carom[plots]"' in capsys.readouterr().err
        expected = {"summary.txt", "motion.json", "trajectory.npz"}
        assert {path.name for path in (tmp_path / "one").iterdir()} == expected
        assert main([*FEW, "--out", str(tmp_path / "many")]) == 0
        expected = {"summary.txt", "bundle.json", "bundle.npz"}
        assert {path.name for path in (tmp_path / "many").iterdir()} == expected

    def test_interrupted_motion_leaves_no_file(self, capsys, tmp_path, monkeypatch):
        monkeypatch.setattr("carom.simulate", interrupt)
        assert main([*BLOCK, "--out", str(tmp_path / "out")]) == 130
        assert capsys.readouterr() == ("", "carom: interrupted\n")
        assert list(tmp_path.iterdir()) == []


class TestMany:
    def test_tells_how_far_motions_are_apart(self, capsys, scene):
        assert main(FEW) == 0
        captured = capsys.readouterr()
        assert captured.err == ""
        assert "4 motions by law routh, seed 0: all finished" in captured.out
        assert "fan out" in captured.out
        names = [line.split("  ")[1] for line in captured.out.splitlines()[-3:]]
        assert names == ["x [m]", "y [m]", "angle [rad]"]

    def test_json_is_the_bundle(self, capsys, scene):
        report = read_json(capsys, *FEW)
        law = carom.Routh(num_samples=1)
        bundle = carom.simulate_many(scene.system, scene.q, scene.v, 0.05, law, 4, num_processes=1)
        assert report["num_motions"] == 4
        assert report["statuses"] == {"finished": 4}
        assert report["num_impacts"] == [len(motion.impacts) for motion in bundle.trajectories]
        last = bundle.q_at([0.05])[:, 0]
        for i, coordinate in enumerate(report["coordinates"]):
            assert coordinate["last_range"] == [last[:, i].min(), last[:, i].max()]
            at = coordinate["at"]
            spread = bundle.spread([at])[0, i]
            assert coordinate["largest_spread"] == pytest.approx(spread, abs=1e-11)

    def test_motions_that_are_all_the_same(self, capsys):
        arguments = ["simulate", "painleve-rod", "--duration", "0.01", "--many", "2"]
        arguments += ["--processes", "1", "--law", "routh-single"]
        assert main(arguments) == 0
        assert "They are all the same" in capsys.readouterr().out

    def test_writes_all_files(self, capsys, tmp_path):
        assert main([*FEW, "--out", str(tmp_path)]) == 0
        printed = capsys.readouterr().out
        names = {"summary.txt", "bundle.json", "bundle.npz", "bundle.png"}
        assert {path.name for path in tmp_path.iterdir()} == names
        assert (tmp_path / "summary.txt").read_text() == printed
        motions = carom.load(tmp_path / "bundle.npz").trajectories
        assert len({motion.seed for motion in motions}) == 4

    def test_bar_on_a_terminal_counts_motions(self, capsys, monkeypatch):
        monkeypatch.setattr("carom.cli.show.DELAY", 0.0)
        on_a_terminal(monkeypatch, sys.stderr)
        monkeypatch.setenv("FORCE_COLOR", "1")
        assert main([*FEW, "--json"]) == 0
        captured = capsys.readouterr()
        json.loads(captured.out)
        assert "motions" in captured.err


class TestErrors:
    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (["simulate"], "expected one of SCENE, --mjcf and --urdf, got none"),
            (["simulate", "roking-block"], "did you mean 'rocking-block'?"),
            ([*BLOCK, "--law", "newton"], "sequential"),
            (["simulate", "ramone", "--duration", "0"], "'--duration': expected a number > 0"),
            (["simulate", "ramone", "--duration", "nan"], "'--duration': expected a number > 0"),
            (["simulate", "ramone", "--seed", "-1"], "'--seed': expected an integer from 0"),
            (["simulate", "ramone", "--many", "0"], "'--many': expected an integer from 1"),
            (["simulate", "ramone", "--animate"], "add --out DIR"),
            ([*BLOCK, "--many", "2", "--animate", "--out", "x"], "without --many"),
            ([*BLOCK, "--processes", "2"], "--processes: one motion"),
        ],
    )
    def test_bad_input_is_one_line_with_advice(self, capsys, arguments, words):
        assert words in read_error(capsys, arguments, 2)

    def test_folder_that_is_a_file(self, capsys, tmp_path):
        (tmp_path / "file").write_text("")
        error = read_error(capsys, [*BLOCK, "--out", str(tmp_path / "file")], 2)
        assert "'--out': Directory" in error

    def test_law_that_does_not_fit_the_impact(self, capsys):
        # This law knows one contact only, and the block hits with two.
        error = read_error(capsys, [*BLOCK, "--law", "routh-single"], 2)
        assert "one planar contact" in error

    def test_motion_that_is_cut_short_is_told_and_written(self, capsys, tmp_path, monkeypatch):
        monkeypatch.setattr("carom.simulate", at_most_one_impact(carom.simulate))
        assert main([*BLOCK, "--json", "--out", str(tmp_path), "--duration", "0.1"]) == 1
        captured = capsys.readouterr()
        assert json.loads(captured.out)["status"] == "impact limit"
        (line,) = captured.err.splitlines()
        assert line.startswith("carom: error: impact limit: ")
        assert {path.name for path in tmp_path.iterdir()} == FILES

    def test_motions_that_are_cut_short_are_counted(self, capsys, monkeypatch):
        monkeypatch.setattr("carom.simulate_many", at_most_one_impact(carom.simulate_many))
        assert main([*FEW, "--duration", "0.2"]) == 1
        captured = capsys.readouterr()
        assert "4 of 4 motions were cut short, the first by impact limit" in captured.err
        assert len(captured.err.splitlines()) == 1

    def test_runs_as_a_module(self):
        done = run(*BLOCK, "--json")
        assert (done.returncode, done.stderr) == (0, "")
        assert json.loads(done.stdout)["status"] == "finished"


def several_ways(function):
    """Let the first segment of a motion be one of three that friction leaves."""

    def changed(*arguments, **options):
        motion = function(*arguments, **options)
        index = motion.parts.index(motion.segments[0])
        parts = list(motion.parts)
        parts[index] = replace(parts[index], num_solutions=3)
        return replace(motion, parts=tuple(parts))

    return changed


def at_most_one_impact(function):
    def changed(*arguments, **options):
        return function(*arguments, **options, max_impacts=1)

    return changed
