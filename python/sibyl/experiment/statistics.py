"""Order statistics, the sign test, Mann and Whitney's and Wilcoxon's rank tests, Holm's correction.

Free of assumptions about distributions: times on a busy machine have long tails. Tests are written
here, in a page, rather than taken from SciPy, which would be the package's largest dependency by
far; the tests hold them against SciPy and published tables.
"""

import math
from collections.abc import Sequence
from functools import cache
from statistics import NormalDist

import numpy

# Exact up to this many samples on each side; the normal approximation with corrections for ties and
# continuity beyond.
EXACT_UP_TO = 20


def quartiles(samples: Sequence[float]) -> tuple[float, float]:
    """The first and the third, interpolated between neighbours."""
    first, third = numpy.quantile(samples, (0.25, 0.75)).tolist()
    return first, third


def median(samples: Sequence[float]) -> float:
    """The median."""
    return float(numpy.median(samples))


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
    ways, all_ways = 1, 2**n  # to choose `cut` of them, each from the one before
    while cut < n // 2:
        below += ways / all_ways
        if below > tail:
            break
        ways = ways * (n - cut) // (cut + 1)
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
    _, place, groups = numpy.unique(
        numpy.concatenate((own, other)), return_inverse=True, return_counts=True
    )
    # Of equal values each has the mean of their ranks.
    middle = groups.cumsum() - (groups - 1) / 2
    u = float(middle[place[:n]].sum()) - n * (n + 1) / 2
    ties = float((groups.astype(float) ** 3 - groups).sum())
    if n <= EXACT_UP_TO and m <= EXACT_UP_TO:
        if ties == 0:
            hits = sum(_ways(n, m, k) for k in range(round(u), n * m + 1))
        else:  # means of ranks may be halves
            doubled = numpy.rint(2 * middle[place]).astype(int)
            hits = _choices_from(doubled, n, int(doubled[:n].sum()))
        return hits / math.comb(n + m, n)
    total = n + m
    variance = n * m / 12 * (total + 1 - ties / (total * (total - 1)))
    if variance <= 0:
        return 1.0
    z = (u - n * m / 2 - 0.5) / math.sqrt(variance)
    return 0.5 * math.erfc(z / math.sqrt(2))


def _choices_from(ranks: Sequence[int], n: int, least: int) -> int:
    """In how many choices of n of these ranks is their sum at least so much?"""
    ways = numpy.zeros((n + 1, int(sum(ranks)) + 1), dtype=numpy.int64)
    ways[0, 0] = 1
    for rank in ranks:
        ways[1:, rank:] += ways[:-1, :-rank].copy()
    return int(ways[n, least:].sum())


def sign_below(samples: Sequence[float], bound: float) -> float:
    """One-sided sign test: the p-value of "the median is below `bound`"; equal ones count not."""
    below = sum(sample < bound for sample in samples)
    there = sum(sample != bound for sample in samples)
    return sum(math.comb(there, k) for k in range(below, there + 1)) / 2**there


def ratio_interval(
    own: Sequence[float], other: Sequence[float], confidence: float = 0.95
) -> tuple[float, float]:
    """How many times as long as `other` is `own`: the factors that the rank-sum test leaves open.

    An end is a quotient of two samples: so many of all quotients are cut off at either end as the
    test's distribution holds beyond half of what `confidence` leaves.

    Args:
        own: positive.
        other: positive.
        confidence: of both ends together.
    """
    quotients = numpy.sort(numpy.divide.outer(numpy.asarray(own), numpy.asarray(other)).ravel())
    n, m = len(own), len(other)
    tail = (1 - confidence) / 2
    if n <= EXACT_UP_TO and m <= EXACT_UP_TO:
        cut, below = 0, 0
        while (below := below + _ways(n, m, cut)) <= tail * math.comb(n + m, n):
            cut += 1
    else:
        spread = math.sqrt(n * m * (n + m + 1) / 12)
        cut = math.floor(n * m / 2 - 0.5 + NormalDist().inv_cdf(tail) * spread) + 1
    cut = min(max(cut - 1, 0), (n * m - 1) // 2)
    return float(quotients[cut]), float(quotients[n * m - 1 - cut])


def _signed_ways(ranks: Sequence[int], most: int) -> int:
    """In how many choices of some of these ranks is their sum at most so much?"""
    ways = [1] + [0] * most
    for rank in ranks:
        for total in range(most, rank - 1, -1):
            ways[total] += ways[total - rank]
    return sum(ways)


def signed_rank_greater(differences: Sequence[float]) -> float:
    """One-sided signed-rank test: the p-value of "pairs differ upwards".

    Pairs that do not differ count against it, as in paired_ratio().
    """
    there = numpy.asarray(differences, dtype=float)
    n = len(there)
    if n == 0:
        return 1.0
    _, place, groups = numpy.unique(numpy.abs(there), return_inverse=True, return_counts=True)
    # Of equal values each has the mean of their ranks.
    ranks = (groups.cumsum() - (groups - 1) / 2)[place]
    below = float(ranks[there <= 0].sum())
    if n <= EXACT_UP_TO:  # means of ranks may be halves
        return _signed_ways([round(2 * rank) for rank in ranks], round(2 * below)) / 2**n
    ties = float((groups.astype(float) ** 3 - groups).sum())
    variance = n * (n + 1) * (2 * n + 1) / 24 - ties / 48
    z = (n * (n + 1) / 4 - below - 0.5) / math.sqrt(variance)
    return 0.5 * math.erfc(z / math.sqrt(2))


def paired_ratio(
    own: Sequence[float], other: Sequence[float], confidence: float = 0.95
) -> tuple[float, float, float]:
    """How many times as long as `other` is `own`, pair by pair: the middle, and an interval.

    The middle of the geometric means of any two quotients, and the factors that the signed-rank
    test leaves open; of fewer than six pairs the least and the greatest, which hold less.

    Args:
        own: positive, one at least.
        other: positive; each was measured together with the one of `own` in the same place.
        confidence: of both ends together.
    """
    logs = numpy.log(numpy.asarray(own) / numpy.asarray(other))
    n = len(logs)
    first, second = numpy.triu_indices(n)
    means = numpy.sort((logs[first] + logs[second]) / 2)
    tail = (1 - confidence) / 2
    if n <= EXACT_UP_TO:
        cut = 0
        while _signed_ways(range(1, n + 1), cut) <= tail * 2**n:
            cut += 1
    else:
        spread = math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
        cut = math.floor(n * (n + 1) / 4 - 0.5 + NormalDist().inv_cdf(tail) * spread) + 1
    cut = min(max(cut - 1, 0), (len(means) - 1) // 2)
    low, high = means[cut], means[len(means) - 1 - cut]
    middle, low, high = (math.exp(each) for each in (numpy.median(means), low, high))
    return middle, low, high


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down correction for many comparisons, in the order of the p-values."""
    found = numpy.asarray(p_values, dtype=float)
    order = found.argsort(kind="stable")
    steps = found[order] * numpy.arange(len(found), 0, -1)
    adjusted = numpy.empty_like(found)
    adjusted[order] = numpy.minimum(numpy.maximum.accumulate(steps), 1.0)
    return adjusted.tolist()
