"""Find the affine pieces that hold a step."""

from carom.kernels.jit import inlined

NUM_ETAS = 16
"""Number of directions in which a step on a face may be moved off it."""

MOST_SOLUTIONS = 64


@inlined
def find_piece(
    C, least, sign, order, before, bounds, rivals, hints, u, number, found, extent, rows
):
    """Find a piece that holds u, chosen at random among all that do; -1 if none is known.

    Contacts that rest or stick put u on faces where many pieces meet and agree. An infinitesimal
    move along one of a few directions takes it off them; then as many positive pieces hold u as
    negative ones, and one more. So there is nothing to choose where no negative piece holds u, and
    the search may end at the right count.

    Stage 0 looks for a first piece, stage 1 for negative pieces that overlap it, stage 2 for the
    positive ones. A piece is tested by the condition that most likely excludes it, and then by
    all at once, without branches.

    Args:
        C, least, sign, order, bounds, rivals, hints: See `carom.kernels.paths`.
        before: The piece of the step before, or -1.
        u: (c + m,) the step.
        number: Uniform on [0, 1).
        found: Work array.
        extent, rows: Extents; see `carom.kernels.paths`.
    """
    number *= NUM_ETAS
    eta = int(number)
    first = -1
    count = 0
    negative = 0
    stage = 0
    t = 0
    end = order.shape[1]
    while True:
        if t >= end or (stage == 2 and count > 2 * negative):
            if stage != 1 or negative == 0:
                break
            stage = 2
            t = bounds[first, 1]
            end = bounds[first, 2]
            continue
        p = order[before, t] if stage == 0 else rivals[t]
        hint = 0 if stage == 0 else hints[t]
        t += 1
        value = 0.0
        for j in range(len(extent)):
            value += C[p, j, hint] * u[j]
        if value < least[eta, p, hint] or p == first:
            continue
        failed = 0
        for r in range(len(rows)):
            value = 0.0
            for j in range(len(extent)):
                value += C[p, j, r] * u[j]
            failed += value < least[eta, p, r]
        if failed == 0 and count < MOST_SOLUTIONS:
            # Sorted, so that the choice does not depend on the order of the search.
            place = count
            while place > 0 and found[place - 1] > p:
                found[place] = found[place - 1]
                place -= 1
            found[place] = p
            count += 1
            negative += sign[p] < 0
            if stage == 0:
                first = p
                stage = 1
                t = bounds[p, 0]
                end = bounds[p, 1]
    # The integer part has chosen the direction, the rest is as random as before.
    return found[int(count * (number - eta))] if count > 0 else -1
