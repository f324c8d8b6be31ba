"""Host files are read in either MPI's notation, and srun gets what Slurm needs."""

import os
from pathlib import Path

import pytest
from conftest import Job, assert_usage_error, sibyl

from sibyl.errors import CommandError
from sibyl.mpi.placement import check_room, read_hostfile

# Says which PMI it has, keeps its words, and starts the program as srun would with one task.
FAKE_SRUN = """#!/bin/sh
if [ "$1" = --mpi=list ]; then
  printf 'MPI plugin types are...\\n\\tnone\\n%s\\n' "$FAKE_SRUN_TYPES" >&2
  exit 0
fi
printf '%s\\n' "$@" > "$FAKE_SRUN_WORDS"
while [ "${1#-}" != "$1" ]; do [ "$1" = -n ] && shift; shift; done
exec "$@"
"""


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Slurm job with a fake srun; the file with the words that it was called with."""
    directory = tmp_path / "slurm"
    directory.mkdir()
    srun = directory / "srun"
    srun.write_text(FAKE_SRUN)
    srun.chmod(0o755)
    monkeypatch.setenv("PATH", f"{directory}:{os.environ['PATH']}")
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    monkeypatch.setenv("FAKE_SRUN_TYPES", "\tpmi2\n\tpmix\n\tpmix_v4")
    monkeypatch.setenv("FAKE_SRUN_WORDS", str(directory / "words"))
    return directory / "words"


def test_inside_a_slurm_job_srun_starts_the_ranks(slurm: Path, job: Job, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    words = ["run", "-n", 4, "--mpi", job.mpi, "--report", report, "--set", "scan=auto"]
    result = sibyl(*words, "--", job.program, "exit", 5, cwd=tmp_path)
    assert result.returncode == 5, result
    called = slurm.read_text().splitlines()
    plugin = "pmix" if job.launcher.flavour == "openmpi" else "pmi2"
    assert called[:4] == [f"--mpi={plugin}", "-n", "4", "env"]
    assert called[-3:] == [str(job.program), "exit", "5"]
    settings = dict(word.split("=", 1) for word in called[4:-3])
    assert settings["LD_PRELOAD"].split(":")[0].endswith("libsibyl-preload.so")
    assert settings["SIBYL_SCAN"] == "auto"
    # Reports come from other hosts as well: into the working directory, which hosts share.
    assert Path(settings["SIBYL_REPORT"]).parent == tmp_path
    assert not Path(settings["SIBYL_REPORT"]).exists()


def test_srun_is_told_no_mpi_that_it_does_not_have(
    slurm: Path, job: Job, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("FAKE_SRUN_TYPES", "\topenmpi")
    sibyl("run", "--quiet", "--mpi", job.mpi, "--", job.program, cwd=tmp_path)
    assert slurm.read_text().splitlines()[0] == "env"


def test_the_user_s_words_for_srun_stand_above(slurm: Path, job: Job, tmp_path: Path) -> None:
    words = ["run", "--quiet", "--mpi", job.mpi, "--launcher-args", "--mpi=pmix_v4 --overlap"]
    sibyl(*words, "--", job.program, cwd=tmp_path)
    assert slurm.read_text().splitlines()[:3] == ["--mpi=pmix_v4", "--overlap", "env"]


def test_mpiexec_can_be_asked_for_inside_a_slurm_job(
    slurm: Path, job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SLURM_JOB_ID")  # mpiexec itself would look for the allocation
    words = ["run", "--launcher", "mpiexec", "-n", 2, "--quiet", "--mpi", job.mpi]
    result = sibyl(*words, "--", job.program, "exit", 3)
    assert result.returncode == 3, result
    assert not slurm.exists()


def test_srun_without_a_slurm_job_is_refused(slurm: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SLURM_JOB_ID")
    assert_usage_error(sibyl("run", "--launcher", "srun", "--", "true"), "no Slurm job", "sbatch")


@pytest.mark.parametrize("notation", ["localhost slots=3\n", "# two lines\nlocalhost:3 # here\n"])
def test_a_host_file_of_either_notation_starts_all_its_slots(
    job: Job, tmp_path: Path, notation: str
) -> None:
    hostfile = tmp_path / "hosts"
    hostfile.write_text(notation)
    words = ["run", "--hostfile", hostfile, "--mpi", job.mpi, "--quiet"]
    result = sibyl(*words, "--", job.program, "where", cwd=tmp_path)
    assert result.returncode == 0, result
    assert len(result.stdout.split()) == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["hosts"]


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("a\nb\n", [("a", 1), ("b", 1)]),
        ("a slots=2 max_slots=4\n\n10.0.0.1:8\n", [("a", 2), ("10.0.0.1", 8)]),
        ("node-1.cluster.org:2 # first\n", [("node-1.cluster.org", 2)]),
    ],
)
def test_host_files_are_read(tmp_path: Path, text: str, hosts: list[tuple[str, int]]) -> None:
    path = tmp_path / "hosts"
    path.write_text(text)
    assert read_hostfile(path) == hosts


@pytest.mark.parametrize(
    "text", ["", "# none\n", "a slots\n", "a:0\n", "a b\n", "a:2 slots=2\n", "-x\n", "a:two\n"]
)
def test_damaged_host_files_are_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "hosts"
    path.write_text(text)
    with pytest.raises(CommandError):
        read_hostfile(path)


def test_a_missing_host_file_and_too_many_ranks_are_told(tmp_path: Path) -> None:
    assert_usage_error(sibyl("run", "--hostfile", tmp_path / "no", "--", "true"), "host file")
    with pytest.raises(CommandError, match="room for 2 ranks"):
        check_room(3, [("a", 1), ("b", 1)], "add hosts")
    assert check_room(None, [("a", 1), ("b", 4)], "") == 5
