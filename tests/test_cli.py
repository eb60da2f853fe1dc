import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest

import carom
from carom.cli import main, outcomes
from carom.impact import routh
from carom.impact.files import save_problem

FEW = ["--samples", "200"]
FILES = {"summary.txt", "outcomes.json", "outcomes.npz", "contact_velocities.png", "exact.json"}


@pytest.fixture
def block():
    return carom.scenes.load("rocking-block")


def run(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "carom", *arguments], capture_output=True, text=True, check=False
    )


def read_json(capsys, *arguments):
    assert main([*arguments, "--json"]) == 0
    captured = capsys.readouterr()
    return json.loads(captured.out)


def read_error(capsys, arguments, code):
    assert main(arguments) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    lines = captured.err.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("carom: error: ")
    return lines[0]


class TestStart:
    @pytest.mark.parametrize("argument", ["--help", "--version"])
    def test_quick_answers_import_nothing_heavy(self, argument):
        code = (
            "import sys; from carom.cli import main; code = main(sys.argv[1:]);"
            "heavy = {'numpy', 'numba', 'scipy', 'matplotlib', 'rich'} & set(sys.modules);"
            "sys.exit(code or ', '.join(heavy) or 0)"
        )
        done = subprocess.run(
            [sys.executable, "-c", code, argument], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert "carom" in done.stdout

    def test_version(self, capsys):
        assert main(["--version"]) == 0
        assert capsys.readouterr().out == f"carom {carom.__version__}\n"

    def test_without_a_command_it_helps(self, capsys):
        assert main([]) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        assert "outcomes" in captured.err

    def test_runs_as_a_module(self):
        done = run("scenes", "--json")
        assert done.returncode == 0
        assert [row["name"] for row in json.loads(done.stdout)] == list(carom.scenes.names())
        assert done.stderr == ""

    def test_closed_pipe_gives_no_traceback(self):
        command = [sys.executable, "-m", "carom", "scenes"]
        # Buffered, as usual: a closed pipe is then met late.
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"}
        with subprocess.Popen(command, env=environment, **pipes) as process:
            process.stdout.close()
            assert process.stderr.read() == b""
        assert process.returncode == 141


class TestScenes:
    def test_table_has_a_line_for_each_scene(self, capsys, block):
        assert main(["scenes"]) == 0
        head, *lines = capsys.readouterr().out.splitlines()
        assert head.split() == ["scene", "contacts", "velocities", "description"]
        assert [line.split()[0] for line in lines] == list(carom.scenes.names())
        assert lines[0].split(maxsplit=4)[1:] == ["A", "B", "3", block.description]
        assert len({line.index(line.split("  ")[-1]) for line in lines}) == 1

    def test_json(self, capsys, block):
        rows = {row["name"]: row for row in read_json(capsys, "scenes")}
        assert rows["rocking-block"] == {
            "name": "rocking-block",
            "description": block.description,
            "contacts": ["A", "B"],
            "num_velocities": 3,
            "step_impulse": block.step_impulse,
            "max_steps": block.max_steps,
            "num_samples": block.num_samples,
        }


class TestLaws:
    def test_default_is_every_law_that_applies(self, capsys, block):
        assert main(["outcomes", "rocking-block", *FEW]) == 0
        captured = capsys.readouterr()
        assert captured.err == ""
        expected = [
            carom.Routh(num_samples=200, step_impulse=0.3),
            carom.RouthExact(),
            carom.AnitescuPotra(),
            carom.Sequential(),
        ]
        title, *summaries = captured.out.rstrip("\n").split("\n\n")
        assert title == f"rocking-block: {block.description}"
        assert summaries == [law.resolve(block.problem).summary() for law in expected]

    def test_settings_of_the_scene_are_defaults(self, monkeypatch):
        scene = carom.scenes.load("box-wall")
        monkeypatch.setattr(routh.Routh, "resolve", no_sample_ends)
        report = {}
        monkeypatch.setattr(
            outcomes, "_law", spy(outcomes._law, lambda law: report.setdefault("law", law))
        )
        assert main(["outcomes", "box-wall", "--law", "routh"]) == 1
        law = report["law"]
        assert law.num_samples == scene.num_samples
        assert law.step_impulse == scene.step_impulse
        # The paper's trajectory length suits its own draw: here a sample may take what it needs.
        assert law.max_steps == carom.Routh().max_steps

    def test_options_reach_the_law(self, capsys, block):
        arguments = "--samples 64 --step 0.05 --max-steps 7 --seed 3 --draw uniform"
        more = "--selection lemke --threads 1 --law routh"
        report = read_json(capsys, "outcomes", "rocking-block", *(arguments + " " + more).split())
        assert report["laws"]["routh"]["settings"] == {
            "num_samples": 64,
            "step_impulse": 0.05,
            "max_steps": 7,
            "seed": 3,
            "draw": "uniform",
            "selection": "lemke",
            "epsilon": None,
            "until": None,
            "norm": "contact",
            "max_samples": 2**22,
        }
        law = carom.Routh(64, 0.05, 7, 3, "uniform", "lemke")
        expected = law.resolve(block.problem)
        assert report["laws"]["routh"]["num_unfinished"] == expected.num_unfinished > 0
        bounds = [report["laws"]["routh"]["contacts"][name]["normal"] for name in "AB"]
        assert bounds == expected.contact_bounds()[:, 0].tolist()

    def test_order_of_the_contacts(self, capsys):
        report = read_json(
            capsys, "outcomes", "rocking-block", "--law", "sequential", "--order", "B, A"
        )
        assert [end["label"] for end in report["laws"]["sequential"]["outcomes"]] == ["B → A"]

    def test_choices_are_those_of_the_law(self):
        assert set(outcomes.DRAWS) == set(routh.DRAWS)
        assert set(outcomes.SELECTIONS) == set(routh.SELECTIONS)
        assert carom.Routh().draw == outcomes.DRAWS[0]

    def test_one_contact_is_also_resolved_in_closed_form(self, capsys, tmp_path):
        ball = carom.ImpactProblem(np.eye(2), [[0, 1]], [[1, 0]], 0.2, [1.0, -1.0])
        save_problem(ball, tmp_path / "ball.json")
        report = read_json(capsys, "outcomes", str(tmp_path / "ball.json"), *FEW)
        laws = ["routh", "exact", "anitescu-potra", "sequential", "routh-single"]
        assert list(report["laws"]) == laws
        assert report["laws"]["routh-single"]["contacts"]["A"]["tangential"] == [
            [pytest.approx(0.8), pytest.approx(0.8)]
        ]

    def test_many_contacts_are_not_ordered_unasked(self, capsys, tmp_path):
        m = outcomes.MOST_CONTACTS_TO_ORDER + 1
        heavy = carom.ImpactProblem(
            np.eye(2 * m), np.eye(2 * m)[:m], np.eye(2 * m)[m:], 0.1, -np.ones(2 * m)
        )
        save_problem(heavy, tmp_path / "heavy.npz")
        arguments = ["outcomes", str(tmp_path / "heavy.npz"), "--samples", "4", "--max-steps", "50"]
        assert main([*arguments, "--json"]) == 0
        captured = capsys.readouterr()
        assert "sequential" not in json.loads(captured.out)["laws"]
        assert "5,040 orders; name one with --order" in captured.err
        order = ",".join(heavy.contacts)
        assert "sequential" in read_json(capsys, *arguments, "--order", order)["laws"]


class TestExact:
    def test_summary(self, capsys, block):
        assert main(["outcomes", "rocking-block", "--law", "exact"]) == 0
        captured = capsys.readouterr()
        assert captured.err == ""
        summary = carom.RouthExact().resolve(block.problem).summary()
        assert captured.out == f"rocking-block: {block.description}\n\n{summary}\n"

    def test_options_reach_the_law(self, capsys):
        arguments = ["--law", "exact", "--budget", "3.5", "--on-budget", "raise", "--seed", "4"]
        report = read_json(capsys, "outcomes", "rocking-block", *arguments)
        settings = report["laws"]["exact"]["settings"]
        assert settings["max_seconds"] == 3.5
        assert settings["on_budget"] == "raise"
        assert settings["seed"] == 4

    def test_default_budget(self, capsys):
        report = read_json(capsys, "outcomes", "rocking-block", "--law", "exact")
        settings = report["laws"]["exact"]["settings"]
        assert settings["max_seconds"] == outcomes.BUDGET == carom.RouthExact().max_seconds
        assert settings["on_budget"] == "outer"

    def test_json_tells_what_the_set_is(self, capsys):
        report = read_json(capsys, "outcomes", "compass-gait", "--law", "exact")["laws"]["exact"]
        problem = carom.scenes.load("compass-gait").problem
        expected = carom.RouthExact().resolve(problem)
        assert report["is_complete"] is True
        assert report["is_outer"] is False
        assert report["gap"] is None
        assert report["kinds"] == list(expected.kinds)
        assert report["notes"] == list(expected.notes)
        bounds = expected.contact_bounds()
        assert report["contacts"] == {
            name: {"normal": bounds[i, 0].tolist(), "tangential": bounds[i, 1:].tolist()}
            for i, name in enumerate(problem.contacts)
        }
        assert len(report["pieces"]) == len(expected)
        for written, piece in zip(report["pieces"], expected.pieces, strict=True):
            assert written["kind"] == piece.kind
            assert written["dimension"] == piece.dimension
            assert written["vertices"] == piece.vertices.tolist()

    def test_writes_vertices_and_their_pieces(self, capsys, tmp_path):
        arguments = ["outcomes", "compass-gait", "--law", "exact", "--out", str(tmp_path)]
        report = read_json(capsys, *arguments)
        assert {path.name for path in tmp_path.iterdir()} == FILES
        pieces = report["laws"]["exact"]["pieces"]
        with np.load(tmp_path / "outcomes.npz", allow_pickle=False) as arrays:
            v_post, piece = arrays["exact/v_post"], arrays["exact/piece"]
        assert len(v_post) == len(piece)
        for i, written in enumerate(pieces):
            np.testing.assert_array_equal(v_post[piece == i], written["vertices"])
        loaded = carom.load_set(tmp_path / "exact.json")
        np.testing.assert_array_equal(loaded.v_post, v_post)

    def test_outer_set_is_reported_as_one(self, capsys, tmp_path, monkeypatch):
        monkeypatch.setattr(outcomes, "_law", few_polyhedra(outcomes._law))
        arguments = ["outcomes", "compass-gait", "--law", "exact", "--out", str(tmp_path)]
        report = read_json(capsys, *arguments)["laws"]["exact"]
        assert report["is_complete"] is False
        assert report["is_outer"] is True
        assert np.shape(report["gap"]) == (2, 2, 2)
        assert "outer set" in (tmp_path / "summary.txt").read_text()
        assert (tmp_path / "contact_velocities.png").read_bytes()[1:4] == b"PNG"

    def test_end_of_the_budget_can_be_a_failure(self, capsys, monkeypatch):
        monkeypatch.setattr(outcomes, "_law", few_polyhedra(outcomes._law))
        arguments = ["outcomes", "compass-gait", "--law", "exact", "--on-budget", "raise"]
        assert "budget" in read_error(capsys, arguments, 1)

    def test_without_pplpy_names_the_extra(self, capsys, monkeypatch):
        monkeypatch.setitem(sys.modules, "ppl", None)
        error = read_error(capsys, ["outcomes", "rocking-block", "--law", "exact"], 2)
        assert 'pip install "carom[exact]"' in error

    def test_without_pplpy_other_laws_answer(self, capsys, monkeypatch):
        monkeypatch.setitem(sys.modules, "ppl", None)
        assert main(["outcomes", "rocking-block", *FEW, "--json"]) == 0
        captured = capsys.readouterr()
        laws = ["routh", "anitescu-potra", "sequential"]
        assert list(json.loads(captured.out)["laws"]) == laws
        (line,) = captured.err.splitlines()
        assert line.startswith("carom: exact is left out")
        assert "carom[exact]" in line

    def test_is_not_tried_unasked_in_space_or_with_many_contacts(self, capsys, tmp_path):
        ball = carom.ImpactProblem(
            np.eye(3), [[0, 0, 1]], [[[1, 0, 0], [0, 1, 0]]], 0.2, [1.0, 0.5, -1.0]
        )
        m = outcomes.MOST_CONTACTS_TO_BE_EXACT + 1
        eye = np.eye(2 * m)
        heavy = carom.ImpactProblem(eye, eye[:m], eye[m:], 0.1, -np.ones(2 * m))
        for problem in (ball, heavy):
            save_problem(problem, tmp_path / "problem.json")
            report = read_json(capsys, "outcomes", str(tmp_path / "problem.json"), *FEW)
            assert "exact" not in report["laws"]

    def test_choices_are_those_of_the_law(self):
        for choice in outcomes.ON_BUDGET:
            assert carom.RouthExact(on_budget=choice).on_budget == choice


class TestReport:
    def test_json_tells_what_the_set_is(self, capsys):
        report = read_json(capsys, "outcomes", "compass-gait", *FEW)
        problem = carom.scenes.load("compass-gait").problem
        law = carom.Routh(num_samples=200, step_impulse=0.25)
        expected = law.resolve(problem)
        assert report["carom"] == carom.__version__
        assert report["not_resolved"] == {}
        assert report["problem"]["contacts"] == ["A", "B"]
        before = report["problem"]["kinetic_energy"]
        assert before == problem.kinetic_energy(problem.v_pre)
        sampled = report["laws"]["routh"]
        assert sampled["num_outcomes"] == len(expected)
        assert sampled["num_outcomes"] + sampled["num_unfinished"] == 200
        assert sampled["is_complete"] is False
        sticks, slides, lifts = expected.kinds()
        for i, name in enumerate(("A", "B")):
            contact = sampled["contacts"][name]
            assert contact["normal"] == expected.contact_bounds()[i, 0].tolist()
            assert contact["tangential"] == expected.contact_bounds()[i, 1:].tolist()
            shares = [contact[word] for word in ("sticks", "slides", "lifts")]
            assert shares == [kind[:, i].mean() for kind in (sticks, slides, lifts)]
        assert sampled["steps"]["max"] == expected.num_steps.max()
        energy = problem.kinetic_energy(expected.v_post) / before
        assert sampled["energy_kept"] == [energy.min(), energy.max()]
        simultaneous = report["laws"]["anitescu-potra"]["outcomes"]
        ends = {end["label"]: end["v_post"] for end in simultaneous}
        assert set(ends) == {"A sticks, B lifts", "A sticks, B slides", "A sticks, B sticks"}
        np.testing.assert_allclose(ends["A sticks, B sticks"], 0.0, atol=1e-12)

    def test_impact_without_approach_is_called_so(self, capsys, tmp_path):
        parting = carom.ImpactProblem(np.eye(2), [[0, 1]], [[1, 0]], 0.2, [0.0, 0.0])
        save_problem(parting, tmp_path / "still.json")
        assert main(["outcomes", str(tmp_path / "still.json"), *FEW]) == 0
        assert "No contact approaches" in capsys.readouterr().out
        report = read_json(capsys, "outcomes", str(tmp_path / "still.json"), *FEW)
        assert report["laws"]["routh"]["energy_kept"] is None


class TestOut:
    def test_writes_all_files(self, capsys, tmp_path, block):
        folder = tmp_path / "new" / "folder"
        assert main(["outcomes", "rocking-block", *FEW, "--out", str(folder)]) == 0
        printed = capsys.readouterr().out
        assert {path.name for path in folder.iterdir()} == FILES
        assert (folder / "summary.txt").read_text() == printed
        report = json.loads((folder / "outcomes.json").read_text())
        assert report == read_json(capsys, "outcomes", "rocking-block", *FEW)
        assert (folder / "contact_velocities.png").read_bytes()[1:4] == b"PNG"
        law = carom.Routh(num_samples=200, step_impulse=0.3)
        expected = law.resolve(block.problem)
        with np.load(folder / "outcomes.npz", allow_pickle=False) as arrays:
            for field in ("v_post", "impulse_n", "impulse_t", "num_steps", "v_unfinished"):
                np.testing.assert_array_equal(arrays[f"routh/{field}"], getattr(expected, field))
            assert "routh/labels" not in arrays
            assert arrays["sequential/labels"].tolist() == ["A → B", "B → A"]
            np.testing.assert_array_equal(arrays["problem/J_t"], block.problem.J_t)
            assert arrays["problem/contacts"].tolist() == ["A", "B"]

    def test_without_matplotlib_says_how_to_get_a_figure(self, capsys, tmp_path, monkeypatch):
        for name in [name for name in sys.modules if name.startswith("carom.plots")]:
            monkeypatch.delitem(sys.modules, name)
        monkeypatch.delitem(carom.__dict__, "plots", raising=False)
        monkeypatch.setitem(sys.modules, "matplotlib", None)
        assert main(["outcomes", "rocking-block", *FEW, "--out", str(tmp_path)]) == 0
        assert {path.name for path in tmp_path.iterdir()} == FILES - {"contact_velocities.png"}
        assert "pip install 'carom[plots]'" in capsys.readouterr().err

    def test_interrupted_law_leaves_no_file(self, capsys, tmp_path, monkeypatch):
        monkeypatch.setattr(carom.Sequential, "resolve", interrupt)
        folder = tmp_path / "out"
        assert main(["outcomes", "rocking-block", *FEW, "--out", str(folder)]) == 130
        assert capsys.readouterr() == ("", "carom: interrupted\n")
        assert list(tmp_path.iterdir()) == []

    def test_interrupted_writing_leaves_whole_files_only(self, tmp_path, monkeypatch):
        (tmp_path / "outcomes.npz").write_bytes(b"old")
        replace, calls = os.replace, []

        def second_is_interrupted(*arguments):
            calls.append(arguments)
            if len(calls) == 2:
                raise KeyboardInterrupt
            replace(*arguments)

        monkeypatch.setattr(os, "replace", second_is_interrupted)
        assert main(["outcomes", "rocking-block", *FEW, "--out", str(tmp_path)]) == 130
        assert {path.name for path in tmp_path.iterdir()} == {"summary.txt", "outcomes.npz"}
        assert (tmp_path / "outcomes.npz").read_bytes() == b"old"

    @pytest.mark.skipif(os.name == "nt", reason="signals are others there")
    def test_real_interrupt_ends_a_long_run(self, tmp_path):
        command = [sys.executable, "-m", "carom", "outcomes", "disk-stack", "--law", "routh"]
        command += ["--threads", "1", "--out", str(tmp_path / "out")]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        with subprocess.Popen(command, **pipes) as process:
            time.sleep(3.0)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
        assert process.returncode == 130
        assert (out, err) == (b"", b"carom: interrupted\n")
        assert list(tmp_path.iterdir()) == []


class TestErrors:
    def test_unknown_scene_suggests_the_closest(self, capsys):
        error = read_error(capsys, ["outcomes", "roking-block"], 2)
        assert "did you mean 'rocking-block'?" in error

    def test_missing_file(self, capsys):
        assert "no such file" in read_error(capsys, ["outcomes", "missing.json"], 2)

    def test_file_of_an_unknown_kind(self, capsys, tmp_path):
        (tmp_path / "problem").write_text("")
        error = read_error(capsys, ["outcomes", str(tmp_path / "problem")], 2)
        assert "ends in .json or .npz" in error

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (["scene"], "choose from"),
            (["outcomes"], "required: SCENE|FILE"),
            (["outcomes", "ramone", "--samples", "0"], "--samples: expected an integer from 1"),
            (["outcomes", "ramone", "--samples", "many"], "got 'many'"),
            (["outcomes", "ramone", "--step", "-1"], "--step"),
            (["outcomes", "ramone", "--step", "nan"], "--step: expected a number > 0"),
            (["outcomes", "ramone", "--step", "inf"], "--step: expected a number > 0"),
            (["outcomes", "ramone", "--seed", str(2**53)], "--seed: expected an integer from 0"),
            (["outcomes", "ramone", "--threads", "0"], "--threads"),
            (["outcomes", "ramone", "--draw", "none"], "persistent"),
            (["outcomes", "ramone", "--sam", "3"], "--sam"),
            (["outcomes", "ramone", "--law", "routh", "--order", "A,B"], "--order: does not bear"),
            (["outcomes", "ramone", "--law", "sequential", "--max-steps", "3"], "--max-steps: "),
            (["outcomes", "ramone", "--law", "sequential", "--order", "A,C"], "got A, C"),
            (["outcomes", "ramone", "--law", "routh-single"], "one planar contact"),
            (["outcomes", "ramone", "--law", "exact", "--samples", "9"], "--samples: does not"),
            (["outcomes", "ramone", "--law", "routh", "--budget", "9"], "--budget: does not bear"),
            (["outcomes", "ramone", "--budget", "0"], "--budget: expected a number > 0"),
            (["outcomes", "ramone", "--budget", "nan"], "--budget: expected a number > 0"),
            (["outcomes", "ramone", "--on-budget", "none"], "outer"),
            (["outcomes", "ramone", "--samples", "9" * 30], "--samples: expected an integer"),
        ],
    )
    def test_bad_input_is_one_line_with_advice(self, capsys, arguments, words):
        assert words in read_error(capsys, arguments, 2)

    def test_memory_that_is_not_there(self, capsys, monkeypatch):
        def exhaust(*_):
            raise MemoryError

        monkeypatch.setattr(carom.Routh, "resolve", exhaust)
        error = read_error(capsys, ["outcomes", "ramone", "--samples", "1_000_000_000"], 2)
        assert "not enough memory; lower --samples" in error

    def test_folder_that_is_a_file(self, capsys, tmp_path):
        (tmp_path / "file").write_text("")
        for path in (tmp_path / "file", tmp_path / "file" / "below"):
            error = read_error(capsys, ["outcomes", "ramone", "--out", str(path)], 2)
            assert "--out: expected a folder" in error

    def test_folder_that_cannot_be_made(self, capsys, monkeypatch, tmp_path):
        def refuse(*_, **__):
            raise PermissionError(13, "Permission denied", "locked")

        monkeypatch.setattr("pathlib.Path.mkdir", refuse)
        arguments = ["outcomes", "rocking-block", *FEW, "--out", str(tmp_path / "new")]
        assert "locked: Permission denied" in read_error(capsys, arguments, 2)

    def test_impact_that_is_not_resolved(self, capsys):
        arguments = ["outcomes", "rocking-block", *FEW, "--max-steps", "1", "--step", "1e-3"]
        error = read_error(capsys, [*arguments, "--law", "routh"], 1)
        assert "no sample ended" in error
        assert "raise max_steps" in error

    def test_other_laws_answer_where_one_fails(self, capsys, tmp_path):
        arguments = ["outcomes", "rocking-block", *FEW, "--max-steps", "1", "--step", "1e-3"]
        assert main([*arguments, "--json", "--out", str(tmp_path)]) == 1
        captured = capsys.readouterr()
        report = json.loads(captured.out)
        assert list(report["laws"]) == ["exact", "anitescu-potra", "sequential"]
        assert "no sample ended" in report["not_resolved"]["routh"]
        assert captured.err.startswith("carom: error: routh: no sample ended")
        assert {path.name for path in tmp_path.iterdir()} == FILES

    def test_debug_shows_the_traceback(self, capsys):
        assert main(["outcomes", "roking-block", "--debug"]) == 2
        error = capsys.readouterr().err
        assert "Traceback" in error
        assert "UnknownScene" in error
        assert error.splitlines()[-1].startswith("carom: error: ")

    def test_fault_of_carom_is_not_called_bad_input(self, monkeypatch):
        def fault(*_):
            raise ZeroDivisionError

        monkeypatch.setattr(carom.Sequential, "resolve", fault)
        with pytest.raises(ZeroDivisionError):
            main(["outcomes", "rocking-block", *FEW])


class TestProgress:
    def test_bar_on_a_terminal_counts_samples(self, capsys, monkeypatch):
        monkeypatch.setattr("carom.cli.console.DELAY", 0.0)
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setattr(carom.Routh, "resolve", slowly(carom.Routh.resolve))
        assert main(["outcomes", "rocking-block", *FEW, "--law", "routh", "--json"]) == 0
        captured = capsys.readouterr()
        json.loads(captured.out)
        assert "routh (kernels are compiled once, on first use)" in captured.err

    def test_exact_law_shows_what_it_does(self, capsys, monkeypatch):
        monkeypatch.setattr("carom.cli.console.DELAY", 0.0)
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setattr(carom.RouthExact, "resolve", slowly(carom.RouthExact.resolve))
        assert main(["outcomes", "rocking-block", "--law", "exact", "--json"]) == 0
        captured = capsys.readouterr()
        json.loads(captured.out)
        assert "exact (follows every order of events)" in captured.err
        assert "compiled" not in captured.err

    def test_nothing_without_a_terminal(self, capsys, monkeypatch):
        monkeypatch.setattr("carom.cli.console.DELAY", 0.0)
        monkeypatch.setattr(carom.Routh, "resolve", slowly(carom.Routh.resolve))
        assert main(["outcomes", "rocking-block", *FEW, "--law", "routh"]) == 0
        assert capsys.readouterr().err == ""


def spy(function, look):
    def watched(*arguments):
        result = function(*arguments)
        look(result)
        return result

    return watched


def few_polyhedra(make_law):
    """Let an exact law's budget end at once."""

    def make(*arguments):
        return replace(make_law(*arguments), max_polyhedra=3, num_samples=200)

    return make


def slowly(function):
    def slow(*arguments):
        time.sleep(0.3)
        return function(*arguments)

    return slow


def interrupt(*_):
    raise KeyboardInterrupt


def no_sample_ends(_, problem):
    raise carom.ImpactNotResolved("no sample ended", problem)
