"""Look for motions in space that break a law of contact, and for other ways to the same motion."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import carom
from carom.systems import Box, Cylinder, HalfSpace, SpatialBody, Sphere
from carom.systems.one_pass import OnePassSystem
from carom.systems.system import Dynamics
from tests.reference.motion_checks import check_motion

LAW = carom.Routh()


class InSpace(OnePassSystem):
    """Describe a planar system as one in space, whose contacts do not move along second tangents.

    First tangents are turned about the normals by an angle: of a contact that slips along one line
    only, two oblique tangents see shares.
    """

    def __init__(self, planar, angle=0.0):
        self.planar, self.angle = planar, angle
        super().__init__(planar.nq, planar.nv, planar.contacts, planar.mu, planar.restitution)

    def open_dynamics(self, q, v=None, t=0.0):
        here = self.planar.dynamics(q, v, t)
        shares = np.array([np.cos(self.angle), np.sin(self.angle)])
        J_t = shares[:, None] * here.J_t
        bias = np.column_stack([here.bias[:, :1], here.bias[:, 1:] * shares])
        return Dynamics(here.M, here.force, here.phi, here.J_n, J_t, bias)

    def velocity_map(self, q):
        return self.planar.velocity_map(q)

    def potential_energy(self, q):
        return self.planar.potential_energy(q)


# Eight friction directions of the law are along both.
@pytest.mark.parametrize("angle", [0.0, 0.25 * np.pi])
@pytest.mark.parametrize(
    ("name", "duration"), [("zeno-block", 3.0), ("box-wall", 0.4), ("painleve-rod", 0.4)]
)
def test_what_moves_in_a_plane_moves_there_in_space(name, duration, angle):
    scene = carom.scenes.load(name)
    law = carom.Sequential(order=scene.system.contacts)
    flat = carom.simulate(scene.system, scene.q, scene.v, duration, law)
    motion = carom.simulate(InSpace(scene.system, angle), scene.q, scene.v, duration, law)
    check_motion(motion, looks=2)
    assert motion.status == flat.status == "finished"
    kinds = [[(impact.kind, impact.contacts) for impact in each.impacts] for each in (motion, flat)]
    assert kinds[0] == kinds[1]
    t = np.linspace(0.0, duration, 50)
    np.testing.assert_allclose(motion.at(t=t).q, flat.at(t=t).q, atol=1e-7)


def state(shape, tilt, seed):
    """Return a slope, and a state of a body above it."""
    rng = np.random.default_rng(seed)
    planes = {"slope": HalfSpace(normal=[np.sin(tilt), 0.0, np.cos(tilt)])}
    turn = rng.normal(size=4)
    q = np.array([0.0, 0.0, 0.0, *(turn / np.linalg.norm(turn))])
    depth = SpatialBody(shape, 2.0, mu=0.0, planes=planes).gap(q).min()
    q[:3] += planes["slope"].normal * (rng.uniform(0.0, 0.1) - depth)
    return planes, q, np.concatenate([rng.normal(size=3), 4.0 * rng.normal(size=3)])


SIDES = st.floats(0.1, 0.5)
SEEDS = st.integers(0, 2**32 - 1)


@settings(max_examples=10, deadline=None)
@given(
    st.one_of(st.builds(Sphere, SIDES), st.builds(Box, st.tuples(SIDES, SIDES, SIDES))),
    # Larger friction meets Painlevé's singular points.
    st.floats(0.0, 0.5),
    st.floats(0.0, 0.6),
    SEEDS,
)
def test_balls_and_boxes_obey_the_laws_of_contact(shape, mu, tilt, seed):
    planes, q, v = state(shape, tilt, seed)
    body = SpatialBody(shape, 2.0, mu=mu, planes=planes)
    motion = carom.simulate(body, q, v, 0.4, LAW, seed=seed, max_steps=3000)
    check_motion(motion, looks=2, speed=1e-6)
    assert motion.status == "finished", motion.message


@settings(max_examples=6, deadline=None)
@given(
    st.one_of(
        st.builds(Cylinder, SIDES, SIDES, st.just(0)),
        st.builds(Box, st.tuples(SIDES, SIDES, SIDES)),
    ),
    st.floats(0.0, 1.2),
    st.floats(0.0, 1.0),
    SEEDS,
)
def test_what_whirls_or_bounces_without_end_says_what_to_do(shape, mu, restitution, seed):
    planes, q, v = state(shape, 0.0, seed)
    body = SpatialBody(shape, 2.0, mu=mu, planes=planes, restitution=restitution)
    options = {"seed": seed, "max_steps": 1000, "max_impacts": 100}
    motion = carom.simulate(body, q, v, 0.4, LAW, **options)
    check_motion(motion, looks=2, speed=1e-6)
    assert motion.status == "finished" or "time_step" in motion.message
