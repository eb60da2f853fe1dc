"""One stretch of an impact, in the plane or in space; which one is known when code is compiled."""

from numba.extending import overload

from carom.kernels import slip, stretch
from carom.kernels.jit import INLINED, inlined


@inlined
def approaches(u, width, m):
    """Return whether a contact approaches, so that the impact is not over."""
    for i in range(len(m)):
        if u[i * len(width)] < 0.0:
            return True
    return False


def make_work(width, m):
    """Make the work arrays of `follow_stretch`."""
    return (stretch if len(width) == 2 else slip).make_work(len(m), len(width))


def follow_stretch(A, mu, u, total, rates, share, aims, work, log, logged, width, m):
    """Follow one stretch; see `carom.kernels.stretch` and `carom.kernels.slip`."""
    if len(width) == 2:
        return stretch.follow_stretch(A, mu, u, total, rates, share, aims, work, log, logged, m)
    # In space there is one kind of aim.
    return slip.follow_stretch(A, mu, u, total, rates, share, min(aims, 1), work, log, logged)


@overload(make_work)
def _make_work(width, m):  # noqa: ARG001
    make = (stretch if width.count == 2 else slip).make_work

    def call(width, m):
        return make(len(m), len(width))

    return call


def _follow_plane(A, mu, u, total, rates, share, aims, work, log, logged, width, m):  # noqa: ARG001
    return stretch.follow_stretch(A, mu, u, total, rates, share, aims, work, log, logged, m)


def _follow_space(A, mu, u, total, rates, share, aims, work, log, logged, width, m):  # noqa: ARG001
    # In space there is one kind of aim.
    return slip.follow_stretch(A, mu, u, total, rates, share, min(aims, 1), work, log, logged)


@overload(
    follow_stretch,
    jit_options=INLINED,  # type: ignore[arg-type]
)
def _follow(A, mu, u, total, rates, share, aims, work, log, logged, width, m):  # noqa: ARG001
    return _follow_plane if width.count == 2 else _follow_space
