"""One event of eight planar motions of two contacts at once, in the vector registers.

The arithmetic is that of `carom.kernels.motions.draw_row` and `carom.kernels.stretch`, operation by
operation, so that a motion has the same bits here and there. Instead of branches there are choices
of values, which LLVM turns into vector instructions, and a lane in which something rare happens is
left as it was at the start of its stretch and marked.
"""

import numpy as np
from numpy.typing import NDArray

from carom.kernels.jit import inlined, lean
from carom.kernels.lanes import use_widest
from carom.kernels.motions import AIMING, FIRST_IDLE, IDLE, PATIENCE, PERIOD, STRIDE
from carom.kernels.plans import LONGEST
from carom.kernels.random import bits, halves
from carom.kernels.stretch import KEEP_REST, hold_two
from carom.kernels.stretch_aim import NOISE, STILL
from carom.kernels.stretch_alone import MOST_EVENTS

LANES = 8
GOES_ON, ENDS, RARE = range(3)

_FIRST_BIT, _SECOND_BIT = np.uint64(1), np.uint64(2)

_REAL = {"u": 4, "total": 4, "u_before": 4, "total_before": 4, "rates": 2, "row": 4}
_REAL |= {"left": 1, "step": 4}
_WHOLE = ("stretch", "turn", "is_new", "is_planned", "event", "events", "code")
_OWN = ("motion", "planned", "begun", "drawn")

RECORD = np.dtype(
    (
        np.record,
        [
            ("A", np.float64, (4, 4)),
            ("mu", np.float64, (2,)),
            ("start", np.float64, (4,)),
            *((name, np.float64, (count, LANES)) for name, count in _REAL.items()),
            ("lifts", np.int64, (2, LANES)),
            *((name, np.int64, (LANES,)) for name in (*_WHOLE, *_OWN)),
            ("key", np.uint64, (LANES,)),
            ("chosen", np.int64, (LANES,)),
            ("plan", np.float64, (LANES, LONGEST + 1, 4)),
            ("trail", np.float64, (LANES, LONGEST + 1, 10)),
        ],
    )
)
"""Eight motions, a lane each.

A, mu, start: The contact space and the start.
u, total: Velocities and impulses so far; `..._before`: at the start of the stretch.
rates: Rates of the contacts that act.
row: The row of the plan: two rates, the share of the way, the aim.
left, step: What is left of the stretch, and the impulse of the last piece.
stretch, turn: Number of the stretch, and its remainder by PERIOD.
is_new, is_planned: Whether a stretch starts, and whether its row is given.
lifts: Whether a contact does not act in the first event of a stretch, because it lifts.
event, events: Number of events of the stretch, and of stretches before.
code: What has come of the last event.
motion, planned, begun, drawn: See `carom.kernels.abreast`.
key: Keys of the random numbers.
chosen: Numbers of some lanes.
plan, trail: As for `carom.kernels.plans.run`, with a last row for what nobody reads.
"""

_PLANS = RECORD.fields["plan"][1]  # type: ignore[index]


def make_lanes() -> NDArray[np.void]:
    """Make eight lanes of zeros, with plans and trails that are not read before they are written.

    As bytes, like `carom.kernels.stretches.make_room`.
    """
    lanes = np.empty(RECORD.itemsize, np.uint8)
    lanes[:_PLANS] = 0
    return np.ndarray(1, RECORD, lanes)


@inlined
def _draw(key, stretch, turn, mu_0, mu_1, n_0, n_1):
    """Return a row of a random plan; see `draw_row`."""
    draw = stretch * STRIDE
    lot, length = halves(bits(key, draw + STRIDE - 4))
    chance = bits(key, draw + STRIDE - 3)
    aims, _ = halves(chance)
    x, y = halves(bits(key, draw))
    idle = FIRST_IDLE if turn == 0 else IDLE
    x, y = max(1.0 - idle * x, 0.0), max(1.0 - idle * y, 0.0)
    x = x * (1.0 / (1.0 + mu_0) if (chance & _FIRST_BIT) != 0 else 1.0)
    y = y * (1.0 / (1.0 + mu_1) if (chance & _SECOND_BIT) != 0 else 1.0)
    first, second = n_0 < 0.0, n_1 < 0.0
    is_useless = (not first & (x > 0.0)) & (not second & (y > 0.0))
    x = 1.0 if is_useless & first & ((not second) | (lot < 0.5)) else x
    y = 1.0 if is_useless & second & ((not first) | (lot >= 0.5)) else y
    share = min(2.0 * length, 1.0) if stretch > 0 else length
    return x, y, share, 1.0 if aims < AIMING else 0.0


@inlined
def _slides(t, limit):
    """Return the friction of a contact that slides, 0.0 if it does not."""
    return (-limit if t > 0.0 else 0.0) + (limit if t < 0.0 else 0.0)


@inlined
def _holds(drive, own, limit):
    """Return the friction that keeps a contact from slipping, as far as its limit allows."""
    friction = min(max(-drive * (1.0 / own), -limit), limit)
    return friction if own > STILL else 0.0


@inlined
def _friction(t, s, a, b, limit_0, limit_1, own_0, own_1, both, A_01, A_03, A_12, A_23):
    """Return the friction of both contacts at rates a and b, and whether it is right."""
    f, g = _slides(t, limit_0), _slides(s, limit_1)
    drive_0, drive_1 = A_01 * a + A_12 * b, A_03 * a + A_23 * b
    held = _holds(drive_0 + both * g, own_0, limit_0)
    kept = _holds(A_03 * a + both * f + A_23 * b, own_1, limit_1)
    stick = (t == 0.0) & (s == 0.0) & (a > 0.0) & (b > 0.0)
    hold_0, hold_1, is_right = hold_two(drive_0, drive_1, own_0, own_1, both, limit_0, limit_1)
    f = hold_0 if stick else (held if t == 0.0 else f)
    g = hold_1 if stick else (kept if s == 0.0 else g)
    return f, g, is_right | (not stick)


@inlined
def _time(u, du, is_able):
    """Return when a velocity becomes zero, or infinity."""
    time = -u / du
    return time if is_able & (u * du < 0.0) else np.inf


@inlined
def _moved(u, du, s):
    """Return a velocity after a straight piece, exactly 0.0 where it has reached or kept zero."""
    after = u + s * du
    return 0.0 if (abs(after) < NOISE) | ((u == 0.0) & (abs(du) < STILL)) else after


@lean
def advance(w):
    """Let every lane go to its next event; a new stretch begins where there is one."""
    use_widest()
    A, u, total, rates, row, left = w.A, w.u, w.total, w.rates, w.row, w.left
    mu_0, mu_1, own_0, own_1, both = w.mu[0], w.mu[1], A[1, 1], A[3, 3], A[1, 3]
    A_00, A_01, A_02, A_03, A_12 = A[0, 0], A[0, 1], A[0, 2], A[0, 3], A[1, 2]
    A_22, A_23 = A[2, 2], A[2, 3]
    mixed = A_01, A_03, A_12, A_23
    for k in range(LANES):
        n, t, m, s = u[0, k], u[1, k], u[2, k], u[3, k]
        stretch, is_new, is_drawn = w.stretch[k], w.is_new[k] != 0, w.is_planned[k] == 0
        x, y, share, aims = _draw(w.key[k], stretch, w.turn[k], mu_0, mu_1, n, m)
        x, y = x if is_drawn else row[0, k], y if is_drawn else row[1, k]
        share, aims = share if is_drawn else row[2, k], aims if is_drawn else row[3, k]
        a = (0.0 if (n > 0.0) | (w.lifts[0, k] != 0) else x) if is_new else rates[0, k]
        b = (0.0 if (m > 0.0) | (w.lifts[1, k] != 0) else y) if is_new else rates[1, k]
        acts, pushes = a > 0.0, b > 0.0
        f, g, is_right = _friction(t, s, a, b, mu_0 * a, mu_1 * b, own_0, own_1, both, *mixed)
        # Changes of velocities, and the way to the next event.
        dn = A_00 * a + A_01 * f + A_02 * b + A_03 * g
        dt = A_01 * a + own_0 * f + A_12 * b + both * g
        dm = A_02 * a + A_12 * f + A_22 * b + A_23 * g
        ds = A_03 * a + both * f + A_23 * b + own_1 * g
        size = max(max(abs(dn), abs(dt)), max(abs(dm), abs(ds)))
        stop = min(_time(n, dn, acts & (n < 0.0)), _time(m, dm, pushes & (m < 0.0)))
        way = min(stop, min(_time(t, dt, acts), _time(s, ds, pushes)))
        largest = max(max(abs(n), abs(t)), max(abs(m), abs(s)))
        rest = share * (stop if stop < np.inf else largest / size)
        rest = (rest if share < 1.0 else np.inf) if is_new else left[0, k]
        # If nothing acts, the stretch is over.
        is_idle = (a == 0.0) & (b == 0.0)
        way = 0.0 if is_idle else min(way, rest)
        count = 0 if is_new else w.event[k]
        # Aims, starts at rest, what lasts long, and what is not simple.
        near, far = min(n, m), max(n, m)
        does_aim = (near < 0.0) & ((aims == KEEP_REST) | ((aims > 0.0) & (far < 0.0)))
        is_rare = is_drawn & (((stretch >= PATIENCE) & (stretch % 2 == 0)) | (near >= 0.0))
        is_rare = (is_new & (is_rare | (does_aim & acts & pushes))) | (not is_right)
        # Of contacts at rest that lift although they act, the one that lifts fastest does not act.
        lifts = acts & (n == 0.0) & (dn > STILL * a) & (not is_rare)
        rises = pushes & (m == 0.0) & (dm > STILL * b) & (not is_rare)
        rises &= (not lifts) | (dm * a > dn * b)
        lifts &= not rises
        is_odd = ((size < STILL) & (not is_idle)) | (way == np.inf) | (count + 1 >= MOST_EVENTS)
        is_rare |= is_odd & (not (lifts | rises))
        if is_new:
            for j in range(4):
                w.u_before[j, k], w.total_before[j, k] = u[j, k], total[j, k]
            row[0, k], row[1, k], row[2, k], row[3, k] = x, y, share, aims
        n, t, m, s = _moved(n, dn, way), _moved(t, dt, way), _moved(m, dm, way), _moved(s, ds, way)
        stops, halts = acts & (n >= 0.0) & (dn > 0.0), pushes & (m >= 0.0) & (dm > 0.0)
        n, m = 0.0 if stops else n, 0.0 if halts else m
        rest -= way
        is_last = (n >= 0.0) & (m >= 0.0)
        # A stretch with nobody left to act is over, too.
        is_over = (
            (rest <= 0.0) | is_last | is_idle | ((stops | (not acts)) & (halts | (not pushes)))
        )
        count += 0 if is_idle else 1
        is_left = is_rare | lifts | rises
        w.code[k] = RARE if is_rare else (ENDS if is_last & (not is_left) else GOES_ON)
        if lifts | rises:
            w.lifts[0, k] = 1 if lifts else w.lifts[0, k]
            w.lifts[1, k] = 1 if rises else w.lifts[1, k]
            rates[0, k] = 0.0 if lifts else a
            rates[1, k] = 0.0 if rises else b
        w.step[0, k] = 0.0 if is_left else way * a
        w.step[1, k] = 0.0 if is_left else way * f
        w.step[2, k] = 0.0 if is_left else way * b
        w.step[3, k] = 0.0 if is_left else way * g
        if not is_left:
            u[0, k], u[1, k], u[2, k], u[3, k] = n, t, m, s
            for j in range(4):
                total[j, k] += w.step[j, k]
            rates[0, k], rates[1, k], left[0, k] = 0.0 if stops else a, 0.0 if halts else b, rest
            turn = w.turn[k] + 1 if is_over else w.turn[k]
            w.turn[k] = 0 if turn == PERIOD else turn
            w.is_new[k] = 1 if is_over else 0
            w.lifts[0, k], w.lifts[1, k] = 0, 0
            w.stretch[k] = stretch + 1 if is_over else stretch
            w.event[k] = count
            w.events[k] += count if is_over else 0
