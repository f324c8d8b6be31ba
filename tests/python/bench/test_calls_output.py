"""Table, CSV and JSON of `sibyl bench calls`."""

import csv
import io
import json

import pytest

from sibyl.bench.calls_output import CSV_COLUMNS, Line, Run, to_csv, to_json, to_table

BEGIN = {
    **{"date": "2026-01-01T00:00:00Z", "mpi": "Some MPI, 1.0", "flavour": "mpich", "sibyl": "1"},
    **{"cpu": "a processor", "cores": 2, "ranks": 2, "simulated": False, "command": "sibyl-bench"},
    **{"collective": "exscan", "reference": "native", "held": ["auto"], "repetitions": 24},
    **{"warm_up": 1, "alpha_near_s": 1e-6, "alpha_far_s": 2e-6},
}


def line_of(algorithm: str, batch: int, verdict: str) -> Line:
    return Line(
        **{"operator": "bxor", "count": 1, "bytes": 8, "batch": batch, "algorithm": algorithm},
        **{"least": 1e-6, "quarters": (2e-6, 4e-6), "median": 3e-6, "ratio": 1.5},
        **{"ratio_interval": (1.25, 1.75), "limit": 2e-6, "whole_vector_limit": 2.5e-6},
        **{"p_slower": 0.001, "p_faster": 1.0, "p_within": 0.25, "verdict": verdict},
    )


@pytest.fixture
def run() -> Run:
    lines = [line_of("native", 1, "reference"), line_of("auto", 1, "within the margin")]
    return Run(BEGIN, [*lines, line_of("native", 9, "reference"), line_of("auto", 9, "")], [])


def test_the_table_has_a_head_for_every_cell_and_closes_with_what_holds(run: Run) -> None:
    text = to_table(run)
    heads = [line for line in text.splitlines() if line.startswith("operator")]
    assert heads == [
        "operator bxor, count 1 (8 bytes), single calls; limit 2.000 us, whole vectors 2.500 us",
        "operator bxor, count 1 (8 bytes), batches of 9 calls; limit 2.000 us, "
        "whole vectors 2.500 us",
    ]
    rows = [line.split() for line in text.splitlines() if line.startswith("  auto")]
    numbers = ["auto", "1.000", "3.000", "1.500", "1.250-1.750"]
    assert rows[0] == [*numbers, "1.50", "within", "the", "margin"]
    assert rows[1] == [*numbers, "-"]
    assert text.endswith("never slower than native by more than 5 % or 200 ns: holds\n")


def test_the_table_names_what_is_slower_or_wrong(run: Run) -> None:
    found = Run(BEGIN, [*run.lines, line_of("auto", 3, "SLOWER")], ["linear, operator bxor"])
    text = to_table(found)
    assert "slower than allowed: auto, operator bxor, count 1, batches: ratio 1.500" in text
    assert "WRONG RESULT: linear, operator bxor\n" in text
    assert "holds" not in text


def test_what_few_calls_do_not_show_is_not_said(run: Run) -> None:
    few = Run(BEGIN, [*run.lines, line_of("auto", 3, "undecided")], [])
    assert to_table(few).endswith(" or 200 ns: undecided in 1 of 3 comparisons\n")
    assert json.loads(to_json(few))["never_slower"] is None


def test_where_nothing_is_held_nothing_is_said_of_it(run: Run) -> None:
    for held in ([], ["native"]):
        nobody = Run({**BEGIN, "held": held}, run.lines, [])
        assert "never slower" not in to_table(nobody)
        assert json.loads(to_json(nobody))["never_slower"] is None


def test_wrong_results_are_no_proof(run: Run) -> None:
    assert json.loads(to_json(Run(BEGIN, run.lines, ["linear, bxor"])))["never_slower"] is False


def test_intervals_of_few_repetitions_are_not_said_to_hold_more_than_they_do(run: Run) -> None:
    assert "95 % of ratio" in to_table(run)
    few = Run({**BEGIN, "repetitions": 3}, run.lines, [])
    assert "75 % of ratio" in to_table(few)
    assert "95 %" not in to_table(few)
    assert json.loads(to_json(few))["confidence"] == 0.75


def test_csv_and_json_have_the_same_numbers(run: Run) -> None:
    rows = list(csv.reader(io.StringIO(to_csv(run))))
    assert tuple(rows[0]) == CSV_COLUMNS
    second = dict(zip(rows[0], rows[2], strict=True))
    assert (second["mpi"], second["median_us"], second["p_slower"]) == (
        *("Some MPI, 1.0", "3.0000"),
        "0.001",
    )
    document = json.loads(to_json(run))
    assert document["never_slower"] is True
    assert document["lines"][1]["median_s"] == 3e-6
    assert document["lines"][1]["ratio_95_percent"] == [1.25, 1.75]
    assert document["provenance"]["alpha_far_s"] == 2e-6
