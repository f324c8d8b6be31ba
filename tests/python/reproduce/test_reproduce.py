"""`sibyl reproduce`: ours beside the published numbers, verdicts, and going on where it stopped."""

import csv
import json
import lzma
import subprocess
import sys
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import Sibyl, assert_usage_error

from sibyl.errors import CommandError
from sibyl.experiment import measured_run, provenance
from sibyl.experiment.grid import Cell, Grid
from sibyl.experiment.measured_run import MeasuredRun
from sibyl.experiment.runner import Interrupted
from sibyl.experiment.samples import METRICS, CellResult
from sibyl.experiment.simulated import SimulatedLauncher
from sibyl.reproduce import (
    collisions,
    exscan,
    fft,
    fft_on_cluster,
    figures_on_cluster,
    on_cluster,
    results,
    samples,
    session,
)
from sibyl.reproduce.catalogue import ITEMS
from sibyl.reproduce.control import MeanTimes, published_only, worth_of_knowing
from sibyl.reproduce.cross_validation import Case, outcome_of, platform_like
from sibyl.reproduce.elapsed import appendix_claims
from sibyl.reproduce.figures_on_cluster import Figure
from sibyl.reproduce.outcome import VERDICTS, Item, Where, judge, published
from sibyl.reproduce.page import DETAILS, MADE_EARLIER, MEASURED_EARLIER
from sibyl.reproduce.rack import Means, mean_run_times, mean_times
from sibyl.reproduce.scatter_gather import fastest
from sibyl.reproduce.worth import WORTH_COLUMNS
from sibyl.terminal import Terminal


def test_the_table_of_scatter_is_found_again_where_delays_are_large() -> None:
    for row in published("scatter_table_3_bslin_vs_lin"):
        size, delay = int(row["size_kfloats"]), int(row["max_delay_ms"])
        if delay < 50:
            continue
        times = mean_run_times("scatter", "LIN,BSLIN", 48, size, delay, 16)
        factor = times["LIN"] / times["BSLIN"]
        assert factor == pytest.approx(float(row["speedup_lin_over_bslin"]), rel=0.12)


def test_an_item_writes_table_picture_and_verdicts(sibyl: Sibyl, tmp_path: Path) -> None:
    result = sibyl("reproduce", "exscan-table-1", "--to", "out")
    assert result.returncode == 0, result
    with (tmp_path / "out/exscan-table-1.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 48
    given = {(r["ranks"], r["elements"], r["algorithm"]): r["published_us"] for r in rows}
    assert given["1152", "100000", "123-doubling"] == "10921.26"
    assert (tmp_path / "out/exscan-table-1.png").read_bytes().startswith(b"\x89PNG")
    document = json.loads((tmp_path / "out/exscan-table-1.json").read_text())
    assert {claim["verdict"] for claim in document["claims"]} <= set(VERDICTS)
    verdicts = [claim["verdict"] for claim in document["claims"]]
    assert verdicts == ["held", "not held", "held", "partly held"]
    assert "exscan-table-1.png" in (tmp_path / "out/index.html").read_text()
    page = (tmp_path / "out/reproduction.md").read_text()
    missing = page.partition("Not run for this page: ")[2]
    assert "`fft-table-5-cluster`" in missing
    assert "`exscan-table-1`" not in missing
    assert "### Exclusive scan: table 1" in (tmp_path / "out" / DETAILS).read_text()
    for verdict in verdicts:
        assert f"│ {verdict} " in result.stdout


@pytest.mark.suite
def test_all_goes_on_where_it_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    quick = [item for item in ITEMS if item.name in ("scatter-figure-16", "scatter-figure-17")]
    monkeypatch.setattr(session, "ITEMS", quick)
    ran = []
    once = session._run_item

    def counted(item, *rest):
        ran.append(item.name)
        if len(ran) == 2:
            raise KeyboardInterrupt
        if len(ran) == 6:
            raise CommandError("no such program")
        return once(item, *rest)

    monkeypatch.setattr(session, "_run_item", counted)
    assert session.run([], True, tmp_path, 2) == 130
    assert "--all goes on" in capsys.readouterr().err
    assert session.run([], True, tmp_path, 2) == 0
    assert ran == ["scatter-figure-16", "scatter-figure-17", "scatter-figure-17"]
    assert session.run([], True, tmp_path, 3) == 0
    assert len(ran) == 5  # other iterations are other results
    # What cannot be done is named, the others are done, and what was there stays on the page.
    assert session.run([], True, tmp_path, 4) == 1
    assert "scatter-figure-16: no such program" in capsys.readouterr().err
    assert ran[5:] == ["scatter-figure-16", "scatter-figure-17"]
    assert "scatter-figure-16.png" in (tmp_path / "index.html").read_text()


SMPI = SimulatedLauncher(Path("run-smpi"), "smpi", "")  # for what starts nothing
ITERATIONS = 100  # so many that the test tells all cells of a table apart from chance


def _measured_cells(table: on_cluster.Table, slow_cell: tuple[int, int]) -> list[CellResult]:
    """Native 100 ms, LS 110 ms, BSLS 80 ms and 120 ms in one cell, 81 ms told nothing.

    The bound is 72 ms; times scatter by a millisecond.
    """
    results = []
    grids = on_cluster.grids_of(table, Where(8, "250mbit"), ITERATIONS)
    for cell in (cell for grid in grids for cell in grid.cells):
        key = cell.size // 4096, round(1e3 * cell.max_delay / 4)
        runs = {"native": 0.1, table.slow: 0.11, table.fast: 0.08, "persistent": 0.09}
        runs |= {f"none:{table.fast}": 0.081, f"shuffled:{table.fast}": 0.088}
        if key == slow_cell:
            runs[table.fast] = 0.12
        samples = {
            name: {metric: [run + 1e-5 * (i - 50) for i in range(ITERATIONS)] for metric in METRICS}
            | {"bound_s": [0.072] * ITERATIONS, "late_s": [0.0] * ITERATIONS}
            for name, run in runs.items()
        }
        clocks = {"common": True, "worst_error_s": 0.0}
        job = {"mpi": "MPI 9", "ranks_per_machine": 1, "cores": 2, "clocks": clocks}
        results.append(CellResult(cell, {**job, "collective": table.collective}, samples, {}))
    return results


def test_a_table_of_the_cluster_stands_beside_the_published_factors() -> None:
    where = Where(8, "250mbit")
    outcome = on_cluster.outcome_of(
        on_cluster.TABLE_4, where, _measured_cells(on_cluster.TABLE_4, (512, 10))
    )
    rows = {row[:2]: row for row in map(tuple, outcome.rows)}
    assert len(rows) == 35
    row = dict(zip(outcome.columns, rows[2048, 50], strict=True))
    assert row["delay_here_ms"] == 200  # a fourth of the paper's rate
    near = (row["native_ms"], row["slow_ms"], row["fast_ms"])
    assert near == pytest.approx((100, 110, 80), abs=0.02)
    assert (row["published_factor"], row["measured_factor"]) == (2.52, 1.375)
    assert (row["fast_to_bound"], row["native_over_fast"]) == pytest.approx((1.111, 1.25), abs=1e-3)
    # Told nothing over told the truth, with what the test leaves open, and told of others.
    assert row["worth"] == pytest.approx(81 / 80, abs=1e-3)
    # Iterations differ from each other, what is told in each of them by nearly the same factor.
    assert 1.012 <= row["worth_low"] <= row["worth"] <= row["worth_high"] <= 1.013
    assert row["worth_p"] < 1e-9
    assert row["told_others"] == pytest.approx(88 / 80, abs=1e-3)
    by_text = {claim.text: claim for claim in outcome.claims}
    slower = by_text["BSLS is not slower than the native gather by more than 5 %"]
    assert slower.verdict == "partly held"
    assert "The contrary is shown in 512 K at 10 ms." in slower.reason
    assert "34 of 35 cells" in slower.reason
    (control,) = (claim for claim in outcome.claims if claim.kind == "control")
    assert control.verdict == "not held"  # a millisecond of 80 is less than 2 %
    chosen = by_text["Sibyl's own choice is not slower than the native gather by more than 5 %"]
    assert chosen.verdict == "held"
    assert [c.verdict for c in outcome.claims if "lower bound" in c.text] == ["held"]


def test_elapsed_times_are_the_mean_over_the_ranks() -> None:
    """4 ranks, nobody late, linear: blocks of 1 MiB leave one after the other, the root last."""
    means = mean_times("scatter", "LIN", 4, 1024, 0, 1)
    block = 25e-3 + 8e-6 * (1 << 20)  # ms
    assert means.run["LIN"] == pytest.approx(3 * block)
    assert means.elapsed["LIN"] == pytest.approx((1 + 2 + 3 + 3) / 4 * block)


def test_the_appendix_is_judged_by_pairs() -> None:
    run = {"LS": 10.0, "SLS": 8.0, "BSLS": 8.0, "BNOM": 10.0, "SBN": 10.0, "BSBN": 10.0}
    elapsed = {"LS": 5.0, "SLS": 4.0, "BSLS": 6.0, "BNOM": 5.0, "SBN": 5.05, "BSBN": 1.0}
    alike, ahead = appendix_claims(
        "gather", {50: Means(MeanTimes(run), MeanTimes(elapsed))}, "ms", [50]
    )
    assert (alike.verdict, ahead.verdict) == ("partly held", "partly held")
    for claim in (alike, ahead):
        assert claim.reason.startswith("3 of 4 cells (not: BSLS at 50 ms).")


def test_figures_of_the_cluster_hold_run_and_elapsed_times_beside_each_other() -> None:
    figure, where = Figure("scatter", "delay"), Where(48, "250mbit")
    grid = figures_on_cluster.grid_of(figure, where, 3)
    assert [cell.max_delay for cell in grid.cells] == [0, 0.004, 0.02, 0.04, 0.2, 0.4, 2]
    runs = {"LIN": 0.4, "SLIN": 0.38, "BSLIN": 0.36}
    results = []
    for cell in grid.cells:
        samples = {
            name: {metric: [0.0] * 3 for metric in METRICS}
            | {"run_s": [runs.get(name, 0.5)] * 3, "elapsed_s": [0.1, 0.2, 0.4]}
            for name in grid.algorithms
        }
        job = {"mpi": "MPI 9", "ranks_per_machine": 1, "cores": 2, "collective": "scatter"}
        job["clocks"] = {"common": True, "worst_error_s": 0.0}
        results.append(CellResult(cell, job, samples, {}))
    outcome = figures_on_cluster.outcome_of(figure, where, results)
    contenders = len(grid.algorithms)
    row = dict(zip(outcome.columns, outcome.rows[4 * contenders + 1], strict=True))
    assert (row["along"], row["algorithm"], row["published_run_ms"]) == (50, "LIN", 104)
    assert (row["run_ms"], row["run_paper_ms"]) == (400, 100)
    assert (row["elapsed_low_ms"], row["elapsed_ms"], row["elapsed_high_ms"]) == (150, 200, 300)
    # 48 hosts and three iterations give no verdict, whatever they show.
    assert {claim.verdict for claim in outcome.claims} == {"not judged"}
    (paper,) = (claim for claim in outcome.claims if claim.text.startswith("run times in ms"))
    assert paper.ours == "100, 95, 90, 100, 95, 90"
    fewer = figures_on_cluster.outcome_of(figure, Where(16, "250mbit"), results)
    (alike,) = (claim for claim in fewer.claims if claim.text.startswith("average elapsed"))
    assert alike.verdict == "not judged"  # three samples show nothing


def test_the_table_of_the_transform_stands_beside_the_published_one() -> None:
    outcome = fft.table_5(1, lambda: None)
    rows = {row[0]: dict(zip(outcome.columns, row, strict=True)) for row in outcome.rows}
    assert rows["LS"]["published_total_ms"] == 64.854
    assert rows["MPI"]["ours_total_ms"] == ""  # the model has no MPI library
    assert rows["BLS"]["published_total_ms"] == ""  # nor the paper the control
    for metric in fft.METRICS:
        for name, control in fft.CONTROLS.items():
            column = f"ours_{metric}_ms"
            told = [rows[of][column] for of in (control, f"shuffled:{name}")]
            over = [rows[name][f"{metric}_{each}"] for each in WORTH_COLUMNS]
            ratios = [times / rows[name][column] for times in told]
            assert (over[0], over[-1]) == pytest.approx(ratios, rel=2e-3)
            assert over[1:4] == [""] * 3  # one pattern
    assert not any("shuffled" in claim.reason for claim in outcome.claims)
    share = 25e-3 + 8e-6 * fft.FLOATS * 4 / 8
    # Shares go out, rank 0 computes, and takes what is left of the blocks: of BSLS the last
    # rank's, of LS all.
    for name, blocks in (("BSLS", 1), ("LS", 7)):
        least = 7 * share + 43.517 + blocks * share
        assert rows[name]["ours_total_ms"] == pytest.approx(least, abs=0.3)


def test_the_transform_on_the_cluster_is_judged_by_quotients_of_the_same_window() -> None:
    where = Where(8, "100mbit")
    # The second window met a machine that was busy; LS takes 1.04 times as long in both.
    times = {"LS": 1.04, "SLS": 1.0, "BSLS": 1.0, "BLS": 1.0, "BNOM": 1.1, "SBN": 1.1, "BSBN": 1.1}
    times |= {"BBNOM": 1.2, "shuffled:SLS": 1.2, "shuffled:BSLS": 1.3}
    samples = {
        name: {
            metric: [f * times.get(name, 1.04) for f in 8 * (0.6, 1.2)] for metric in fft.METRICS
        }
        for name in fft_on_cluster.NAMES.values()
    }
    check = {"gather_ratio": 1.05, "gather_true": True, "latency_true": True}
    job = {"mpi": "MPI 9", "cluster_check": check}
    cell = Cell(8, 1 << 20, "same", "flat", 0.0)
    outcome = fft_on_cluster.outcome_of(where, [CellResult(cell, job, samples, {})])
    row = dict(zip(outcome.columns, outcome.rows[1], strict=True))
    assert (row["gather"], row["total_published_ms"]) == ("LS", 64.854)
    assert (row["total_ms"], row["total_paper_ms"]) == (936, 93.6)
    verdicts = [claim.verdict for claim in outcome.claims]
    paper = ["held", "not held", "not held", "held"]
    knowing = ["held", "not held", "not held", "held"]  # SLS, BSLS, SBN, BSBN
    assert verdicts == [*paper, *knowing, "held", "held"]
    assert "SLS 0.962" in outcome.claims[0].reason
    assert outcome.claims[-1].kind == "own"
    few = {name: {m: two[:2] for m, two in of.items()} for name, of in samples.items()}
    (*_, choice) = fft_on_cluster.outcome_of(where, [CellResult(cell, job, few, {})]).claims
    assert choice.verdict == "not judged"  # from two windows
    # Nor is a library's gather as good that is faster by more than 1 %.
    for much, verdict in ((0.98, "not held"), (1.02, "not held"), (1.005, "held")):
        other = {m: [much * t for t in times] for m, times in samples["LS"].items()}
        one = CellResult(cell, job, {**samples, "MPI": other}, {})
        (good,) = (
            c for c in fft_on_cluster.outcome_of(where, [one]).claims if "as good as" in c.text
        )
        assert good.verdict == verdict
    # Where the links are not true the gather's own times are not judged.
    slow = {**job, "cluster_check": {**check, "gather_true": False, "cpu_bound": True}}
    verdicts = [c.verdict for c in fft_on_cluster.outcome_of(
        where, [CellResult(cell, slow, samples, {})]).claims]  # fmt: skip
    assert verdicts[:4] == ["held", "not judged", "not judged", "held"]
    # LS is SLS told nothing; of BSLS, told nothing, the times are made up as its own.
    controls = [claim.ours for claim in outcome.claims if claim.kind == "control"]
    of_each = (1.04, 1.0, 1.0, 1.2 / 1.1)  # SLS, BSLS, SBN, BSBN
    said = [f"{each:.3f} ({each:.3f} to {each:.3f})" for each in of_each]
    assert controls == [f"told nothing over told the truth: {each}" for each in said]
    worth = {row[0]: dict(zip(outcome.columns, row, strict=True)) for row in outcome.rows}
    for metric in fft.METRICS:
        columns = [f"{metric}_{each}" for each in WORTH_COLUMNS]
        # Of 16 windows, and one of two algorithms.
        assert [worth["SLS"][each] for each in columns] == [1.04, 1.04, 1.04, 0.00012, 1.2]
        assert worth["BSLS"][columns[-1]] == 1.3
        assert [worth["LS"][each] for each in columns] == [""] * 5


def test_collisions_in_the_model_have_their_control(monkeypatch: pytest.MonkeyPatch) -> None:
    """Times that are made up: BSLS gains a tenth by knowing where all leaves send at once."""

    def made_up(
        _of: str,
        names: str,
        _ranks: int,
        _size: int,
        delay: int,
        _n: int,
        _network: object,
        way: int,
    ) -> Means:
        run, elapsed = MeanTimes(), MeanTimes()
        for name in names.split(","):
            gains = way == 0 and name == "none:BSLS" and delay >= 5
            for times in (run, elapsed):
                times.add(name, [0.11 if gains else 0.1] * 3)
        return Means(run, elapsed)

    monkeypatch.setattr(collisions, "mean_times", made_up)
    outcome = collisions.gather_collisions(3, lambda: None)
    controls = [claim for claim in outcome.claims if claim.kind == "control"]
    assert [(c.algorithm, c.text.split(": ")[-1].split(",")[0], c.verdict) for c in controls] == [
        (f"gather {name}", way, "held" if (name, way) == ("BSLS", "all at once") else "not held")
        for way in ("in turns", "all at once")
        for _ in ("run", "elapsed")
        for name in ("SLS", "BSLS", "SBN", "BSBN")
    ]
    rows = [dict(zip(outcome.columns, row, strict=True)) for row in outcome.rows]
    worth = {(row["under_way"], row["max_delay_ms"], row["worth"])
             for row in rows if row["algorithm"] == "BSLS" and row["kfloats"] == 2048}  # fmt: skip
    assert ("all at once", 50, 1.1) in worth and ("in turns", 50, 1.0) in worth


def test_nodes_beyond_the_cluster_are_not_measured() -> None:
    grid = figures_on_cluster.grid_of(Figure("scatter", "nodes"), Where(16, "250mbit"), 2)
    assert [cell.ranks for cell in grid.cells] == [4, 6, 8, 10, 12, 16]
    everything = figures_on_cluster.grid_of(Figure("scatter", "nodes"), Where(), 2)
    assert len(everything.cells) == 14  # all of the paper's
    assert {cell.max_delay for cell in grid.cells} == {0.2}


def test_wrong_results_on_the_cluster_are_named() -> None:
    results = _measured_cells(on_cluster.TABLE_3, (0, 0))
    results[3].wrong["BSLIN"] = 2
    outcome = on_cluster.outcome_of(on_cluster.TABLE_3, Where(8, "250mbit"), results)
    assert (outcome.claims[0].verdict, outcome.claims[0].reason) == ("not held", "2 are wrong")


def test_what_occupies_the_machine_is_asked_for_by_name() -> None:
    assert not any(item.place for item in session.chosen([], True))
    assert session.chosen([], True, clusters=True) == list(ITEMS)
    (item,) = session.chosen(["gather-table-4-cluster"], False)
    places = [session.Wishes(8).place(item), session.Wishes().place(item)]
    assert places == [Where(8, "300mbit"), Where(48, "300mbit")]
    marks = {results.fingerprint(item, 4, where) for where in places}
    assert len(marks) == 2


def test_a_result_is_stale_when_what_made_it_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulated, measured = (
        next(item for item in ITEMS if item.name == name)
        for name in ("exscan-table-1", "fft-table-5-cluster")
    )
    package, libraries = tmp_path / "sibyl", tmp_path / "lib"
    for room in ("reproduce", "simulator", "prediction", "experiment", "bench", "commands"):
        (package / room).mkdir(parents=True)
        (package / room / "a.py").write_text("")
    libraries.mkdir()
    (tmp_path / "bin").mkdir()
    core = tmp_path / "_core.so"
    library, program = libraries / "libsibyl-mpich.so", tmp_path / "bin" / "sibyl-bench-mpich"
    for path in (core, library, program):
        path.write_text("")
    monkeypatch.setattr(results, "PACKAGE", package)
    monkeypatch.setattr(results._core, "__file__", str(core))
    monkeypatch.setattr(provenance, "library_directories", lambda: [libraries])

    def marks() -> tuple[str, str]:
        return results.fingerprint(simulated, 4), results.fingerprint(measured, 4, Where(8))

    before = marks()
    assert marks() == before
    (package / "commands" / "a.py").write_text("# what is printed")
    (package / "reproduce" / "page.py").write_text("# how it looks")
    assert marks() == before
    for room in ("reproduce", "simulator", "prediction"):
        (package / room / "a.py").write_text("# other margins")
        now = marks()
        # Samples are judged anew in any case.
        assert now[0] != before[0] and now[1] == before[1], room
        before = now
    (package / "experiment" / "a.py").write_text("# other arrivals")
    now = marks()
    assert now[0] != before[0] and now[1] != before[1]
    before = now
    core.write_text("other planners")
    now = marks()
    assert now[0] != before[0] and now[1] == before[1]
    for path in (library, program):
        before = now
        path.write_text("another build")
        now = marks()
        assert now[0] == before[0], "no MPI program takes part"
        assert now[1] != before[1], path
    before = marks()
    (libraries / "libsibyl-profile.so").write_text("which watches programs")
    assert marks() == before
    # What the environment says, and nothing of it in simulated time.
    for name in ("SIBYL_GATHER", "OMPI_MCA_coll"):
        before = marks()
        monkeypatch.setenv(name, "linear")
        now = marks()
        assert now[0] == before[0] and now[1] != before[1], name
    # What SMPI is told of its machines.
    platform = tmp_path / "rack.xml"
    platform.write_text("")
    monkeypatch.setattr(results, "platform_files", lambda: [platform])
    before = marks()
    platform.write_text("<latency/>")
    now = marks()
    assert now[0] == before[0] and now[1] != before[1]
    monkeypatch.setenv("SIBYL_LIBRARY_DIR", str(libraries))  # the same libraries
    assert marks() == now


def test_the_fingerprint_covers_every_room_that_takes_part() -> None:
    """But for what starts and ends programs."""
    script = (
        "import sys, sibyl.reproduce.catalogue; print(*{name.split('.')[1] for name in sys.modules "
        "if name.startswith('sibyl.') and hasattr(sys.modules[name], '__path__')})"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.split())
    assert "prediction" in loaded
    assert loaded - {"processes"} <= set(results.ROOMS)


def kept_samples(folder: Path, name: str = "gather-table-4-cluster") -> Item:
    """An item whose samples are there, as if they had been measured by the programs of today."""
    (item,) = session.chosen([name], False)
    where = Where(8, "250mbit")
    mark = results.fingerprint(item, ITERATIONS, where)
    made = results.Made(ITERATIONS, where, mark, "2026-01-02", 60.0)
    parts = {"": _measured_cells(on_cluster.TABLE_4, (512, 10))}
    asked = samples.asked_of(item, where, ITERATIONS)
    samples.write_samples(item, samples.Kept(made, asked, parts), folder)
    return item


def interrupted_by_the_second_cell(
    monkeypatch: pytest.MonkeyPatch, cells: dict[Cell, CellResult]
) -> list[list[Cell]]:
    """In the place of the cluster: the cells of every job, of which the first one is not ended."""
    jobs: list[list[Cell]] = []

    def pretend(part: Grid, _: str | None, finished: Callable[[CellResult], None], *_more) -> None:
        jobs.append(list(part.cells))
        finished(cells[part.cells[0]])
        if len(jobs) == 1:
            raise Interrupted(2)
        for cell in part.cells[1:]:
            finished(cells[cell])

    monkeypatch.setattr(measured_run, "place", lambda *_: nullcontext(pretend))
    monkeypatch.setattr(measured_run, "find_benchmark", lambda _: Path(__file__))
    monkeypatch.setattr(on_cluster, "choose_benchmark_launcher", lambda _: SMPI)
    for module in (session, on_cluster):
        monkeypatch.setattr(module, "demand_root", lambda: None)
    return jobs


@pytest.mark.parametrize("changed", [False, True])
def test_an_interrupted_measurement_goes_on_under_the_same_settings_alone(
    changed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("OMPI_MCA_coll_tuned_priority", "100")
    cells = {result.cell: result for result in _measured_cells(on_cluster.TABLE_4, (512, 10))}
    jobs = interrupted_by_the_second_cell(monkeypatch, cells)
    words = (["gather-table-4-cluster"], False, tmp_path, ITERATIONS, session.Wishes(8, "250mbit"))
    assert session.run(*words) == 130
    if changed:
        monkeypatch.delenv("OMPI_MCA_coll_tuned_priority")
    assert session.run(*words) == 0
    assert jobs == [list(cells), list(cells)[0 if changed else 1 :]]


def test_an_interrupted_transform_goes_on_under_the_same_settings_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in ("demand_root", "choose_benchmark_launcher", "find_own_program"):
        monkeypatch.setattr(fft_on_cluster, name, lambda *_: SMPI)
    missing = []

    def until_interrupted(_program, _where, _windows, journal, _advance) -> None:
        missing.append(fft_on_cluster.JOBS - len(journal.read()))
        journal.add(_measured_cells(on_cluster.TABLE_4, (512, 10))[0])
        raise Interrupted(2)

    monkeypatch.setattr(fft_on_cluster, "_measure", until_interrupted)
    for mark in ("a", "a", "b"):
        with pytest.raises(KeyboardInterrupt):
            fft_on_cluster.table_5.measure(Where(8), ITERATIONS, mark, lambda: None)
    assert missing == [fft_on_cluster.JOBS, fft_on_cluster.JOBS - 1, fft_on_cluster.JOBS]


@pytest.mark.suite
def test_samples_that_are_kept_are_judged_anew_and_nothing_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    item = kept_samples(tmp_path)
    monkeypatch.setattr(MeasuredRun, "measure", None)
    assert session.judge_again([], tmp_path) == 0
    document = results.read_result(item, tmp_path)
    assert document is not None and results.is_current(item, document)
    assert (document["date"], document["seconds"]) == ("2026-01-02", 60.0)  # of the measurement
    verdicts = {claim["text"]: claim["verdict"] for claim in document["claims"]}
    text = "BSLS is not slower than the native gather by more than 5 %"
    assert verdicts[text] == "partly held"
    assert "BSLS against LS" in capsys.readouterr().out
    # By today's margins; and an item that is measured so already is judged anew by --all.
    monkeypatch.setattr(on_cluster, "SLOWER", 1.21)
    monkeypatch.setattr(results, "judgement", lambda: "by another margin")
    assert not results.is_current(item, document)
    assert results.finished(item, tmp_path, document["fingerprint"]) is None
    monkeypatch.setattr(session, "ITEMS", [item])
    place = Where(8, "250mbit")
    wishes = session.Wishes(place.hosts, place.rate)
    monkeypatch.setattr(session, "demand_root", lambda: None)
    assert session.run([], True, tmp_path, ITERATIONS, wishes, clusters=True) == 0
    again = results.read_result(item, tmp_path)
    assert again is not None
    assert {c["text"]: c["verdict"] for c in again["claims"]}[text] == "held"
    # Another build of the library has not measured them; the page says so.
    assert results.is_current(item, again)
    monkeypatch.setattr(results, "programs_hash", lambda: "another build")
    assert not results.is_current(item, again)
    assert session.results_in(tmp_path)[1] == {item.name: MEASURED_EARLIER}
    assert session.judge_again([item.name], tmp_path) == 0
    assert not results.is_current(item, {**again, "place": None})
    monkeypatch.setattr(results, "judgement", lambda: "by other claims")
    assert session.results_in(tmp_path)[1] == {item.name: MADE_EARLIER}


def test_an_item_that_is_not_measured_there_does_not_keep_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The table of 36 nodes has no 8 hosts; and samples of other cells are measured anew."""
    item = kept_samples(tmp_path)
    scan = next(one for one in ITEMS if one.name == "exscan-table-1-cluster")
    monkeypatch.setattr(session, "ITEMS", [scan, item])
    monkeypatch.setattr(session, "demand_root", lambda: None)
    wishes = session.Wishes(8, "250mbit")
    assert session.run([], True, tmp_path, ITERATIONS, wishes, clusters=True) == 1
    assert "exscan-table-1-cluster: --hosts 8" in capsys.readouterr().err
    assert results.read_result(item, tmp_path) is not None
    kept = samples.read_samples(item, tmp_path)
    assert kept is not None
    samples.write_samples(item, replace(kept, asked="other cells"), tmp_path)
    assert session.judge_kept([], tmp_path) == []
    assert "of other cells or contenders" in capsys.readouterr().err
    taken = []
    monkeypatch.setattr(session, "_run_item", lambda of, *_: taken.append(of) or {"claims": []})
    monkeypatch.setattr(session, "print_outcome", lambda *_: None)
    assert session.run([], True, tmp_path, ITERATIONS, wishes, clusters=True) == 1
    assert taken == [item]


@pytest.mark.suite
def test_samples_of_other_cells_are_not_judged(tmp_path: Path, sibyl: Sibyl) -> None:
    item = kept_samples(tmp_path)
    kept = samples.read_samples(item, tmp_path)
    assert kept is not None
    samples.write_samples(item, replace(kept, asked="other cells"), tmp_path)
    result = sibyl("reproduce", "--judge", item.name, "--to", str(tmp_path))
    assert_usage_error(result, "of other cells or contenders", "measure it anew")
    damaged = {"": kept.parts[""][:-1]}
    samples.write_samples(item, replace(kept, parts=damaged), tmp_path)
    assert_usage_error(sibyl("reproduce", "--judge", item.name, "--to", str(tmp_path)), "damaged")
    assert_usage_error(
        sibyl("reproduce", "--judge", "gather-table-4", "--to", str(tmp_path)), "holds no samples"
    )
    assert_usage_error(sibyl("reproduce", "--judge"), "holds no samples")
    for wish in (("--all",), ("--iterations", "15"), ("--hosts", "8")):
        assert_usage_error(sibyl("reproduce", "--judge", *wish), "--judge measures nothing")


@pytest.mark.parametrize("data", [b"", b"no xz", lzma.compress(b"[]"), lzma.compress(b"{}")[:-4]])
def test_a_file_that_holds_no_samples_is_left_out(
    data: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (item,) = session.chosen(["gather-table-4-cluster"], False)
    (tmp_path / f"{item.name}.samples.xz").write_bytes(data)
    assert samples.read_samples(item, tmp_path) is None
    (line,) = capsys.readouterr().err.splitlines()
    assert "gather-table-4-cluster.samples.xz is left out" in line


def test_a_result_says_how_many_iterations_were_taken(tmp_path: Path) -> None:
    """Where that is not as many as were asked for."""
    assert session.run(["exscan-table-1"], False, tmp_path, 5) == 0
    (item,) = session.chosen(["exscan-table-1"], False)
    document = results.read_result(item, tmp_path)
    assert document is not None and document["iterations"] == 1
    assert results.is_current(item, document)
    folder = Path(__file__).parents[3] / "docs" / "results" / "reproduction"
    for each in ITEMS:
        document = results.read_result(each, folder)
        if each.iterations is not None and document is not None:
            assert document["iterations"] == each.iterations, each.name
    (item,) = session.chosen(["cross-validation"], False)
    kept = samples.read_samples(item, folder)
    assert kept is not None
    taken = {
        len(times)
        for name, cells in kept.parts.items()
        for cell in cells
        for of in cell.samples.values()
        for times in of.values()
        if not name.endswith(" under SMPI")
    }
    assert taken == {kept.made.iterations}


def test_a_result_that_lacks_its_table_or_picture_is_made_again(tmp_path: Path) -> None:
    (item,) = session.chosen(["exscan-table-1"], False)
    mark = results.fingerprint(item, 4)
    made = results.Made(4, None, mark, "2026-11-26", 0.1)
    results.write_outcome(item, item.run(4, lambda: None), tmp_path, made)
    assert results.finished(item, tmp_path, mark) is not None
    assert results.finished(item, tmp_path, "another") is None
    for end in ("csv", "png"):
        path = tmp_path / f"{item.name}.{end}"
        data = path.read_bytes()
        path.unlink()
        assert results.finished(item, tmp_path, mark) is None, end
        path.write_bytes(data)
    assert results.finished(item, tmp_path, mark) is not None


def test_a_page_names_results_that_other_programs_have_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also those that a run leaves alone, since they take a cluster."""
    by_name = {item.name: item for item in ITEMS}
    simulated, measured = by_name["exscan-table-1"], by_name["fft-table-5-cluster"]
    outcome = simulated.run(4, lambda: None)
    where = Where(4, "100mbit")
    for item, place in ((simulated, None), (measured, where)):
        mark = results.fingerprint(item, 4, place)
        made = results.Made(4, place, mark, "2026-11-26", 0.1)
        document = results.write_outcome(item, outcome, tmp_path, made)
        assert results.is_current(item, document)
    assert results.is_current(measured, results.read_result(measured, tmp_path) or {})
    console = Terminal(quiet=True)
    session.write_pages(tmp_path, console)
    assert "earlier version" not in (tmp_path / "reproduction.md").read_text()
    monkeypatch.setattr(results, "programs_hash", lambda: "another build")
    session.write_pages(tmp_path, console)
    page = (tmp_path / "reproduction.md").read_text()
    assert "judged as today: `fft-table-5-cluster` (" in page
    assert "Made by an earlier version" not in page
    assert (tmp_path / "index.html").read_text().count("measured by an earlier version") == 1
    assert not results.is_current(simulated, {"fingerprint": "of a version that said no more"})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"item":"exscan-table-1"}',
        "[" * 100000,
        '{"item":"exscan-table-1","title":"a","source":"b","how":"c","setting":"d",'
        '"claims":[{"text":"e","verdict":"great"}]}',
        '{"item":"exscan-table-1","title":"\\ud800","source":"b","how":"c","setting":"d",'
        '"claims":[]}',
        '{"item":"exscan-table-1","title":"a","source":"b","how":"c","setting":"d","claims":[],'
        '"place":{"hosts":4,"rate":5,"mpi":null}}',
    ],
)
def test_a_file_that_is_no_result_is_left_out(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "exscan-table-1.json").write_text(text)
    session.write_pages(tmp_path, Terminal(quiet=True))
    assert "`exscan-table-1`" in (tmp_path / "reproduction.md").read_text()
    (line,) = capsys.readouterr().err.splitlines()
    assert "exscan-table-1.json is left out" in line


def test_less_than_the_margin_is_no_difference() -> None:
    """Of the model too, whose numbers have no noise."""

    def of(**times: float) -> dict[float, MeanTimes]:
        return {50.0: MeanTimes({**times, "none:BSLIN": 1.0})}

    assert fastest(of(BSLIN=10.0, LIN=10.3), "BSLIN", [50.0], "").verdict == "held"
    assert fastest(of(BSLIN=10.0, LIN=10.1), "BSLIN", [50.0], "").verdict == "not held"


def test_a_claim_names_the_cells_where_it_does_not_hold() -> None:
    claim = judge("x", [("a", True), ("b", False)], "Why.")
    assert (claim.verdict, claim.reason) == ("partly held", "1 of 2 cells (not: b). Why.")
    assert judge("x", [("a", True)], "").verdict == "held"
    assert judge("x", [("a", False)], "").verdict == "not held"


def test_bad_input_gets_one_line(sibyl: Sibyl) -> None:
    assert_usage_error(sibyl("reproduce", "table-99"), "unknown item 'table-99'", "exscan-table-1")
    assert_usage_error(sibyl("reproduce", "--all", "exscan-table-1"), "--all")
    assert_usage_error(sibyl("reproduce", "exscan-table-1", "--iterations", "0"), "at least 2")
    assert_usage_error(sibyl("reproduce", "exscan-table-1", "--to", "/proc/x"), "/proc/x")
    own = ("--to", "out", "--json", "out/gather-table-4.json")
    (sibyl.directory / "out").mkdir()
    assert_usage_error(sibyl("reproduce", "exscan-table-1", *own), "--json out/gather-table-4.json")
    assert_usage_error(sibyl("reproduce", "--clusters"), "--all")
    assert_usage_error(sibyl("reproduce", "fft-table-5-cluster", "--hosts", "6"), "power of two")
    assert_usage_error(sibyl("reproduce", "gather-table-4-cluster", "--hosts", "1"), "--hosts 1")
    assert_usage_error(sibyl("reproduce", "gather-table-4-cluster", "--rate", "fast"), "'fast'")
    for option, value in (("--hosts", 8), ("--rate", "50mbit"), ("--mpi", "mpich")):
        assert_usage_error(sibyl("reproduce", "exscan-table-1", option, value), "on a cluster")
        assert_usage_error(sibyl("reproduce", "--all", option, value), "on a cluster")


def test_a_platform_takes_the_latency_and_rate_that_were_measured() -> None:
    tryton = Path(__file__).parents[3] / "platforms/tryton.xml"
    with platform_like(tryton, 1e-3, 1.6e-7) as platform:
        text = Path(platform).read_text()
    assert 'bw="6250000Bps" lat="3.0000e-04s"' in text
    for name in ("os", "ois", "or"):
        assert f'id="smpi/{name}" value="0:2.0000e-04:0"' in text
    assert 'loopback_bw="5GBps"' in text
    assert not Path(platform).exists()


def test_cross_validation_names_the_cases_that_differ() -> None:
    cases = [
        Case("gather", "linear", "flat", 0.100, 0.095, 0.096, 0.096, 0.096),
        Case("scatter", "binomial", "flat", 0.100, 0.095, 0.060, 0.060, 0.050),
    ]
    job = {"mpi": "M", "alpha_s": 1e-4, "beta_s_per_byte": 8e-8}
    outcome = outcome_of(cases, Where(4, "100mbit"), job)
    verdicts = [claim.verdict for claim in outcome.claims]
    assert verdicts == ["partly held", "partly held", "held", "not held", "not held"]
    assert "scatter binomial flat" in outcome.claims[0].reason
    assert outcome.rows[1][3:8] == [100, 95, 60, 60, 50]


def test_knowing_is_judged_against_the_same_algorithm_told_nothing() -> None:
    found = {
        5.0: MeanTimes({"LIN": 10.0, "BSLIN": 8.0, "none:BSLIN": 8.0, "shuffled:BSLIN": 8.8}),
        50.0: MeanTimes({"LIN": 10.0, "BSLIN": 8.0, "none:BSLIN": 8.8, "shuffled:BSLIN": 9.6}),
    }
    claim = worth_of_knowing(found, "BSLIN", "ms", [5.0, 50.0])
    assert claim.verdict == "partly held"
    assert "1.000 (1.100), 1.100 (1.200) at 5, 50 ms" in claim.reason
    assert published_only(found[5.0]) == {"LIN": 10.0, "BSLIN": 8.0}


@pytest.mark.parametrize(
    ("two", "own", "one", "verdict"),
    [(9.0, 10.0, 11.0, "held"), (9.9, 10.0, 11.0, "not held"), (9.0, 11.0, 10.0, "not held")],
)
def test_a_scan_is_ahead_by_more_than_the_margin_and_in_the_order_of_the_claim(
    two: float, own: float, one: float, verdict: str
) -> None:
    names = ("two-op-doubling", "123-doubling", "1-doubling", "recursive-doubling")
    ours = {
        (36, count, name): time
        for count in (1, 100000)
        for name, time in zip(names, (two, own, one, 12.0), strict=True)
    }
    (claim,) = [c for c in exscan.claims_of(ours, ours) if "up to 100 elements" in c.text]
    assert claim.verdict == verdict
