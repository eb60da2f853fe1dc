"""Models and states of MuJoCo from files."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike, fspath

from carom.adapters.mujoco.contacts import mujoco
from carom.adapters.mujoco.model import vector
from carom.errors import InvalidProblem
from carom.typing import ArrayLike


def load_state(
    path: str | PathLike[str],
    keyframe: str | int | None = None,
    qpos: ArrayLike | None = None,
    qvel: ArrayLike | None = None,
) -> tuple[mujoco.MjModel, mujoco.MjData]:
    """Read a model from a file, and set it in a state.

    Args:
        path: An MJCF file, or one that MuJoCo can read as well.
        keyframe: Name or number of a keyframe of the file.
        qpos: Configuration, (nq,), in place of the keyframe's; the model's own if there is neither.
        qvel: Velocity, (nv,), likewise; at rest if there is neither.

    Raises:
        InvalidProblem: MuJoCo cannot read the file, it has no such keyframe, or a vector has
            another length or a number that is not finite.

    Examples:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from carom.adapters.mujoco import load_state
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "ball.xml")
        ...     _ = path.write_text('''<mujoco>
        ...       <worldbody><body><joint type="slide" axis="0 0 1"/><geom size="0.1"/></body>
        ...       </worldbody><keyframe><key name="low" qpos="0.1"/></keyframe></mujoco>''')
        ...     model, data = load_state(path, "low", qvel=[-1.0])
        >>> data.qpos.tolist(), data.qvel.tolist()
        ([0.1], [-1.0])
    """
    try:
        model = mujoco.MjModel.from_xml_path(fspath(path))
    except (ValueError, OSError) as error:
        reason = " ".join(str(error).split())
        raise InvalidProblem(f"{fspath(path)}: MuJoCo cannot read it: {reason}") from error
    data = mujoco.MjData(model)
    if keyframe is not None:
        mujoco.mj_resetDataKeyframe(model, data, _keyframe(model, keyframe))
    if qpos is not None:
        data.qpos[:] = vector("qpos", qpos, model.nq)
    if qvel is not None:
        data.qvel[:] = vector("qvel", qvel, model.nv)
    return model, data


def _keyframe(model: mujoco.MjModel, keyframe: str | int) -> int:
    names: Sequence[str] = [model.key(i).name for i in range(model.nkey)]
    if keyframe in names:
        return names.index(str(keyframe))
    if str(keyframe).isdecimal() and int(keyframe) < model.nkey:
        return int(keyframe)
    known = ", ".join(name or str(i) for i, name in enumerate(names)) or "none"
    raise InvalidProblem(f"keyframe: there is no {keyframe!r}; the file has: {known}")
