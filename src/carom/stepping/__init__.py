"""Steps of an impact: their LCPs, affine pieces and tables, and the samplers built on them.

Laws import from here only. A `Rule` says how samples step; `prepare_sampler` makes ready to run
them (`run`, `draw`) and to replay one (`record`); `draw_until` goes on until fresh draws show
little that is new. `modes_and_impulses` are all solutions of one step, `solve_simultaneous` those
of all contacts at once. Samplers hold arrays only and can be pickled.
"""

from carom.kernels.draws import POINTS
from carom.kernels.paths import FAILED, FINISHED, UNFINISHED, Rule
from carom.stepping.at_rest import AnySampler, change_velocity, nothing_acts, prepare_sampler
from carom.stepping.pieces import mode_names, modes_and_impulses
from carom.stepping.sampler import DRAWS, SELECTIONS, Progress, Runs, Sampler
from carom.stepping.simultaneous import solve_simultaneous
from carom.stepping.until import Goal, begin_at, draw_until, whole_turns

__all__ = ["DRAWS", "FAILED", "FINISHED", "POINTS", "SELECTIONS", "UNFINISHED", "AnySampler"]
__all__ += ["Goal", "Progress", "Rule", "Runs", "Sampler", "begin_at", "change_velocity"]
__all__ += ["draw_until", "mode_names", "modes_and_impulses", "nothing_acts", "prepare_sampler"]
__all__ += ["solve_simultaneous", "whole_turns"]
