"""Make exhibits one after another, and the page that shows them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from pathlib import Path

from carom.errors import InvalidOption
from carom.paper import page
from carom.paper.exhibit import Effort, Exhibit, Kept, Progress, find, keep
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
) -> list[Kept]:
    """Reproduce the figures and tables of the paper, with a page that shows them.

    What an earlier run into the same folder has made is kept, unless `fresh`, so that a run that
    was interrupted goes on where it was. The page `index.html` is written after every exhibit, and
    shows all that is in the folder. Exhibits are returned in the order of the paper.
    """
    effort = Effort(quick)
    chosen = choose(names)
    out.mkdir(parents=True, exist_ok=True)
    kept: list[Kept] = []
    for exhibit in chosen:
        progress = begin(exhibit) if begin is not None else lambda _done, _total: None
        found, start = None if fresh else find(out, exhibit, effort), time.perf_counter()
        if found is None:
            made = exhibit.make(effort, progress)
            found = keep(out, exhibit, made, effort, time.perf_counter() - start)
        kept.append(found)
        page.write(out, _all_there(out), num_left=len(chosen) - len(kept))
    return kept


def _all_there(out: Path) -> list[tuple[Exhibit, Kept]]:
    """Return the exhibits in a folder, from this run and from others, full ones before quick."""
    pairs = []
    for exhibit in EXHIBITS.values():
        found = (find(out, exhibit, Effort(quick)) for quick in (False, True))
        pairs += [(exhibit, kept) for kept in found if kept is not None][:1]
    return pairs
