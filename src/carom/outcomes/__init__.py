"""Sets of post-impact velocities, which laws return."""
