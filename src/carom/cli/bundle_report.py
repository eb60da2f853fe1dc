"""How far many motions of one scene are apart."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, final

import numpy as np

from carom.cli.figures import load_plots, png
from carom.cli.motion_report import Setting
from carom.cli.report import File, Report
from carom.cli.tables import table
from carom.laws.files import encode_npz

if TYPE_CHECKING:
    from carom.motion.bundle import Bundle

TIMES = 501
ALIKE = 1e-6
"""Coordinates that differ by no more than this are called alike [m or rad]."""

ROUNDING = 1e-12


@final
class BundleReport(Report):
    """Many motions of a scene."""

    name = "bundle"

    def __init__(self, setting: Setting, bundle: Bundle) -> None:
        self.setting = setting
        self.scene = setting.scene
        self.bundle = bundle
        motions = bundle.trajectories
        end = max(motion.end_time for motion in motions)
        self.times = np.linspace(motions[0].start_time, end, TIMES)
        spread = bundle.spread(self.times)
        self.spread = np.where(spread > ROUNDING, spread, 0.0)
        self.counts = [len(motion.impacts) for motion in motions]

    def cut_short(self) -> list[str]:
        """Say how many motions ended before their time, and why the first one did."""
        stopped = [motion for motion in self.bundle.trajectories if not motion.is_finished]
        if not stopped:
            return []
        many = f"{len(stopped)} of {len(self.bundle)} motions were cut short, the first by"
        return [f"{many} {stopped[0].status}: {stopped[0].message}"]

    def text(self) -> str:
        """Return the report for people."""
        count = len(self.bundle)
        ended = "all finished" if not self.cut_short() else self.cut_short()[0]
        low, high = min(self.counts), max(self.counts)
        impacts = f"{low} … {high}" if low < high else str(low)
        lines = [
            f"{self.scene.name}: {self.scene.description}",
            "",
            f"{count} motion{'s' if count > 1 else ''} by law {self.setting.law_name}, seed "
            f"{self.bundle.seed}: {ended}",
            f"  {impacts} impacts in each",
            f"  {self._alike()}",
        ]
        if self.spread.max() > ALIKE:
            lines += ["", "How far they are apart", *(f"  {line}" for line in self._table())]
        return "\n".join(lines)

    def _alike(self) -> str:
        """Say until when no coordinate differs."""
        differs = np.flatnonzero(self.spread.max(axis=1) > ALIKE)
        if len(differs) == 0:
            return "They are all the same: nothing was left to chance."
        if differs[0] <= 1:
            return "They fan out from the start."
        return f"They are the same up to t = {self.times[differs[0] - 1]:.4g} s, then fan out."

    def _table(self) -> list[str]:
        most = self.spread.argmax(axis=0)
        rows = [
            (
                name,
                f"{self.spread[most[i], i]:.4g}",
                f"{self.times[most[i]]:.4g}",
                f"{self.spread[-1, i]:.4g}",
            )
            for i, name in enumerate(self._names())
        ]
        return table(("coordinate", "at most", "at t [s]", "at the end"), rows, right=(1, 2, 3))

    def _names(self) -> list[str]:
        """Return the names of coordinates."""
        from carom.systems.names import names

        motion = self.bundle.trajectories[0]
        return [str(name) for name in names(motion.system, motion.layout.nq)]

    def json(self) -> dict[str, Any]:
        """Return the report for programs."""
        motions = self.bundle.trajectories
        differs = np.flatnonzero(self.spread.max(axis=1) > ALIKE)
        last = self.bundle.q_at(self.times[-1:])[:, 0]
        return {
            **self.setting.json(),
            "seed": self.bundle.seed,
            "num_motions": len(motions),
            "statuses": dict(Counter(motion.status for motion in motions)),
            "num_impacts": self.counts,
            "alike_until": float(self.times[max(0, differs[0] - 1)]) if len(differs) else None,
            "coordinates": [
                {
                    "name": name,
                    "largest_spread": float(self.spread[:, i].max()),
                    "at": float(self.times[self.spread[:, i].argmax()]),
                    "last_spread": float(self.spread[-1, i]),
                    "last_range": [float(np.nanmin(last[:, i])), float(np.nanmax(last[:, i]))],
                }
                for i, name in enumerate(self._names())
            ],
        }

    def arrays(self) -> dict[str, Any]:
        """Return the content of bundle.npz."""
        return {
            "times": self.times,
            "q": self.bundle.q_at(self.times),
            "v": self.bundle.v_at(self.times),
            "seeds": np.array([motion.seed for motion in self.bundle.trajectories]),
        }

    def files(self) -> dict[str, File]:
        """Return the arrays and the figure."""
        files: dict[str, File] = {"bundle.npz": encode_npz(self.arrays())}
        plots = load_plots()
        if plots is not None:
            title = f"{self.scene.name}: {len(self.bundle)} motions"
            files["bundle.png"] = png(plots.bundle_overview(self.bundle, title=title))
        return files
