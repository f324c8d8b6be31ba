"""`sibyl bench` on this machine: what it measures, writes, resumes, and leaves behind."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import Mpi, Sibyl, assert_usage_error
from forked_command import COMMAND
from installed_mpis import benchmark_of

from sibyl import algorithms as rows_of
from sibyl.experiment.grid import IRREGULAR, PERSISTENT, SORTED, TOLD
from sibyl.experiment.runner import native_variants
from sibyl.mpi.library import find_benchmark

QUICK = ["--size", "4K", "--iterations", "3", "--warm-up", "1", "--compute", "1ms"]


@pytest.fixture
def bench(sibyl: Sibyl, mpi: Mpi, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Sibyl:
    """The command, with a journal of its own, where there is a benchmark for this MPI."""
    benchmark_of(mpi.launcher)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return sibyl


@pytest.mark.suite
def test_every_collective_is_measured_and_its_results_are_right(bench: Sibyl, mpi: Mpi) -> None:
    for collective in ("gather", "scatter", "reduce", "gatherv", "scatterv", "exscan", "scan"):
        words = ["bench", collective, "-n", 3, "--mpi", mpi.option, *QUICK]
        words += ["--root", 0 if collective in ("exscan", "scan") else 2]
        words += ["--counts", "spikes"] if collective.endswith("v") else []
        # All rows of reduce and the irregular ones against native are the collectives' own tests.
        words += ["--algorithms", "auto"] if collective[-1] in "ev" else []
        result = bench(*words, "--max-delay", "1ms", "--csv", "a.csv")
        assert result.returncode == 0, result
        rows = list(csv.DictReader((bench.directory / "a.csv").open()))
        assert rows[0]["algorithm"] == "native"
        assert {row["collective"] for row in rows} == {collective}
        assert all(row["verdict"] != "WRONG" for row in rows)
        for row in rows:
            assert float(row["run_us"]) >= float(row["spread_us"])
            assert float(row["ratio_to_bound"]) > 0
        if collective in ("gather", "scatter", "exscan", "scan"):
            assert "auto" in {row["algorithm"] for row in rows}


WITHOUT_A_ROOT_OF_BLOCKS = (
    *("allreduce", "bcast", "reduce_scatter", "reduce_scatter_block"),
    *("allgather", "allgatherv", "alltoall", "alltoallv", "barrier"),
)


@pytest.mark.suite
@pytest.mark.parametrize("collective", WITHOUT_A_ROOT_OF_BLOCKS)
def test_all_of_sibyl_s_algorithms_take_part_and_their_results_are_right(
    bench: Sibyl, mpi: Mpi, collective: str
) -> None:
    words = ["bench", collective, "-n", 3, "--mpi", mpi.option, *QUICK, "--max-delay", "1ms"]
    words += ["--root", 1] if collective == "bcast" else []
    words += ["--counts", "same,spikes,two-blocks"] if collective in IRREGULAR else []
    told = ["none:clairvoyant", "shuffled:clairvoyant"] if collective in TOLD else []
    result = bench(*words, "--algorithms", ",".join(["sibyl:*", *told]), "--csv", "a.csv")
    assert result.returncode == 0, result
    rows = list(csv.DictReader((bench.directory / "a.csv").open()))
    names = ["native", *(row.name for row in rows_of(collective)), *told]
    cells = 3 if collective in IRREGULAR else 1
    assert [row["algorithm"] for row in rows] == names * cells
    assert all(row["verdict"] != "WRONG" for row in rows)
    for row in rows:
        assert float(row["absorbed_us"]) > 0
        assert float(row["bound_us"]) >= float(row["spread_us"])


@pytest.mark.suite
def test_all_of_the_library_s_algorithms_take_part(bench: Sibyl, mpi: Mpi) -> None:
    for collective in ("allgather", "bcast"):
        words = ["bench", collective, "-n", 3, "--mpi", mpi.option, *QUICK, "--csv", "a.csv"]
        result = bench(*words, "--algorithms", "native:*")
        assert result.returncode == 0, result
        names = [row["algorithm"] for row in csv.DictReader((bench.directory / "a.csv").open())]
        assert names[0] == "native"
        assert len(names) > 3
        assert all(name.startswith("native:") for name in names[1:])
        assert "native:two_proc" not in names
        adapt = mpi.launcher.family == "openmpi" and collective == "bcast"
        assert ("native:adapt" in names) == adapt
        assert "native:han" not in names  # for several hosts


def test_mpich_s_forms_for_nodes_of_several_ranks_take_part(
    bench: Sibyl, mpi: Mpi, monkeypatch: pytest.MonkeyPatch
) -> None:
    if mpi.launcher.family != "mpich":
        pytest.skip("forms of MPICH's")
    for collective in ("allreduce", "barrier", "bcast", "reduce", "scan"):
        assert "native:smp" in native_variants(mpi.launcher, collective)
    monkeypatch.setenv("MPIR_CVAR_NUM_CLIQUES", "2")  # as on two nodes
    words = ["bench", "bcast", "-n", 4, "--mpi", mpi.option, *QUICK, "--size", "64K"]
    result = bench(*words, "--algorithms", "native:smp", "--csv", "a.csv")
    assert result.returncode == 0, result
    rows = list(csv.DictReader((bench.directory / "a.csv").open()))
    assert [row["algorithm"] for row in rows] == ["native", "native:smp"]
    assert all(row["verdict"] != "WRONG" for row in rows)


def test_segments_of_open_mpi_s_algorithms_have_a_size(bench: Sibyl, mpi: Mpi) -> None:
    words = ["bench", "bcast", "-n", 3, "--mpi", mpi.option, *QUICK, "--csv", "a.csv"]
    result = bench(*words, "--algorithms", "native:pipeline@1024")
    if mpi.launcher.family == "openmpi":
        assert result.returncode == 0, result
    else:
        assert_usage_error(result, "native:pipeline@1024")


@pytest.mark.suite
def test_the_names_of_the_papers_take_part_and_their_results_are_right(
    bench: Sibyl, mpi: Mpi
) -> None:
    for collective, names in PERSISTENT.items():
        words = ["bench", collective, "-n", 4, "--mpi", mpi.option, *QUICK]
        words += ["--root", 0 if collective == "exscan" else 2]
        words += ["--algorithms", ",".join(names), "--max-delay", "2ms", "--csv", "a.csv"]
        result = bench(*words)
        assert result.returncode == 0, result
        rows = list(csv.DictReader((bench.directory / "a.csv").open()))
        assert [row["algorithm"] for row in rows] == ["native", *names]
        assert all(row["verdict"] != "WRONG" for row in rows)


@pytest.mark.suite
@pytest.mark.parametrize("collective", ["gather", "scatter"])
def test_controls_are_told_what_their_names_say(bench: Sibyl, mpi: Mpi, collective: str) -> None:
    """One rank comes a second after the others: the edges of a control are off by that."""
    sorted_ones = [name for name in PERSISTENT[collective] if name in SORTED and name[0] != "p"]
    names = [f"{told}{name}@2" for name in sorted_ones for told in ("", "none:", "shuffled:")]
    words = ["bench", collective, "-n", 4, "--mpi", mpi.option, *QUICK, "--pattern", "skewed"]
    words += ["--max-delay", "1s", "--compute", "100ms", "--iterations", 1, "--warm-up", 0]
    result = bench(*words, "--algorithms", ",".join(names), "--json", "a.json")
    assert result.returncode == 0, result
    (found,) = json.loads((bench.directory / "a.json").read_text(encoding="utf-8"))["cells"]
    assert not found["wrong"]
    assert set(found["errors"]) == set(names)
    for name, (_, worst) in found["errors"].items():
        assert worst[0] < 0.3 if ":" not in name else 0.7 < worst[0] < 1.3, (name, worst)


def test_the_json_says_where_the_numbers_come_from(bench: Sibyl, mpi: Mpi) -> None:
    words = ["bench", "reduce", "-n", 2, "--mpi", mpi.option, *QUICK, "--seed", 7]
    result = bench(*words, "--json", "a.json")
    assert result.returncode == 0, result
    document = json.loads((bench.directory / "a.json").read_text())
    assert document["provenance"]["launcher"].endswith(mpi.launcher.version)
    assert document["parameters"]["seed"] == 7
    (cell,) = document["cells"]
    assert cell["job"]["ranks"] == 2
    assert cell["job"]["clocks"]["common"] is True
    assert len(cell["samples"]["native"]["run_s"]) == 3
    assert cell["job"]["alpha_s"] > 0
    assert list((bench.directory / "cache/sibyl/journal").iterdir()) == []


@pytest.mark.suite
def test_the_library_s_own_algorithms_take_part(bench: Sibyl, mpi: Mpi) -> None:
    words = ["bench", "exscan", "-n", 3, "--mpi", mpi.option, *QUICK]
    result = bench(*words, "--algorithms", "native,native:recursive_doubling", "--csv", "a.csv")
    assert result.returncode == 0, result
    rows = list(csv.DictReader((bench.directory / "a.csv").open()))
    assert [row["algorithm"] for row in rows] == ["native", "native:recursive_doubling"]
    result = bench(*words, "--algorithms", "native:unheard-of")
    assert result.returncode == 2, result
    assert "native:unheard-of" in result.stderr


def test_a_pattern_file_decides_when_ranks_arrive(bench: Sibyl, mpi: Mpi) -> None:
    (bench.directory / "late.txt").write_text("# call 0\n0\n0.02\n0\n# call 1\n0\n0\n0.03\n")
    words = ["bench", "gather", "-n", 3, "--mpi", mpi.option, *QUICK, "--warm-up", 0]
    words += ["--algorithms", "native", "--iterations", 4, "--pattern", "late.txt"]
    result = bench(*words, "--json", "a.json")
    assert result.returncode == 0, result
    (cell,) = json.loads((bench.directory / "a.json").read_text())["cells"]
    for spread, late, told in zip(
        cell["samples"]["native"]["spread_s"],
        cell["samples"]["native"]["late_s"],
        [0.02, 0.03] * 2,
        strict=True,
    ):
        assert abs(spread - told) <= late + 1e-4


@pytest.mark.suite
def test_a_recorded_program_is_replayed(bench: Sibyl, mpi: Mpi, job: Path) -> None:
    words = ["run", "-n", 2, "--mpi", mpi.option, "--quiet", "--record", "recorded.json", "--", job]
    result = bench(*words)
    assert result.returncode == 0, result
    recording = json.loads((bench.directory / "recorded.json").read_text())
    (site,) = [site for site in recording["sites"] if site["collective"] != "barrier"]
    assert (site["collective"], site["bytes"], site["group"]) == ("exscan", 8, [0, 1])
    assert [call["number"] for call in site["calls"]] == list(range(1, 21))
    for call in site["calls"]:
        assert min(call["times"]) == 0
        assert all(0 <= time < 60 for time in call["times"])

    words = ["--mpi", mpi.option, "--algorithms", "native", "--iterations", 3, "--compute", "1ms"]
    result = bench("bench", "exscan", *words, "--pattern", "recorded.json", "--json", "a.json")
    assert result.returncode == 0, result
    (cell,) = json.loads((bench.directory / "a.json").read_text())["cells"]
    # The site's ranks and size, and what its users feel first.
    assert (cell["cell"]["ranks"], cell["cell"]["size"]) == (2, 8)
    headings = next(line for line in result.stdout.splitlines() if "algorithm" in line)
    assert headings.index("elapsed") < headings.index("run time")
    assert "elapsed time by rank-sum tests" in result.stdout
    result = bench("bench", "exscan", *words, "--pattern", "recorded.json", "--ranks", 3)
    assert_usage_error(result, "recorded on 2 ranks, not 3")
    words = ["bench", "gather", "-n", 2, "--mpi", mpi.option, *QUICK, "--algorithms", "native"]
    result = bench(*words, "--pattern", "recorded.json#0", "--json", "a.json")
    assert result.returncode == 0, result
    (cell,) = json.loads((bench.directory / "a.json").read_text())["cells"]
    assert cell["cell"]["pattern"] == "recorded.json#0"


def test_osu_s_layout_has_a_line_a_size(bench: Sibyl, mpi: Mpi) -> None:
    words = ["bench", "scan", "-n", 2, "--mpi", mpi.option, *QUICK, "--size", "8,64"]
    result = bench(*words, "--algorithms", "native", "--format", "osu")
    assert result.returncode == 0, result
    lines = [line for line in result.stdout.splitlines() if line and not line.startswith("#")]
    assert [line.split()[0] for line in lines] == ["8", "64"]


def _processes_with(word: str) -> list[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            text = path.read_bytes()
            state = (path.parent / "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if word.encode() in text and state != "Z":
            found.append(int(path.parent.name))
    return found


@pytest.mark.suite
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_leaves_nothing_and_is_resumed(
    bench: Sibyl, mpi: Mpi, number: signal.Signals
) -> None:
    words = ["bench", "gather", "-n", "2", "--mpi", mpi.option, "--algorithms", "native"]
    words += ["--size", "4K,8K,16K,32K", "--iterations", "4", "--warm-up", "0"]
    words += ["--compute", "150ms", "--json", "a.json"]
    mark = f"BENCH_TEST={os.getpid()}-{number}-{mpi.launcher.version}"
    name, value = mark.split("=")
    process = subprocess.Popen(
        [*COMMAND, *words],
        cwd=bench.directory,
        env={**os.environ, name: value},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    journals = bench.directory / "cache" / "sibyl" / "journal"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:  # until there is a cell in it
        if any(journal.stat().st_size for journal in journals.glob("*.jsonl")):
            break
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert "--resume" in errors
    assert _processes_with(mark) == []
    assert not (bench.directory / "a.json").exists()
    (journal,) = journals.glob("*.jsonl")
    kept = journal.read_text().splitlines()
    assert kept

    result = bench(*words, "--resume")
    assert result.returncode == 0, result
    document = json.loads((bench.directory / "a.json").read_text())
    assert [cell["cell"]["size"] for cell in document["cells"]] == [4096, 8192, 16384, 32768]
    assert document["cells"][0]["samples"] == json.loads(kept[0])["samples"]
    assert not journal.exists()


@pytest.mark.parametrize(
    "words",
    [
        ["bench", "barrier", *QUICK[2:], "--algorithms", "native"],
        ["guidelines", "--collectives", "gather", "--blocks", "1", "--iterations", "2"],
    ],
)
def test_a_full_disk_under_the_results_loses_no_cell(
    bench: Sibyl, mpi: Mpi, words: list[str]
) -> None:
    if mpi.launcher.flavour != "mpich":
        pytest.skip("MPICH's jobs, which start sooner, are enough")
    words = [*words, "-n", "2", "--mpi", mpi.option]
    result = bench(*words, "--json", "/dev/full")
    assert result.returncode == 2, result
    kept, why = result.stderr.splitlines()[-2:]
    assert "cells are kept, go on with the same command and --resume" in kept
    assert "/dev/full: cannot be written" in why
    (journal,) = (bench.directory / "cache" / "sibyl" / "journal").glob("*.jsonl")
    assert journal.stat().st_size
    result = bench(*words, "--json", "a.json", "--resume")
    assert result.returncode == 0, result
    assert not journal.exists()


def test_a_simulated_cluster_repeats_and_forces_rivals(simulated: Sibyl) -> None:
    words = ["bench", "reduce", "--on", "smpi", "-n", 8, "--size", "256K", "--iterations", 2]
    # SMPI's rival that knows who is late writes the receive buffer of every rank.
    rivals = ["native:flat_tree", "native:arrival_pattern_aware"]
    words += ["--max-delay", "20ms", "--algorithms", ",".join([*rivals, "auto"])]
    words += ["--csv", "a.csv"]
    times = []
    for _ in range(2):
        result = simulated(*words)
        assert result.returncode == 0, result
        rows = list(csv.DictReader((simulated.directory / "a.csv").open()))
        assert [row["algorithm"] for row in rows] == ["native", *rivals, "auto"]
        assert not [row for row in rows if row["verdict"] == "WRONG"]
        times.append({row["algorithm"]: float(row["absorbed_us"]) for row in rows})
    assert times[0] == times[1]
    # On 1 Gbit/s the wire alone takes 2.1 ms; seven whole vectors one after the other cannot win.
    assert 2100 < times[0]["auto"] < times[0]["native"] < times[0]["native:flat_tree"]
    (simulated.directory / "bytes.xml").write_bytes(b"\xff\xfe")
    for more, part in (
        (["--platform", "absent"], "absent"),
        (["--platform", "./absent.xml"], "absent"),
        (["--platform", "./bytes.xml"], "is no text in UTF-8"),
        (["-n", 49], "48 nodes"),
        (["--mpi", "intel"], "intel"),
        (["--prediction", "wild"], "wild"),
        (["--size", "16GiB"], "2^31 - 1 elements"),
        (["-n", 48, "--size", "7GiB"], "of memory"),
    ):
        assert_usage_error(simulated(*words, *more), part)
    result = simulated(*words, "--algorithms", "native:absent")
    assert (result.returncode, len(result.stderr.splitlines())) == (1, 1)
    assert "native:absent: SMPI has none of that name; there are default," in result.stderr


def test_a_wrong_variable_ends_a_simulated_program_in_one_line(simulated: Sibyl) -> None:
    root = Path(__file__).parents[3]
    words = [root / "platforms/run-smpi", "--nodes", "2", find_benchmark("smpi")]
    wrong = {**os.environ, "SIBYL_SEGMENTS": "99999"}
    result = subprocess.run(
        [*words, "--counts", "1", "--repetitions", "1"],
        **{"cwd": simulated.directory, "env": wrong, "capture_output": True, "text": True},
        check=False,
    )
    # Two lines more are smpirun's: the command and its status.
    assert "Execution failed with code 2." in result.stdout + result.stderr
    told = [line for line in result.stderr.splitlines() if "SIBYL_SEGMENTS" in line]
    assert told == [
        "sibyl-bench-smpi: SIBYL_SEGMENTS=99999: not a whole number from 0 to 1024; correct or "
        "unset it"
    ]


def test_irregular_blocks_are_simulated_wherever_ranks_lie(simulated: Sibyl) -> None:
    script = Path(__file__).parents[3] / "platforms/irregular.py"
    words = [sys.executable, script, find_benchmark("smpi"), "--problems", "decreasing"]
    words += ["--blocks", "10000", "--nodes", "3", "--ranks-per-node", "2"]
    bound, linear = {}, {}
    for placement in ("consecutive", "cyclic"):
        run = subprocess.run(
            [*words, "--placement", placement],
            **{"cwd": simulated.directory, "capture_output": True, "text": True},
            check=True,
        )
        _, _, _, bound[placement], _, linear[placement], *_ = run.stdout.splitlines()[2].split("|")
    # The root, rank 3, shares a node with rank 2, or with rank 0, whose block is the largest.
    for microseconds in (bound, linear):
        assert float(microseconds["cyclic"]) < 0.9 * float(microseconds["consecutive"])


def test_another_contender_can_be_the_reference(simulated: Sibyl) -> None:
    words = ["bench", "exscan", "--on", "smpi", "-n", 8, "--size", "8", "--pattern", "none"]
    words += ["--iterations", 1, "--algorithms", "123-doubling", "--reference", "1-doubling"]
    result = simulated(*words, "--csv", "a.csv")
    assert result.returncode == 0, result
    rows = list(csv.DictReader((simulated.directory / "a.csv").open()))
    assert [row["algorithm"] for row in rows] == ["1-doubling", "123-doubling"]
    assert rows[0]["verdict"] == "reference"
    assert_usage_error(simulated(*words, "--reference", "absent"), "--reference absent")


def test_bad_input_ends_in_one_line(bench: Sibyl) -> None:
    for words, part in (
        (["bench", "alltoallw"], "alltoallw"),
        (["bench", "allgather", "--algorithms", "none:ring"], "none:ring"),
        (["bench", "gather", "--algorithms", "none:LIN"], "none:LIN"),
        (["bench", "gather", "--algorithms", "LS@2"], "LS@2"),
        (["bench", "gather", "--algorithms", "BSLS@many"], "BSLS@many"),
        (["bench", "gather", "--algorithms", "BSLIN@2"], "BSLIN@2"),
        (["bench", "reduce", "--on", "smpi", "--algorithms", "native:*"], "native:*"),
        (["bench", "allgather", "--counts", "random"], "--counts"),
        (["bench", "gather", "--algorithms", "quick"], "quick"),
        (["bench", "gather", "--pattern", "absent.txt"], "absent.txt"),
        (["bench", "gather", "--max-delay", "1h"], "1h"),
        (["bench", "gather", "--size", "0"], "0"),
        (["bench", "gather", "--ranks", "two"], "two"),
        (["bench", "gather", "--root", "2", "--ranks", "2"], "root"),
        (["bench", "gather", "--counts", "spikes"], "--counts"),
        (["bench", "reduce", "--algorithms", "hybrid"], "hybrid"),
        (["bench", "gather", "--on", "moon"], "moon"),
        (["bench", "gather", "--rate", "100mbit"], "--rate"),
        (["bench", "all", "--platform", "tryton"], "--platform"),
        (["bench", "gatherv", "--size", "8", "--blocks", "3"], "--blocks"),
        (["bench", "grid", "--ranks-per-node", "1"], "--pieces"),
        (["bench", "gather", "--plot", "a.bmp"], "a.bmp"),
        (["bench", "gather", "--csv", "absent/a.csv"], "absent/a.csv"),
        (["bench", "gather", "--plot", "a.png", "--json", "a-distribution.png"], "a-distribution"),
    ):
        assert_usage_error(bench(*words), part)


def test_a_variant_that_the_library_has_not_is_noticed_at_once(bench: Sibyl, mpi: Mpi) -> None:
    for collective in ("gather", "all"):
        words = ["bench", collective, "--mpi", mpi.option, "--algorithms", "native:no-such"]
        assert_usage_error(bench(*words), "native:no-such")
