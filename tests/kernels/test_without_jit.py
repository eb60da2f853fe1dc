"""Kernels are plain Python too: without compilation they give the same numbers."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np

import carom
from carom.systems import Box, SpatialBody

ROUNDING = 1e-12
"""Compiled code may fuse a product and a sum; nothing else may differ."""

SCRIPT = """
import json
import carom

problem = carom.scenes.load("rocking-block").problem
outcomes = carom.Routh(num_samples=3, step_impulse=0.3, seed=4, num_threads=1).resolve(problem)
scene = carom.scenes.load("zeno-block", rate=0.1)
motion = carom.simulate(scene.system, scene.q, scene.v, 0.2, carom.Sequential())
from carom.systems import Box, SpatialBody
box = SpatialBody(Box([0.4, 0.25, 0.3]), mass=2.0, mu=0.3)
q, v = [0.0, 0.0, 0.16, 1.0, 0.0, 0.0, 0.0], [0.3, 0.1, 0.0, 1.0, 0.0, 0.0]
steps = carom.simulate(box, q, v, 0.08, carom.Routh(), time_step=4e-3)
print(json.dumps({
    "in_space": steps.q.tolist(),
    "v_post": outcomes.v_post.tolist(),
    "num_steps": outcomes.num_steps.tolist(),
    "q": motion.q.tolist(),
    "t": motion.t.tolist(),
}))
"""


def test_the_block_ends_alike_without_compilation():
    environment = {
        **os.environ,
        "NUMBA_DISABLE_JIT": "1",
        "PYTHONPATH": os.pathsep.join(sys.path),
        # Integers of the random numbers wrap around, of which NumPy warns.
        "PYTHONWARNINGS": "ignore",
    }
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    plain = json.loads(run.stdout)
    problem = carom.scenes.load("rocking-block").problem
    compiled = carom.Routh(num_samples=3, step_impulse=0.3, seed=4, num_threads=1).resolve(problem)
    np.testing.assert_array_equal(plain["num_steps"], compiled.num_steps)
    np.testing.assert_allclose(plain["v_post"], compiled.v_post, rtol=0.0, atol=ROUNDING)
    assert np.abs(compiled.v_post).max() > 0.01
    scene = carom.scenes.load("zeno-block", rate=0.1)
    motion = carom.simulate(scene.system, scene.q, scene.v, 0.2, carom.Sequential())
    np.testing.assert_allclose(plain["t"], motion.t, rtol=0.0, atol=ROUNDING)
    np.testing.assert_allclose(plain["q"], motion.q, rtol=0.0, atol=ROUNDING)
    assert len(motion.impacts) > 1
    box = SpatialBody(Box([0.4, 0.25, 0.3]), mass=2.0, mu=0.3)
    q, v = [0.0, 0.0, 0.16, 1.0, 0.0, 0.0, 0.0], [0.3, 0.1, 0.0, 1.0, 0.0, 0.0]
    steps = carom.simulate(box, q, v, 0.08, carom.Routh(), time_step=4e-3)
    np.testing.assert_allclose(plain["in_space"], steps.q, rtol=0.0, atol=1e-9)
    assert steps.impacts
