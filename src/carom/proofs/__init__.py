"""Proofs about all outcomes of an impact, with certificates that anyone can check."""

from carom.proofs.certificate import Certificate
from carom.proofs.check import check, is_valid
from carom.proofs.energy import prove_by_energy, prove_energy, tighten
from carom.proofs.momentum import Prover, prove
from carom.proofs.phases import prove_by_phases, tightest

__all__ = [
    "Certificate",
    "Prover",
    "check",
    "is_valid",
    "prove",
    "prove_by_energy",
    "prove_by_phases",
    "prove_energy",
    "tighten",
    "tightest",
]
