"""Train a lander on one engine's impacts and on draws from the set, and test both on the set.

A tall body comes down on two feet, and a wheel in it has to keep it upright. PPO, as in CleanRL but
with NumPy alone, trains one policy in the plain environment of MuJoCo and one where impacts end in
draws. Then both land from the same starts: as MuJoCo has it, in many draws, and against an
adversary that turns the body as far as the set allows.

Run it as `python train_on_draws.py [figure.png] [steps] [policies of each kind] [starts]`; it takes
about a minute on two cores. It needs `pip install ".[gymnasium,plots]"`.
"""

import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import gymnasium
import numpy as np
from gymnasium.envs.mujoco import MujocoEnv
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers import TimeLimit
from matplotlib.figure import Figure

from carom.adapters.gymnasium import SetValuedImpacts
from carom.plots import style

TILT = 2  # index of the tilt among positions, and of its rate among velocities
NUM_STEPS = 75  # of an episode, each 20 ms
HEIGHT = (0.3, 0.8)  # of the feet above the floor [m]
SPREAD = (0.3, 0.05, 0.2)  # largest sideways velocity [m/s], tilt [rad] and tilt rate [rad/s]
FALLEN, UPRIGHT = 0.5, 0.1  # tilt at which an episode ends, and with which it ends well [rad]


class Lander(MujocoEnv):
    """A body that falls, to be kept upright by the torque of a wheel."""

    metadata = {"render_modes": ["human", "rgb_array", "depth_array"], "render_fps": 50}  # noqa: RUF012

    def __init__(self, **options):
        space = gymnasium.spaces.Box(-np.inf, np.inf, (6,), np.float64)
        path = Path(__file__).resolve().with_name("lander.xml")
        super().__init__(str(path), 10, space, **options)

    def reset_model(self):
        qpos, qvel, rng = np.zeros(self.model.nq), np.zeros(self.model.nv), self.np_random
        qpos[1] = rng.uniform(*HEIGHT)
        qvel[0], qpos[TILT], qvel[TILT] = rng.uniform(-1.0, 1.0, 3) * SPREAD
        self.set_state(qpos, qvel)
        return self._observe()

    def step(self, action):
        self.do_simulation(action, self.frame_skip)
        tilt, rate = self.data.qpos[TILT], self.data.qvel[TILT]
        reward = 1.0 - 4.0 * tilt**2 - 0.1 * rate**2 - 0.01 * float(action[0]) ** 2
        return self._observe(), reward, abs(tilt) > FALLEN, False, {}

    def _observe(self):
        z, tilt = self.data.qpos[1:3]
        return np.array([z, 5.0 * tilt, *self.data.qvel[:3], self.data.qvel[3] / 50.0])


def make(**options):
    """Return the environment; without options, MuJoCo resolves all impacts."""
    env = TimeLimit(Lander(), NUM_STEPS)
    return SetValuedImpacts(env, **options) if options else env


def turn(problem, side):
    """Return the direction of an adversary that turns the body to one side."""
    return side * np.eye(problem.num_velocities)[TILT]


HABITS = {"MuJoCo": {}, "draws": {"probability": 1.0}}
"""What the two policies are trained on."""


# PPO: an actor and a critic with two layers of tanh, their gradients by hand, and Adam.

NUM_ENVS, HORIZON, EPOCHS, MINIBATCHES = 16, 128, 8, 8
GAMMA, LAMBDA, CLIP, RATE = 0.99, 0.95, 0.2, 1e-3


class Network(list):
    """Weights and biases of a network (W, b, W, b, ...)."""

    @classmethod
    def new(cls, rng, sizes, last):
        net = cls()
        for rows, columns in pairwise(sizes):
            # Orthogonal, as is usual for PPO.
            q = np.linalg.qr(rng.normal(size=(max(rows, columns), min(rows, columns))))[0]
            gain = np.sqrt(2.0) if columns != sizes[-1] else last
            net += [gain * (q if rows >= columns else q.T), np.zeros(columns)]
        return net

    def layers(self, x):
        """Return what all layers put out, the input first."""
        found = [x]
        for k in range(0, len(self), 2):
            x = x @ self[k] + self[k + 1]
            x = x if k == len(self) - 2 else np.tanh(x)
            found.append(x)
        return found

    def __call__(self, x):
        return self.layers(x)[-1]

    def gradients(self, layers, slope):
        """Return the gradients of all weights, given that of the output (n, out)."""
        found = []
        for k in range(len(self) - 2, -1, -2):
            found = [layers[k // 2].T @ slope, slope.sum(axis=0), *found]
            slope = (slope @ self[k].T) * (1.0 - layers[k // 2] ** 2)
        return found


class Adam:
    def __init__(self, weights):
        self.weights, self.count = weights, 0
        self.first, self.second = ([np.zeros_like(w) for w in weights] for _ in range(2))

    def step(self, gradients, rate):
        self.count += 1
        size = np.sqrt(sum((g**2).sum() for g in gradients))
        scale = min(1.0, 0.5 / (size + 1e-9))
        for w, g, m, v in zip(self.weights, gradients, self.first, self.second, strict=True):
            m += 0.1 * (scale * g - m)
            v += 0.001 * ((scale * g) ** 2 - v)
            w -= (
                rate
                * (m / (1.0 - 0.9**self.count))
                / (np.sqrt(v / (1.0 - 0.999**self.count)) + 1e-8)
            )


class Batch(NamedTuple):
    seen: np.ndarray
    actions: np.ndarray
    logp: np.ndarray
    advantages: np.ndarray
    returns: np.ndarray


@dataclass
class Agent:
    actor: Network
    critic: Network
    log_std: np.ndarray

    @classmethod
    def new(cls, rng, num_seen, num_actions):
        actor = Network.new(rng, (num_seen, 32, 32, num_actions), 0.01)
        critic = Network.new(rng, (num_seen, 32, 32, 1), 1.0)
        return cls(actor, critic, np.full(num_actions, -0.5))

    def logp(self, means, actions):
        return -(0.5 * ((actions - means) / np.exp(self.log_std)) ** 2 + self.log_std).sum(axis=1)

    def gradients(self, batch):
        """Return the gradients of actor, critic and deviation."""
        n, layers = len(batch.seen), self.actor.layers(batch.seen)
        ratio = np.exp(self.logp(layers[-1], batch.actions) - batch.logp)
        a = (batch.advantages - batch.advantages.mean()) / (batch.advantages.std() + 1e-8)
        # Beyond the clip, the gain is constant.
        is_free = np.where(a > 0.0, ratio < 1.0 + CLIP, ratio > 1.0 - CLIP)
        slope = -(a * ratio * is_free)[:, None] / n
        away = (batch.actions - layers[-1]) / np.exp(self.log_std)
        actor = self.actor.gradients(layers, slope * away / np.exp(self.log_std))
        values = self.critic.layers(batch.seen)
        critic = self.critic.gradients(values, 0.5 * (values[-1] - batch.returns[:, None]) / n)
        return [*actor, *critic, (slope * (away**2 - 1.0)).sum(axis=0)]


def collect(envs, agent, seen, rng):
    """Run the policy; return a batch, the last observation and the rewards per episode."""
    shape = HORIZON, NUM_ENVS
    own = np.empty((*shape, seen.shape[1])), np.empty((*shape, len(agent.log_std)))
    rewards, ends, values = np.empty(shape), np.empty(shape), np.empty((HORIZON + 1, NUM_ENVS))
    for t in range(HORIZON):
        means = agent.actor(seen)
        actions = means + np.exp(agent.log_std) * rng.normal(size=means.shape)
        own[0][t], own[1][t], values[t] = seen, actions, agent.critic(seen)[:, 0]
        seen, rewards[t], failed, late, info = envs.step(actions)
        ends[t] = failed | late
        for i in np.flatnonzero(late & ~failed):
            # The body would have stood on.
            rewards[t, i] += GAMMA * agent.critic(info["final_obs"][i][None])[0, 0]
    values[-1] = agent.critic(seen)[:, 0]
    advantages, last = np.empty(shape), np.zeros(NUM_ENVS)
    for t in range(HORIZON - 1, -1, -1):
        goes_on = 1.0 - ends[t]
        last *= GAMMA * LAMBDA * goes_on
        last += rewards[t] + GAMMA * values[t + 1] * goes_on - values[t]
        advantages[t] = last
    flat = [each.reshape(HORIZON * NUM_ENVS, -1) for each in own]
    logp = agent.logp(agent.actor(flat[0]), flat[1])
    returns = (advantages + values[:-1]).ravel()
    return Batch(*flat, logp, advantages.ravel(), returns), seen


def train(habit, seed, num_steps):
    """Return an agent that was trained on one kind of impacts."""
    rng = np.random.default_rng(seed)
    make_one = partial(make, **HABITS[habit])
    envs = SyncVectorEnv([make_one] * NUM_ENVS, autoreset_mode=AutoresetMode.SAME_STEP)
    agent = Agent.new(
        rng, envs.single_observation_space.shape[0], envs.single_action_space.shape[0]
    )
    adam = Adam([*agent.actor, *agent.critic, agent.log_std])
    seen, _ = envs.reset(seed=1000 * seed)
    size = HORIZON * NUM_ENVS
    num_rounds = -(-num_steps // size)
    for number in range(num_rounds):
        batch, seen = collect(envs, agent, seen, rng)
        for _ in range(EPOCHS):
            for rows in np.split(rng.permutation(size), MINIBATCHES):
                part = Batch(*(each[rows] for each in batch))
                adam.step(agent.gradients(part), RATE * (1.0 - number / num_rounds))
    envs.close()
    return agent


def land(env, agent, seed):
    """Return the tilts of one landing, without noise [rad]."""
    seen, _ = env.reset(seed=seed)
    tilts, over = [], False
    while not over:
        seen, _, failed, late, _ = env.step(agent.actor(seen[None])[0])
        tilts.append(env.unwrapped.data.qpos[TILT])
        over = failed or late
    return np.array(tilts)


# The test: all policies land from the same starts, which none has seen.

NUM_DRAWS = 10
FIRST_START = 10**6  # seed of the first start
KINDS = ("MuJoCo", "a draw", f"{NUM_DRAWS} draws", "adversary")
"""Impacts that a landing has to survive: the last two are several landings, which all have to."""


def tests():
    """Return the environments of each test; a landing that has to succeed in all is one test."""
    draws = [make(probability=1.0, seed=k) for k in range(NUM_DRAWS)]
    return [make()], draws, [make(adversary=partial(turn, side=side)) for side in (-1.0, 1.0)]


def stands(tilts):
    return len(tilts) == NUM_STEPS and abs(tilts[-1]) < UPRIGHT


def judge(habit, seed, num_steps, num_starts):
    """Train a policy; return the shares of landings after which it stands, and some tilts."""
    agent = train(habit, seed, num_steps)
    groups = tests()
    starts = range(FIRST_START, FIRST_START + num_starts)
    ends = [
        np.array([[stands(land(env, agent, start)) for env in envs] for start in starts])
        for envs in groups
    ]
    plain, drawn, worst = ends
    shares = [plain.mean(), drawn.mean(), drawn.all(axis=1).mean(), worst.all(axis=1).mean()]
    tilts = [land(env, agent, FIRST_START) for env in (*groups[1], *groups[2])]
    return habit, np.array(shares), tilts


def draw(found, figure):
    """Draw the tilt of the body after one start, and how often it stands."""
    drawn = Figure(figsize=(11.5, 4.2), layout="constrained")
    *left, right = drawn.subplots(1, 3, width_ratios=(1, 1, 1.3))
    colours = dict(zip(HABITS, (style.VERMILLION, style.BLUE), strict=True))
    for ax, (habit, colour) in zip(left, colours.items(), strict=True):
        draw_tilts(ax, next(tilts for name, _, tilts in found if name == habit), colour)
        ax.set_title(f"trained on {habit}: one start", fontsize=11)
    for k, (habit, colour) in enumerate(colours.items()):
        shares = 100.0 * np.array([each for name, each, _ in found if name == habit])
        places = np.arange(len(KINDS)) + 0.4 * (k - 0.5)
        right.bar(places, shares.mean(axis=0), 0.38, color=colour, alpha=0.6, label=habit)
        right.plot(places, shares.T, ".", color=style.DARK, markersize=5)
    right.set_xticks(range(len(KINDS)), KINDS)
    right.set(xlabel="impacts of the test", ylabel="landings that end upright [%]", ylim=(0.0, 120))
    right.legend(frameon=False, title="trained on", loc="upper right", ncols=2)
    drawn.savefig(figure, dpi=110)


def draw_tilts(ax, tilts, colour):
    """Draw the landings of one policy from one start."""
    for k, own in enumerate(tilts):
        is_drawn = k < NUM_DRAWS
        ax.plot(
            0.02 * np.arange(1, len(own) + 1),
            np.degrees(own),
            color=colour if is_drawn else style.DARK,
            linestyle="-" if is_drawn else "--",
            linewidth=1.0,
            label={0: "draws", NUM_DRAWS: "adversary, to either side"}.get(k),
        )
    ax.set(xlabel="time [s]", ylabel="tilt [°]", ylim=(-30.0, 30.0), xlim=(0.0, 0.02 * NUM_STEPS))
    ax.legend(frameon=False, fontsize=9, loc="upper right")


def main(figure="train_on_draws.png", num_steps="150000", num_policies="1", num_starts="100"):
    jobs = [(habit, seed) for seed in range(int(num_policies)) for habit in HABITS]
    run = partial(judge, num_steps=int(num_steps), num_starts=int(num_starts))
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        found = list(pool.map(run, *zip(*jobs, strict=True)))
    print(f"{'landings that end upright':28}", *(f"{kind:>10}" for kind in KINDS))
    for habit in HABITS:
        shares = np.array([each for name, each, _ in found if name == habit])
        for label, row in {"mean": shares.mean(axis=0), "least": shares.min(axis=0)}.items():
            name = f"trained on {habit}, {label}"
            print(f"{name:28}", *(f"{100 * x:8.1f} %" for x in row))
    draw(found, figure)
    print(f"figure: {figure}")
    return found


if __name__ == "__main__":
    main(*sys.argv[1:])
