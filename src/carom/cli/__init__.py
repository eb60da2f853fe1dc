"""The command line: one file per command.

NumPy, Numba, matplotlib and rich are imported when a command runs, so that help is quick.
"""

from __future__ import annotations

import os
import sys
import traceback
import warnings
from collections.abc import Sequence
from typing import IO

import click
from click.shell_completion import get_completion_class, shell_complete

from carom import __version__
from carom.cli import (
    check,
    explore,
    outcomes,
    reproduce,
    scenes,
    show,
    simulate,
    sweep,
    warm_up,
    worst_case,
)
from carom.cli.options import Command, Group
from carom.errors import CaromError, ImpactNotResolved
from carom.kernels import announce

NOT_RESOLVED, BAD_INPUT, BUG, INTERRUPTED, CLOSED_PIPE = 1, 2, 70, 130, 141

COMPLETE = "_CAROM_COMPLETE"
"""The environment variable through which shells ask click for completions."""

EPILOG = """\
Try first:
  carom scenes  List the impacts that carom knows by name.
  carom outcomes rocking-block  A block lands flat on two corners: print every way this can end.
  carom simulate rocking-block --duration 0.5  Follow one motion that this impact permits.

Output:
  stdout  results, as text or, with --json, as one JSON object, in which null stands for a number
      that is not finite
  stderr  all else

Exit codes:
  0  done
  1  an impact or over 1 % of its samples did not end, or a motion was cut short
  2  bad input: a command, an option, a file, a folder; or too little memory
  70  a bug in carom
  130  interrupted
  141  the reader of the output went away, as head does in a pipe

Read on:
  carom COMMAND --help  what a command prints and writes, with examples
  README.md, docs/  what carom computes and how, in its source
  the paper  https://doi.org/10.1177/02783649241236860
"""


@click.group(cls=Group, epilog=EPILOG, invoke_without_command=True)
@click.version_option(__version__, message="carom %(version)s")
@click.pass_context
def group(context: click.Context) -> None:
    """Compute every way in which a simultaneous rigid-body impact can end.

    When a rigid robot hits the world at several contacts at once, the order in which the impulses
    act decides how the impact ends, and nobody can know that order. carom computes the set of all
    velocities that can follow, where a physics engine returns one, and simulates motions through
    such impacts.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help(), err=True)
        context.exit(BAD_INPUT)


for _module in (
    scenes,
    outcomes,
    worst_case,
    check,
    simulate,
    sweep,
    explore,
    reproduce,
    warm_up,
):
    group.add_command(_module.command)

COMPLETION = """\
Where shells look for it:
  bash  ~/.local/share/bash-completion/completions/carom
  zsh   _carom, in a folder of $fpath
  fish  ~/.config/fish/completions/carom.fish

Examples:
  carom completion bash > carom.bash  Then `source carom.bash` enables it.
  carom completion zsh > _carom
  carom completion fish > carom.fish
"""


@group.command(cls=Command, epilog=COMPLETION, short_help="complete commands, scenes and files")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print a script that completes commands, options, scenes and files in a shell.

    Save it where the shell looks for such scripts, and open a new shell.
    """
    print(get_completion_class(shell)(group, {}, "carom", COMPLETE).source())  # type: ignore[misc]


COMMANDS = group.commands


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    # Progress says it already.
    announce.be_silent()
    arguments = sys.argv[1:] if argv is None else list(argv)
    if COMPLETE in os.environ:
        return shell_complete(group, {}, "carom", COMPLETE, os.environ[COMPLETE])
    _open_streams()
    try:
        code = _run(arguments)
        # A closed pipe is noticed here; at the interpreter's exit it would print a traceback.
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        _drop_output()
        return CLOSED_PIPE
    except (Exception, KeyboardInterrupt) as error:
        code, message = _explain(error)
        if "--debug" in arguments:
            traceback.print_exc()
        show.say(message)
        # A full disk is met again by whoever flushes what is left.
        try:
            sys.stdout.flush()
        except OSError:
            _drop_output()
        return code


def _run(arguments: list[str]) -> int:
    """Parse and run; click's own `main` has other exit codes and prints errors on several lines."""
    if arguments[:1] == ["help"]:
        arguments = [*arguments[1:2], "--help"]
    show.be_quiet("--quiet" in arguments)
    try:
        with group.make_context("carom", [*arguments]) as context, warnings.catch_warnings():
            if "--debug" not in arguments:
                warnings.showwarning = lambda what, *_, **__: show.warn(f"warning: {what}")
            failures: Sequence[CaromError] = group.invoke(context) or ()
    except click.exceptions.Exit as end:
        return end.exit_code
    for failure in failures:
        show.say(f"error: {failure}")
    return NOT_RESOLVED if failures else 0


def _explain(error: BaseException) -> tuple[int, str]:
    """Return an exit code and one line for an error."""
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED, f"interrupted: {error}" if str(error) else "interrupted"
    if isinstance(error, click.ClickException):
        context = getattr(error, "ctx", None)
        see = f"; see: {context.command_path} --help" if context else ""
        return BAD_INPUT, f"error: {error.format_message().rstrip('.')}{see}"
    if isinstance(error, CaromError):
        code = NOT_RESOLVED if isinstance(error, ImpactNotResolved) else BAD_INPUT
        return code, f"error: {error}"
    if isinstance(error, MemoryError):
        return BAD_INPUT, "error: not enough memory; lower --samples or --many"
    if isinstance(error, OSError):
        # A file that cannot get its name has two: the first is temporary.
        where = error.filename2 or error.filename
        return BAD_INPUT, f"error: {f'{where}: ' if where else ''}{error.strerror or error}"
    if isinstance(error, ModuleNotFoundError) and not str(error.name).startswith("carom"):
        return BAD_INPUT, f"error: {error}; install what carom needs: pip install {error.name}"
    what = "; ".join("".join(traceback.format_exception_only(error)).splitlines())
    report = "please report it, together with what --debug adds to this line"
    return BUG, f"error: {what}; this is a bug in carom: {report}"


def _open_streams() -> None:
    """Make sure that printing never fails for lack of a stream or of a character."""
    for name in ("stdout", "stderr"):
        stream: IO[str] | None = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def _drop_output() -> None:
    """Send what is left of the output nowhere; Python would complain about it at exit."""
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
