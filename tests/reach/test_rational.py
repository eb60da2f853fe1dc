"""Linear algebra without rounding: equations hold exactly or they do not."""

from fractions import Fraction
from itertools import combinations
from math import gcd

import gmpy2
import numpy as np
from gmpy2 import mpq
from hypothesis import assume, given
from hypothesis import strategies as st

from carom.reach.rational import exactly, identity, integers, null_space, round_to, rounded, solve

fractions = st.builds(mpq, st.integers(-20, 20), st.integers(1, 12))


def matrices(rows, columns):
    row = st.lists(fractions, min_size=columns, max_size=columns)
    return st.lists(row, min_size=rows, max_size=rows).map(np.array)


def determinant(a):
    """Return the determinant by Laplace's expansion, which divides nothing."""
    if not len(a):
        return mpq(1)
    minors = (determinant(np.delete(a[1:], j, axis=1)) for j in range(len(a)))
    return sum((-1) ** j * a[0, j] * minor for j, minor in enumerate(minors))


def rank(a):
    """Return the largest size of a minor that is not zero."""
    for size in range(min(a.shape), 0, -1):
        for rows in combinations(range(len(a)), size):
            for columns in combinations(range(a.shape[1]), size):
                if determinant(a[np.ix_(rows, columns)]):
                    return size
    return 0


@given(data=st.data(), n=st.integers(1, 4), k=st.integers(1, 3))
def test_solutions_solve(data, n, k):
    a, b = data.draw(matrices(n, n)), data.draw(matrices(n, k))
    assume(determinant(a) != 0)
    assert (a @ solve(a, b) == b).all()


def test_solve_swaps_rows_where_a_pivot_is_zero():
    a = exactly([[0, 2], [3, 0]])
    assert solve(a, exactly([[4], [9]])).tolist() == [[3], [2]]


def test_input_is_not_changed():
    a, b = exactly([[2, 1], [1, 3]]), exactly([[1], [2]])
    solve(a, b)
    null_space(a)
    assert a.tolist() == [[2, 1], [1, 3]]
    assert b.tolist() == [[1], [2]]


@given(data=st.data(), shape=st.tuples(st.integers(1, 4), st.integers(1, 4)))
def test_null_space_is_all_that_vanishes(data, shape):
    rows, width = shape
    matrix = data.draw(matrices(rows, width))
    if data.draw(st.booleans()):
        # Dependent rows are the rule in contact Jacobians.
        factors = data.draw(matrices(rows, rows))
        matrix = np.vstack([matrix, factors @ matrix])[:4]
    basis = null_space(matrix)
    assert not (matrix @ basis.T).any()
    assert len(basis) == width - rank(matrix)
    assert not len(basis) or rank(basis) == len(basis)


def test_null_space_of_nothing_is_everything():
    assert null_space(np.empty((0, 2), object)).tolist() == [[1, 0], [0, 1]]


@given(values=st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=6))
def test_floats_are_taken_as_they_are(values):
    assert [float(x) for x in exactly(values)] == values
    assert all(x == Fraction(value) for x, value in zip(exactly(values), values, strict=True))


def test_arrays_are_rounded_number_by_number():
    assert rounded([[0.123, 4.56]], [[0.1, 0.01]]).tolist() == [[mpq(1, 10), mpq(114, 25)]]
    assert (identity(2) == [[1, 0], [0, 1]]).all()


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
    found = round_to(x, leading * 10.0**exponent)
    assert (found / unit).denominator == 1
    assert abs(found - mpq(x)) <= unit / 2
