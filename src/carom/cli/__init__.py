"""The command line: one file a command.

NumPy, Numba and matplotlib are imported when a command runs, so that help is quick.
"""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from collections.abc import Sequence
from typing import NoReturn

from carom import __version__
from carom.cli import check, outcomes, scenes, simulate
from carom.cli.console import say
from carom.errors import CaromError, ImpactNotResolved, InvalidProblem

__all__ = ["main"]

COMMANDS = {"scenes": scenes, "outcomes": outcomes, "check": check, "simulate": simulate}
NOT_RESOLVED = 1
BAD_INPUT = 2
INTERRUPTED = 130
CLOSED_PIPE = 141


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    arguments = sys.argv[1:] if argv is None else list(argv)
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
        say(message)
        return code


def _run(arguments: list[str]) -> int:
    parser = _parser()
    try:
        options = parser.parse_args(arguments)
    except SystemExit as end:
        # Help and version end this way.
        return int(end.code or 0)
    if options.run is None:
        parser.print_help(sys.stderr)
        return BAD_INPUT
    failures: list[CaromError] = options.run(options)
    for failure in failures:
        say(f"error: {failure}")
    return NOT_RESOLVED if failures else 0


def _explain(error: BaseException) -> tuple[int, str]:
    """Return an exit code and one line for an error of the caller; raise it again if it is ours."""
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED, "interrupted"
    if isinstance(error, ImpactNotResolved):
        return NOT_RESOLVED, f"error: {error}"
    if isinstance(error, CaromError):
        return BAD_INPUT, f"error: {error}"
    if isinstance(error, MemoryError):
        return BAD_INPUT, "error: not enough memory; lower --samples or --many"
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        return BAD_INPUT, f"error: {where}{error.strerror or error}"
    raise error


def _drop_output() -> None:
    """Send what is left of the output nowhere; else Python would complain at its end."""
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, like all others."""

    def error(self, message: str) -> NoReturn:
        raise InvalidProblem(f"{message}; see: {self.prog} --help")


def _parser() -> argparse.ArgumentParser:
    common = _Parser(add_help=False)
    common.add_argument("--debug", action="store_true", help="show where an error came from")
    parser = _Parser(
        prog="carom",
        description="Compute every way in which a simultaneous rigid-body impact can end, and move "
        "through it.",
        epilog="exit codes: 0 done, 1 an impact was not resolved or a motion was cut short, "
        "2 bad input, 130 interrupted",
        parents=[common],
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"carom {__version__}")
    parser.set_defaults(run=None)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    for name, command in COMMANDS.items():
        sub = commands.add_parser(
            name,
            parents=[common],
            help=command.HELP,
            description=command.DESCRIPTION,
            epilog=command.EPILOG,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        command.add_arguments(sub)
        sub.set_defaults(run=command.run)
    return parser
