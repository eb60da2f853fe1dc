"""Tolerances of contact arithmetic: LCPs, pieces, steps, and when contacts rest or stick.

Rooms that compare other things (cells of an exact set, times of an event, a model's angles) name
their own beside the code that uses them.

All of them are relative. Impacts are resolved in the dimensionless contact coordinates of
`carom.contact_space.ContactSpace`, in which no normal velocity exceeds 1 during an impact, because
kinetic energy never rises.
"""

RESIDUAL = 1e-9
"""Largest componentwise relative residual with which an LCP solution is accepted.

A correct basis leaves about 1e-15; a wrong one leaves about 1. The place between is wide."""

POLISH = 1e-13
"""Residual above which a Lemke solution is computed again from its basis and the original data."""

LARGE = 1e4
"""How many times its natural size |w| a solution may have before its size is no excuse for
a residual."""

HUGE = 1e8
"""How many times the largest of -w an entry of w may count in pivoting. Solutions that are
accepted have |x| <= `LARGE` times it, or nearly so, and cannot exhaust more."""

PIVOT = 1e-11
"""Smallest tableau entry that may be a pivot: rounding leaves about 1e-15 where zero is meant."""

TIE = 1e-12
"""Ratios closer than this are tied, and the lexicographic rule decides between them."""

VANISHING = 1e-13
"""What counts as zero where 1 is the scale and some dozens of operations have rounded."""

SINGULAR = 1e-9
"""Elimination pivots below this share of the largest entry mean that a piece has no unique map."""

DEPENDENT = 1e-11
"""Share of a unit column that others leave unexplained, below which it depends on them."""

NEARLY_DEPENDENT = 1e-14
"""Shares between this and `DEPENDENT` may be rounding or not: digits do not suffice."""

MATCH = 1e-11
"""How far outside a piece's polyhedron a step may lie and still be taken with that piece.

Neighbouring pieces agree on their common face, so a slack of this size moves an outcome by no
more than this size, while a slack of zero would leave cracks between them."""

COLLIDING = 1e-10
"""Approach speeds below this share of the impact's speed count as rest."""

DISTINCT = 1e-8
"""Outcomes closer than this share of the impact's speed are one outcome.

Wider than `MATCH` times the largest condition number that is still resolved."""

STICKING = 1e-9
"""Contact speeds below this share of the impact's speed count as none in names and summaries."""

SYMMETRY = 1e-9
"""How far M may differ from its transpose, as a share of its largest entry."""
