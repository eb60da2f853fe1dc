"""Steps of an impact: their LCPs, affine pieces and tables, and the samplers built on them.

Laws import from here only. `prepare_motions` makes ready to run exact motions; a `Rule` says how
samples step, and `prepare_sampler` makes ready to run those. Both are run in the same way (`run`,
`draw`), and can replay one sample (`record`); `draw_until` goes on until fresh draws show little
that is new. `modes_and_impulses` are all solutions of one step, `solve_simultaneous` those
of all contacts at once, and `solve_decompression` those of what they return.
Samplers hold arrays only and can be pickled.
"""

from carom.kernels.paths import FAILED, FINISHED, UNFINISHED, Rule
from carom.stepping.at_rest import change_velocity, nothing_acts, prepare_sampler
from carom.stepping.bouncing_motions import BouncingSearch
from carom.stepping.decompression import solve_decompression
from carom.stepping.ends import (
    end_velocities,
    fail_unphysical,
    gather_finished,
)
from carom.stepping.extreme_motions import ExtremeSearch
from carom.stepping.motions import MotionSampler, prepare_motions
from carom.stepping.parallel import Progress, Runs, nothing_happens
from carom.stepping.pieces import mode_names, modes_and_impulses
from carom.stepping.rule import step_rule, stopping_impulse
from carom.stepping.sampler import DRAWS, SELECTIONS, Sampler
from carom.stepping.simultaneous import solve_simultaneous
from carom.stepping.until import AnySampler, Goal, begin_at, draw_until, whole_turns

__all__ = ["DRAWS", "FAILED", "FINISHED", "SELECTIONS", "UNFINISHED", "AnySampler"]
__all__ += ["step_rule", "stopping_impulse"]
__all__ += [
    "BouncingSearch",
    "ExtremeSearch",
    "MotionSampler",
    "nothing_happens",
    "prepare_motions",
]
__all__ += ["Goal", "Progress", "Rule", "Runs", "Sampler", "begin_at", "change_velocity"]
__all__ += ["draw_until", "mode_names", "modes_and_impulses", "nothing_acts", "prepare_sampler"]
__all__ += [
    "end_velocities",
    "fail_unphysical",
    "gather_finished",
    "solve_decompression",
    "solve_simultaneous",
    "whole_turns",
]
