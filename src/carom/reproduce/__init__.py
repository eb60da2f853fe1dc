"""The figures and tables of the paper, made again.

Needs matplotlib and the polyhedra library PPL: `carom[plots,exact]`.
"""

from carom.reproduce.run import reproduce

__all__ = ["reproduce"]
