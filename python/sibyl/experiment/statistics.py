"""Order statistics, the rank-sum test of Mann and Whitney, and Holm's correction.

Free of assumptions about distributions: times on a busy machine have long tails. Written here, in
a page, rather than taken from SciPy, which would be the package's largest dependency by far; the
tests hold it against published tables, and against SciPy where that is installed.
"""

import math
from collections.abc import Sequence
from functools import cache

# Exact up to this many samples on each side, where no two are equal; the normal approximation with
# corrections for ties and continuity beyond.
EXACT_UP_TO = 20


def quantile(samples: Sequence[float], q: float) -> float:
    """The q-quantile, interpolated between neighbours."""
    ordered = sorted(samples)
    place = q * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def median(samples: Sequence[float]) -> float:
    """The median."""
    return quantile(samples, 0.5)


def median_interval(samples: Sequence[float], confidence: float = 0.95) -> tuple[float, float]:
    """A confidence interval of the median from order statistics.

    The number of samples below the median follows a binomial distribution. Of fewer samples than
    the level can hold: lowest and highest.
    """
    ordered = sorted(samples)
    n = len(ordered)
    # The widest rank cut off at either end whose probability stays below half of the rest.
    tail = (1 - confidence) / 2
    below, cut = 0.0, 0
    while cut < n // 2:
        below += math.comb(n, cut) / 2**n
        if below > tail:
            break
        cut += 1
    first = max(cut - 1, 0)
    return ordered[first], ordered[n - 1 - first]


def median_level(samples: int, confidence: float = 0.95) -> float:
    """What `median_interval` holds of so many samples: less than asked for where they are few."""
    return min(confidence, 1 - 2.0 ** (1 - samples))


@cache
def _ways(n: int, m: int, u: int) -> int:
    """In how many orders of n and m samples do u pairs have the first one ahead?"""
    if u < 0:
        return 0
    if n == 0 or m == 0:
        return 1 if u == 0 else 0
    return _ways(n - 1, m, u - m) + _ways(n, m - 1, u)


def rank_sum_greater(own: Sequence[float], other: Sequence[float]) -> float:
    """One-sided rank-sum test: the p-value of "own tends to be greater than other"."""
    n, m = len(own), len(other)
    if n == 0 or m == 0:
        return 1.0
    pooled = sorted([(value, 0) for value in own] + [(value, 1) for value in other])
    rank_sum = 0.0
    ties = 0.0
    begin = 0
    while begin < n + m:
        end = begin
        while end < n + m and pooled[end][0] == pooled[begin][0]:
            end += 1
        group = end - begin
        ties += group**3 - group
        middle = (begin + 1 + end) / 2  # mean of the ranks begin+1 .. end
        rank_sum += middle * sum(1 for _, side in pooled[begin:end] if side == 0)
        begin = end
    u = rank_sum - n * (n + 1) / 2
    if ties == 0 and n <= EXACT_UP_TO and m <= EXACT_UP_TO:
        hits = sum(_ways(n, m, k) for k in range(round(u), n * m + 1))
        return hits / math.comb(n + m, n)
    total = n + m
    variance = n * m / 12 * (total + 1 - ties / (total * (total - 1)))
    if variance <= 0:
        return 1.0
    z = (u - n * m / 2 - 0.5) / math.sqrt(variance)
    return 0.5 * math.erfc(z / math.sqrt(2))


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down correction for many comparisons, in the order of the p-values."""
    adjusted = [0.0] * len(p_values)
    so_far = 0.0
    for i, place in enumerate(sorted(range(len(p_values)), key=lambda k: p_values[k])):
        so_far = max(so_far, min(1.0, (len(p_values) - i) * p_values[place]))
        adjusted[place] = so_far
    return adjusted
