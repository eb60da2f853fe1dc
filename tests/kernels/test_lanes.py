"""Sums of products in lanes: what NumPy computes, compiled or not."""

from __future__ import annotations

import importlib.util

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba.core.errors import TypingError

from carom.kernels import lanes
from carom.kernels.jit import inlined, kernel
from tests.reference.impact_problems import random_generator

ROUNDING = 1e-13
"""Of some ten products of numbers near 1, whether fused or not."""

ROWS = 5
LENGTHS = (1, 2, 4, 7)
"""Those of one and of two planar contacts are 4 and 7."""


@kernel
def signs(table, row, first, u, extent):
    return lanes.signs(table, row, first, u, extent)


@kernel
def add_rows(table, start, x, terms, target, width):
    lanes.add_rows(table, start, x, terms, target, width)


@inlined
def _handed_on(table, row, first, u, extent):
    return lanes.signs(table, row, first, u, extent)


@kernel
def signs_within(table, row, first, u, extent):
    return _handed_on(table, row, first, u, extent)


@pytest.fixture(scope="module")
def plain():
    """Load the module as it is without compilation."""
    spec = importlib.util.spec_from_file_location("plain_lanes", lanes.__file__)
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numba.config, "DISABLE_JIT", 1)
        spec.loader.exec_module(module)
    return module


def sequences(length):
    """Return the two kinds of sequences whose length counts."""
    return (0,) * length, np.zeros(length, np.int8)


def bits(positive):
    return sum(1 << lane for lane in range(lanes.LANES) if positive[lane])


def test_the_module_has_both_kinds(plain):
    """Otherwise the tests below would compare a function with itself."""
    assert plain.signs is not plain._signs
    assert plain.add_rows is not plain._add_rows
    if not numba.config.DISABLE_JIT:
        assert lanes.signs is lanes._signs
        assert lanes.add_rows is lanes._add_rows


@settings(max_examples=200)
@given(random_generator(), st.sampled_from(LENGTHS), st.integers(0, ROWS - 1), st.integers(0, 9))
def test_signs_are_those_of_eight_products(plain, rng, length, row, first):
    """In small integers, where no product is rounded and many are exactly zero."""
    table = rng.integers(-3, 4, (ROWS, first + lanes.LANES * length + 2)).astype(float)
    u = rng.integers(-3, 4, length + 2).astype(float)
    vectors = table[row, first : first + lanes.LANES * length].reshape(length, lanes.LANES)
    expected = bits([vectors[:, lane] @ u[:length] > 0.0 for lane in range(lanes.LANES)])
    for extent in sequences(length):
        assert signs(table, row, first, u, extent) == expected
        assert signs_within(table, row, first, u, extent) == expected
        assert plain.signs(table, row, first, u, extent) == expected


@pytest.mark.parametrize("length", LENGTHS)
def test_signs_of_any_numbers(plain, length):
    rng = np.random.default_rng([1, length])
    for _ in range(200):
        table = rng.normal(size=(1, lanes.LANES * length))
        u = rng.normal(size=length)
        products = u @ table.reshape(length, lanes.LANES)
        # Of these 200, none is so close to zero that fusing could change its sign.
        assert np.abs(products).min() > ROUNDING
        for extent in sequences(length):
            assert signs(table, 0, 0, u, extent) == bits(products > 0.0)
            assert plain.signs(table, 0, 0, u, extent) == bits(products > 0.0)


@pytest.mark.parametrize("value", [np.nan, -np.inf, -0.0, 0.0, -5e-324])
def test_only_what_is_positive_counts(plain, value):
    table = np.ones((1, lanes.LANES))
    table[0, 3] = value
    for extent in sequences(1):
        for function in (signs, plain.signs):
            assert function(table, 0, 0, np.ones(1), extent) == lanes.ALL - 8
            assert function(np.ones((1, lanes.LANES)), 0, 0, np.ones(1), extent) == lanes.ALL


@settings(max_examples=200)
@given(
    random_generator(), st.sampled_from(LENGTHS), st.sampled_from(LENGTHS), st.integers(0, ROWS - 1)
)
def test_rows_are_added(plain, rng, num_terms, width, row):
    """Rows may start anywhere in a table; what lies beyond the target's first entries stays."""
    length = num_terms * width + int(rng.integers(0, 4))
    table = rng.normal(size=(ROWS, length))
    x, target = rng.normal(size=num_terms + 1), rng.normal(size=width + 2)
    start = (row + 1) * length - num_terms * width
    rows = table.ravel()[start:][: num_terms * width].reshape(num_terms, width)
    expected = target.copy()
    expected[:width] += x[:num_terms] @ rows
    for terms in sequences(num_terms):
        for extent in sequences(width):
            for function in (add_rows, plain.add_rows):
                result = target.copy()
                function(table, start, x, terms, result, extent)
                np.testing.assert_allclose(result, expected, rtol=0.0, atol=ROUNDING)
                np.testing.assert_array_equal(result[width:], target[width:])


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="plain Python reads any array")
def test_arrays_that_are_not_contiguous_are_refused():
    """Their entries do not lie where a vector is read."""
    table, u = np.ones((2, 4 * lanes.LANES)), np.ones(4)
    with pytest.raises(TypingError):
        signs(table[:, ::2], 0, 0, u, (0,) * 2)
    with pytest.raises(TypingError):
        signs(table.astype(np.float32), 0, 0, u, (0,) * 2)
    with pytest.raises(TypingError):
        add_rows(table, 0, u[::2], (0,) * 2, u, (0,) * 2)
