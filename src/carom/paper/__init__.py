"""The figures and tables of the paper, made again.

Needs matplotlib and the polyhedra library PPL: `carom[plots,exact]`.
"""

from importlib.util import find_spec

from carom.errors import MissingExtra

if find_spec("matplotlib") is None or find_spec("ppl") is None:
    raise MissingExtra(
        "the paper's figures need matplotlib and pplpy; install them with: "
        'pip install "carom[plots,exact]"'
    )

from carom.paper.run import reproduce

__all__ = ["reproduce"]
