"""Start a job by Slurm's srun, which knows the allocation and speaks to the ranks by PMI."""

import os
import re
import shutil
from collections.abc import Mapping, Sequence

from sibyl.errors import CommandError
from sibyl.processes.questions import answer_of

# What each flavour of MPI understands, the best first; pmix stands for pmix_v5 and the like too.
# MPICH and its kin speak PMI 1, which Slurm's pmi2 serves as well.
_MPI_TYPES = {
    "openmpi": ("pmix", "pmi2"),
    "mpich": ("pmi2", "cray_shasta", "pmix"),
    "abi": ("pmix", "pmi2"),
}


def inside_job() -> bool:
    """Whether this process runs in a Slurm allocation whose srun can be called."""
    return "SLURM_JOB_ID" in os.environ and shutil.which("srun") is not None


def check_inside_job() -> None:
    """Raise CommandError, saying why, where srun cannot start a job."""
    if shutil.which("srun") is None:
        raise CommandError("--launcher srun: there is no srun in PATH; load Slurm's programs")
    if "SLURM_JOB_ID" not in os.environ:
        raise CommandError(
            "--launcher srun: this is no Slurm job; submit one with sbatch, or ask for hosts with "
            "salloc"
        )


def mpi_type(flavour: str) -> str | None:
    """What to tell `srun --mpi`; None leaves it to the site's default."""
    answer = answer_of(["srun", "--mpi=list"])
    if answer is None:
        return None
    offered = set(re.findall(r"[a-z][a-z0-9_]*", answer.stdout + answer.stderr))
    return next((name for name in _MPI_TYPES[flavour] if name in offered), None)


def srun_command(
    flavour: str,
    ranks: int | None,
    variables: Mapping[str, str],
    program: Sequence[str],
    more: Sequence[str],
) -> list[str]:
    """The words that start `program` on the hosts of the Slurm job.

    Args:
        flavour: of the program's MPI.
        ranks: None leaves the number to Slurm (SLURM_NTASKS).
        variables: for every rank. `env` sets them: srun's own option cannot hold commas.
        program: the program and its arguments.
        more: words of the user's for srun; `--mpi` among them stands above the choice made here.
    """
    words = ["srun"]
    if not any(word.startswith("--mpi") for word in more):
        chosen = mpi_type(flavour)
        if chosen is not None:
            words.append(f"--mpi={chosen}")
    words += more
    if ranks is not None:
        words += ["-n", str(ranks)]
    if variables:
        words += ["env", *(f"{name}={value}" for name, value in variables.items())]
    return [*words, *program]
