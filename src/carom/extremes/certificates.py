"""Both kinds of certificates, and one check for them."""

from __future__ import annotations

from carom import proofs
from carom.problem import ImpactProblem

AnyCertificate = proofs.Certificate


def check(problem: ImpactProblem, certificate: AnyCertificate, max_seconds: float) -> None:
    """Check that a certificate proves its claim about an impact, or raise InvalidCertificate."""
    proofs.check(problem, certificate)
