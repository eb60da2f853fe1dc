"""Impact laws: arrays in, a set of post-impact velocities out."""
