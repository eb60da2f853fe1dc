"""The figures and tables of the paper, reproduced, and the compliant model it compares with.

The former need `carom[plots,exact]`, the latter nothing, so that nothing is imported here.
"""

from __future__ import annotations

from typing import Any

__all__ = ["reproduce"]


def __getattr__(name: str) -> Any:
    if name != "reproduce":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from carom.paper.run import reproduce

    return reproduce
