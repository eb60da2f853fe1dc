"""Draw random numbers by counter: a pure function of (seed, sample, draw).

Sample i of a seed is the same bits on one thread, on two, or on a cluster, because nothing is
carried from one draw to the next. The mixing function is SplitMix64's [SteeleLeaFlood2014].
"""

import numpy as np

from carom.kernels.jit import inlined

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_ONE = np.uint64(1)
_UNIT = 2.0**-53
_LOW = np.uint64(0xFFFFFFFF)
_HALF_UNIT = 2.0**-32


@inlined
def _mix(z):
    z = (z ^ (z >> np.uint64(30))) * _FIRST
    z = (z ^ (z >> np.uint64(27))) * _SECOND
    return z ^ (z >> np.uint64(31))


@inlined
def stream(seed, sample):
    """Return the key of one sample's draws; `seed` and `sample` are not negative."""
    key = _mix((np.uint64(seed) + _ONE) * _GOLDEN)
    return _mix(key + (np.uint64(sample) + _ONE) * _GOLDEN)


@inlined
def uniform(key, draw):
    """Return draw number `draw` of a stream, uniform on [0, 1)."""
    z = _mix(key + (np.uint64(draw) + _ONE) * _GOLDEN)
    return np.float64(z >> np.uint64(11)) * _UNIT


@inlined
def bits(key, draw):
    """Return draw number `draw` of a stream as 64 bits."""
    return _mix(key + (np.uint64(draw) + _ONE) * _GOLDEN)


@inlined
def halves(z):
    """Return two numbers on [0, 1), of 32 bits each."""
    return np.int64(z >> np.uint64(32)) * _HALF_UNIT, np.int64(z & _LOW) * _HALF_UNIT


@inlined
def two_uniforms(key, draw):
    """Return two numbers on [0, 1), of 32 bits each, from draw number `draw` of a stream."""
    return halves(bits(key, draw))
