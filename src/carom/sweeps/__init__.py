"""Sweeps: many impacts, measured on one machine or a cluster."""

from carom.sweeps.law import ExactOrSampled
from carom.sweeps.measures import WorstCase
from carom.sweeps.points import design
from carom.sweeps.run import Progress, failed, status, sweep
from carom.sweeps.store import Failure, Status

__all__ = [
    "ExactOrSampled",
    "Failure",
    "Progress",
    "Status",
    "WorstCase",
    "design",
    "failed",
    "status",
    "sweep",
]
