"""Steps of an impact: their LCPs, affine pieces and tables, and the samplers built on them.

A `Rule` says how samples step; `prepare_sampler` makes ready to run them (`run`) and to replay one
(`record`). Samplers hold arrays only and can be pickled.
"""
