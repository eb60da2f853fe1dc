"""Solve an impact of one's own: a box, 0.4 m wide and 1 m high, lands flat on two corners."""

import numpy as np

import carom

mass, width, height = 2.0, 0.4, 1.0
problem = carom.ImpactProblem(
    M=np.diag([mass, mass, mass * (width**2 + height**2) / 12]),  # of the velocities x, y, angle
    J_n=[[0, 1, -width / 2], [0, 1, width / 2]],
    J_t=[[1, 0, height / 2], [1, 0, height / 2]],
    mu=0.5,
    v_pre=[0.5, -1.0, 0.0],
    contacts=("left", "right"),
)
for law in (carom.Routh(), carom.AnitescuPotra(), carom.Sequential()):
    print(law.resolve(problem).summary(), end="\n\n")
