"""Extremes of an impact from both sides: motions that reach them, proofs that nothing exceeds them.

The entry is `worst_case.worst_case`.
"""
