"""The parts of `sibyl bench` that need no MPI: notation, statistics, verdicts, files, pictures."""

import csv
import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from sibyl.bench import output, plots
from sibyl.errors import CommandError
from sibyl.experiment import statistics
from sibyl.experiment.grid import Cell, Grid, make_cells
from sibyl.experiment.journal import Journal
from sibyl.experiment.judge import instrument_limit, judge
from sibyl.experiment.plots import check_plot
from sibyl.experiment.recording import pattern_text, read_recording
from sibyl.experiment.samples import METRICS, CellResult, SampleReader
from sibyl.experiment.units import read_size, read_time, size_text, time_text
from sibyl.files import write_whole
from sibyl.mpi.arrivals import merge_arrivals

JOB = {
    "mpi": "Some MPI 1.0",
    "ranks": 4,
    "cores": 8,
    "ranks_per_machine": 4,
    "simulated": False,
    "alpha_s": 1e-6,
    "beta_s_per_byte": 1e-9,
    "clocks": {"common": True, "worst_offset_s": 0.0, "worst_error_s": 1e-7},
}


def result_of(
    times: dict[str, list[float]], cell: Cell | None = None, late: float = 0.0, **job: object
) -> CellResult:
    """A cell whose contenders took these run times."""
    samples = {}
    for name, values in times.items():
        samples[name] = {metric: list(values) for metric in METRICS}
        samples[name]["late_s"] = [late] * len(values)
        samples[name]["bound_s"] = [1e-3] * len(values)
    return CellResult(cell or Cell(4, 1024, "same", "flat", 0.0), {**JOB, **job}, samples, {})


def around(middle: float) -> list[float]:
    return [middle * (1 + 0.001 * (i % 7 - 3) + 1e-6 * i) for i in range(24)]


def test_of_simulated_times_the_medians_decide() -> None:
    times = {"native": [1e-3], "a": [1.2e-3], "b": [0.9e-3], "c": [1.01e-3]}
    rows = judge([result_of(times, simulated=True, platform="x")], "native")
    verdicts = {row.algorithm: row.verdict for row in rows}
    assert verdicts == {"native": "reference", "a": "SLOWER", "b": "faster", "c": "no difference"}


def test_sizes_and_times_are_read_and_written_with_units() -> None:
    assert [read_size(t) for t in ("1", "128K", "1MiB", "2 kB")] == [1, 131072, 1 << 20, 2000]
    assert [read_time(t) for t in ("0", "5ms", "0.25s", "10us")] == [0, 0.005, 0.25, 1e-5]
    assert size_text(1 << 20) == "1 MiB"
    assert time_text(0.0125) == "12.5 ms"
    for wrong in ("", "x", "-1", "1.5", "0", "5 fish"):
        with pytest.raises(CommandError):
            read_size(wrong)
    for wrong in ("", "-1ms", "5min"):
        with pytest.raises(CommandError):
            read_time(wrong)


def test_the_rank_sum_test_gives_the_published_values(monkeypatch: pytest.MonkeyPatch) -> None:
    # The example of SciPy's documentation: U = 17, exact two-sided p = 1/9, asymptotic 0.11135.
    own, other = [19, 22, 16, 29, 24], [20, 11, 17, 12]
    assert statistics.rank_sum_greater(own, other) == pytest.approx(1 / 18)
    assert statistics.rank_sum_greater([6, 7, 8], [1, 2, 3]) == pytest.approx(1 / 20)
    assert statistics.rank_sum_greater([1, 2, 3], [6, 7, 8]) == pytest.approx(1)
    monkeypatch.setattr(statistics, "EXACT_UP_TO", 0)
    assert statistics.rank_sum_greater(own, other) == pytest.approx(0.11134688653 / 2, rel=1e-6)
    assert statistics.rank_sum_greater([1, 1, 1], [1, 1, 1]) == 1


def test_the_rank_sum_test_agrees_with_scipy() -> None:
    scipy_stats = pytest.importorskip("scipy.stats")
    own = [((i * 7919) % 97) / 3 for i in range(40)]
    other = [((i * 104729) % 89) / 4 + 3 for i in range(33)]
    expected = scipy_stats.mannwhitneyu(own, other, alternative="greater", method="asymptotic")
    assert statistics.rank_sum_greater(own, other) == pytest.approx(expected.pvalue)


def test_holm_steps_down_and_never_reorders() -> None:
    assert statistics.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert statistics.holm([0.9, 0.8]) == [1, 1]
    assert statistics.quantile([4, 1, 3, 2], 0.5) == 2.5


def test_cells_are_all_combinations_each_once() -> None:
    cells = make_cells([4, 8], [1024], ["same"], ["flat", "uniform"], [0.0, 0.001])
    assert len(cells) == 6  # flat takes no delay
    assert Cell(8, 1024, "same", "uniform", 0.001) in cells
    grid = Grid("gather", ("native",), cells)
    assert [len(job.cells) for job in grid.jobs()] == [3, 3]
    assert grid.fingerprint("a") != grid.fingerprint("b")
    assert grid.without(cells[:2]).cells == cells[2:]


def test_verdicts_are_slower_faster_or_no_difference() -> None:
    result = result_of(
        {
            "native": around(1e-2),
            "worse": around(1.2e-2),
            "better": around(0.8e-2),
            "within": around(1.03e-2),
        }
    )
    verdicts = {row.algorithm: row.verdict for row in judge([result], "native")}
    assert verdicts == {
        "native": "reference",
        "worse": "SLOWER",
        "better": "faster",
        "within": "no difference",  # slower, but by no more than 5 %
    }
    row = judge([result], "native")[1]
    assert row.ratio == pytest.approx(1.2, rel=1e-3)
    assert row.to_bound == pytest.approx(12, rel=1e-2)


def test_a_slowdown_below_200_ns_is_none() -> None:
    result = result_of({"native": around(1e-6), "own": around(1.15e-6)})
    assert [row.verdict for row in judge([result], "native")] == ["reference", "no difference"]


def test_comparisons_are_corrected_together() -> None:
    weak = {"native": [1.0, 2, 3, 4, 5], "own": [0.1, 0.2, 0.3, 2.5, 0.5]}
    alone = judge([result_of(weak)], "native")[1]
    many = judge([result_of(weak) for _ in range(20)], "native")[1]
    assert alone.verdict == "faster"
    assert many.verdict == "no difference"
    assert many.p_faster > alone.p_faster


def test_where_the_instrument_is_the_bottleneck_there_is_no_verdict() -> None:
    times = {"native": around(1e-2), "own": around(5e-2)}
    check = {
        "cpu_bound": False,
        "shift_true": True,
        "shift_ratio": 1.02,
        "gather_true": True,
        "gather_ratio": 1.0,
        "latency_true": False,
        "alpha_s": 1e-4,
        "alpha_busy_s": 3e-4,
    }
    busy = {**check, "cpu_bound": True, "shift_true": False, "shift_ratio": 1.5}
    slow = {**check, "alpha_busy_s": 2e-3}
    limited = {
        "cores": result_of(times, cores=2),
        "one rank a host": result_of(
            times, cores=2, cluster_check=check, ranks_per_host=2, collective="reduce"
        ),
        "later": result_of(times, late=2e-3),
        "bottleneck": result_of(times, cluster_check=busy, collective="reduce"),
        "scheduler": result_of(times, cluster_check=slow, collective="reduce"),
        "clocks": result_of(
            times, clocks={"common": False, "worst_offset_s": 1.0, "worst_error_s": 5e-3}
        ),
    }
    for word, result in limited.items():
        assert word in instrument_limit(result, "native")
        assert judge([result], "native")[1].verdict == "none"
    # One busy link is no load; and enough cores are not asked for where ranks have hosts.
    for collective, found in (("gather", busy), ("reduce", check)):
        fine = result_of(times, cores=2, cluster_check=found, collective=collective)
        assert instrument_limit(fine, "native") == ""
        assert judge([fine], "native")[1].verdict == "SLOWER"


def lines_of(grid: Grid, wrong: bool = False) -> list[str]:
    """What the MPI program would print for one cell."""
    lines = [{"type": "begin", **JOB}, {"type": "cell", "cell": 0}]
    for iteration in range(-1, grid.iterations):
        for name in grid.algorithms:
            sample = dict.fromkeys(METRICS, 1e-3 * (iteration + 2))
            line = {"type": "sample", "cell": 0, "iteration": iteration, "algorithm": name}
            lines.append({**line, **sample, "right": not wrong})
    lines.append({"type": "end", "clocks": JOB["clocks"]})
    return [json.dumps(line, separators=(",", ":")) for line in lines]


def test_a_cell_counts_when_its_last_sample_is_there() -> None:
    grid = Grid("gather", ("native", "auto"), (Cell(4, 8, "same", "flat", 0.0),), iterations=3)
    finished: list[CellResult] = []
    reader = SampleReader(grid, finished.append)
    lines = lines_of(grid)
    assert not reader.take("mpiexec says something")
    for line in lines[:-2]:
        assert reader.take(line)
    assert finished == []
    reader.take(lines[-2])
    (result,) = finished
    assert result.samples["auto"]["run_s"] == pytest.approx([2e-3, 3e-3, 4e-3])  # no warm-up
    assert reader.clocks_after is None
    reader.take(lines[-1])
    assert reader.clocks_after == JOB["clocks"]
    assert CellResult.from_json(json.loads(json.dumps(result.as_json()))) == result


def test_wrong_results_are_told() -> None:
    grid = Grid("gather", ("native",), (Cell(4, 8, "same", "flat", 0.0),), iterations=2)
    finished: list[CellResult] = []
    reader = SampleReader(grid, finished.append)
    for line in lines_of(grid, wrong=True):
        reader.take(line)
    assert finished[0].wrong == {"native": 3}
    assert judge(finished, "native")[0].verdict == "WRONG"
    rows = judge(finished, "native")
    assert any("WRONG RESULT" in line for line in output.closing_lines(grid, rows, "run"))


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_whole(path, "old")
    with pytest.raises(UnicodeEncodeError):
        write_whole(path, "new \ud800")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_the_journal_keeps_cells_until_they_are_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    journal = Journal("abc")
    results = [
        result_of({"native": [float(n)]}, Cell(4, n, "same", "flat", 0.0)) for n in range(1, 4)
    ]
    for result in results:
        journal.add(result)
    (journal.directory / "000009.json").write_text("half")
    assert Journal("abc").read() == results
    assert Journal("abd").read() == []
    journal.forget()
    assert journal.read() == []


def grid_of_delays() -> tuple[Grid, list[CellResult]]:
    cells = make_cells([4], [1024, 4096], ["same"], ["uniform"], [0.0, 0.001, 0.05])
    results = [
        result_of({"native": around(1e-2 + c.max_delay), "own": around(9e-3)}, c) for c in cells
    ]
    return Grid("gather", ("native", "own"), cells, iterations=24), results


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


def test_plots_are_drawn_along_what_varies() -> None:
    pytest.importorskip("matplotlib")
    grid, results = grid_of_delays()
    rows = judge(results, "native")
    picture = plots.draw_curves(grid, rows, Path("a.svg"), "run")
    assert picture is not None
    assert b"<svg" in picture
    assert plots.draw_distributions(grid, rows, Path("a.png"), "run").startswith(b"\x89PNG")
    assert plots.choose_axis([c.cell for c in results]) == 0
    assert plots.choose_axis([Cell(n, 8, "same", "flat", 0.0) for n in (4, 8)]) == 2
    one = judge(results[:1], "native")
    assert plots.draw_curves(grid, one, Path("a.svg"), "run") is None
    with pytest.raises(CommandError):
        check_plot(Path("a.bmp"))


def write_part(directory: Path, rank: int, calls: list[list[object]], clock: str = "one") -> None:
    part = {
        "version": 1,
        "mpi": "Some MPI",
        "rank": rank,
        "world_size": 2,
        "clock": clock,
        "wall_minus_clock": 0 if clock == "one" else 1_000_000_000,
        "communicators": [{"group": [0, 1], "ordinal": 0, "calls": calls}],
    }
    (directory / f"arrivals-{rank}-1.json").write_text(json.dumps(part))


def test_a_recording_joins_the_calls_of_all_ranks(tmp_path: Path) -> None:
    write_part(tmp_path, 0, [[1, "gather", 1, 8, 5000], [2, "scan", -1, 4, 9000]])
    write_part(
        tmp_path, 1, [[1, "gather", 1, 8, 7000], [2, "scan", -1, 4, 8000], [3, "scan", -1, 4, 1]]
    )
    (tmp_path / "arrivals-9-9.json").write_text("no json")
    recording = merge_arrivals(tmp_path, ["app"])
    gather, scan = recording["sites"]
    assert (gather["collective"], gather["root"], gather["bytes"]) == ("gather", 1, 8)
    assert gather["calls"] == [{"number": 1, "times": [0.0, 2e-6]}]
    assert scan["calls"] == [{"number": 2, "times": [1e-6, 0.0]}]  # call 3 lacks rank 0
    assert recording["clock"] == "monotonic clock of one machine"


def test_clocks_of_several_machines_are_compared_by_wall_time(tmp_path: Path) -> None:
    write_part(tmp_path, 0, [[1, "scan", -1, 8, 1_000_005_000]])
    write_part(tmp_path, 1, [[1, "scan", -1, 8, 4000]], clock="another")
    (site,) = merge_arrivals(tmp_path, ["app"])["sites"]
    assert site["calls"][0]["times"] == pytest.approx([1e-6, 0.0])


def test_a_recorded_site_is_replayed_call_by_call(tmp_path: Path) -> None:
    write_part(tmp_path, 0, [[1, "gather", 1, 8, 5000], [2, "scan", -1, 4, 9000]])
    write_part(tmp_path, 1, [[1, "gather", 1, 8, 7000], [2, "scan", -1, 4, 8000]])
    path = tmp_path / "recording.json"
    path.write_text(json.dumps(merge_arrivals(tmp_path, ["app"])))
    assert [site.collective for site in read_recording(path)] == ["gather", "scan"]
    assert pattern_text(f"{path}#1", 2).splitlines()[1:] == ["1e-06", "0.0"]
    with pytest.raises(CommandError, match="recorded on 2 ranks, not 3"):
        pattern_text(str(path), 3)
    with pytest.raises(CommandError, match="2 call site"):
        pattern_text(f"{path}#2", 2)
    with pytest.raises(CommandError, match="neither a shape nor a file"):
        pattern_text(str(tmp_path / "absent"), 2)
