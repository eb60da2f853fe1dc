"""Find the affine pieces that hold a step."""

from carom.kernels.jit import inlined

NUM_ETAS = 16
"""Number of directions in which a step on a face may be moved off it."""

MOST_SOLUTIONS = 64


@inlined
def find_piece(
    C, num_conditions, sign, order, before, bounds, rivals, hints, u, least, number, found, extent
):
    """Find a piece that holds u, chosen at random among all that do; -1 if none is known.

    Contacts that rest or stick put u on faces where many pieces meet and agree. An infinitesimal
    move along a direction eta takes it off them; then as many positive pieces hold u as negative
    ones, and one more. So there is nothing to choose where no negative piece holds u, and the
    search may end at the right count.

    Stage 0 looks for a first piece, stage 1 for negative pieces that overlap it, stage 2 for the
    positive ones.
    """
    number *= NUM_ETAS
    eta = int(number)
    first = -1
    count = 0
    negative = 0
    stage = 0
    t = 0
    end = num_conditions.shape[0]
    while True:
        if t >= end or (stage == 2 and count > 2 * negative):
            if stage != 1 or negative == 0:
                break
            stage = 2
            t = bounds[first, 1]
            end = bounds[first, 2]
            continue
        if stage == 0:
            p = order[before, t]
        else:
            p = rivals[t]
            # Most rivals fail at one and the same row; a branch that is foreseen costs nothing.
            value = 0.0
            for j in range(len(extent)):
                value += C[p, hints[t], j] * u[j]
            if value < least[eta, p, hints[t]]:
                t += 1
                continue
        t += 1
        holds = p != first
        for r in range(num_conditions[p]):
            value = 0.0
            for j in range(len(extent)):
                value += C[p, r, j] * u[j]
            if value < least[eta, p, r]:
                holds = False
                break
        if holds and count < MOST_SOLUTIONS:
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
    # The integer part has chosen eta, the rest is as random as before.
    return found[int(count * (number - eta))] if count > 0 else -1
