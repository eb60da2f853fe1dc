"""What a law returns: a set of post-impact velocities that answers the same few questions."""
