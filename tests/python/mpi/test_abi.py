"""Programs of the MPI standard's own binary interface, which libraries of any family may have."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from conftest import PROGRAMS, ROOT, Sibyl

from sibyl.mpi.installation import (
    choose_launcher,
    flavour_of_library,
    flavour_under,
    launcher_in_path,
    library_of_program,
    mismatch,
)

WRAPPER = ROOT / ".venv" / "newest-mpich" / "bin" / "mpicc_abi"


def test_the_library_is_known_by_its_name() -> None:
    assert flavour_of_library("libmpi_abi.so.1") == "abi"
    assert flavour_of_library("libmpifort_abi.so.1") == "abi"
    assert flavour_of_library("libmpi_abi_tool.so.1") is None


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """programs/job.c, compiled for the interface."""
    libraries = Path(os.environ.get("SIBYL_LIBRARY_DIR", ROOT / "build" / "release" / "lib"))
    if not WRAPPER.exists() or not (libraries / "libsibyl-abi.so").exists():
        pytest.skip("no MPI with the standard's binary interface: scripts/setup all")
    built = tmp_path / "job"
    subprocess.run([WRAPPER, PROGRAMS / "job.c", "-o", built], check=True)
    return built


def test_its_own_launcher_starts_a_program(program: Path) -> None:
    used = library_of_program(program)
    assert used is not None and used[0] == "abi"
    launcher = choose_launcher(None, program)
    assert launcher.path.parent == WRAPPER.parent
    assert flavour_under(launcher, program) == "abi"
    other = launcher_in_path("openmpi")
    if other is not None:  # it may have the interface too
        assert flavour_under(other, program) == "abi"
        assert mismatch(other, program) == ""


def test_a_program_is_served(sibyl: Sibyl, program: Path) -> None:
    words = ["run", "-n", 2, "--set", "exscan=two-op-doubling", "--report", "report.json"]
    result = sibyl(*words, "--", program)
    assert result.returncode == 0, result
    report = json.loads((sibyl.directory / "report.json").read_text())
    served = {e["algorithm"]: e["calls"] for e in report["entries"] if e["collective"] == "exscan"}
    assert served["two-op-doubling"] == 20, report


def test_a_program_is_profiled(sibyl: Sibyl, program: Path) -> None:
    result = sibyl("profile", "-n", 2, "--json", "profile.json", "--", program)
    assert result.returncode == 0, result
    document = json.loads((sibyl.directory / "profile.json").read_text())
    assert "exscan" in json.dumps(document), document
