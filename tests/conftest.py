"""Settings of the whole test suite.

HYPOTHESIS_PROFILE=explore looks for new counterexamples; the default tries the same ones always.
"""

import os

from hypothesis import settings

# Figures are drawn without a screen.
os.environ.setdefault("MPLBACKEND", "Agg")

# No deadline: the first example of a test may compile kernels.
settings.register_profile("ci", derandomize=True, deadline=None, print_blob=True)
settings.register_profile("explore", max_examples=2000, deadline=None, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
