"""Jacobians of the points where bodies of a kinematic tree touch, as MuJoCo stores them."""

from carom.kernels.jit import filling, inlined

SAME = 1e-9
"""Distance of a unit normal from one that points down, below which it is that one."""


@inlined
def tangents(x, y, z):
    """Return the entries of two unit vectors that make a right-handed frame with a unit normal.

    They are the axes x and y, turned by the shortest turn that takes z to the normal.
    """
    across = x * x + y * y
    if z < 0.0 and across < SAME * SAME:
        return 1.0, 0.0, 0.0, 0.0, -1.0, 0.0
    # Both are 1 / (1 + z); the other one keeps its digits where the normal points down.
    a = (1.0 - z) / across if z < 0.0 else 1.0 / (1.0 + z)
    return 1.0 - a * x * x, -a * x * y, -x, -a * x * y, 1.0 - a * y * y, -y


@filling
def contact_jacobians(
    geoms, pos, normals, dist, last_dof, centre, dof_parent, motions, centres, v, J, facts
):
    """Write how the second body's surface moves against the first one's, at every contact.

    Args:
        geoms, pos, normals, dist: (n, 2), (n, 3), (n, >= 3), (n,) geoms of each contact, the point
            half way between their surfaces, the normal from the first to the second, the gap [m].
        last_dof: (geoms,) last velocity that moves each geom, or -1.
        centre: (geoms,) number of the centre to which motions of a geom's velocities refer.
        dof_parent: (nv,) next velocity that moves a body, or -1.
        motions: (nv, 6) rotation and translation per unit of each velocity.
        centres: (bodies, 3) the centres.
        v: (nv,) velocity.
        J: (n, 3, nv) rows of each contact, the normal first and then `tangents`, written; zeros
            before.
        facts: (n, 3) speed J_n v at which each gap opens [m/s], and the largest entries of J_n and
            of J_t, written.
    """
    for k in range(len(dist)):
        facts[k, 0] = facts[k, 1] = facts[k, 2] = 0.0
        for end in range(2):
            side = 2.0 * end - 1.0
            geom = geoms[k, end]
            # The matter that slides is on the surfaces.
            half, o = 0.5 * side * dist[k], centre[geom]
            x = pos[k, 0] + half * normals[k, 0] - centres[o, 0]
            y = pos[k, 1] + half * normals[k, 1] - centres[o, 1]
            z = pos[k, 2] + half * normals[k, 2] - centres[o, 2]
            j = last_dof[geom]
            while j >= 0:
                p, q, r = motions[j, 0], motions[j, 1], motions[j, 2]
                J[k, 0, j] += side * (motions[j, 3] + (q * z - r * y))
                J[k, 1, j] += side * (motions[j, 4] + (r * x - p * z))
                J[k, 2, j] += side * (motions[j, 5] + (p * y - q * x))
                j = dof_parent[j]
        a, b, c = normals[k, 0], normals[k, 1], normals[k, 2]
        d, e, f, g, h, i = tangents(a, b, c)
        for j in range(len(v)):
            x, y, z = J[k, 0, j], J[k, 1, j], J[k, 2, j]
            J[k, 0, j] = a * x + b * y + c * z
            J[k, 1, j] = d * x + e * y + f * z
            J[k, 2, j] = g * x + h * y + i * z
            facts[k, 0] += J[k, 0, j] * v[j]
            facts[k, 1] = max(facts[k, 1], abs(J[k, 0, j]))
            facts[k, 2] = max(facts[k, 2], abs(J[k, 1, j]), abs(J[k, 2, j]))
