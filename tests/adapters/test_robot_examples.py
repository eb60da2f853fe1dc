"""Examples with real robots run as a reader would run them, and what they find is right."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[2] / "examples" / "robots"
EXAMPLES = {path.stem: path for path in sorted(FOLDER.glob("*_landing.py"))}
FILES = EXAMPLES | {name: FOLDER / f"{name}.py" for name in ("landing_map", "train_on_draws")}


def slow(robot):
    return pytest.param(robot, marks=pytest.mark.slow)


def load(name):
    """Import an example from its file."""
    spec = importlib.util.spec_from_file_location(name, FILES[name])
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", EXAMPLES)
def test_example_runs_and_draws(name, tmp_path):
    """In a fresh folder, as a script, without a warning."""
    command = [sys.executable, "-W", "error", EXAMPLES[name]]
    run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert "kinds of outcome" in run.stdout
    assert [file.name for file in tmp_path.iterdir()] == [f"{name}.png"]
    assert next(tmp_path.iterdir()).read_bytes()[1:4] == b"PNG"


def check_parts(outcomes):
    """Nothing approaches and no energy is made."""
    problem = outcomes.problem
    assert outcomes.v_post.size
    assert (outcomes.v_post @ problem.J_n.T > -1e-8).all()
    before = problem.kinetic_energy(problem.v_pre)
    assert problem.kinetic_energy(outcomes.v_post).max() < before


@pytest.mark.parametrize("robot", ["solo12", slow("go2"), slow("anymal")])
def test_quadruped(robot, tmp_path):
    """Held legs leave more open; both landings are of the same robot at the same speed."""
    example = load("quadruped_landing")
    found = example.main(robot, str(tmp_path / "figure.png"))
    (free, loose), (stiff, tight) = found.values()
    for outcomes in (free, stiff):
        check_parts(outcomes)
        assert outcomes.num_unfinished == 0
        velocity = outcomes.problem.contact_velocity(outcomes.problem.v_pre)
        np.testing.assert_allclose(velocity, [[-1.0, 0.3, 0.1]] * 4, atol=1e-9)
    # One rigid body: its mass is that of the whole robot.
    free_mass, stiff_mass = free.problem.M[0, 0], stiff.problem.M[0, 0]
    assert free_mass == pytest.approx(stiff_mass)
    assert tight.relative_distance > 0.5 > 0.05 > loose.relative_distance
    # It cannot move all of its feet on their own: four feet are corners of one plane.
    lifts = stiff.v_post @ stiff.problem.J_n.T
    assert np.linalg.matrix_rank(lifts, tol=1e-6) == 3


def test_landing_map(tmp_path, monkeypatch):
    """Left and right are alike; held legs are never as good as legs that yield."""
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.chdir(tmp_path)
    example = load("landing_map")
    # Functions of this module are in no file that a worker could import: no processes.
    data = example.main("solo12", "map.png", "out", "3", workers=1)
    assert (tmp_path / "map.png").read_bytes()[1:4] == b"PNG"
    assert bool((data.status == 1).all())
    for name in example.MEASURES:
        left, right = (data[name].sel(sideways=side).values for side in (1.0, -1.0))
        np.testing.assert_allclose(left, right, rtol=0.2)
    # Enough friction stops feet dead if legs yield, and never if they are held.
    stopped = data.foot_speed.sel(sideways=0.0, mu=1.2, method="nearest")
    assert float(stopped.sel(legs="yield")) < 0.05 < float(stopped.sel(legs="held"))


@pytest.mark.parametrize("robot", ["g1", slow("talos")])
def test_humanoid(robot, tmp_path):
    """Held as one body, both feet turn as fast as the body does."""
    example = load("humanoid_landing")
    found = example.main(robot, str(tmp_path / "figure.png"))
    for outcomes, _ in found.values():
        check_parts(outcomes)
        assert outcomes.problem.num_contacts == 4
    (_, loose), (stiff, tight) = found.values()
    assert tight.relative_distance > 0.2 > 0.1 > loose.relative_distance
    turns = stiff.v_post[:, 4]  # of the level base, about the axis to its left
    for least, most in example.pitch_rates(robot, stiff).values():
        assert (least, most) == pytest.approx((turns.min(), turns.max()), abs=1e-9)


@pytest.mark.parametrize("robot", ["walker2d", "hopper", slow("ant"), "humanoid"])
def test_gymnasium_robot(robot, tmp_path):
    """MuJoCo stops all feet, as one of the outcomes does; J is that of the first touch."""
    example = load("gymnasium_landing")
    outcomes, _, own = example.main(robot, str(tmp_path / "figure.png"))
    check_parts(outcomes)
    problem = outcomes.problem
    assert problem.J_n @ own == pytest.approx(np.zeros(problem.num_contacts), abs=0.005)
    speed = np.sqrt(2.0 * problem.kinetic_energy(problem.v_pre))
    assert outcomes.distance(own) < 0.01 * speed


def test_training(tmp_path):
    """In a fresh folder, as a script, a few steps; which policy is better needs more of them."""
    script, few = FOLDER / "train_on_draws.py", ["figure.png", "2048", "1", "5"]
    command = [sys.executable, "-W", "error", script, *few]
    run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert "trained on draws" in run.stdout
    assert (tmp_path / "figure.png").read_bytes()[1:4] == b"PNG"


def test_training_climbs_its_gradient(monkeypatch):
    """Gradients by hand are those of the losses, by differences."""
    monkeypatch.syspath_prepend(str(FOLDER))
    example = load("train_on_draws")
    rng = np.random.default_rng(0)
    agent = example.Agent.new(rng, 6, 1)
    for each in agent.actor:
        each += 0.1 * rng.normal(size=each.shape)
    seen, actions = rng.normal(size=(64, 6)), rng.normal(size=(64, 1))
    before = agent.logp(agent.actor(seen), actions) + 0.2 * rng.normal(size=64)
    batch = example.Batch(seen, actions, before, rng.normal(size=64), rng.normal(size=64))
    weights = [*agent.actor, *agent.critic, agent.log_std]

    def loss():
        ratio = np.exp(agent.logp(agent.actor(seen), actions) - before)
        a = (batch.advantages - batch.advantages.mean()) / (batch.advantages.std() + 1e-8)
        clipped = np.clip(ratio, 1.0 - example.CLIP, 1.0 + example.CLIP)
        away = agent.critic(seen)[:, 0] - batch.returns
        return float(np.mean(-np.minimum(ratio * a, clipped * a) + 0.25 * away**2))

    for weight, gradient in zip(weights, agent.gradients(batch), strict=True):
        index = tuple(rng.integers(weight.shape))
        kept, values = weight[index], []
        for change in (1e-6, -1e-6):
            weight[index] = kept + change
            values.append(loss())
        weight[index] = kept
        assert gradient[index] == pytest.approx((values[0] - values[1]) / 2e-6, abs=1e-7)


def test_training_is_repeatable(monkeypatch):
    """The same seed leads to the same policy, and a policy that is trained stands more often."""
    monkeypatch.syspath_prepend(str(FOLDER))
    example = load("train_on_draws")
    one, other = (example.train("draws", 3, 20_000) for _ in range(2))
    for weight, again in zip(one.actor, other.actor, strict=True):
        assert np.array_equal(weight, again)
    env = example.make(probability=1.0)
    fresh = example.train("draws", 3, 0)
    counts = [
        sum(example.stands(example.land(env, agent, seed)) for seed in range(60))
        for agent in (fresh, one)
    ]
    assert counts[1] > counts[0]
