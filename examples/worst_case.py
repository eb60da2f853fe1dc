"""A controller's worst case: where to put the foot after an impact of which nobody knows the end.

A walker wants to stop. It does if it puts a foot where its capture point is, x + v √(height / g)
for the centre of mass [Pratt et al., Capture Point, Humanoids 2006], to within half a foot's
length. But v is what the impact leaves of it, and that is a set.
"""

import math

import carom

GRAVITY = 9.81  # [m/s²]
HALF_FOOT = 0.08  # [m]


def main() -> dict[str, float]:
    scene = carom.scenes.load("compass-gait", leading_rate=2.5, trailing_rate=2.5)
    problem = scene.problem
    mass = problem.M[0, 0]  # the first velocity moves all of the walker along x
    height = scene.system.potential_energy(scene.q) / (mass * GRAVITY)

    # Momentum over mass is the velocity of the centre of mass: one row, linear in v_post. The
    # walker walks to -x, and its centre of mass is at the hip's x.
    row = -problem.M[0] / mass * math.sqrt(height / GRAVITY)
    back, front = carom.worst_case(problem, -row), carom.worst_case(problem, row)
    for extreme in (back, front):
        extreme.verify()  # checks the proof in rational arithmetic
    # A controller has to reckon with all that is not ruled out, which is what is proved.
    low, high = -back.proved, front.proved
    print(f"the capture point lies {100 * low:.1f} to {100 * high:.1f} cm in front of the hip")
    exact = "exactly" if back.is_exact and front.is_exact else "at the most"
    print(f"motions reach {-100 * back.reached:.1f} and {100 * front.reached:.1f} cm: {exact}")

    # The same asks how much energy can be left.
    left = carom.worst_case(problem, "energy kept").proved
    print(f"of {problem.kinetic_energy(problem.v_pre):.2f} J, up to {left:.2f} J are left\n")

    # A controller may trust one law, and step where that one says; or it steps in the middle.
    # The simultaneous law has three answers here; a solver returns one of them.
    simultaneous = carom.AnitescuPotra().resolve(problem)
    places = {f"simultaneous, {i + 1}": v @ row for i, v in enumerate(simultaneous.v_post)}
    sequential = carom.Sequential().resolve(problem)
    labels = [f"sequential, {label}" for label in sequential.labels]
    places |= dict(zip(labels, sequential.v_post @ row, strict=True))
    places["middle of the set"] = 0.5 * (low + high)
    errors = {name: float(max(place - low, high - place)) for name, place in places.items()}
    for name, error in errors.items():
        verdict = "stops in every case" if error <= HALF_FOOT else "may fall"
        where = f"foot at {100 * places[name]:z5.1f} cm"
        print(f"{name:18} {where}, off by up to {100 * error:4.1f} cm: {verdict}")

    # An extreme also shows the enemy: how A and B share the impulse where it is worst.
    for end, extreme in (("back", back), ("front", front)):
        a, b = extreme.path.lambda_n.sum(axis=0)
        print(f"farthest to the {end} if A acts with {a:.2f} N s and B with {b:.2f} N s")
    return {"low": float(low), "high": float(high), **errors}


if __name__ == "__main__":
    main()
