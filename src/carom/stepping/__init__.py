"""Steps of an impact: their LCPs, affine pieces and tables, and the samplers built on them.

Laws import from here only: a `Rule` says how samples step, `prepare_sampler` makes ready to run
them (`run`) and to replay sample i (`record`), `begin_at` skips samples, `draw_until` goes on until
fresh draws show little that is new; `modes_and_impulses` are all solutions of one step and
`solve_simultaneous` those of all contacts at once. Samplers hold arrays only and can be pickled.
"""

from carom.kernels.draws import POINTS
from carom.kernels.paths import FAILED, FINISHED, UNFINISHED, Rule
from carom.stepping.at_rest import AnySampler, change_velocity, nothing_acts, prepare_sampler
from carom.stepping.pieces import mode_names, modes_and_impulses
from carom.stepping.sampler import DRAWS, SELECTIONS, Progress, Sampler
from carom.stepping.simultaneous import solve_simultaneous
from carom.stepping.until import Goal, begin_at, draw_until, whole_turns

__all__ = [
    "DRAWS",
    "FAILED",
    "FINISHED",
    "POINTS",
    "SELECTIONS",
    "UNFINISHED",
    "AnySampler",
    "Goal",
    "Progress",
    "Rule",
    "Sampler",
    "begin_at",
    "change_velocity",
    "draw_until",
    "mode_names",
    "modes_and_impulses",
    "nothing_acts",
    "prepare_sampler",
    "solve_simultaneous",
    "whole_turns",
]
