"""Robots and bodies in space on a server of viser: their solids, and a player of motions."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from typing import Any

import numpy as np

from carom.errors import MissingExtra
from carom.systems.solids import Solid
from carom.typing import FloatArray

try:
    import trimesh
    import viser
except ModuleNotFoundError as error:
    raise MissingExtra.of("robots and motions in space", "viser", "viser") from error

GHOST = (86, 180, 233)
"""Colour of what is transparent."""


def add_solid(scene: Any, name: str, solid: Solid, opacity: float | None = None) -> Any:
    """Add a solid to a scene, transparent if it has an opacity, and return its handle."""
    mesh = _mesh(solid)
    color = GHOST if opacity else tuple(int(255 * x) for x in solid.color)
    return scene.add_mesh_simple(
        name, np.asarray(mesh.vertices), np.asarray(mesh.faces), color=color, opacity=opacity
    )


def _mesh(solid: Solid) -> Any:
    """Return the triangles of a solid."""
    radius, half, _ = solid.size
    if solid.kind == "mesh":
        return trimesh.Trimesh(solid.vertices, solid.faces, process=False)
    if solid.kind == "box":
        return trimesh.creation.box(extents=2.0 * solid.size)
    if solid.kind == "capsule":
        # Along z; older versions of trimesh begin at the origin.
        made = trimesh.creation.capsule(height=2.0 * half, radius=radius, count=[12, 12])
        made.apply_translation(-made.bounds.mean(axis=0))
        return made
    if solid.kind == "cylinder":
        return trimesh.creation.cylinder(radius=radius, height=2.0 * half, sections=24)
    ball = trimesh.creation.icosphere(subdivisions=2)
    ball.apply_scale(solid.size if solid.kind == "ellipsoid" else radius)
    return ball


def place(handles: list[Any], poses: FloatArray) -> None:
    """Move solids (n) to poses (n, 4, 4)."""
    for handle, at in zip(handles, poses, strict=True):
        handle.position = at[:3, 3]
        handle.wxyz = viser.transforms.SO3.from_matrix(at[:3, :3]).wxyz


def start_server(host: str, port: int) -> Any:
    """Return a server of viser, which says hello on standard error."""
    with redirect_stdout(sys.stderr):
        return viser.ViserServer(host=host, port=port, verbose=False, label="carom")


class Player:
    """A server of viser that plays poses (k, n, 4, 4) of a robot's solids, picture by picture."""

    def __init__(self, system: Any, poses: FloatArray, rate: int, port: int) -> None:
        """Begin with the first picture; `rate` is in pictures per second."""
        self.poses, self.rate, self.server = poses, rate, start_server("127.0.0.1", port)
        places = poses[:, :, :3, 3]
        size = float(np.ptp(places.reshape(-1, 3), axis=0).max()) or 1.0
        scene = self.server.scene
        scene.set_up_direction("+z")
        middle = 0.5 * (places.min(axis=(0, 1)) + places.max(axis=(0, 1)))
        ground = {"position": (*middle[:2], 0.0), "cell_size": 0.1}
        scene.add_grid("/ground", width=4.0 * size, height=4.0 * size, **ground)
        self.bodies = [
            add_solid(scene, f"/robot/{i}", each) for i, each in enumerate(system.solids())
        ]
        self.server.initial_camera.position = middle + size * np.array([1.6, -1.6, 1.0])
        self.server.initial_camera.look_at = middle
        gui = self.server.gui
        self.number = gui.add_slider("picture", 0, len(poses) - 1, 1, 0)
        self.playing = gui.add_checkbox("play", True)
        self.number.on_update(lambda _: self._show(int(self.number.value)))
        self._show(0)

    @property
    def address(self) -> str:
        """Return the address of the page."""
        return f"http://{self.server.get_host()}:{self.server.get_port()}"

    def _show(self, number: int) -> None:
        place(self.bodies, self.poses[number])

    def step(self) -> None:
        """Show the next picture, if it plays."""
        if self.playing.value:
            self.number.value = (int(self.number.value) + 1) % len(self.poses)
            self._show(int(self.number.value))

    def page(self) -> str:
        """Return a page that plays all pictures without a server, and end."""
        try:
            recording = self.server.get_scene_serializer()
            for number in range(len(self.poses)):
                self._show(number)
                recording.insert_sleep(1.0 / self.rate)
            return str(recording.as_html())
        finally:
            self.stop()

    def stop(self) -> None:
        """End the server."""
        self.server.stop()
