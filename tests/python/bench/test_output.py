"""Tables, CSV, JSON and the OSU layout of `sibyl bench`."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from cells import around, grid_of_delays, result_of
from rich.console import Console

from sibyl.bench import output
from sibyl.experiment.grid import Grid, make_cells
from sibyl.experiment.judge import judge


def test_csv_json_and_osu_say_the_same(tmp_path: Path) -> None:
    grid, results = grid_of_delays()
    rows = judge(results, "native")
    table = list(csv.DictReader(io.StringIO(output.to_csv(grid, rows))))
    document = json.loads(output.to_json(grid, results, rows, {"commit": "1234"}))
    assert len(table) == len(document["rows"]) == 12
    for line, row in zip(table, document["rows"], strict=True):
        assert float(line["run_us"]) == pytest.approx(row["run_s"] * 1e6, abs=1e-3)
        assert line["verdict"] == row["verdict"]
    assert document["provenance"]["commit"] == "1234"
    assert document["parameters"]["algorithms"] == ["native", "own"]
    assert document["cells"][0]["samples"]["native"]["run_s"] == around(1e-2)
    osu = output.to_osu(grid, rows, "run").splitlines()
    assert osu[1].startswith("# Size       Avg Latency(us)")
    size, average, least, most, iterations = osu[2].split()
    assert (size, iterations) == ("1024", "24")
    assert float(least) <= float(average) <= float(most)


def test_many_cells_end_in_one_table_of_ratios_and_verdicts() -> None:
    cells = make_cells([4], [], ["same", "spikes"], ["none"], [0.0], [1, 1000])
    assert [cell.block for cell in cells] == [1, 1, 1000, 1000]
    assert cells[2].words() == ["--cell", "block=1000,delay=0.0,counts=same,pattern=none"]
    slow = {"native": around(1e-3), "auto": around(2e-3)}
    fast = {"native": around(1e-3), "auto": around(5e-4)}
    results = [result_of(slow if n == 3 else fast, cell) for n, cell in enumerate(cells)]
    grid = Grid("gatherv", ("native", "auto"), cells, iterations=24)
    console = Console(file=io.StringIO(), width=100)
    output.print_table(grid, judge(results, "native"), console, "run")
    printed = console.file.getvalue()  # type: ignore[attr-defined]
    assert "gatherv, b = 1000, 4 ranks, spikes counts, bare calls" in printed
    summary = printed[printed.index("time / native's") :].splitlines()
    words = [line.replace("│", " ").split() for line in summary]
    said = [line[:4] + line[-2:] for line in words if line[1:3] == ["b", "="]]
    fine = ["0.500", "faster"]
    assert said == [
        ["same", "b", "=", "1", *fine],
        ["spikes", "b", "=", "1", *fine],
        ["same", "b", "=", "1000", *fine],
        ["spikes", "b", "=", "1000", "2.000", "SLOWER"],
    ]
    table = list(csv.DictReader(io.StringIO(output.to_csv(grid, judge(results, "native")))))
    assert [line["block"] for line in table] == ["1"] * 4 + ["1000"] * 4


def test_the_size_that_osu_s_layout_shows_of_a_problem_is_its_average_block() -> None:
    cells = make_cells([4], [], ["same"], ["none"], [0.0], [1000, 1])
    results = [result_of({"native": around(1e-3)}, cell) for cell in cells]
    for operator, sizes in (("sum", ["4", "4000"]), ("matrix", ["32", "32000"])):
        grid = Grid("gatherv", ("native",), cells, iterations=24, operator=operator)
        lines = output.to_osu(grid, judge(results, "native"), "run").splitlines()
        assert [line.split()[0] for line in lines[2:4]] == sizes


def printed_in(width: int, metric: str, cells: int) -> str:
    """The table of a contender with a long name."""
    grid, results = grid_of_delays()
    grid = replace(grid, algorithms=("native", "linear-synchronised"))
    for result in results:
        result.samples["linear-synchronised"] = result.samples.pop("own")
    console = Console(file=io.StringIO(), width=width)
    output.print_table(grid, judge(results[:cells], "native", metric), console, metric)
    return console.file.getvalue()  # type: ignore[attr-defined]


@pytest.mark.parametrize("cells", [1, 6])
def test_tables_fit_80_columns_with_every_word_whole(cells: int) -> None:
    narrow, wide = printed_in(80, "run", cells), printed_in(200, "run", cells)
    assert "\N{HORIZONTAL ELLIPSIS}" not in narrow
    lines = [line for line in narrow.splitlines() if line[:1] in "┏┡│└"]
    assert max(map(len, lines)) <= 80
    assert "linear-synchronised" in narrow
    assert "quartiles" in wide and "no room" not in wide
    assert "no room for absorbed, quartiles" in narrow


def test_what_tables_go_without_is_told_of_all_not_of_the_last(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    left_out = iter([["absorbed"], ["absorbed", "quartiles"], []])
    monkeypatch.setattr(output, "print_fitting", lambda *_: next(left_out))
    assert "no room for absorbed, quartiles: see --json" in printed_in(80, "run", 3)


def test_the_time_that_is_judged_stands_first() -> None:
    for metric, first, later in (("run", "run time", "elapsed"), ("elapsed", "elapsed", "run ti")):
        (headings, *_) = [
            line for line in printed_in(200, metric, 1).splitlines() if "quart" in line
        ]
        assert headings.index(first) < headings.index("quartiles") < headings.index(later)


def closing_line(*samples: dict[str, list[float]], wrong: dict[str, int] | None = None) -> str:
    """What is said of all cells together."""
    sizes = [8 << number for number in range(len(samples))]
    cells = make_cells([4], sizes, ["same"], ["none"], [0.0], [])
    results = [
        replace(result_of(times, cell), wrong=wrong or {})
        for times, cell in zip(samples, cells, strict=True)
    ]
    grid = Grid("bcast", tuple(samples[0]), cells, iterations=24)
    lines = output.closing_lines(grid, judge(results, "native"), "run")
    return next(line for line in lines if "slower than native" in line)


def test_never_slower_is_said_where_it_is_shown() -> None:
    same = {"native": around(1e-3), "own": around(1e-3)}
    few = {"native": [1e-3, 1.01e-3, 1.02e-3], "own": [9e-3, 9.1e-3, 9.2e-3]}
    slow = {"native": around(1e-3), "own": around(2e-3)}
    assert closing_line(same).endswith("or 200 ns: holds for all contenders")
    assert closing_line(few).endswith("shown in 0 of 1 comparison, refuted in none")
    assert closing_line(same, few).endswith("shown in 1 of 2 comparisons, refuted in none")
    assert closing_line(same, slow) == "own: slower than native in 1 of 2 cells"
    wrong = closing_line({**same, "other": around(1e-3)}, wrong={"other": 2})
    assert wrong.endswith("shown in 1 of 2 comparisons, refuted in none")


def test_one_of_a_kind_is_said_in_the_singular() -> None:
    (cell,) = make_cells([1], [8], ["same"], ["none"], [0.0], [])
    result = result_of({"native": around(1e-3)}, cell)
    grid = Grid("bcast", ("native",), [cell], iterations=1)
    console = Console(file=io.StringIO(), width=100)
    output.print_table(grid, judge([result], "native"), console, "run")
    printed = console.file.getvalue()  # type: ignore[attr-defined]
    assert "1 rank, bare calls" in printed
    assert "1 iteration;" in printed
    assert "1 ranks" not in printed
