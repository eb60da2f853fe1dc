"""What can be promised for a given impact: the assumptions and constants of the paper."""
