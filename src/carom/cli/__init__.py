"""The command line: one file a command.

NumPy, Numba and matplotlib are imported when a command runs, so that help is quick.
"""

from __future__ import annotations

import os
import sys
import traceback
import warnings
from collections.abc import Sequence
from contextlib import suppress
from typing import IO

from carom.cli import check, completion, console, outcomes, reproduce, scenes, simulate
from carom.cli.parser import Command, parse
from carom.errors import CaromError, ImpactNotResolved

__all__ = ["main"]

COMMANDS: dict[str, Command] = {
    "scenes": scenes,
    "outcomes": outcomes,
    "check": check,
    "simulate": simulate,
    "reproduce": reproduce,
    "completion": completion,
}
# parser.EPILOG explains them.
NOT_RESOLVED = 1
BAD_INPUT = 2
BUG = 70
INTERRUPTED = 130
CLOSED_PIPE = 141


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    arguments = sys.argv[1:] if argv is None else list(argv)
    _open_streams()
    try:
        code = _run(arguments)
        # Here, not when Python ends, is where a closed pipe can be met in good order.
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        _drop_output()
        return CLOSED_PIPE
    except (Exception, KeyboardInterrupt) as error:
        code, message = _explain(error)
        if "--debug" in arguments:
            traceback.print_exc()
        console.say(message)
        # A full disk is met again by whoever writes what is left.
        with suppress(OSError):
            sys.stdout.flush()
            return code
        _drop_output()
        return code


def _run(arguments: list[str]) -> int:
    try:
        options = parse(COMMANDS, arguments)
    except SystemExit as end:
        # Help and version end this way.
        return int(end.code or 0)
    if options.run is None:
        options.parser.print_help(sys.stderr)
        return BAD_INPUT
    console.be_quiet(options.quiet)
    with warnings.catch_warnings():
        if not options.debug:
            warnings.showwarning = _warn
        failures: Sequence[CaromError] = options.run(options)
    for failure in failures:
        console.say(f"error: {failure}")
    return NOT_RESOLVED if failures else 0


def _explain(error: BaseException) -> tuple[int, str]:
    """Return an exit code and one line for an error."""
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED, "interrupted"
    if isinstance(error, ImpactNotResolved):
        return NOT_RESOLVED, f"error: {error}"
    if isinstance(error, CaromError):
        return BAD_INPUT, f"error: {error}"
    if isinstance(error, MemoryError):
        return BAD_INPUT, "error: not enough memory; lower --samples or --many"
    if isinstance(error, OSError):
        # A file that cannot get its name has two: the first is temporary.
        where = error.filename2 or error.filename
        return BAD_INPUT, f"error: {f'{where}: ' if where else ''}{error.strerror or error}"
    if isinstance(error, ModuleNotFoundError):
        return BAD_INPUT, f"error: {error}; install what carom needs with: pip install carom"
    what = "".join(traceback.format_exception_only(error))
    return BUG, (
        f"error: {what.strip()}; this is a bug in carom: please report it, together with what "
        "--debug adds to this line"
    )


def _warn(message: Warning | str, *_: object, **__: object) -> None:
    console.warn(f"warning: {message}")


def _open_streams() -> None:
    """See to it that printing never fails for want of a stream or of a character."""
    for name in ("stdout", "stderr"):
        stream: IO[str] | None = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def _drop_output() -> None:
    """Send what is left of the output nowhere; else Python would complain at its end."""
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
