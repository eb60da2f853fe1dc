"""Examples run as a reader would run them, and what they find is right."""

import importlib.util
import itertools
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import carom

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
GRAVITY = 9.81
CLOSE = 1e-9


def examples():
    """Return the scripts, each marked with the optional packages that it uses."""
    for path in EXAMPLES:
        code = path.read_text(encoding="utf-8")
        words = {
            "ppl": ("RouthExact", "post_impact_set"),
            "matplotlib": ("carom.plots", "from matplotlib"),
        }
        needs = [package for package, used in words.items() if any(word in code for word in used)]
        yield pytest.param(path, marks=[pytest.mark.needs(each) for each in needs], id=path.stem)


@pytest.mark.parametrize("path", [*examples()])
def test_example_runs_and_prints(path, tmp_path):
    """In a fresh folder, as a script, without a warning."""
    command = [sys.executable, "-W", "error", path]
    run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip()
    for file in tmp_path.iterdir():
        assert file.stem in (path.stem, "impact")


def test_list_names_every_example():
    text = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.startswith("| [")]
    assert sorted(line.split("[")[1].split("]")[0] for line in lines) == [p.name for p in EXAMPLES]


def load(name):
    """Import an example from its file."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_first_set(tmp_path):
    """The box pivots: about one corner, then about the other, each keeps its angular momentum."""
    example = load("first_set")
    found = example.main(str(tmp_path / "box.png"))
    mass, width, height = example.MASS, example.WIDTH, example.HEIGHT
    inertia = mass * (width**2 + height**2) / 12
    about_corner = inertia + mass * (width**2 + height**2) / 4

    def pivot(v, side):
        """Return the velocity after a corner, at side -1 or 1, has stopped."""
        x, y = -side * width / 2, height / 2  # the centre, seen from the corner
        rate = (inertia * v[2] + mass * (x * v[1] - y * v[0])) / about_corner
        return np.array([-y * rate, x * rate, rate])

    v_pre = found["exact"].problem.v_pre
    ends = [pivot(pivot(v_pre, first), -first) for first in (-1, 1)]
    for end, direction in itertools.product(ends, ([0, 0, 1], [0, 0, -1])):
        assert found["exact"].contains(end, CLOSE)
        assert found["sequential"].contains(end, CLOSE)
        expected = max(np.dot(each, direction) for each in ends)
        assert found["exact"].support(direction) == pytest.approx(expected, rel=1e-9)
        # Samples draw both orders too, among all others.
        assert found["sampled"].support(direction) == pytest.approx(expected, rel=1e-2)
    assert found["exact"].is_complete
    assert found["exact"].contains(found["simultaneous"].v_post[0], CLOSE)
    assert (tmp_path / "box.png").read_bytes()[1:4] == b"PNG"


def test_which_order():
    """Each step follows from its impulses, lies in the friction cone and loses energy."""
    problem, path = load("which_order").main()
    assert path.num_steps >= 2
    np.testing.assert_array_equal(path.v[0], problem.v_pre)
    for k in range(path.num_steps):
        push = problem.J_n.T @ path.lambda_n[k] + problem.J_t[:, 0].T @ path.lambda_t[k, :, 0]
        change = problem.M @ (path.v[k + 1] - path.v[k])
        np.testing.assert_allclose(change, push, atol=CLOSE)
        assert problem.kinetic_energy(path.v[k + 1]) < problem.kinetic_energy(path.v[k]) + CLOSE
    assert (path.lambda_n >= -CLOSE).all()
    assert (np.abs(path.lambda_t[..., 0]) <= problem.mu * path.lambda_n + CLOSE).all()
    lift = problem.J_n @ path.v[-1]
    assert lift[0] > 1e-3
    assert lift[1] == pytest.approx(0.0, abs=CLOSE)


def test_worst_case():
    """No outcome lies outside of what the controller reckons with, and no place is better."""
    example = load("worst_case")
    found = example.main()
    low, high, best = found.pop("low"), found.pop("high"), found["middle of the set"]
    scene = carom.scenes.load("compass-gait", leading_rate=2.5, trailing_rate=2.5)
    # Another way to the centre of mass: two equal legs, with their masses half way down.
    height = 0.5 * math.cos(scene.q[3])
    middle = [np.array([1.0, 0.0, 0.0, 0.0]) for _ in range(2)]
    for i, row in enumerate(middle, start=2):
        row[i] = 0.5 * math.cos(scene.q[i])
    row = -0.5 * sum(middle) * math.sqrt(height / GRAVITY)
    samples = carom.RouthExact().resolve(scene.problem).sample(2000) @ row
    assert low - CLOSE <= samples.min()
    assert samples.max() <= high + CLOSE
    for place in np.linspace(2 * low, 2 * high, 101):
        ends = np.array([low, high])
        assert np.abs(ends - place).max() >= best - CLOSE
    assert [name for name, error in found.items() if error <= example.HALF_FOOT] == [
        "middle of the set"
    ]
    # What a controller is promised that trusts a law is not what happens.
    assert min(error for name, error in found.items() if name != "middle of the set") > best


def test_drop_with_spread(tmp_path):
    """Motions are one until two corners hit at once; a corner alone leaves them one."""
    example = load("drop_with_spread")
    bundles = example.main(str(tmp_path / "drop.png"))
    fall = math.sqrt(2 * example.HEIGHT / GRAVITY)
    for bundle in bundles.values():
        assert bundle.num_finished == example.NUM_MOTIONS
        for motion in bundle.trajectories:
            assert motion.impacts[0].t == pytest.approx(fall, rel=1e-6)
            assert all(impact.energy_lost > -CLOSE for impact in motion.impacts)
    flat, corner = bundles.values()
    before, after = np.linspace(0.0, 0.99 * fall, 5), np.linspace(1.1 * fall, example.DURATION, 5)
    assert flat.trajectories[0].impacts[0].contacts == ("A", "B")
    assert flat.spread(before).max() < CLOSE
    assert flat.spread(after)[:, example.ANGLE].max() > math.radians(0.1)
    assert len(corner.trajectories[0].impacts[0].contacts) == 1
    assert corner.spread([*before, *after]).max() < CLOSE
    assert (tmp_path / "drop.png").read_bytes()[1:4] == b"PNG"


def test_matrices_from_file(tmp_path):
    """Both files hold the same numbers, and the command line says what Python does."""
    found = load("matrices_from_file").main(str(tmp_path))
    np.testing.assert_allclose(found["told"], found["here"], rtol=1e-12, atol=1e-15)
    assert (found["here"] >= -CLOSE).all()
    assert found["here"].max() > 0.1
    text, archive = (carom.load(tmp_path / f"impact.{kind}") for kind in ("json", "npz"))
    np.testing.assert_array_equal(text.J, archive.J)
    np.testing.assert_array_equal(text.v_pre, archive.v_pre)


def test_jammed_box():
    """Impulses within friction cancel while both walls are there, and cannot without one."""
    example = load("jammed_box")
    jammed, freed = example.main()
    impulse = jammed.cone.jamming
    assert not jammed.cone.is_pointed
    assert (impulse[:2, 0] > 0.1).all()
    np.testing.assert_allclose(example.impact().J.T @ impulse.ravel(), 0.0, atol=CLOSE)
    assert freed.cone.is_pointed


def test_newtons_cradle(tmp_path):
    """All outcomes are on one arc, and springs of every kind are among them."""
    example = load("newtons_cradle")
    samples, ends = example.main(str(tmp_path / "cradle.png"))
    # Momentum and energy leave a circle, and on it only the arc on which nothing approaches.
    for v in samples.v_post, np.array([*ends.values()]):
        np.testing.assert_allclose(v.sum(axis=1), 1.0, atol=1e-5)
        np.testing.assert_allclose((v**2).sum(axis=1), 1.0, atol=1e-5)
        assert np.diff(v, axis=1).min() > -1e-5
    np.testing.assert_allclose(ends["simultaneous"], [-1 / 3, 2 / 3, 2 / 3], atol=CLOSE)
    np.testing.assert_allclose(ends["one after the other"], [0.0, 0.0, 1.0], atol=CLOSE)
    # Springs as published; those of the law `Compliant` are the equations of motion.
    known = {
        "linear springs, A and B alike": [-0.13026, 0.15023, 0.98003],
        "springs of Hertz": [-0.07095, 0.07640, 0.99455],
        "A 10 times stiffer than B": example.between_springs(1.0, (10.0, 1.0)),
        "B 10 times stiffer than A": example.between_springs(1.0, (1.0, 10.0)),
    }
    for name, v in known.items():
        np.testing.assert_allclose(ends[name], v, atol=1e-4)
    for v in ends.values():
        assert samples.distance(v) < 1e-3
    assert (tmp_path / "cradle.png").read_bytes()[1:4] == b"PNG"
