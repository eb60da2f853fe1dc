"""The parser of the command line: help that teaches, and errors in one line."""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn, Protocol

from carom import __version__
from carom.cli.tables import fit, terminal_width
from carom.errors import CaromError, InvalidProblem

DESCRIPTION = """\
Compute every way in which a simultaneous rigid-body impact can end.

When a rigid robot hits the world at several contacts at once, the order in
which the impulses act decides how the impact ends, and nobody can know that
order. carom computes the set of all velocities that can follow, where a
physics engine picks one, and moves systems through such impacts."""
EPILOG = """\
try first:
  carom scenes
      List the impacts that carom knows by name.
  carom outcomes rocking-block
      A block lands flat on two corners: see all that can follow.
  carom simulate rocking-block --duration 0.5
      Follow one of the motions that this impact leaves open.

Results go to stdout: as text or, with --json, as one JSON object, in which
null stands for a number that is not finite. All else goes to stderr.

exit codes:
  0    done
  1    an impact or over 1 % of its samples did not end, or a motion was cut short
  2    bad input: a command, an option, a file, a folder; or too little memory
  70   a bug in carom
  130  interrupted
  141  the reader of the output went away, as head does in a pipe

read on:
  carom COMMAND --help  what a command prints and writes, with examples
  README.md, docs/      what carom computes and how, in its source
  the paper             https://doi.org/10.1177/02783649241236860
"""


class Command(Protocol):
    """What the file of a command has."""

    HELP: str
    DESCRIPTION: str
    EPILOG: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the options."""

    def run(self, options: argparse.Namespace) -> Sequence[CaromError]:
        """Print the results; return what was not resolved."""


class _HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Leaves descriptions as they are, and lists commands like options."""

    def _format_action(self, action: argparse.Action) -> str:
        if isinstance(action, argparse._SubParsersAction):
            return "".join(map(self._format_action, action._get_subactions()))
        return super()._format_action(action)


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, like all others."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(formatter_class=_HelpFormatter, allow_abbrev=False, **settings)

    def error(self, message: str) -> NoReturn:
        """Raise what argparse would print."""
        raise InvalidProblem(f"{message.removeprefix('argument ')}; see: {self.prog} --help")

    def format_help(self) -> str:
        """Return help that fits a terminal."""
        return fit(super().format_help(), terminal_width())

    def refuse(self, word: str) -> NoReturn:
        """Raise an error for a word that was not expected."""
        word = word.partition("=")[0]
        known = [option for action in self._actions for option in action.option_strings]
        if not word.startswith("-"):
            self.error(f"{word!r} is one argument too many")
        if word in known:
            self.error(f"{word}: belongs behind the command, as in: {self.prog} {word}")
        self.error(f"there is no option {word}{did_you_mean(word, known)}")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Refuse what is no choice, and name the closest one."""
        if action.choices is None or value in action.choices:
            return
        hint = did_you_mean(str(value), action.choices)
        names = ", ".join(map(str, action.choices))
        if isinstance(action.choices, Mapping):
            self.error(f"there is no command {value!r}{hint}; the commands are {names}")
        raise argparse.ArgumentError(action, f"expected one of {names}, got {value!r}{hint}")


def make_parser(commands: Mapping[str, Command]) -> Parser:
    """Return a parser for some commands; it sets `run` and `parser` of the chosen one."""
    common = Parser(add_help=False)
    # Without defaults, since those of a command would win over what stands in front of it.
    add = common.add_argument
    without = argparse.SUPPRESS
    add("--quiet", action="store_true", default=without, help="say nothing but results and errors")
    add("--debug", action="store_true", default=without, help="show where an error came from")
    parser = Parser(prog="carom", description=DESCRIPTION, epilog=EPILOG, parents=[common])
    parser.add_argument("--version", action="version", version=f"carom {__version__}")
    parser.set_defaults(run=None, parser=parser)
    parser._positionals.title = "commands"
    subparsers = parser.add_subparsers(metavar="COMMAND", parser_class=Parser)
    for name, command in commands.items():
        sub = subparsers.add_parser(
            name,
            parents=[common],
            help=command.HELP,
            description=command.DESCRIPTION,
            epilog=command.EPILOG,
        )
        command.add_arguments(sub)
        sub.set_defaults(run=command.run, parser=sub)
    return parser


def parse(commands: Mapping[str, Command], arguments: Sequence[str]) -> argparse.Namespace:
    """Read the command line.

    Raises:
        InvalidProblem: It is not understood.
        SystemExit: All it asked for was help or the version.
    """
    if arguments[:1] == ["help"]:
        arguments = [*arguments[1:2], "--help"]
    parser = make_parser(commands)
    defaults = argparse.Namespace(quiet=False, debug=False)
    options, rest = parser.parse_known_args(arguments, defaults)
    if rest:
        options.parser.refuse(rest[0])
    return options


def did_you_mean(word: str, names: Iterable[str]) -> str:
    """Return a question to add to an error; nothing if no name is close."""
    names = list(names)
    close = [name for name in names if word and name.startswith(word)]
    close += difflib.get_close_matches(word, names, n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""
