"""Exact reachability of the impact inclusion, in rational arithmetic; `solve.solve` is the entry.

PPL is loaded here without side effects: a plain `import ppl` initializes cysignals, which replaces
a dozen signal handlers for good and fails outside of the main thread.
"""

from __future__ import annotations

import ctypes
import importlib
import signal
import sys
from importlib.util import find_spec, module_from_spec

SIGACTION_BYTES = 512
"""Upper bound on the size of `struct sigaction`."""


def _load_ppl() -> None:
    """Import PPL in any thread, leaving all signal handlers unchanged.

    PPL needs `cysignals.signals`, but not the package's `__init__`, which only installs handlers.
    Without it Python handles Ctrl-C between two operations of PPL. PPL itself takes SIGPROF, whose
    handler is restored through libc, because `signal.signal` works in the main thread only.
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
            # A later import of cysignals must run its `__init__`.
            del sys.modules["cysignals"]


if find_spec("ppl") is not None:
    _load_ppl()
