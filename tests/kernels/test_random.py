"""Random numbers by counter: the right bits, evenly spread, in streams that differ."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from carom.kernels import random
from carom.kernels.jit import kernel

SIGMAS = 5.0
"""Statistics are fixed by the seeds, so a test that passes once passes always; five standard
deviations leave room for any honest generator and none for a broken one."""

COUNT = 20_000


@kernel
def draws_of(seed, sample, count):
    key = random.stream(seed, sample)
    numbers = np.empty(count)
    for i in range(count):
        numbers[i] = random.uniform(key, i)
    return numbers


@kernel
def pairs_of(seed, sample, count):
    key = random.stream(seed, sample)
    numbers = np.empty((count, 2))
    for i in range(count):
        numbers[i] = random.two_uniforms(key, i)
    return numbers


@kernel
def mixed(seed, count):
    """Return SplitMix64's sequence: its state after i + 1 steps is seed + (i + 1) golden."""
    numbers = np.empty(count, np.uint64)
    for i in range(count):
        numbers[i] = random._mix(np.uint64(seed) + np.uint64(i + 1) * random._GOLDEN)
    return numbers


def test_the_mixing_function_is_splitmix64():
    """Published sequence of SplitMix64 for the seed 1234567 [SteeleLeaFlood2014]."""
    expected = [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]
    assert mixed(1234567, 5).tolist() == expected


def splitmix64(z: int) -> int:
    """Mix once, in Python's integers."""
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
    return z ^ (z >> 31)


@pytest.mark.parametrize(("seed", "sample"), [(0, 0), (1, 0), (0, 1), (2**53 - 1, 2**40)])
def test_a_draw_is_a_function_of_seed_sample_and_number(seed, sample):
    golden = 0x9E3779B97F4A7C15
    key = splitmix64((seed + 1) * golden % 2**64)
    key = splitmix64((key + (sample + 1) * golden) % 2**64)
    expected = [(splitmix64((key + (i + 1) * golden) % 2**64) >> 11) * 2.0**-53 for i in range(9)]
    assert draws_of(seed, sample, 9).tolist() == expected


@pytest.mark.parametrize(("seed", "sample"), [(0, 0), (2**53 - 1, 2**40)])
def test_two_numbers_are_the_halves_of_one_draw(seed, sample):
    golden = 0x9E3779B97F4A7C15
    key = splitmix64((seed + 1) * golden % 2**64)
    key = splitmix64((key + (sample + 1) * golden) % 2**64)
    whole = [splitmix64((key + (i + 1) * golden) % 2**64) for i in range(9)]
    expected = [[(z >> 32) * 2.0**-32, z % 2**32 * 2.0**-32] for z in whole]
    assert pairs_of(seed, sample, 9).tolist() == expected


def assert_uniform(numbers: NDArray[np.float64]) -> None:
    """Compare moments and a histogram with those of the uniform distribution on [0, 1)."""
    n = len(numbers)
    assert numbers.min() >= 0.0
    assert numbers.max() < 1.0
    for power in (1, 2, 3, 4):
        mean = 1.0 / (power + 1)
        spread = np.sqrt((1.0 / (2 * power + 1) - mean**2) / n)
        assert abs((numbers**power).mean() - mean) <= SIGMAS * spread
    bins = 64
    observed, _ = np.histogram(numbers, bins, (0.0, 1.0))
    chi_square = ((observed - n / bins) ** 2 / (n / bins)).sum()
    assert abs(chi_square - (bins - 1)) <= SIGMAS * np.sqrt(2.0 * (bins - 1))


@pytest.mark.parametrize("seed", [0, 1, 2**53 - 1])
def test_the_draws_of_a_stream_are_uniform(seed):
    assert_uniform(draws_of(seed, 0, COUNT))


@pytest.mark.parametrize("draw", [0, 1, 7])
def test_the_same_draw_of_many_streams_is_uniform(draw):
    """Samples are numbered 0, 1, 2, ...: neighbours must not be alike."""
    assert_uniform(np.array([draws_of(3, sample, draw + 1)[draw] for sample in range(COUNT)]))


def test_the_same_draw_of_many_seeds_is_uniform():
    assert_uniform(np.array([draws_of(seed, 0, 1)[0] for seed in range(COUNT)]))


def test_different_streams_differ_and_are_not_correlated():
    streams = [draws_of(seed, sample, COUNT) for seed in range(3) for sample in range(3)]
    for i, a in enumerate(streams):
        for b in streams[:i]:
            assert not (a == b).any()
            assert abs(np.corrcoef(a, b)[0, 1]) <= SIGMAS / np.sqrt(COUNT)
        # Nor is a stream correlated with itself, shifted.
        for shift in (1, 2, 5):
            assert abs(np.corrcoef(a[shift:], a[:-shift])[0, 1]) <= SIGMAS / np.sqrt(COUNT - shift)


@pytest.mark.parametrize("seed", [0, 1, 2**53 - 1])
@pytest.mark.parametrize("half", [0, 1])
def test_both_halves_of_a_draw_are_uniform(seed, half):
    assert_uniform(pairs_of(seed, 0, COUNT)[:, half])
    assert_uniform(np.array([pairs_of(seed, sample, 1)[0, half] for sample in range(COUNT)]))


@pytest.mark.parametrize("seed", [0, 1, 2**53 - 1])
def test_the_halves_of_a_draw_do_not_depend_on_each_other(seed):
    first, second = pairs_of(seed, 0, COUNT).T
    assert not (first == second).any()
    assert abs(np.corrcoef(first, second)[0, 1]) <= SIGMAS / np.sqrt(COUNT)
    # Nor one on the other of the draw before.
    assert abs(np.corrcoef(first[1:], second[:-1])[0, 1]) <= SIGMAS / np.sqrt(COUNT - 1)
    # Together they fill the square evenly.
    bins = 16
    observed, _, _ = np.histogram2d(first, second, bins, ((0.0, 1.0), (0.0, 1.0)))
    expected = COUNT / bins**2
    chi_square = ((observed - expected) ** 2 / expected).sum()
    assert abs(chi_square - (bins**2 - 1)) <= SIGMAS * np.sqrt(2.0 * (bins**2 - 1))


def test_a_stream_repeats():
    np.testing.assert_array_equal(draws_of(11, 12, 50), draws_of(11, 12, 50))
    np.testing.assert_array_equal(draws_of(11, 12, 50)[:20], draws_of(11, 12, 20))
