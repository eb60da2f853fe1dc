"""Exact reachability of the impact inclusion, in rational arithmetic; `solve.solve` is the entry.

PPL is loaded here, so that every module of the package finds it loaded without side effects: a
plain `import ppl` initializes cysignals, which replaces the handlers of a dozen signals for good
and fails outside of the main thread.
"""

from __future__ import annotations

import ctypes
import importlib
import signal
import sys
from importlib.util import find_spec, module_from_spec

SIGACTION_BYTES = 512
"""More than `struct sigaction` has on any platform."""


def _load_ppl() -> None:
    """Import PPL in any thread, and leave all signal handlers as they were.

    PPL needs `cysignals.signals`, but not the package's `__init__`, whose only work is to install
    handlers. Without it Ctrl-C is Python's affair: it acts between two operations of PPL. PPL
    itself takes SIGPROF; that handler is put back below Python, because `signal.signal` works in
    the main thread only.
    """
    importlib.import_module("gmpy2")
    spec = find_spec("cysignals")
    stand_in = spec is not None and "cysignals" not in sys.modules
    if spec is not None and stand_in:
        sys.modules["cysignals"] = module_from_spec(spec)
    # Windows has no sigaction, and no SIGPROF.
    sigaction = getattr(ctypes.CDLL(None), "sigaction", None) if sys.platform != "win32" else None
    old = ctypes.create_string_buffer(SIGACTION_BYTES)
    is_saved = sigaction is not None and sigaction(int(signal.SIGPROF), None, old) == 0
    try:
        importlib.import_module("ppl")
    finally:
        if sigaction is not None and is_saved:
            sigaction(int(signal.SIGPROF), old, None)
        if stand_in:
            # Whoever imports cysignals for its own sake shall get all of it.
            del sys.modules["cysignals"]


if find_spec("ppl") is not None:
    _load_ppl()
