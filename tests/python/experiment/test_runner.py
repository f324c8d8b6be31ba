"""What a job's results are refused for."""

from pathlib import Path

import pytest

from sibyl.errors import CommandError
from sibyl.experiment.runner import Job
from sibyl.mpi.installation import Launcher


@pytest.mark.parametrize(
    ("family", "version", "used"),
    [
        ("mpich", "5.0.2", "MPICH Version:      5.0.2"),
        ("openmpi", "4.1.4", "Open MPI v4.1.4"),
        ("intel", "2021.18", "Intel(R) MPI Library 2021.18 for Linux* OS"),
    ],
)
def test_results_are_those_of_the_launchers_mpi(family: str, version: str, used: str) -> None:
    job = Job([], {}, {}, launcher=Launcher(Path("/mpi/bin/mpiexec"), family, version))
    job.check({"mpi": used})
    with pytest.raises(CommandError, match=r"uses MPICH Version: 4\.0\.2, not the MPI of .*/mpi"):
        job.check({"mpi": "MPICH Version:\t4.0.2"})


def test_a_simulated_mpi_has_no_launcher_to_agree_with() -> None:
    Job([], {}, {}).check({"mpi": "SMPI"})
