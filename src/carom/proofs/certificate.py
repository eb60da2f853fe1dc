"""The certificate: a claim about every outcome of one impact, and the numbers that prove it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf, nextafter
from typing import Any, final

import numpy as np

from carom.errors import InvalidCertificate
from carom.problem import ImpactProblem
from carom.typing import FloatArray

Exact = tuple[Fraction, ...]

KINDS = ("momentum", "phases")

MOST_CHARACTERS = 4000
"""Maximum length of one number in a file: Python reads no integer of more than 4300 digits."""

_FRACTION = re.compile(r"-?[0-9]+(/[1-9][0-9]*)?")

_VECTORS = (
    "direction",
    "impulse_weights",
    "separation",
    "lifts",
    "velocity",
    "pieces",
    "slopes",
    "units",
    "kept",
    "kept_units",
    "kept_forms",
    "kept_relations",
    "kept_quadratic",
    "kept_sticking",
    "kept_multipliers",
    "kept_velocity",
)

_OF_BOUNCES = ("bounces", "bounce_rates")
"""Vectors of proofs about impacts that bounce; other certificates do without them."""


@final
@dataclass(frozen=True)
class Certificate:
    """Claim that direction . v_post + impulse_weights . impulse_n <= bound for every outcome.

    `carom.proofs.check.check` decides whether the claim is proved; the fields alone prove nothing.

    Args:
        direction: (nv,) coefficients of the velocity after the impact.
        impulse_weights: (m,) coefficients of the normal impulses [N s].
        bound: The bound, or None if nothing was proved.
        separation: (m,) multipliers y >= -lifts of the normal velocities after the impact.
        lifts: (m,) slopes >= 0 of functions that rise with normal velocities > 0.
        velocity: (nv,) velocity z whose momentum M z no impulse of the friction cones lowers.
        problem_digest: SHA-256 of the problem.
        reason: Why there is no bound, in one sentence; empty if there is one.
        kind: Kind of the proof, "momentum" or "phases".
        pieces: (m * 8,) with "phases", values of a function of each contact's velocity on 8 rays.
        slopes: (m * 2,) with "phases", a linear function below it where the contact separates.
        units: (m * 2,) with "phases", units of normal and tangential velocity, contact by contact.
        kept: () or (1,), a number that v_post' M v_post does not exceed; `lifted.py` explains it.
        kept_units: (2 m,) units of contact velocities.
        kept_forms: (E * 2 m,) further forms, combinations of contact velocities in these units.
        kept_relations: (q * 2 m,) combinations that are zero.
        kept_quadratic: (L (L + 1) / 2,) rows of N up to the diagonal, with L = 4 m + 2 E.
        kept_sticking: (m * L,) slopes where contacts stick.
        kept_multipliers: Those of further forms and relations, for every situation of `lifted.py`.
        kept_velocity: (nv,) velocity that bounds impulses.
        bounces: (m * b,) coefficients of functions of the energy that contacts can still return;
            `bounces.py` explains them.
        bounce_rates: (m * b,) their rates >= 0.
        digest: SHA-256 of everything else, which detects accidental damage.
    """

    direction: Exact
    impulse_weights: Exact
    bound: Fraction | None
    separation: Exact
    lifts: Exact
    velocity: Exact
    problem_digest: str
    reason: str = ""
    kind: str = KINDS[0]
    pieces: Exact = ()
    slopes: Exact = ()
    units: Exact = ()
    kept: Exact = ()
    kept_units: Exact = ()
    kept_forms: Exact = ()
    kept_relations: Exact = ()
    kept_quadratic: Exact = ()
    kept_sticking: Exact = ()
    kept_multipliers: Exact = ()
    kept_velocity: Exact = ()
    bounces: Exact = ()
    bounce_rates: Exact = ()
    digest: str = ""

    @property
    def claim(self) -> tuple[FloatArray, FloatArray]:
        """Return the direction (nv,) and the impulse weights (m,), which are floats."""
        return np.array(self.direction, np.float64), np.array(self.impulse_weights, np.float64)

    def __float__(self) -> float:
        """Return the bound rounded up, infinity if there is none."""
        if self.bound is None:
            return inf
        try:
            rounded = float(self.bound)
        except OverflowError:
            return inf if self.bound > 0 else -np.finfo(np.float64).max
        return rounded if Fraction(rounded) >= self.bound else nextafter(rounded, inf)

    def content_digest(self) -> str:
        """Return the SHA-256 of everything but the digest."""
        bound = "none" if self.bound is None else _hex(self.bound)
        lines = [self.kind, self.problem_digest, self.reason, bound]
        lines += [" ".join(map(_hex, getattr(self, name))) for name in _VECTORS]
        if self.bounces or self.bounce_rates:
            # Only then: certificates of inelastic impacts keep the digest they always had.
            lines += [" ".join(map(_hex, getattr(self, name))) for name in _OF_BOUNCES]
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()

    def sealed(self) -> Certificate:
        """Return the same certificate with the digest of its content."""
        return replace(self, digest=self.content_digest())

    def to_dict(self) -> dict[str, Any]:
        """Return the certificate as strings and lists, ready for JSON."""
        names = (*_VECTORS, *_OF_BOUNCES)
        numbers = {name: [str(x) for x in getattr(self, name)] for name in names}
        return {
            "kind": self.kind,
            **numbers,
            "bound": None if self.bound is None else str(self.bound),
            "reason": self.reason,
            "problem_digest": self.problem_digest,
            "digest": self.digest,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Certificate:
        """Read what `to_dict` wrote.

        Args:
            data: Strings and lists.

        Raises:
            InvalidCertificate: A field is missing, unknown or not what it should be.
        """
        expected = {"kind", "bound", "reason", "problem_digest", "digest", *_VECTORS}
        is_read = isinstance(data, Mapping) and set(data) - set(_OF_BOUNCES) == expected
        if not is_read:
            got = sorted(map(str, data)) if isinstance(data, Mapping) else type(data).__name__
            raise InvalidCertificate(f"expected the fields {sorted(expected)}, got {got}")
        texts = {name: data[name] for name in ("kind", "reason", "problem_digest", "digest")}
        for name, text in texts.items():
            if not isinstance(text, str):
                raise InvalidCertificate(f"{name}: expected text, got {text!r}")
        names = (*_VECTORS, *_OF_BOUNCES)
        numbers: dict[str, Any] = {name: _vector(name, data.get(name, ())) for name in names}
        numbers["bound"] = None if data["bound"] is None else _number("bound", data["bound"])
        return cls(**numbers, **texts)


def digest_of(problem: ImpactProblem) -> str:
    """Return the SHA-256 of what an impact's outcomes depend on, to the last bit."""
    seal = hashlib.sha256()
    for name in ("M", "J_n", "J_t", "mu", "v_pre"):
        array = np.ascontiguousarray(getattr(problem, name), dtype="<f8")
        # Adding zero turns -0.0 into 0.0, which is the same number.
        seal.update(f"{name} {array.shape}\n".encode() + (array + 0.0).tobytes())
    seal.update(f"without_collision {problem.without_collision}".encode())
    if problem.bounces:
        # Only then: inelastic impacts keep the digest they always had.
        restitution = np.ascontiguousarray(problem.restitution, dtype="<f8")
        seal.update(b"restitution\n" + (restitution + 0.0).tobytes())
    return seal.hexdigest()


def _hex(x: Fraction) -> str:
    return f"{x.numerator:x}/{x.denominator:x}"


def _vector(name: str, value: Any) -> Exact:
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise InvalidCertificate(f"{name}: expected a list of fractions, got {value!r}")
    return tuple(_number(name, x) for x in value)


def _number(name: str, text: Any) -> Fraction:
    if isinstance(text, str) and len(text) <= MOST_CHARACTERS and _FRACTION.fullmatch(text):
        return Fraction(text)
    raise InvalidCertificate(f"{name}: expected fractions such as '-3/4', got {str(text)[:40]!r}")
