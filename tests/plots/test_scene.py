import io

import numpy as np
import pytest
from matplotlib.figure import Figure

import carom
from carom.plots import plot_scene
from carom.systems import FLOOR, Body, Disc, HalfPlane, PlanarSystem, PlaneContact, System
from carom.systems.views import contact_points, view_of


@pytest.fixture
def ax():
    return Figure().add_subplot()


def test_bodies_are_where_they_are(ax):
    scene = carom.scenes.load("box-wall")
    assert plot_scene(scene.system, scene.q, ax, v=scene.v) is ax
    box = ax.patches[0]
    corners = box.get_transform().transform(box.get_xy()[:4]) - ax.transData.transform((0, 0))
    scale = np.diff(ax.transData.transform([(0, 0), (1, 1)]), axis=0)[0]
    (body,) = scene.system.bodies
    frame = scene.system.frames(scene.q)["box"]
    expected = [frame.point(point) for point in body.outline[0].points]
    np.testing.assert_allclose(corners / scale, expected, atol=1e-9)


@pytest.mark.parametrize("name", carom.scenes.names())
def test_every_scene_can_be_drawn(ax, name):
    scene = carom.scenes.load(name)
    plot_scene(scene.system, scene.q, ax, v=scene.v)
    names = [text.get_text() for text in ax.texts]
    assert names == list(scene.system.contacts)
    ax.figure.savefig(io.BytesIO(), format="png")


def test_arrow_is_the_velocity(ax):
    scene = carom.scenes.load("zeno-block")
    plot_scene(scene.system, scene.q, ax, v=scene.v)
    (arrows,) = [each for each in ax.collections if hasattr(each, "U")]
    direction = np.array([arrows.U[0], arrows.V[0]])
    expected = scene.v[:2] / np.linalg.norm(scene.v[:2])
    np.testing.assert_allclose(direction / np.linalg.norm(direction), expected, atol=1e-6)


def test_contacts_are_left_out_if_asked(ax):
    scene = carom.scenes.load("rocking-block")
    plot_scene(scene.system, scene.q, ax, contacts=False)
    assert not ax.texts


def test_ground_ends_at_a_wall_and_far_ground_is_not_seen(ax):
    far = HalfPlane((0.0, -50.0), (0.0, 1.0))
    wall = HalfPlane((0.6, 0.0), (-1.0, 0.0))
    box = Body.box("box", 1.0, 1.0, 1.0)
    planes = {"A": FLOOR, "B": wall, "C": far}
    contacts = [
        PlaneContact(name, Disc("box", (0.5, -0.5)), plane, 0.5) for name, plane in planes.items()
    ]
    system = PlanarSystem([box], contacts)
    plot_scene(system, [0.0, 0.5, 0.0], ax, contacts=False)
    floor, side, below = [np.array(line.get_data()) for line in ax.lines]
    assert floor[0].max() == pytest.approx(0.6)
    assert side[1].min() == pytest.approx(0.0)
    # Edges cross the whole view, and end where another solid begins.
    assert floor[0].min() < ax.get_xlim()[0]
    assert side[1].max() > ax.get_ylim()[1]
    assert below[1].max() < ax.get_ylim()[0]


def test_view_holds_all_outlines():
    scene = carom.scenes.load("disk-stack")
    low, high = view_of(scene.system, [scene.q])
    assert (low < [-1.0, 0.0]).all()
    assert (high > [3.0, 2.0 + np.sqrt(3.0)]).all()


def test_points_of_contact():
    scene = carom.scenes.load("disk-stack")
    points = contact_points(scene.system, scene.q)
    root = np.sqrt(3.0)
    expected = [(0, 0), (2, 0), (0.5, 1 + root / 2), (1.5, 1 + root / 2), (1, 1)]
    np.testing.assert_allclose(points, expected, atol=1e-12)


def test_system_that_is_not_planar(ax):
    with pytest.raises(carom.InvalidOption, match="expected a PlanarSystem"):
        plot_scene(OtherSystem(), [0.0], ax)


class OtherSystem(System):
    nq = nv = 1
    contacts = ()
    mu = np.zeros(0)

    def nothing(self, *_):
        raise NotImplementedError

    mass_matrix = velocity_map = smooth_force = potential_energy = gap = nothing
    normal_jacobian = tangent_jacobian = contact_bias = nothing
