"""Published numbers that the simulator finds again, cell by cell, and those that it does not."""

import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sibyl.experiment.plots import plot_library
from sibyl.reproduce import collisions, exscan, exscan_measured, fft, gatherv, knowing
from sibyl.reproduce.gatherv_claims import (
    BLOCKS,
    PRINTED,
    PROBLEMS,
    CellTimes,
    claims_1_to_3,
    claims_5,
    factor,
    violations,
)
from sibyl.reproduce.outcome import Claim, near, published
from sibyl.reproduce.rack import DELAYS_MS, NETWORK, mean_run_times, mean_times
from sibyl.reproduce.scatter_gather import FIGURE_14, GATHER, NEAR, SCATTER
from sibyl.reproduce.scatter_gather_tables import NEAR_FACTOR, printed_times, wire_ms
from sibyl.simulator.model import Network

# Patterns; fewer than an item has, since their mean scatters by less than a hundredth.
PATTERNS = 8
# What the model has not: noise of balanced, small calls (0.85 and 1.20 times), and of table 4
# whatever makes LS and BSLS take 100 ms and more for 33 and 66 ms of wire.
OFF_TABLE_3 = {(128, 1), (256, 0)}
OFF_TABLE_4 = {
    (128, 10),
    (256, 0),
    (512, 5),
    (512, 50),
    (1024, 0),
    (1024, 5),
    (1024, 10),
    (1024, 50),
    (1024, 100),
    (2048, 0),
    (2048, 1),
    (2048, 5),
    (2048, 10),
    (2048, 50),
    (2048, 100),
}


def off(table: str, collective: str, slow: str, fast: str, column: str) -> set[tuple[int, int]]:
    cells = set()
    for row in published(table):
        key = int(row["size_kfloats"]), int(row["max_delay_ms"])
        times = mean_run_times(collective, f"{slow},{fast}", 48, *key, PATTERNS)
        if not near(times[slow] / times[fast], float(row[column]), NEAR_FACTOR):
            cells.add(key)
    return cells


def near_the_cluster(item: str, collective: str, names: str, network: Network) -> int:
    """How many run times are within a tenth of those that were measured on 48 hosts, of 42."""
    pairs = []
    rows = {(int(row["along"]), row["algorithm"]): row["run_paper_ms"] for row in kept(item)}
    for delay in DELAYS_MS:
        times = mean_times(collective, names, 48, 2048, delay, PATTERNS, network).run
        pairs += [(time, float(rows[delay, name])) for name, time in times.items()]
    assert len(pairs) == 42
    return sum(near(own, measured, NEAR) for own, measured in pairs)


def test_links_are_shared_in_the_model_since_so_they_are_on_a_cluster() -> None:
    turns = replace(NETWORK, sharing=False)
    for words, found in (
        (("scatter-figures-14-18-cluster", "scatter", SCATTER), (42, 24)),
        (("gather-figures-15-20-cluster", "gather", GATHER), (39, 40)),
    ):
        assert (near_the_cluster(*words, NETWORK), near_the_cluster(*words, turns)) == found


def test_table_3() -> None:
    column = "speedup_lin_over_bslin"
    assert off("scatter_table_3_bslin_vs_lin", "scatter", "LIN", "BSLIN", column) == OFF_TABLE_3


def test_table_4() -> None:
    column = "speedup_ls_over_bsls"
    assert off("gather_table_4_bsls_vs_ls", "gather", "LS", "BSLS", column) == OFF_TABLE_4


def test_figure_14() -> None:
    for delay in (0, 50):
        times = mean_run_times("scatter", "LIN,SLIN,BSLIN", 48, 2048, delay, PATTERNS)
        for name in times:
            assert near(times[name], FIGURE_14[delay, name], NEAR), (delay, name)


# Where the model finds the published numbers of the irregular gather again, to 50 % upwards and
# downwards (x): a word for each problem, a letter for each average block. Elsewhere a library's
# gather is not the model's: no copies, one time a message, and what it chooses by itself.
FOUND_AGAIN = {
    ("1", "gather"): "xxxxx xxxxx xxxxx x.xxx xxxxx xxxxx",
    ("1", "guideline2"): "xxxxx xxxxx xxxxx xxxxx xxxxx xxxxx",
    ("1", "gatherv"): "xxxxx xxxxx xxxxx xxxxx xxxxx .xxxx",
    ("1", "tuw_gatherv"): ".xxxx xxxxx xxxxx .xxxx .xxxx ....x",
    ("1", "factor"): ".xxxx xxxxx xxxxx xxxxx .xxxx xxx.x",
    ("2", "gather"): "x.... ..... ...x. ..... ..... .....",
    ("2", "guideline2"): "..... ..... ...x. ..... ..... .....",
    ("2", "gatherv"): "xxxxx xxxxx xxxxx xxx.x xxxxx ....x",
    ("2", "tuw_gatherv"): "xxxx. xxxxx xxxxx xxx.x xxxxx xxxxx",
    ("2", "factor"): "xxxx. xxxx. xxxx. xxxx. xxxx. ....x",
    ("3", "gather"): "....x ....x ....x ....x ....x ....x",
    ("3", "guideline2"): "....x ....x ....x ....x ....x ....x",
    ("3", "gatherv"): "....x ...xx ...xx ...xx ...xx ....x",
    ("3", "tuw_gatherv"): "xx... xx..x xx..x x...x xx..x xxxxx",
    ("3", "factor"): "....x ....x ...xx ....x ....x ....x",
    ("4", "gather"): "..... ....x ....x ....x ..... .....",
    ("4", "guideline2"): "..... ....x ....x ....x ..... .....",
    ("4", "gatherv"): "..... ..... ..... ..... ..... ....x",
    ("4", "tuw_gatherv"): "xxxxx xxxxx xxxxx xxxxx xxxxx xxxxx",
    ("4", "factor"): "..... ..... ....x ..... ..... ....x",
    ("5", "gather"): "xxxxx xxxxx xxxxx xxxxx xxxxx xxxxx",
    ("5", "guideline2"): "x.xxx xxxxx xxxxx xxxxx xxxxx xxxxx",
    ("5", "gatherv"): "..... ..... ..... ..... ..... ....x",
    ("5", "tuw_gatherv"): "xxxxx xxxxx xxxxx xxxxx xxxxx xxxxx",
    ("5", "factor"): ".x... ..... .x... .x... .x... ....x",
}
NUMBERS = ("gather", "guideline2", "gatherv", "tuw_gatherv", "factor")


def found_again(tables: gatherv.Tables) -> dict[tuple[str, str], str]:
    """The part of FOUND_AGAIN of some tables, as it is today."""
    words: dict[tuple[str, str], str] = {}
    theirs = gatherv.as_printed(tables.names)
    for problem in PROBLEMS:
        sizes = {block: gatherv.sizes_of(problem, tables.ranks, block) for block in BLOCKS}
        few = tables.ranks < 1000  # where it takes no time to look at the tree kept as well
        ours = {block: gatherv.simulated(tables, of, few) for block, of in sizes.items()}
        for times in ours.values():
            assert not few or times["kept"] < times["as_sibyl"] < times["tuw_gatherv"]
        for table, printed in theirs.items():
            for number in NUMBERS:
                pairs = [
                    (factor(own), factor(given))
                    if number == "factor"
                    else (own[number], given[number])
                    for own, given in ((ours[b], printed[problem, b]) for b in BLOCKS)
                ]
                word = "".join(".x"[near(*pair, gatherv.TOLERANCE)] for pair in pairs)
                words[table, number] = f"{words.get((table, number), '')} {word}".strip()
    return words


@pytest.mark.suite
@pytest.mark.parametrize("number", range(3), ids=["tables 1 to 3", "table 4", "table 5"])
def test_every_published_number_of_the_irregular_gather(number: int) -> None:
    tables = (gatherv.TABLES_1_TO_3, gatherv.TABLE_4, gatherv.TABLE_5)[number]
    found = found_again(tables)
    assert found == {key: words for key, words in FOUND_AGAIN.items() if key[0] in tables.names}


def test_table_3_is_judged_by_what_it_prints() -> None:
    """Its own times bear out its own claims, and nothing of it stands beside those of 1 and 2."""
    theirs = gatherv.as_printed(("1", "2", "3"))
    claims = claims_1_to_3(theirs["3"], theirs)
    own = [claim for claim in claims if "Open MPI" in claim.text]
    assert [claim.ours for claim in own] == [
        "10 of 10 cells",
        "5 of 5 cells",
        "5 of 5 cells",
        "7 of 10 cells",
        "23 of 25 cells",
        "2 of 2 cells",
        "5 of 5 cells",
    ]
    for claim in claims:
        tables = [table for table in theirs if f"of table {table}" in claim.published]
        assert tables == (["3"] if claim in own else ["1", "2"]), claim
    assert {claim.instrument for claim in own} == {"model, off by 0 % (median), 0 % at most"}
    (five,) = (claim for claim in claims if "at least 5 times" in claim.text)
    assert five.published == "15 of 15 cells of table 1, 15 of 15 cells of table 2"
    assert five.verdict == "not held"  # by the times of table 3


# Where the model's tree violates guideline 2 by more than 2 %; the paper's do for two blocks alone.
TREE_VIOLATES_2 = {
    "gatherv-tables-1-to-3": {
        *(("same", 1), ("same", 10), ("same", 100), ("alternating", 1), ("alternating", 10)),
        *(("random", 1), ("spikes", 1), ("decreasing", 1), ("two-blocks", 1)),
    },
    "gatherv-table-5": {
        *(("same", 1), ("same", 10), ("random", 1), ("alternating", 1), ("two-blocks", 1)),
    },
}


def kept_times(item: str) -> CellTimes:
    """Ours, of a table of the irregular gather."""
    return {
        (row["problem"], int(row["block_ints"])): {
            name: 1e-6 * float(row[f"{column}_us"])
            for name, column in zip(PRINTED, gatherv.NAMES, strict=True)
        }
        for row in kept(item)
    }


def test_less_than_two_percent_violates_no_guideline() -> None:
    """As in every other claim; of the published tables the printed digits say the same."""
    of_1_to_3, of_5 = (kept_times(item) for item in TREE_VIOLATES_2)
    for times, found in zip((of_1_to_3, of_5), TREE_VIOLATES_2.values(), strict=True):
        assert {cell for cell, of in times.items() if violations(of)[2]} == found
    claims = {
        claim.text: (claim.ours, claim.published)
        for claim in (
            *claims_1_to_3(of_1_to_3, gatherv.as_printed(("1", "2", "3"))),
            *claims_5(of_5, gatherv.as_printed(("5",))),
        )
    }
    more = "by more than 2 %"
    keeps = f"the tree does not violate guideline 2, but for two blocks, {more}"
    direct = f"there MPI_Gatherv, which sends direct, is faster than the tree, {more}"
    five = "30 of 30 cells of table 5"
    assert claims[keeps] == (
        "17 of 25 cells",
        "25 of 25 cells of table 1, 25 of 25 cells of table 2",
    )
    assert claims[f"under Open MPI 2.0 too {keeps}"] == (
        "17 of 25 cells",
        "23 of 25 cells of table 3",
    )
    assert claims[f"the tree has no violations of guideline 2 {more}"] == ("25 of 30 cells", five)
    assert claims[
        "MPI_Gatherv violates guideline 2 for blocks of up to 100 integers, but for spikes, " + more
    ] == ("3 of 12 cells", "9 of 12 cells of table 5")
    # Nor is one faster by less: MPI_Gatherv by 1.3 % in table 1, the tree by 0.3 % in the model.
    assert claims[direct] == ("1 of 5 cells", "4 of 5 cells of table 1, 5 of 5 cells of table 2")
    faster = f"the tree is faster than the k-nomial MPI_Gatherv in all cases, {more}"
    assert claims[faster] == ("2 of 30 cells", five)


# Of 48: what the model is fitted to, and what goes by the same rounds; the others want a start-up
# that grows with the message.
NEAR_EXSCAN = {
    *((36, 1, name) for name in exscan.ALGORITHMS),
    *((36, 100000, name) for name in ("two-op-doubling", "1-doubling", "123-doubling")),
}


def test_table_1_of_the_exclusive_scans() -> None:
    rows = exscan.table_1(1, lambda: None).rows
    assert len(rows) == 48
    found = {tuple(row[:3]) for row in rows if near(row[4], row[3], 0.15)}
    assert found == NEAR_EXSCAN
    few = {tuple(row[:3]): row[4] for row in rows if row[0] == 36}
    picture = exscan.draw_times(plot_library(), few, few)  # as under SMPI, of 36 ranks alone
    assert [axis.get_title() for axis in picture.axes] == ["36 ranks"]


def kept(item: str) -> list[dict[str, str]]:
    """The table that the documentation has of an item, whose programs run too long for a test."""
    folder = Path(__file__).parents[3] / "docs" / "results" / "reproduction"
    with (folder / f"{item}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


# Fitted to 123-doubling; the paper's library and the long messages of another are far off.
FAR_UNDER_SMPI = {
    (10000, "recursive-doubling"),
    (100000, "recursive-doubling"),
    (100000, "two-op-doubling"),
}


def far_under_smpi(rows: Sequence[Mapping[str, Any]]) -> set[tuple[int, str]]:
    assert len(rows) == 24
    return {
        (int(row["elements"]), row["algorithm"])
        for row in rows
        if not near(float(row["smpi_us"]), float(row["published_us"]), 0.15)
    }


def test_table_1_under_smpi_as_it_is_kept() -> None:
    assert far_under_smpi(kept("exscan-table-1-smpi")) == FAR_UNDER_SMPI


@pytest.mark.suite
@pytest.mark.usefixtures("simulated")
def test_table_1_under_smpi_as_it_is_today() -> None:
    outcome = exscan_measured.under_smpi(1, lambda: None)
    rows = [dict(zip(outcome.columns, row, strict=True)) for row in outcome.rows]
    assert far_under_smpi(rows) == FAR_UNDER_SMPI


# Of the run times behind table 4, those that a queue of 512 KiB gives to 25 % where leaves send in
# turns.
NEAR_WITH_A_QUEUE = {
    (1024, 5, "LS"),
    (1024, 10, "LS"),
    *((size, delay, name) for size in (1024, 2048) for delay in (50, 100, 500)
      for name in ("LS", "BSLS")),
}  # fmt: skip


def test_times_behind_table_4_with_a_queue() -> None:
    setup = collisions.Setup(1, 512 * 1024)
    times = {
        (size, delay): mean_times(
            "gather", "LS,BSLS", 48, size, delay, PATTERNS, setup.network, setup.way
        ).run
        for size in collisions.LARGE
        for delay in DELAYS_MS
    }
    printed = collisions.as_printed()
    assert len(printed) == 28
    found = {
        (size, delay, name)
        for (size, delay, name), given in printed.items()
        if near(times[size, delay][name], given, 0.25)
    }
    assert found == NEAR_WITH_A_QUEUE


def test_times_behind_table_4_with_a_queue_as_they_are_kept() -> None:
    """Of 28, which no queue explains: how many are within a fourth of the printed ones."""
    rows = [row for row in kept("gather-collisions") if row["published_run_ms"]]
    assert len(rows) == 28 * len(collisions.SETUPS)
    found = Counter(
        (row["under_way"], int(row["queue_bytes"]) // 1024)
        for row in rows
        if near(float(row["run_ms"]), float(row["published_run_ms"]), 0.25)
    )
    assert found == {
        **{("in turns", 64): 8, ("in turns", 128): 9, ("in turns", 256): 10},
        **{("in turns", 512): 14, ("in turns", 1024): 10},
        **{("all at once", 64): 4, ("all at once", 128): 8, ("all at once", 256): 9},
        **{("all at once", 512): 11, ("all at once", 1024): 8},
    }


def test_table_5_of_the_transform() -> None:
    outcome = fft.table_5(1, lambda: None)
    rows = [dict(zip(outcome.columns, row, strict=True)) for row in outcome.rows]
    ratios = {
        (row["gather"], metric): row[f"ours_{metric}_ms"] / row[f"published_{metric}_ms"]
        for row in rows
        for metric in fft.METRICS
        if row["gather"] in fft.GATHERS
    }
    found = {cell for cell, ratio in ratios.items() if near(ratio, 1, 0.2)}
    totals = {(name, "total") for name in fft.GATHERS}
    runs = {(name, "run") for name in ("LS", "BNOM", "SBN")}
    assert found == totals | runs | {(name, "elapsed") for name in ("BNOM", "SBN", "BSBN")}


def test_differences_and_quotients_give_the_times_behind_them() -> None:
    row = {"f": "1.25", "run_time_difference_ms": "-20.0"}
    assert printed_times(row, "f") == (100, 80)
    assert printed_times(row | {"f": "1.01"}, "f") is None
    assert wire_ms(2048) == 8e-6 * 8388608 * 47 / 48


def test_run_times_sink_where_all_send_at_once_into_a_queue_that_loses() -> None:
    """The paper's explanation of figure 15, which its algorithm as printed does not bear out."""

    def bsls(setup: collisions.Setup, delay: int, names: str = "BSLS") -> dict[str, float]:
        network = setup.network
        return mean_times("gather", names, 48, 2048, delay, PATTERNS, network, setup.way).run

    at_once, in_turns = (collisions.Setup(way, 512 * 1024) for way in (0, 1))
    assert bsls(at_once, 0)["BSLS"] > 195  # a timeout
    assert bsls(at_once, 50)["BSLS"] < 75
    assert 65 < bsls(in_turns, 0)["BSLS"] < bsls(in_turns, 50)["BSLS"] < 75
    times = bsls(at_once, 50, "LS,BSLS")
    assert near(times["LS"] / times["BSLS"], 2.52, NEAR_FACTOR)


def test_knowing_pays_where_turns_are_few() -> None:
    one, every = (
        next(each for each in knowing.LISTENERS if (each.name, each.under_way) == ("BSLS", way))
        for way in (1, 0)
    )
    assert knowing.cell_of(one, "uniform", 16, 1 << 20, 1.0).worth > 3
    assert knowing.cell_of(every, "uniform", 16, 1 << 20, 1.0).worth == 1
    allreduce = next(each for each in knowing.LISTENERS if each.name == "pre-reduced-ring")
    late = knowing.cell_of(allreduce, "skewed", 16, 8 << 20, 1.0)
    assert allreduce.region is not None and allreduce.region.holds(late)
    assert late.worth > 1.6


def test_every_cell_of_the_grid_has_what_knowing_is_worth(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, few in (("RANKS", (8,)), ("SIZES", (1 << 20,)), ("DELAYS", (1.0,))):
        monkeypatch.setattr(knowing, name, few)
    monkeypatch.setattr(knowing, "of_allgather", lambda: Claim("", "held", ""))
    outcome = knowing.regions(1, lambda: None)
    rows = [dict(zip(outcome.columns, row, strict=True)) for row in outcome.rows]
    assert len(rows) == 2 * len(knowing.LISTENERS)
    for row in rows:
        assert row["worth"] > 0 and row["told_others"] > 0
        of_test = [row[name] for name in ("worth_low", "worth_high", "worth_p")]
        assert of_test[0] <= row["worth"] <= of_test[1], row
    chances = [row["worth_p"] for row in rows if row["shape"] == "uniform"]
    assert min(chances) < 1e-3 and max(chances) == 1
    # So many patterns show something when all cells of the whole grid are corrected together.
    cells = len(knowing.LISTENERS) * 27
    assert cells * 2 / 2**knowing.ITERATIONS < 0.05


def test_who_is_late_need_not_be_the_last_that_is_served() -> None:
    """Else an order by ranks would be as good as one by arrival wherever one rank is late."""
    (sorted_one,) = (x for x in knowing.LISTENERS if (x.name, x.under_way) == ("BSLS", 1))
    (all_asked,) = (x for x in knowing.LISTENERS if (x.name, x.under_way) == ("BSLS", 0))
    assert knowing.cell_of(sorted_one, "skewed", 8, 1 << 20, 1.0).worth > 2
    assert knowing.cell_of(all_asked, "skewed", 8, 1 << 20, 1.0).worth == pytest.approx(1)


def test_an_allgather_that_is_told_nothing_is_near_its_bound() -> None:
    for shape in knowing.SHAPES:
        assert near(knowing.ring_over_bound(shape, 16, 8 << 20, 1.0), 1.006, 0.005)
        assert 1.1 < knowing.ring_over_bound(shape, 48, 1 << 20, 1.0) < knowing.NEAR_BOUND
    claim = knowing.of_allgather()
    said = "ring over bound: 1.00 to 1.14"
    assert (claim.verdict, claim.kind, claim.ours) == ("held", "control", said)
