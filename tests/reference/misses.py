"""How much a set of points misses, where the truth is known."""

import numpy as np

REPETITIONS = 200


def most_failures(delta):
    """Return how many of the repetitions may fail, at three sigma."""
    return REPETITIONS * delta + 3 * np.sqrt(REPETITIONS * delta * (1 - delta))


def uncovered(samples, epsilon, cdf):
    """Return the probability of what is more than epsilon from all samples, on a line."""
    samples = np.sort(samples)
    left = np.concatenate([[-np.inf], samples + epsilon])
    right = np.concatenate([samples - epsilon, [np.inf]])
    return float(np.maximum(cdf(right) - cdf(left), 0.0).sum())


def segment(rng, n):
    """Draw points from the density 2 x on [0, 1]."""
    return np.sqrt(rng.uniform(size=n))[:, None]


def segment_truth(points, epsilon):
    return uncovered(points[:, 0], epsilon, lambda x: np.clip(x, 0.0, 1.0) ** 2)


class RockingMisses:
    """Count which of many outcomes of the rocking block samples miss, without a tree.

    The block pivots about A or about B, or rests: contact velocities lie on two rays from the
    origin. A sample covers an interval of each.
    """

    def __init__(self, problem, draws):
        self.J = problem.J
        v_c = draws @ self.J.T
        lifts = problem.contact_velocity(draws)[..., 0] > 1e-9
        assert not lifts.all(axis=1).any()
        self.rays = []
        for side in (lifts[:, 0], ~lifts[:, 0]):
            along = v_c[side].sum(axis=0) / np.linalg.norm(v_c[side].sum(axis=0))
            places = v_c[side] @ along
            assert np.abs(v_c[side] - places[:, None] * along).max() < 1e-9
            self.rays.append((along, np.sort(places)))
        self.count = len(draws)

    def probability(self, samples, epsilon):
        v_c = samples @ self.J.T
        covered = 0
        for along, places in self.rays:
            foot = v_c @ along
            half = epsilon**2 - np.maximum((v_c**2).sum(axis=1) - foot**2, 0.0)
            foot, half = foot[half >= 0.0], np.sqrt(half[half >= 0.0])
            order = np.argsort(foot - half)
            low, high = (foot - half)[order], np.maximum.accumulate((foot + half)[order])
            # What the intervals before reach is counted already.
            low = np.maximum(low, np.concatenate([[-np.inf], high[:-1]]))
            first = np.searchsorted(places, low, side="left")
            first[1:] = np.maximum(first[1:], np.searchsorted(places, high[:-1], side="right"))
            covered += (np.searchsorted(places, high, side="right") - first).clip(0).sum()
        return 1.0 - covered / self.count
