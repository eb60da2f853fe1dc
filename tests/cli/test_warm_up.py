"""carom warm-up, as typed: afterwards, nothing is left to compile."""

import os
import subprocess
import sys

from tests.cli.helpers import read_json

SCRIPT = """
import carom
from numba.core import event

class Listener(event.Listener):
    def on_start(self, about):
        names.append(str(about.data["dispatcher"]))

    def on_end(self, about):
        pass

names = []
event.register("numba:compile", Listener())
for name in ("rocking-block", "compass-gait", "disk-stack"):
    problem = carom.scenes.load(name).problem
    for options in ({}, {"step_impulse": 0.3}):
        carom.Routh(num_samples=64, seed=1, **options).resolve(problem)
problem = carom.scenes.load("disk-stack").problem
for _ in range(2):
    carom.AnitescuPotra().resolve(problem)
    carom.Sequential(order=problem.contacts).resolve(problem)
for name in ("zeno-block", "rocking-block"):
    scene = carom.scenes.load(name)
    carom.simulate(scene.system, scene.q, scene.v, 1.0, carom.Routh(num_samples=1))
feet = carom.ImpactProblem(
    M=[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
    J_n=[[0.0, 0.0, 1.0], [0.1, 0.0, 1.0]],
    J_t=[[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]] * 2,
    mu=0.5,
    v_pre=[1.0, 0.2, -1.0],
)
carom.Routh(num_samples=64).resolve(feet)
print("\\n".join(names))
"""


def test_nothing_is_left_to_compile(capsys):
    found = read_json(capsys, "warm-up")
    assert all(value >= 0.0 for value in found["seconds"].values())
    path = os.pathsep.join(sys.path)
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == []
