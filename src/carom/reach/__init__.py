"""Exact reachability of the impact inclusion, in rational arithmetic."""
