"""`sibyl profile` of programs whose late ranks and lines are known, under each MPI."""

import json
import shutil
import statistics
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import PROGRAMS, Mpi, Sibyl, compiled, mpi_library_dir

pytestmark = pytest.mark.timing

RANKS = 4
# Long beside what a busy machine keeps a rank waiting for a processor, and so many that one call in
# which it does so all the same leaves a share of 0.95.
CALLS, DELAY = 24, 0.04
COSTS = '{"alpha": 1e-6, "beta": 1e-9, "gamma": 0}'


def line_of(source: str, name: str) -> int:
    """The line of a program that is marked "at NAME"."""
    lines = (PROGRAMS / source).read_text().splitlines()
    marked = [n for n, line in enumerate(lines, 1) if f"at {name} *" in f"{line} *"]
    return marked[0]


def profile(sibyl: Sibyl, *words: object) -> tuple[subprocess.CompletedProcess[str], dict]:
    (sibyl.directory / "costs.json").write_text(COSTS)
    options = ("--json", "a.json", "--html", "a.html", "--calibration", "costs.json")
    result = sibyl("profile", *options, *words)
    return result, json.loads((sibyl.directory / "a.json").read_text())


def site_of(document: dict[str, Any], collective: str, member: int = 0) -> dict[str, Any]:
    found = [
        site
        for site in document["sites"]
        if site["collective"] == collective and str(member) in site["members"].replace("-", ",")
    ]
    assert len(found) == 1, document["sites"]
    return found[0]


@pytest.fixture
def arrivals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where programs write when their ranks came to a site: the truth that profiles are held to."""
    folder = tmp_path / "arrivals"
    folder.mkdir()
    monkeypatch.setenv("ARRIVALS", str(folder))
    return folder


def true_arrivals(folder: Path, name: str) -> dict[int, list[int]]:
    """By rank, when it came to each call of the site: in nanoseconds of one clock."""
    found: dict[int, list[int]] = {}
    for path in folder.iterdir():
        lines = (line.split() for line in path.read_text().splitlines())
        times = [int(when) for site, when in lines if site == name]
        if times:
            found[int(path.name)] = times
    return found


def assert_late(site: dict[str, Any], rank: int, times: dict[int, list[int]]) -> None:
    """The profile names the rank that came last, as often and as far as the program itself saw, but
    for one call: in more than 0.95 of them, unless a busy machine had another one come last."""
    lateness = []
    calls = min(map(len, times.values()))
    for call in range(calls):
        others = [when[call] for member, when in times.items() if member != rank]
        if times[rank][call] > max(others):
            lateness.append((times[rank][call] - statistics.median(others)) / 1e9)
    share = len(lateness) / calls
    late = site["late"][0]
    assert late["rank"] == rank, site
    assert late["share"] == pytest.approx(share, abs=1.01 / calls), site
    assert late["median_lateness"] == pytest.approx(statistics.median(lateness), rel=0.1), site


def test_a_site_that_is_served_in_turns_says_what_that_gave_back(
    sibyl: Sibyl, mpi: Mpi, late_sites: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under prediction one reduce of sixteen is the MPI library's; an alltoall always is."""
    monkeypatch.setenv("SIBYL_PREDICT", "periodic")
    monkeypatch.setenv("SIBYL_REDUCE", "binomial")
    monkeypatch.setenv("SIBYL_ALLTOALL", "native")
    words = ("-n", RANKS, "--mpi", mpi.option, "--serve", "--", late_sites, 160, 500)
    result, document = profile(sibyl, *words)
    assert result.returncode == 0, result.stderr
    reduce = site_of(document, "reduce")
    assert (reduce["calls"], reduce["bytes"]) == (160, 160 * RANKS * 8000)
    gain = reduce["gain"]["measured_seconds"]
    assert gain is not None
    # One call of sixteen stands for what the library would have taken for all of them.
    assert 0 < abs(gain) <= 16 * reduce["seconds"]
    assert site_of(document, "alltoall")["gain"]["measured_seconds"] is None
    assert "measured: Sibyl" in result.stderr
    assert "measured: Sibyl" in (sibyl.directory / "a.html").read_text()


@pytest.fixture(scope="session")
def late_sites(mpi: Mpi, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """programs/late_sites.c with debug information."""
    return compiled("late_sites", mpi, tmp_path_factory.mktemp("late_sites"), "-g", "-O1")


def test_every_site_has_its_line_and_every_late_rank_its_name(
    sibyl: Sibyl, mpi: Mpi, late_sites: Path, arrivals: Path
) -> None:
    words = ("-n", RANKS, "--mpi", mpi.option, "--", late_sites, CALLS, int(DELAY * 1e6))
    result, document = profile(sibyl, *words)
    assert result.returncode == 0, result.stderr
    assert result.stderr.startswith("Late ranks cost ")
    expected = {"reduce": ("step", 2), "alltoall": ("exchange", 1)}
    for collective, (function, late) in expected.items():
        site = site_of(document, collective)
        assert (site["file"], site["line"]) == ("late_sites.c", line_of("late_sites.c", collective))
        assert (site["function"], site["calls"]) == (function, CALLS)
        assert_late(site, late, true_arrivals(arrivals, collective))
    assert site_of(document, "reduce")["bytes"] == CALLS * RANKS * 8000
    assert site_of(document, "alltoall")["size"] == 128
    odd = site_of(document, "allgather", 3)
    assert (odd["communicator_size"], odd["members"]) == (2, "1,3")
    times = true_arrivals(arrivals, "allgather")
    assert_late(odd, 3, {member: times[member] for member in (1, 3)})
    assert odd["waiting"] >= 0.9 * CALLS * DELAY
    messages = document["point_to_point"]
    assert ("MPI_Sendrecv", CALLS * RANKS) in [(m["function"], m["calls"]) for m in messages]
    assert document["missing_ranks"] == document["unfinished_ranks"] == []
    assert document["overhead_seconds"] < 0.01 * document["wall_seconds"] * RANKS
    assert "Late ranks cost" in (sibyl.directory / "a.html").read_text()
    assert "no debug information" not in result.stderr


def test_a_rank_that_is_killed_leaves_what_was_seen(
    sibyl: Sibyl, mpi: Mpi, late_sites: Path
) -> None:
    words = ("-n", RANKS, "--mpi", mpi.option, "--", late_sites, CALLS, int(DELAY * 1e6), "kill")
    result, document = profile(sibyl, *words)
    assert result.returncode not in (0, 2), result.stderr
    assert 1 in document["unfinished_ranks"]
    site = site_of(document, "reduce")
    assert site["calls"] >= CALLS / 2
    assert (site["late"][0]["rank"], site["late"][0]["share"] > 0.5) == (2, True)


def test_a_program_without_debug_information_is_told_by_offset(
    sibyl: Sibyl, mpi: Mpi, tmp_path: Path
) -> None:
    program = compiled("late_sites", mpi, tmp_path, "-O1", "-s")
    words = ("-n", 2, "--mpi", mpi.option, "--", program, 3, 1000)
    result, document = profile(sibyl, *words)
    assert result.returncode == 0, result.stderr
    site = site_of(document, "reduce")
    assert site["line"] == 0
    assert site["file"].startswith("late_sites+0x")
    said = "o debug information for calls in late_sites: they are told by offset"
    assert f"sibyl: n{said}" in result.stderr
    assert f"N{said}" in (sibyl.directory / "a.html").read_text()


def test_a_fortran_program_is_told_by_module_and_line(
    sibyl: Sibyl, mpi: Mpi, tmp_path: Path, arrivals: Path
) -> None:
    wrapper = mpi.wrapper.with_name(mpi.wrapper.name.replace("mpicc", "mpifort"))
    if not wrapper.exists() or shutil.which("gfortran") is None:
        pytest.skip(f"no Fortran for {mpi.launcher}")
    program = tmp_path / "late_sites"
    source = PROGRAMS / "late_sites.F90"
    rpath = f"-Wl,-rpath,{mpi_library_dir(mpi)}"
    words = [wrapper, "-g", "-ffree-line-length-none", source, "-o", program, rpath]
    subprocess.run(words, check=True, cwd=tmp_path)
    result, document = profile(sibyl, "-n", 3, "--mpi", mpi.option, "--", program)
    assert result.returncode == 0, result.stderr
    site = site_of(document, "allreduce")
    place = (site["file"], site["line"], site["function"])
    assert place == ("late_sites.F90", line_of("late_sites.F90", "allreduce"), "work::step")
    assert_late(site, 1, true_arrivals(arrivals, "allreduce"))


def test_a_python_program_is_told_by_its_own_lines(
    sibyl: Sibyl, python: Path, arrivals: Path
) -> None:
    program = PROGRAMS / "late_sites.py"
    result, document = profile(sibyl, "-n", 3, "--", python, program)
    assert result.returncode == 0, result.stderr
    for mark, collective, function, late in (
        ("allreduce", "allreduce", "Model.step", 2),
        ("bcast", "bcast", "Model.report", 1),
        # Messages to rank 0, and a bcast from there: it waits for rank 1 before that.
        ("sum", "bcast", "Model.total", 1),
    ):
        sites = [s for s in document["sites"] if s["line"] == line_of("late_sites.py", mark)]
        assert {(s["file"], s["collective"]) for s in sites} == {("late_sites.py", collective)}
        assert function.rpartition(".")[2] in sites[0]["function"]
        # A bcast of an object is one of its size, then one of its bytes.
        site = max(sites, key=lambda s: s["waiting"])
        assert_late(site, late, true_arrivals(arrivals, mark))


def test_ranks_that_run_out_of_memory_keep_the_same_calls(
    sibyl: Sibyl, mpi: Mpi, late_sites: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIBYL_PROFILE_MEMORY", "8192")
    words = ("-n", 3, "--mpi", mpi.option, "--", late_sites, 100, 5000)
    result, document = profile(sibyl, *words)
    assert result.returncode == 0, result.stderr
    assert "there was room for one call in" in result.stderr
    site = site_of(document, "reduce")
    assert (site["calls"], site["bytes"]) == (100, 100 * 3 * 8000)
    assert site["late"][0]["rank"] == 2
    assert document["collectives"]["unsplit"] < 0.01 * document["collectives"]["seconds"]


def test_clocks_of_hosts_are_compared(
    sibyl: Sibyl, mpi: Mpi, late_sites: Path, arrivals: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The recorder is told to take every rank for a host of its own, with a clock of its own."""
    monkeypatch.setenv("SIBYL_TEST_CLOCKS", "0,5000000000,-7000000000")
    words = ("-n", 3, "--mpi", mpi.option, "--", late_sites, CALLS, int(DELAY * 1e6))
    result, document = profile(sibyl, *words)
    assert result.returncode == 0, result.stderr
    assert 0 < document["clock_error"] < 0.01
    assert "clocks of hosts agree within" in result.stderr
    site = site_of(document, "reduce")
    assert_late(site, 2, true_arrivals(arrivals, "reduce"))
    assert document["wall_seconds"] < 60


def test_a_program_that_makes_no_mpi_call_says_so(sibyl: Sibyl, mpi: Mpi) -> None:
    result, document = profile(sibyl, "-n", 2, "--mpi", mpi.option, "--", "/bin/true")
    assert result.returncode == 0
    assert "No rank left a trace" in result.stderr
    assert "No rank left a trace" in (sibyl.directory / "a.html").read_text()
    assert document["ranks"] == 0


def test_the_exit_code_is_the_programs(sibyl: Sibyl, mpi: Mpi) -> None:
    result = sibyl("profile", "-n", 1, "--mpi", mpi.option, "--", "/bin/sh", "-c", "exit 7")
    assert result.returncode == 7, result.stderr
    missing = sibyl("profile", "-n", 1, "--mpi", mpi.option, "--", "./nothing")
    assert missing.returncode == 2
    assert missing.stderr.splitlines() == [
        "sibyl: program './nothing' does not exist; check the path"
    ]
