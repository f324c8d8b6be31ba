"""`sibyl bench all`: every collective in one run, and what it refuses."""

import csv
import json
from pathlib import Path

import pytest
from conftest import Mpi, Sibyl, assert_usage_error
from installed_mpis import benchmark_of

from sibyl.experiment.grid import COLLECTIVES

QUICK = ["--size", "8,1K", "--iterations", "2", "--warm-up", "1", "--compute", "1ms"]


def test_every_collective_stands_on_one_page(
    sibyl: Sibyl, mpi: Mpi, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if mpi.launcher.flavour != "mpich":
        pytest.skip("sixteen jobs: MPICH's, which start sooner, are enough")
    benchmark_of(mpi.launcher)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    words = ["bench", "all", "-n", 2, "--mpi", mpi.option, *QUICK, "--pattern", "none"]
    words += ["--algorithms", "governed,native-again"]
    result = sibyl(*words, "--csv", "all.csv", "--json", "all.json")
    assert result.returncode == 0, result
    for collective in COLLECTIVES:
        assert collective in result.stdout
    for contender in ("governed", "native-again"):
        assert f"{contender}: slower than native (!) in " in result.stdout

    rows = list(csv.DictReader((sibyl.directory / "all.csv").open()))
    assert list(dict.fromkeys(row["collective"] for row in rows)) == list(COLLECTIVES)
    assert {row["algorithm"] for row in rows} == {"native", "governed", "native-again"}
    assert len(rows) == 3 * (2 * len(COLLECTIVES) - 1)  # a barrier has no size

    document = json.loads((sibyl.directory / "all.json").read_text())
    assert (document["format"], document["version"]) == ("sibyl-bench-all", 1)
    parts = document["collectives"]
    assert list(parts) == list(COLLECTIVES)
    assert all(len(cell["samples"]) == 3 for part in parts.values() for cell in part["cells"])


def test_what_belongs_to_one_collective_is_refused(sibyl: Sibyl) -> None:
    assert_usage_error(sibyl("bench", "all", "--blocks", "10"), "--blocks")
    assert_usage_error(sibyl("bench", "all", "--plot", "a.png"), "--plot")
    assert_usage_error(sibyl("bench", "all", "--format", "osu"), "--plot")
    assert_usage_error(sibyl("bench", "all", "--algorithms", "no-such"), "no-such")
    for collective in ("all", "grid"):
        assert_usage_error(sibyl("bench", collective, "--reference", "auto"), "--reference")
