"""Both kinds of certificates, and one check for them."""

from __future__ import annotations

import math
from fractions import Fraction
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from carom import proofs
from carom.errors import InvalidCertificate
from carom.problem import ImpactProblem
from carom.typing import FloatArray

if TYPE_CHECKING:
    from carom.reach.certificate import CoverCertificate
    from carom.reach.inclusion import Inclusion

AnyCertificate = Union[proofs.Certificate, "CoverCertificate"]
"""Multipliers for all outcomes at once, or polyhedra that motions cannot leave."""


def is_certificate(thing: Any) -> bool:
    """Return whether something is a certificate of either kind."""
    if isinstance(thing, proofs.Certificate):
        return True
    if find_spec("ppl") is None:
        return False
    from carom.reach.certificate import CoverCertificate

    return isinstance(thing, CoverCertificate)


def check(
    problem: ImpactProblem,
    certificate: AnyCertificate,
    direction: FloatArray,
    impulse_weights: FloatArray,
    proved: float,
    max_seconds: float,
) -> None:
    """Check that a certificate proves a bound, or raise InvalidCertificate."""
    try:
        _check(problem, certificate, direction, impulse_weights, proved, max_seconds)
    except InvalidCertificate:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        # Fields of a damaged file may hold anything.
        raise InvalidCertificate(f"the certificate is damaged: {error!r}") from error


def _check(
    problem: ImpactProblem,
    certificate: AnyCertificate,
    direction: FloatArray,
    impulse_weights: FloatArray,
    proved: float,
    max_seconds: float,
) -> None:
    if isinstance(certificate, proofs.Certificate):
        about = (certificate.direction, certificate.impulse_weights)
        if about != (_exactly(direction), _exactly(impulse_weights)):
            raise InvalidCertificate("direction: the certificate is about another one")
        proofs.check(problem, certificate)
        bound = float(certificate)
    else:
        from carom.reach.certificate import check

        if np.any(impulse_weights):
            raise InvalidCertificate("impulse_weights: polyhedra say nothing of impulses")
        bound = claimed_bound(problem, certificate, direction)
        check(problem, certificate, max_seconds)
    if not bound <= proved:
        raise InvalidCertificate("proved: smaller than the bound of the certificate")


def claimed_bound(
    problem: ImpactProblem,
    certificate: CoverCertificate,
    direction: FloatArray,
    inclusion: Inclusion | None = None,
) -> float:
    """Return what polyhedra claim of direction . v, rounded up to a float.

    The inclusion of the problem is made from it, unless it is given.
    """
    from carom.reach.certificate import velocity_bound

    bound = velocity_bound(problem, certificate, direction, inclusion)
    rounded = float(bound)
    return rounded if rounded >= bound else math.nextafter(rounded, math.inf)


def _exactly(values: FloatArray) -> tuple[Fraction, ...]:
    return tuple(Fraction(float(x)) for x in values)
