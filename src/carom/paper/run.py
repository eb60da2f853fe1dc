"""Make exhibits one after another, and the page that shows them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from pathlib import Path

from carom.errors import InvalidOption
from carom.paper import page, store
from carom.paper.exhibit import Effort, Exhibit, Progress
from carom.paper.exhibits import EXHIBITS

Begin = Callable[[Exhibit], Progress]
"""Called with the exhibit that is begun; returns what to call as it proceeds."""


def choose(names: Sequence[str]) -> list[Exhibit]:
    """Return the exhibits of these names in the order of the paper; all, if there are none."""
    for name in names:
        if name not in EXHIBITS:
            near = get_close_matches(name, EXHIBITS, n=1)
            hint = f" (did you mean {near[0]!r}?)" if near else ""
            raise InvalidOption(
                f"no figure or table is named {name!r}{hint}; there are: {', '.join(EXHIBITS)}"
            )
    return [exhibit for name, exhibit in EXHIBITS.items() if not names or name in names]


def reproduce(
    out: Path,
    names: Sequence[str] = (),
    *,
    quick: bool = False,
    fresh: bool = False,
    begin: Begin | None = None,
) -> list[store.Kept]:
    """Reproduce the figures and tables of the paper, with a page that shows them.

    What an earlier run into the same folder has made is kept, so that a run that was interrupted
    goes on where it was. The page `index.html` is written after every exhibit, and shows all that
    is in the folder.

    Args:
        out: Folder for the page, and for one folder of figures and data per exhibit.
        names: Names of exhibits; all by default.
        quick: Whether to use fewer samples than the paper.
        fresh: Whether to make again what is there.
        begin: Function that is called with each exhibit, for progress.

    Returns:
        What was made or found, in the order of the paper.

    Raises:
        InvalidOption: There is no exhibit of a name.
    """
    effort = Effort(quick)
    chosen = choose(names)
    out.mkdir(parents=True, exist_ok=True)
    kept: list[store.Kept] = []
    for exhibit in chosen:
        progress = begin(exhibit) if begin is not None else _ignore
        found = None if fresh else store.find(out, exhibit, effort)
        kept.append(found if found is not None else _make(out, exhibit, effort, progress))
        page.write(out, _all_there(out), num_left=len(chosen) - len(kept))
    return kept


def _all_there(out: Path) -> list[tuple[Exhibit, store.Kept]]:
    """Return the exhibits in a folder, from this run and from others, full ones before quick."""
    pairs = []
    for exhibit in EXHIBITS.values():
        found = (store.find(out, exhibit, Effort(quick)) for quick in (False, True))
        pairs += [(exhibit, kept) for kept in found if kept is not None][:1]
    return pairs


def _make(out: Path, exhibit: Exhibit, effort: Effort, progress: Progress) -> store.Kept:
    start = time.perf_counter()
    made = exhibit.make(effort, progress)
    return store.keep(out, exhibit, made, effort, time.perf_counter() - start)


def _ignore(_done: int, _total: int) -> None:
    pass
