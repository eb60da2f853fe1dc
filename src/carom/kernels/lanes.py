"""Short sums of products, several at a time, in the vector registers of the processor.

Numba leaves such sums scalar. `signs` and `add_rows` say in plain Python what they do, which is
also what runs without compilation. Compiled, they are the intrinsics below: LLVM's vector
instructions, which may fuse a product and a sum.
"""

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

LANES = 8  # how many products `signs` sums at once: as many doubles as the widest registers hold
ALL = 2**LANES - 1  # the answer of `signs` where every product is positive

_FUSED = ("contract",)


def signs(table, row, first, u, extent):
    """Return which of eight products of a table with u are positive, as bits.

    From `first` on, a row holds the first entries of eight vectors, then their second ones, and so
    on. Of `extent` only the length counts (see `carom.kernels.paths`); u may be longer.
    """
    vectors = table[row, first : first + LANES * len(extent)].reshape(len(extent), LANES)
    return int((u[: len(extent)] @ vectors > 0.0) @ (1 << np.arange(LANES)))


def add_rows(table, start, x, terms, target, lanes):
    """Add len(terms) rows of a table, each times an entry of x, to target (len(lanes),).

    From entry `start` on, counted through the whole table, rows of length len(lanes) follow each
    other; x and target may be longer.
    """
    rows = table.reshape(-1)[start : start + len(terms) * len(lanes)]
    target[: len(lanes)] += x[: len(terms)] @ rows.reshape(len(terms), len(lanes))


def use_widest():
    """Let the loops of the function that calls this use the widest vector registers there are.

    LLVM spares those of 512 bits where they slow down what comes after them, which a function pays
    off that does little else.
    """


def _are_plain(*kinds):
    """Return whether all types are contiguous arrays of doubles, which is what is read below."""
    return all(
        isinstance(kind, types.Array) and kind.layout == "C" and kind.dtype == types.float64
        for kind in kinds
    )


def _arrays(context, builder, signature, arguments):
    """Emit access to those arguments that are arrays."""
    emitted = []
    for kind, value in zip(signature.args, arguments, strict=True):
        is_array = isinstance(kind, types.Array)
        emitted.append(context.make_array(kind)(context, builder, value) if is_array else value)
    return emitted


def _length(context, builder, kind, sequence):
    """Emit the length of a tuple, which is known, or of an array."""
    if isinstance(kind, types.BaseTuple):
        return context.get_constant(types.intp, len(kind))
    return cgutils.unpack_tuple(builder, sequence.shape)[0]


def _load(builder, array, place, vector):
    """Emit the vector that starts at entry `place` of an array."""
    entry = builder.gep(array.data, [place])
    return builder.load(builder.bitcast(entry, vector.as_pointer()), align=8)


def _add_product(builder, total, row, array, place):
    """Emit: total += row * array[place]."""
    value = builder.load(builder.gep(array.data, [place]))
    nothing = ir.Constant(row.type, ir.Undefined)
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), row.type.count), None)
    first = builder.insert_element(nothing, value, ir.IntType(32)(0))
    spread = builder.shuffle_vector(first, nothing, zeros)
    product = builder.fmul(row, spread, flags=_FUSED)
    builder.store(builder.fadd(builder.load(total), product, flags=_FUSED), total)


@intrinsic
def _use_widest(typingctx):  # noqa: ARG001
    """See `use_widest`."""

    def generate(context, builder, signature, arguments):  # noqa: ARG001
        # llvmlite knows the names of LLVM's own attributes only; this one is of its targets.
        set.add(builder.function.attributes, '"prefer-vector-width"="512"')
        return context.get_dummy_value()

    return types.void(), generate


@intrinsic
def _signs(typingctx, table, row, first, u, extent):  # noqa: ARG001
    """See `signs`."""
    if not _are_plain(table, u):
        return None

    def generate(context, builder, signature, arguments):
        table, row, first, u, extent = _arrays(context, builder, signature, arguments)
        vector = ir.VectorType(ir.DoubleType(), LANES)
        zeros = ir.Constant(vector, None)
        width = cgutils.unpack_tuple(builder, table.shape)[1]
        start = builder.add(builder.mul(row, width), first)
        length = _length(context, builder, signature.args[4], extent)
        total = cgutils.alloca_once_value(builder, zeros)
        with cgutils.for_range(builder, length) as term:
            place = builder.add(start, builder.mul(term.index, length.type(LANES)))
            _add_product(builder, total, _load(builder, table, place, vector), u, term.index)
        positive = builder.fcmp_ordered(">", builder.load(total), zeros)
        bits = builder.bitcast(positive, ir.IntType(LANES))
        return builder.zext(bits, ir.IntType(64))

    return types.int64(table, types.intp, types.intp, u, extent), generate


@intrinsic
def _add_rows(typingctx, table, start, x, terms, target, lanes):  # noqa: ARG001
    """See `add_rows`. A row of known length is one vector; others are gone through one by one."""
    if not _are_plain(table, x, target):
        return None

    def generate(context, builder, signature, arguments):
        table, start, x, terms, target, lanes = _arrays(context, builder, signature, arguments)
        num_terms = _length(context, builder, signature.args[3], terms)
        num_lanes = _length(context, builder, signature.args[5], lanes)
        if isinstance(signature.args[5], types.BaseTuple):
            width, num_blocks = len(signature.args[5]), num_lanes.type(1)
        else:
            width, num_blocks = 1, num_lanes
        vector = ir.VectorType(ir.DoubleType(), width)
        with cgutils.for_range(builder, num_blocks) as block:
            old = _load(builder, target, block.index, vector)
            total = cgutils.alloca_once_value(builder, old)
            with cgutils.for_range(builder, num_terms) as term:
                offset = builder.add(start, builder.mul(term.index, num_lanes))
                place = builder.add(offset, block.index)
                _add_product(builder, total, _load(builder, table, place, vector), x, term.index)
            entry = builder.gep(target.data, [block.index])
            entry = builder.bitcast(entry, vector.as_pointer())
            builder.store(builder.load(total), entry, align=8)
        return context.get_dummy_value()

    return types.void(table, types.intp, x, terms, target, lanes), generate


if not config.DISABLE_JIT:  # type: ignore[attr-defined]
    signs, add_rows, use_widest = _signs, _add_rows, _use_widest  # type: ignore[assignment]
