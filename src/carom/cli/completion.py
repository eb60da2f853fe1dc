"""carom completion: print a script with which a shell completes what is typed."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from carom.errors import CaromError

SHELLS = ("bash", "zsh", "fish")

HELP = "let the shell complete commands, options, scenes and files"
DESCRIPTION = """\
Print a script that lets a shell complete commands, options, scenes and files.

Keep it where the shell looks for such scripts, and open a new shell:

  bash  ~/.local/share/bash-completion/completions/carom
  zsh   _carom, in a folder of $fpath
  fish  ~/.config/fish/completions/carom.fish"""
EPILOG = """\
examples:
  carom completion bash > carom.bash
      Then `source carom.bash` tries it in this shell.
  carom completion zsh > _carom
  carom completion fish > carom.fish
"""

FUNCTION = "_carom_scene_or_file"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help=", ".join(SHELLS))


def run(options: argparse.Namespace) -> list[CaromError]:
    """Print the script."""
    import shtab

    from carom.cli import COMMANDS
    from carom.cli.parser import make_parser
    from carom.scenes import names

    parser = make_parser(COMMANDS)
    # What an argument is can be told from what help calls it.
    completions = {
        "DIR": shtab.DIRECTORY,
        "FILE": shtab.FILE,
        "SCENE|FILE": _scene_or_file(names()),
    }
    choices = {"SCENE": names(), "NAME": _exhibits()}
    for action in _actions(parser):
        if action.metavar in choices:
            action.choices = choices[action.metavar]
        elif action.metavar in completions:
            setattr(action, "complete", completions[action.metavar])  # noqa: B010 (shtab's own)
    print(shtab.complete(parser, options.shell))
    return []


def _exhibits() -> tuple[str, ...]:
    """Return what `carom reproduce` makes; nothing where it cannot run."""
    try:
        from carom.paper.exhibits import EXHIBITS
    except ImportError:
        return ()
    return tuple(EXHIBITS)


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for sub in action.choices.values():
                yield from _actions(sub)
        else:
            yield action


def _scene_or_file(scenes: tuple[str, ...]) -> dict[str, Any]:
    """Return what completes a scene or a file with an impact, in each shell."""
    import shtab

    files: dict[str, Any] = shtab.glob("*.json", "*.npz")
    names = " ".join(scenes)
    bash = f'{FUNCTION}() {{\n  compgen -W "{names}" -- "$1"\n  {files["bash"]} "$1"\n}}'
    zsh = (
        f"{FUNCTION}() {{\n"
        f"  _alternative 'scenes:scene:({names})' 'files:file:_files -g \"*.(json|npz)\"'\n}}"
    )
    fish = (
        f"function {FUNCTION}\n  printf '%s\\n' {names}\n"
        f"  {files['fish'].removeprefix('(').removesuffix(')')}\nend"
    )
    return {
        "bash": FUNCTION,
        "zsh": FUNCTION,
        "fish": f"({FUNCTION})",
        "preamble": {
            "bash": f"{files['preamble']['bash']}\n{bash}",
            "zsh": zsh,
            "fish": f"{files['preamble']['fish']}\n{fish}",
        },
    }
