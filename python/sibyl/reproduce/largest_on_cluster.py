"""What tables 3 and 4 say of 2 M floats, on measurements over the delay on a cluster.

Their largest factors, every factor of that size, and the run times that sink in gather: the claims
that the paper is known by, judged on whatever measured figures 14 and 15.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sibyl.experiment.samples import CellResult
from sibyl.reproduce.control import MARGIN
from sibyl.reproduce.evidence import Statement, found_again, shown
from sibyl.reproduce.on_cluster import TABLE_3, TABLE_4, Table
from sibyl.reproduce.outcome import Claim, published

ByDelay = Mapping[int, CellResult]
TABLES = {"scatter": TABLE_3, "gather": TABLE_4}
NUMBERS = {"scatter": 3, "gather": 4}


def printed(table: Table) -> dict[int, float]:
    """The published factors of 2 M floats, by the delay in ms."""
    return {
        int(row["max_delay_ms"]): float(row[table.column])
        for row in published(table.published)
        if row["size_kfloats"] == "2048"
    }


def factors(collective: str, results: ByDelay) -> Claim:
    """Every one, those in which the fast algorithm is behind too."""
    table = TABLES[collective]
    given = printed(table)
    return found_again(
        f"the factors of table {NUMBERS[collective]} for 2 M floats are found again",
        {f"{d} ms": (result, table.near(given[d])) for d, result in results.items()},
    )


def largest(collective: str, results: ByDelay) -> Claim:
    """The one that is quoted: where it is published largest."""
    table = TABLES[collective]
    given = printed(table)
    delay = max(results, key=lambda d: given[d])
    return found_again(
        f"{table.fast} is up to {given[delay]:.2f} times as fast as {table.slow} (2 M floats, "
        f"{delay} ms)",
        {f"{delay} ms": (results[delay], table.near(given[delay]))},
    )


def sinks(results: ByDelay, names: Sequence[str] = ("SLS", "BSLS"), why: str = "") -> Claim:
    """Whether run times sink while delays grow, by the samples of two cells.

    Args:
        results: along the delay.
        names: whose run times.
        why: what the claim goes on with where that is how the paper explains it.
    """
    cells = {}
    for name in names:
        for delay in (5, 10, 50):
            if delay in results and 0 in results:
                pair = {"late": results[delay].samples[name], "balanced": results[0].samples[name]}
                both = replace(results[delay], samples=pair)
                cells[f"{name} at {delay} ms"] = (
                    both, Statement("late", "balanced", 1 / (1 + MARGIN)),
                )  # fmt: skip
    return shown(
        f"the run time of SLS and BSLS sinks while the delay grows from 0 to 50 ms{why}",
        cells,
        "Run times with the delay over those without.",
        published="BSLS 111 to 56 ms (from table 4)",
    )
