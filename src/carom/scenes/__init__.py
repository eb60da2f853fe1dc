"""The paper's examples by name, and some that bounce."""

import difflib
import importlib

from carom.errors import UnknownScene
from carom.scenes.scene import Scene

__all__ = ["Scene", "load", "names"]

# Each name is that of a module in this folder, with dashes for underscores.
_NAMES = (
    "rocking-block",
    "compass-gait",
    "box-wall",
    "ramone",
    "disk-stack",
    "zeno-block",
    "painleve-rod",
    "newtons-cradle",
    "bouncing-block",
)


def names() -> tuple[str, ...]:
    """Return the names that `load` takes.

    Examples:
        >>> import carom
        >>> carom.scenes.names()[:3]
        ('rocking-block', 'compass-gait', 'box-wall')
    """
    return _NAMES


def load(name: str, **parameters: float) -> Scene:
    """Build a scene, with the published parameters unless others are given.

    Args:
        name: One of `names()`.
        **parameters: Keywords of that scene's `make`, e.g. `mu=0.5`.

    Raises:
        UnknownScene: There is no such scene.

    Examples:
        >>> import carom
        >>> scene = carom.scenes.load("rocking-block", mu=0.5)
        >>> scene.problem.contacts, scene.problem.mu.tolist()
        (('A', 'B'), [0.5, 0.5])
    """
    if name not in _NAMES:
        close = difflib.get_close_matches(name, _NAMES, n=1)
        hint = f" (did you mean {close[0]!r}?)" if close else ""
        raise UnknownScene(f"no scene is named {name!r}{hint}; the scenes are {', '.join(_NAMES)}")
    module = importlib.import_module(f"carom.scenes.{name.replace('-', '_')}")
    scene: Scene = module.make(**parameters)
    return scene
