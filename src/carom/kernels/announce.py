"""Say once that kernels are compiled, since the first call would else be silent for seconds."""

import sys
from multiprocessing import parent_process

LINE = (
    "carom: compiling kernels, once on this machine, which can take half a minute; "
    "`carom warm-up` does it in advance"
)

_is_due = True


def be_silent() -> None:
    """Announce nothing in this process, which has its own way to say what it does."""
    global _is_due
    _is_due = False


def compiling() -> None:
    """Print the line on stderr, but not twice, nor once per worker of a pool."""
    global _is_due
    if _is_due and sys.stderr is not None and parent_process() is None:
        print(LINE, file=sys.stderr, flush=True)
    _is_due = False
