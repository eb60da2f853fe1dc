"""Impacts of compliant bodies, to compare with rigid ones [HalmPosa, Section 5.4].

A contact is a spring and a damper in parallel (Kelvin-Voigt), with friction. What rigid impacts
leave open, stiffness and the exact pose decide here; sweeps vary them.
"""

from carom.paper.compliant.law import Compliant
from carom.paper.compliant.run import CompliantImpact
from carom.paper.compliant.sweeps import CompliantSweep, angle_sweep, stiffness_sweep

__all__ = [
    "Compliant",
    "CompliantImpact",
    "CompliantSweep",
    "angle_sweep",
    "stiffness_sweep",
]
