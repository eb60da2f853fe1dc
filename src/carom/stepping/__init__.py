"""Steps of an impact: their LCPs, affine pieces and tables, and the sampler built on them."""
