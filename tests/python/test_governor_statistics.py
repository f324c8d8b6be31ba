"""The governor's rank-sum test (src/governor/rank_sum.cpp) against SciPy's."""

import random
import shutil
import subprocess
from collections.abc import Callable

import numpy
import pytest
from conftest import PROGRAMS, ROOT
from scipy import stats

DECIDED_AT = 2.3  # standard deviations

Pair = tuple[list[float], list[float]]
Judge = Callable[[list[Pair]], list[str]]


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Judge:
    """What the governor says of each pair of samples; its medians are looked at on the way."""
    compiler = shutil.which("c++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    program = tmp_path_factory.mktemp("governor") / "rank-sums"
    sources = (PROGRAMS / "rank_sums.cpp", ROOT / "src" / "governor" / "rank_sum.cpp")
    words = [compiler, "-std=c++20", f"-I{ROOT / 'src'}", *sources, "-o", program]
    subprocess.run(words, check=True)

    def run(pairs: list[Pair]) -> list[str]:
        lines = [" ".join(map(repr, side)) for pair in pairs for side in pair]
        done = subprocess.run(
            [program], input="\n".join(lines) + "\n", capture_output=True, text=True, check=True
        )
        found = [line.split() for line in done.stdout.splitlines()]
        assert len(found) == len(pairs)
        for (own, _), (_, median) in zip(pairs, found, strict=True):
            assert float(median) == pytest.approx(numpy.median(own), rel=1e-4)
        return [verdict for verdict, _ in found]

    return run


def drawn(seed: int, n: int, m: int, shift: float) -> Pair:
    draw = random.Random(seed)
    own = [draw.lognormvariate(0, 0.5) + shift for _ in range(n)]
    return own, [draw.lognormvariate(0, 0.5) for _ in range(m)]


def verdict_of_scipy(own: list[float], other: list[float]) -> str:
    """By the normal approximation without its correction for continuity."""
    limit = stats.norm.sf(DECIDED_AT)
    for alternative, name in (("greater", "above"), ("less", "below")):
        found = stats.mannwhitneyu(
            own, other, alternative=alternative, method="asymptotic", use_continuity=False
        )
        if found.pvalue <= limit:
            return name
    return "undecided"


def test_verdicts_are_those_of_scipy_where_no_two_costs_are_equal(judge: Judge) -> None:
    sizes = ((4, 4), (8, 8), (16, 16), (24, 24), (5, 11), (24, 9))
    shifts = (-0.8, -0.3, 0.0, 0.3, 0.8)
    pairs = [drawn(seed, n, m, shift) for n, m in sizes for shift in shifts for seed in range(12)]
    expected = [verdict_of_scipy(*pair) for pair in pairs]
    assert judge(pairs) == expected
    assert {*expected} == {"above", "below", "undecided"}


def test_equal_costs_never_make_a_verdict_that_scipy_does_not_give(judge: Judge) -> None:
    pairs = [
        ([round(value, 1) for value in own], [round(value, 1) for value in other])
        for own, other in (drawn(seed, 12, 12, 0.05 * (seed % 13)) for seed in range(130))
    ]
    found = judge(pairs)
    for pair, verdict in zip(pairs, found, strict=True):
        assert verdict in ("undecided", verdict_of_scipy(*pair))
    assert found.count("above") > 10


@pytest.mark.parametrize("count", [4, 8, 16, 24])
def test_chance_decides_as_rarely_as_the_comment_says(judge: Judge, count: int) -> None:
    """Samples of every rank sum, one by one: which is the first that is decided?"""
    other = [float(2 * place) for place in range(count)]
    pairs = []
    for larger in range(count * count + 1):  # so many of all pairs have the larger cost in `own`
        whole, part = divmod(larger, count)
        own = [2.0 * count + place / 1000 for place in range(whole)]
        own += [2.0 * part - 1] if whole < count else []
        own += [-1 - place / 1000 for place in range(count - len(own))]
        pairs.append((own, other))
    first = judge(pairs).index("above")
    found = stats.mannwhitneyu(*pairs[first], alternative="greater", method="exact")
    assert found.statistic == first
    assert found.pvalue == pytest.approx(1 / 70) if count == 4 else 1 / 110 < found.pvalue < 1 / 80
