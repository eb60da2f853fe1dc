"""Linear algebra without rounding: equations hold exactly or they do not."""

from itertools import combinations
from math import gcd

import gmpy2
import pytest
from gmpy2 import mpq
from hypothesis import assume, given
from hypothesis import strategies as st

from carom.reach.rational import (
    add_scaled,
    dot,
    integers,
    null_space,
    round_to,
    solve,
    times,
    transpose,
)

fractions = st.builds(mpq, st.integers(-20, 20), st.integers(1, 12))


def matrices(rows, columns):
    row = st.lists(fractions, min_size=columns, max_size=columns)
    return st.lists(row, min_size=rows, max_size=rows)


sizes = st.integers(1, 5)
shapes = st.tuples(sizes, sizes)


def product(a, b):
    columns = list(zip(*b, strict=True))
    return [[sum(p * q for p, q in zip(row, c, strict=True)) for c in columns] for row in a]


def determinant(a):
    """Return the determinant by Laplace's expansion, which divides nothing."""
    if not a:
        return mpq(1)
    return sum(
        (-1) ** j * a[0][j] * determinant([row[:j] + row[j + 1 :] for row in a[1:]])
        for j in range(len(a))
    )


def rank(a):
    """Return the largest size of a minor that is not zero."""
    for size in range(min(len(a), len(a[0])), 0, -1):
        for rows in combinations(range(len(a)), size):
            for columns in combinations(range(len(a[0])), size):
                if determinant([[a[i][j] for j in columns] for i in rows]):
                    return size
    return 0


@given(data=st.data(), n=st.integers(1, 4), k=st.integers(1, 3))
def test_solutions_solve(data, n, k):
    a, b = data.draw(matrices(n, n)), data.draw(matrices(n, k))
    assume(determinant(a) != 0)
    assert product(a, solve(a, b)) == b


def test_solve_swaps_rows_where_a_pivot_is_zero():
    a = [[mpq(0), mpq(2)], [mpq(3), mpq(0)]]
    assert solve(a, [[mpq(4)], [mpq(9)]]) == [[3], [2]]


def test_solve_does_not_change_its_input():
    a = [[mpq(2), mpq(1)], [mpq(1), mpq(3)]]
    b = [[mpq(1)], [mpq(2)]]
    solve(a, b)
    assert a == [[2, 1], [1, 3]]
    assert b == [[1], [2]]


@given(data=st.data(), shape=st.tuples(st.integers(1, 4), st.integers(1, 4)))
def test_null_space_is_all_that_vanishes(data, shape):
    rows, width = shape
    matrix = data.draw(matrices(rows, width))
    if data.draw(st.booleans()):
        # Dependent rows are the rule in contact Jacobians.
        factors = data.draw(matrices(rows, rows))
        matrix = [*matrix, *product(factors, matrix)][:4]
    basis = null_space(matrix, width)
    assert all(not any(times(matrix, x)) for x in basis)
    assert len(basis) == width - rank(matrix)
    assert not basis or rank(basis) == len(basis)


def test_null_space_of_nothing_is_everything():
    assert null_space([], 2) == [[1, 0], [0, 1]]


@given(data=st.data(), shape=shapes)
def test_products(data, shape):
    rows, width = shape
    matrix = data.draw(matrices(rows, width))
    x, y = (data.draw(st.lists(fractions, min_size=width, max_size=width)) for _ in range(2))
    factor = data.draw(fractions)
    assert times(matrix, x) == [row[0] for row in product(matrix, [[t] for t in x])]
    assert dot(x, y) == sum(p * q for p, q in zip(x, y, strict=True))
    assert transpose(transpose(matrix)) == matrix
    assert transpose(matrix)[0] == [row[0] for row in matrix]
    assert dot(add_scaled(x, factor, y), y) == dot(x, y) + factor * dot(y, y)


def test_products_of_unequal_lengths_are_refused():
    with pytest.raises(ValueError, match="zip"):
        dot([mpq(1)], [mpq(1), mpq(2)])


@given(row=st.lists(fractions, min_size=1, max_size=6))
def test_integers_are_a_positive_multiple_without_common_divisor(row):
    assume(any(row))
    numbers = integers(row)
    assert all(isinstance(x, gmpy2.mpz) for x in numbers)
    assert gcd(*map(int, numbers)) == 1
    k = next(i for i, x in enumerate(row) if x)
    factor = mpq(numbers[k]) / row[k]
    assert factor > 0
    assert [factor * x for x in row] == numbers


def test_integers_of_zeros_are_zeros():
    assert integers([mpq(0), mpq(0)]) == [0, 0]


@given(
    x=st.floats(-1e6, 1e6),
    # Not a power of ten, of which the next float may be larger or smaller.
    leading=st.floats(1.001, 9.999),
    exponent=st.integers(-14, 3),
)
def test_rounding_is_to_the_nearest_multiple_of_a_power_of_ten(x, leading, exponent):
    """The power is the greatest that is at most the step."""
    unit = mpq(10) ** exponent
    rounded = round_to(x, leading * 10.0**exponent)
    assert (rounded / unit).denominator == 1
    assert abs(rounded - mpq(x)) <= unit / 2
