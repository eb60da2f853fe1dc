"""A box wedged between two walls: no bound on its impacts, and what to do about it."""

import numpy as np

import carom

mass, width, height = 2.0, 0.4, 1.0
left, right = [1, 0, 0], [-1, 0, 0]  # pushes along x, through the center of mass
problem = carom.ImpactProblem(
    M=np.diag([mass, mass, mass * (width**2 + height**2) / 12]),  # of the velocities x, y, angle
    J_n=[left, right, [0, 1, 0]],
    J_t=[[0, 1, -width / 2], [0, 1, width / 2], [1, 0, height / 2]],
    mu=[0, 0, 0.5],
    v_pre=[0.0, -1.0, 0.0],
    contacts=("left", "right", "floor"),
)
cone = carom.check(problem).cone
print("the friction cone is pointed:", cone.is_pointed)
for name, impulse in zip(problem.contacts, cone.jamming, strict=True):
    print(f"  {name:5} pushes with {impulse[0]:.3g} N s, friction {impulse[1]:.3g} N s")
print(f"what all of this changes, in sqrt(J): {cone.residual:.1g}\n")

# The box moves along the walls: one of them cannot matter, and without it the cone is pointed.
freed = carom.ImpactProblem(
    problem.M,
    problem.J_n[[0, 2]],
    problem.J_t[[0, 2]],
    problem.mu[[0, 2]],
    problem.v_pre,
    contacts=("left", "floor"),
)
print(carom.check(freed))
