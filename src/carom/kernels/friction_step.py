"""One time step of contacts with Coulomb's round cone: impulses and velocities at its end.

With the contact velocities u = A P + b at the end of a step, impulses P (normal first) solve

    0 <= P_n,   u_n >= 0,   P_n u_n = 0,   |P_t| <= mu P_n,   P_t opposes u_t, fully where it slips,

where b_n may have the room that a gap leaves, gap / h. docs/motion-in-space.md derives it.
"""

import numpy as np

from carom.kernels.discs import disc_minimum
from carom.kernels.jit import filling, inlined, lean
from carom.kernels.one_contact import one_contact

SETTLED = 1e-13
"""Changes of velocities below this share of the largest are rounding, and sweeps end."""
MOST_SWEEPS = 300
"""Number of sweeps after which Newton's method takes over."""
LOOKS = 10
"""Number of sweeps between two looks at the residual."""
MOST_ROUNDS = 6
"""Number of rounds of normal impulse and friction of one contact before they are solved at once."""
ACCURATE = 1e-11
"""Residual, as a share of the largest velocity, at which sweeps may end as well."""
SMALLEST_PIVOT = 1e-14
"""Share of a diagonal entry of M below which its pivot may be a rounding error."""

SINGULAR = -1.0
"""In place of a number: the mass matrix has no inverse."""


@lean
def factor(M, L):
    """Write the Cholesky factor of M in the lower part of L; return whether there is one."""
    n = len(M)
    for j in range(n):
        for i in range(j, n):
            entry = M[i, j]
            for k in range(j):
                entry -= L[i, k] * L[j, k]
            if i > j:
                L[i, j] = entry / L[j, j]
            elif entry > SMALLEST_PIVOT * M[j, j]:
                L[j, j] = np.sqrt(entry)
            else:
                return False
    return True


@lean
def solve_lower(L, x):
    """Solve L y = x in place."""
    for i in range(len(x)):
        entry = x[i]
        for k in range(i):
            entry -= L[i, k] * x[k]
        x[i] = entry / L[i, i]


@lean
def solve_upper(L, x):
    """Solve L' y = x in place."""
    for i in range(len(x) - 1, -1, -1):
        entry = x[i]
        for k in range(i + 1, len(x)):
            entry -= L[k, i] * x[k]
        x[i] = entry / L[i, i]


@filling
def free_velocity(M, force, pull, gain, v, h, share, last, L, a, v_free):
    """Write the velocity at the end of a step without contact; return 1, or `SINGULAR`.

    Forces but for inputs count as in the middle of the step, by extrapolation; inputs and their
    gains as at its end.

    Args:
        M: (nv, nv) mass matrix.
        force: (nv,) smooth force without inputs.
        pull: (nv,) impulse of inputs over the step, without what their gains take off at its end;
            or (0,) without inputs; scratch.
        gain: (nv, nv) what the velocity at the end takes off it per unit; or (0, 0); scratch.
        v: (nv,) velocity at the beginning.
        h: Length of the step [s].
        share: Share of the last change of acceleration that is extrapolated.
        last: (nv,) acceleration of the step before, without inputs.
        L: (nv, nv) factor of M + gain, written.
        a: (nv,) acceleration without inputs, written.
        v_free: (nv,) the velocity, written.
    """
    n = len(v)
    if not factor(M, L):
        return SINGULAR
    for i in range(n):
        a[i] = force[i]
    solve_lower(L, a)
    solve_upper(L, a)
    for i in range(n):
        v_free[i] = v[i] + h * (a[i] + share * (a[i] - last[i]))
    if len(pull) == 0:
        return 1.0
    if len(gain) == 0:
        return _add_pull(L, pull, v_free)
    return _through_gain(M, pull, gain, L, v_free)


@lean
def _add_pull(L, pull, v_free):
    """Add M^-1 pull to a velocity."""
    solve_lower(L, pull)
    solve_upper(L, pull)
    for i in range(len(v_free)):
        v_free[i] += pull[i]
    return 1.0


@lean
def _through_gain(M, pull, gain, L, v_free):
    """Solve (M + gain) x = M v_free + pull in place of v_free, and leave the factor in L."""
    n = len(v_free)
    for i in range(n):
        for j in range(n):
            pull[i] += M[i, j] * v_free[j]
            gain[i, j] += M[i, j]
    if not factor(gain, L):
        return SINGULAR
    solve_lower(L, pull)
    solve_upper(L, pull)
    for i in range(n):
        v_free[i] = pull[i]
    return 1.0


@filling
def resolve_contacts(L, J_n, J_t, bias, room, mu, v_free, h, which, P, R, A, b, u, v_next, told):
    """Write impulses and velocities at the end of a step.

    Velocities along normals count from what the room allows: u_n = 0 closes a gap.

    Args:
        L: (nv, nv) factor of the mass matrix, with gains.
        J_n, J_t, bias: (m, nv), (m, d, nv), (m, 1 + d) of the system.
        room: (m,) speed at which each contact may close, gap / h [m/s].
        mu: (m,) friction coefficients.
        v_free: (nv,) velocity at the end without contact.
        h: Length of the step [s].
        which: (n,) numbers of the contacts that may act.
        P: (n, 3) impulses to start from, written [N s].
        R: (3 n, nv) scratch.
        A, b, u: (3 n, 3 n), (3 n,), (3 n,) scratch; u become the contact velocities at the end.
        v_next: (nv,) velocity at the end, written.
        told: (2,) number of sweeps, and residual as a share of the largest velocity, written.
    """
    _fill(L, J_n, J_t, bias, room, v_free, h, which, R, A, b)
    solve_cones(A, b, mu, which, P, u, told)
    act(L, v_free, R, P, v_next)


@filling
def act(L, v_free, R, P, v_next):
    """Write the velocity after impulses: v_free + M^-1 J' P."""
    for j in range(len(v_free)):
        v_next[j] = 0.0
        for k in range(3 * len(P)):
            v_next[j] += R[k, j] * P[k // 3, k % 3]
    solve_upper(L, v_next)
    for j in range(len(v_free)):
        v_next[j] += v_free[j]


@lean
def _fill(L, J_n, J_t, bias, room, v_free, h, which, R, A, b):
    """Write R = L^-1 J', as rows, A = R R' and b.

    A planar contact has a second tangent of zeros.
    """
    nv, d = len(v_free), J_t.shape[1]
    for k in range(3 * len(which)):
        i, axis = which[k // 3], k % 3
        b[k] = room[i] if axis == 0 else 0.0
        if axis > d:
            for j in range(nv):
                R[k, j] = 0.0
        else:
            # Along tangents a bias would ask of points of one body that stick what no motion of
            # the body can do, such as to keep the way that an edge loses as it turns.
            b[k] += h * bias[i, 0] if axis == 0 else 0.0
            for j in range(nv):
                entry = J_n[i, j] if axis == 0 else J_t[i, axis - 1, j]
                b[k] += entry * v_free[j]
                for other in range(j):
                    entry -= L[j, other] * R[k, other]
                R[k, j] = entry / L[j, j]
        for other in range(k + 1):
            entry = 0.0
            for j in range(nv):
                entry += R[k, j] * R[other, j]
            A[k, other] = entry
            A[other, k] = entry


@lean
def solve_cones(A, b, mu, which, P, u, told):
    """Solve for P (n, 3) and u = A P + b, from the P given; `told` as in `resolve_contacts`."""
    n, scale = len(which), 1e-300
    for k in range(3 * n):
        scale = max(scale, abs(b[k]))
    sweeps, residual = 0.0, np.inf
    while sweeps < MOST_SWEEPS:
        change = 0.0
        for x in range(n):
            change = max(change, _update(A, b, mu[which[x]], x, P))
        sweeps += 1.0
        if change <= SETTLED * scale or sweeps % LOOKS == 0:
            residual = measure(A, b, mu, which, P, u) / scale
            if change <= SETTLED * scale or residual <= ACCURATE:
                break
    told[0], told[1] = sweeps, residual


@filling
def residual_of(A, b, mu, which, P, u):
    """Write u = A P + b, and return the residual of the conditions [m/s]; for Python."""
    return measure(A, b, mu, which, P, u)


@inlined
def _rest(A, b, P, k, x):
    """Return the velocity along row k without the impulse of contact x."""
    total = b[k]
    for y in range(len(P)):
        if y != x:
            total += A[k, 3 * y] * P[y, 0] + A[k, 3 * y + 1] * P[y, 1] + A[k, 3 * y + 2] * P[y, 2]
    return total


@lean
def _update(A, b, mu, x, P):
    """Solve for the impulse of one contact, others as they are; return how much it changes u."""
    k = 3 * x
    n0, t0, t1 = _rest(A, b, P, k, x), _rest(A, b, P, k + 1, x), _rest(A, b, P, k + 2, x)
    p, f, g = P[x, 0], P[x, 1], P[x, 2]
    is_settled = False
    # Normal and friction move each other: as a rule a few rounds leave little of that.
    for _ in range(MOST_ROUNDS):
        last, last_f, last_g = p, f, g
        p = max(0.0, -(n0 + A[k, k + 1] * f + A[k, k + 2] * g) / A[k, k])
        if p > 0.0 and mu > 0.0:
            c0, c1 = t0 + A[k + 1, k] * p, t1 + A[k + 2, k] * p
            f, g = disc_minimum(A[k + 1, k + 1], A[k + 1, k + 2], A[k + 2, k + 2], c0, c1, mu * p)
        else:
            f, g = 0.0, 0.0
        # Friction that follows the normal impulse, or is at rest, with both at their ends.
        if abs(p - last) + abs(f - last_f) + abs(g - last_g) <= 1e-12 * p or mu == 0.0:
            is_settled = True
            break
    if not is_settled:
        p, f, g = one_contact(A, k, n0, t0, t1, mu, p, f, g)
    change = (
        abs(p - P[x, 0]) * A[k, k]
        + abs(f - P[x, 1]) * A[k + 1, k + 1]
        + abs(g - P[x, 2]) * A[k + 2, k + 2]
    )
    P[x, 0], P[x, 1], P[x, 2] = p, f, g
    return change


@lean
def measure(A, b, mu, which, P, u):
    """Write u = A P + b, and return the residual of the conditions [m/s].

    It is by how much one step along -u, cut off at the cone, changes the impulses, as velocities.
    """
    n, worst = len(which), 0.0
    for k in range(3 * n):
        total = b[k]
        for y in range(n):
            total += A[k, 3 * y] * P[y, 0] + A[k, 3 * y + 1] * P[y, 1] + A[k, 3 * y + 2] * P[y, 2]
        u[k] = total
    for x in range(n):
        k = 3 * x
        own = A[k, k]
        worst = max(worst, abs(min(u[k], own * P[x, 0])))
        size = max(A[k + 1, k + 1], A[k + 2, k + 2])
        limit = mu[which[x]] * P[x, 0]
        if size > 0.0 and limit > 0.0:
            f, g = P[x, 1] - u[k + 1] / size, P[x, 2] - u[k + 2] / size
            length = np.sqrt(f * f + g * g)
            if length > limit:
                f, g = limit * f / length, limit * g / length
            worst = max(worst, size * abs(f - P[x, 1]), size * abs(g - P[x, 2]))
    return worst
