"""Write files that appear whole or not at all."""

from __future__ import annotations

import errno
import os
import uuid
from pathlib import Path


def write_atomically(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file under a temporary name in the same folder, then rename it.

    Whoever interrupts this, the file is either as it was before or complete.

    Args:
        path: The file.
        data: All of its content.

    Raises:
        OSError: The folder is missing or the file cannot be written.

    Examples:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from carom.files import write_atomically
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder) / "speed.txt"
        ...     write_atomically(path, b"0.5 m/s")
        ...     path.read_text()
        '0.5 m/s'
    """
    target = Path(path)
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "no such folder", str(target.parent))
    # Not from tempfile, whose files only their owner may read.
    temporary = target.with_name(f".{target.name}.{uuid.uuid4().hex}.tmp")
    try:
        with temporary.open("xb") as file:
            file.write(data)
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)
