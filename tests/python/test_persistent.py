"""sibyl.persistent under the mpi4py of each MPI, and its example."""

import os
import subprocess
from pathlib import Path

import pytest
from conftest import PROGRAMS, ROOT

import sibyl
from sibyl.mpi.installation import choose_launcher


def run(python: Path, ranks: int, *words: object) -> subprocess.CompletedProcess[str]:
    """Start a program with the launcher that belongs to the Python's mpi4py."""
    env = {
        **os.environ,
        "PYTHONPATH": str(Path(sibyl.__file__).parents[1]),
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
        "OMPI_MCA_mpi_yield_when_idle": "1",
        "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    }
    for prefix in ("OMPI", "PRTE"):
        env[f"{prefix}_ALLOW_RUN_AS_ROOT"] = env[f"{prefix}_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
    launcher = choose_launcher(None, python)
    return subprocess.run(
        [launcher.path, "-n", str(ranks), python, *map(str, words)],
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize("ranks", [1, 3])
def test_every_persistent_collective_gives_its_result(python: Path, ranks: int) -> None:
    result = run(python, ranks, PROGRAMS / "persistent.py")
    assert result.returncode == 0, result
    assert f"all correct on {ranks} ranks" in result.stdout


def test_the_example_gathers_what_the_ranks_computed(python: Path) -> None:
    result = run(python, 3, ROOT / "examples" / "python" / "persistent.py", "BSBN", 4)
    assert result.returncode == 0, result
    assert "4 iterations of 3 ranks by BSBN, 0 wrong" in result.stdout


def test_a_library_that_is_not_there_is_named(
    python: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIBYL_LIBRARY_DIR", str(tmp_path))
    result = run(python, 1, ROOT / "examples" / "python" / "persistent.py")
    assert result.returncode != 0
    assert f"SIBYL_LIBRARY_DIR is {tmp_path}" in result.stderr
