"""Robots of physics engines as systems of carom: one file for each engine.

Each file needs its engine, which comes with an extra: `carom[mujoco]`, `carom[pinocchio]` or
`carom[drake]`. Nothing here imports an engine before that file is asked for.
"""
