"""Sweeps as files: what they say, and errors that name the line."""

import numpy as np
import pytest

import carom
from carom.sweeps.law import ExactOrSampled
from carom.sweeps.measures import WorstCase
from carom.sweeps.spec import line_of, read_spec

GOOD = """\
# A block lands.
problem = "rocking-block"
measures = ["contact_bounds", "worst_case"]
seed = 3
unit_size = 5

[parameters]
mu = { from = 0.2, to = 1.0, num = 3 }
height = { from = 0.1, to = 10.0, num = 3, scale = "log" }
width = 1.0
speed = [0.5, 1.0]

[worst_case]
lift = "A normal"
turn = [0.0, 0.0, 1.0]

[law]
name = "Routh"
num_samples = 100

[units]
speed = "m/s"
"""


@pytest.fixture
def write(tmp_path):
    def write(text):
        path = tmp_path / "spec.toml"
        path.write_text(text)
        return path

    return write


def test_everything_is_read(write):
    spec = read_spec(write(GOOD))
    assert spec.problem_of == "rocking-block"
    np.testing.assert_allclose(spec.parameters["mu"], [0.2, 0.6, 1.0])
    np.testing.assert_allclose(spec.parameters["height"], [0.1, 1.0, 10.0])
    assert (spec.parameters["width"], spec.parameters["speed"]) == (1.0, [0.5, 1.0])
    assert (spec.seed, spec.unit_size, spec.units) == (3, 5, {"speed": "m/s"})
    assert spec.law == carom.Routh(num_samples=100)
    assert spec.measures["contact_bounds"] == "contact_bounds"
    assert spec.measures["worst_case"] == WorstCase({"lift": "A normal", "turn": [0.0, 0.0, 1.0]})


def test_default_law(write):
    text = 'problem = "box-wall"\nmeasures = ["complete"]\n[law]\nmax_polyhedra = 7\n'
    spec = read_spec(write(text + "[parameters]\nmu = [1.0]\n"))
    assert spec.law == ExactOrSampled(max_polyhedra=7)


def test_functions_beside_the_file(write, tmp_path):
    (tmp_path / "beside_spec.py").write_text("def pose(mu): ...\ndef lift(outcomes): ...\n")
    text = 'problem = "beside_spec:pose"\nmeasures = ["beside_spec:lift"]\n[parameters]\nmu = [1]\n'
    spec = read_spec(write(text))
    assert spec.problem_of.__name__ == "pose"
    assert [*spec.measures] == ["lift"]


@pytest.mark.parametrize("method", ["sobol", "halton", "latin-hypercube"])
def test_designs_repeat_and_fill_their_ranges(method, write):
    text = GOOD[: GOOD.index("[parameters]")].replace(', "worst_case"', "")
    text += "[parameters]\nmu = { from = 0.2, to = 1.0 }\nspeed = { from = 1, to = 2 }\n"
    path = write(text + f'[design]\nmethod = "{method}"\nnum = 64\n')
    points = read_spec(path).parameters
    assert points == read_spec(path).parameters
    mu = np.array([point["mu"] for point in points])
    assert len(points) == 64
    assert 0.2 <= mu.min() < 0.25
    assert 0.95 < mu.max() <= 1.0


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("seed = 3", "seed = -3", ":4: seed: seed: expected an integer >= 0"),
        ("seed = 3", "sead = 3", ":4: sead: expected one of problem, measures"),
        ("seed = 3", 'seed = "3"', ":4: seed: expected an integer, got '3'"),
        ('"rocking-block"', '"rocking-blok"', ":2: problem: no scene is named"),
        ('"rocking-block"', '"nowhere:pose"', ":2: problem: expected module:function"),
        ('"contact_bounds", ', '"contact_bound", ', ":3: measures: expected contact_bounds"),
        ("to = 1.0, num = 3", "to = 0.1, num = 3", ":8: parameters.mu: expected from < to"),
        ("to = 1.0, num = 3", "to = 1.0, number = 3", ":8: parameters.mu: expected from, to"),
        ("to = 1.0, num = 3", "to = 1.0", ":8: parameters.mu: expected num, an integer"),
        ('scale = "log"', 'scale = "cubic"', ":9: parameters.height: expected scale"),
        ("from = 0.1", "from = 0", ":9: parameters.height: expected from > 0"),
        ('"Routh"', '"Ruth"', ":18: law.name: expected one of ExactOrSampled, Routh"),
        ("num_samples = 100", "num_samples = 0", ":19: law.num_samples: expected an integer >= 1"),
        ("num_samples = 100", "samples = 0", ":19: law.samples: expected an option of Routh"),
        ("[units]", "[unit]", ":21: unit: expected one of problem"),
        ("seed = 3", "seed = = 3", ":4: "),
        (', "worst_case"]', "]", ":13: worst_case: expected 'worst_case' among the measures"),
        ("[law]", '[design]\nmethod = "dice"\n[law]', ":18: design.method: expected one of sobol"),
    ],
)
def test_errors_name_the_line(before, after, message, write):
    assert before in GOOD
    path = write(GOOD.replace(before, after, 1))
    with pytest.raises(carom.InvalidFile) as raised:
        read_spec(path)
    assert str(raised.value).startswith(f"{path}{message}")


def test_missing_entries(write):
    with pytest.raises(carom.InvalidFile, match=r"spec\.toml: misses problem, measures"):
        read_spec(write("[parameters]\nmu = [1.0]\n"))


def test_lines_of_dotted_and_quoted_keys():
    text = 'a = 1\n"b c" = 2\nlaw.name = 3\n[ x . y ]\nz = 4\n'
    assert line_of(text, ("b c",)) == 2
    assert line_of(text, ("law", "name")) == 3
    assert line_of(text, ("x", "y", "z")) == 5
    # An entry that is not found is looked for where its table is.
    assert line_of(text, ("x", "y", "w")) == 4
