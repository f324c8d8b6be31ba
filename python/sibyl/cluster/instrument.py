"""`sibyl cluster check`: how true a cluster is to its wire, measured by real MPI."""

import json
import os
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from sibyl.cluster import state
from sibyl.errors import CommandError, counted
from sibyl.mpi.installation import launcher_of_directory
from sibyl.mpi.library import library_directories
from sibyl.processes.command import OWN_COMMAND
from sibyl.processes.supervisor import run_captured

# Up to here a measured time counts as that of the wire.
TRUE_TO_WIRE = 1.1
# Or up to here of what three hosts take alone, where that is no more than this: the library's own.
CROWD, LIBRARY_ALONE = 1.05, 1.25
# Seconds that a measurement may take: some twenty times as many as one takes.
LONGEST = 300
# With less than this share of the processors idle, they are what everybody waits for.
IDLE_SHARE = 0.1


@dataclass(frozen=True)
class Check:
    """What a cluster was measured to be; times in seconds, medians.

    Ratios compare with the bytes of the messages alone at the shaped rate. Headers take 4.6 %, so
    that 1.05 is as good as it gets; what the links' token buckets hold makes it a little better.

    Attributes:
        name: of the cluster.
        mpi: the MPI library, in its own words.
        hosts: number of hosts, one rank each.
        rate: shaped, bits per second and direction.
        alpha_s: of the smallest message from host to host, while the other ranks sleep.
        alpha_busy_s: the same while the other ranks wait in MPI, as they do in a collective.
        beta_s_per_byte: from large messages.
        gather_rate: bits per second of messages into one root, all others sending at once.
        gather_ratio: time of that gather over the wire's.
        shift_rate: bits per second of messages out of each host, each sending to its neighbour.
        shift_ratio: time of that shift over the wire's.
        few_ratio: the same of three hosts while the other ranks sleep.
        total_rate: of all hosts together during the shift.
        idle_share: of the processors during the shift, from /proc/stat.
        kernel_share: of the processors' time that the kernel took, for packets above all.
        queue: bytes that the switch keeps in front of each link; 0: as much as comes.
    """

    name: str
    mpi: str
    hosts: int
    rate: int
    alpha_s: float
    alpha_busy_s: float
    beta_s_per_byte: float
    gather_rate: float
    gather_ratio: float
    shift_rate: float
    shift_ratio: float
    few_ratio: float
    total_rate: float
    idle_share: float
    kernel_share: float
    queue: int = 0

    @property
    def cpu_bound(self) -> bool:
        """Whether the processors and not the wire set the time when all hosts send at once."""
        return not self.shift_true and self.idle_share < IDLE_SHARE

    @property
    def gather_true(self) -> bool:
        """Whether times of collectives with one busy link are those of the wire."""
        return self.gather_ratio <= TRUE_TO_WIRE

    @property
    def shift_true(self) -> bool:
        """Whether times of collectives in which all links are busy are those of the wire.

        Or what three hosts take that are alone: what that is longer, the MPI library takes to send
        and receive at once over a link, and no busy machine.
        """
        alone = self.few_ratio if self.few_ratio <= LIBRARY_ALONE else 1.0
        return self.shift_ratio <= max(TRUE_TO_WIRE, CROWD * alone)

    @property
    def latency_true(self) -> bool:
        """Whether times of small calls are the network's, and not those of taking turns."""
        return self.alpha_busy_s <= 3 * self.alpha_s

    def as_json(self) -> dict[str, Any]:
        """All attributes and judgements."""
        judgements = ("cpu_bound", "gather_true", "shift_true", "latency_true")
        return {**asdict(self), **{name: getattr(self, name) for name in judgements}}


def check(name: str = "default", mpi: str | None = None, program: Path | None = None) -> Check:
    """Measure a cluster that is up. Takes about 15 s, and the cluster for itself meanwhile.

    Args:
        name: of the cluster.
        mpi: openmpi, mpich or a prefix; the program's own, or the first that there is, if None.
        program: the measuring program; Sibyl's own for that MPI if None.

    Raises:
        CommandError: there is no such cluster, or the measurement failed.
    """
    cluster = state.existing(name)
    if cluster.hosts < 2:
        raise CommandError(f"cluster '{name}' has one host; a check needs 2 or more")
    if program is None:
        program = _find_program(mpi)
    words = ["cluster", "run", "--native", "--name", name, "-n", str(cluster.hosts)]
    if mpi is not None:
        words += ["--mpi", mpi]
    command = [*OWN_COMMAND, *words, "--", str(program), str(cluster.rate)]
    code, output = _run_measurement(name, command)
    line = next((text for text in output.splitlines() if text.startswith("{")), None)
    failed = f"the measurement on cluster '{name}' failed (exit code {code})"
    if code != 0 or line is None:
        raise CommandError(failed)
    made = {"hosts": cluster.hosts, "rate": cluster.rate, "queue": cluster.queue}
    try:
        return _read_check(name, made, line)
    except (ValueError, TypeError, RecursionError) as error:
        raise CommandError(f"{failed}: {program} printed '{line:.60}'") from error


def _run_measurement(name: str, command: list[str]) -> tuple[int, str]:
    """Its exit code and output.

    Raises:
        CommandError: it has not ended in time, and has been ended.
    """
    try:
        done = run_captured(command, os.environ, LONGEST, patience_at_end=10.0)  # it ends its ranks
    except subprocess.TimeoutExpired:
        raise CommandError(
            f"the measurement on cluster '{name}' did not end within {LONGEST} s: its ranks "
            f"wait for each other in the MPI library; try again, or another with --mpi"
        ) from None
    sys.stderr.write(done.stderr)
    return done.returncode, done.stdout


def _read_check(name: str, made: dict[str, Any], line: str) -> Check:
    """The check of a program's line.

    Raises:
        ValueError, TypeError: some other program's line.
    """
    found = Check(name=name, **made, **json.loads(line))
    numbers = {**vars(found), "name": 0, "mpi": 0}
    if type(found.mpi) is not str or not all(type(n) in (int, float) for n in numbers.values()):
        raise ValueError("a value is of another kind")
    return found


def _find_program(mpi: str | None) -> Path:
    flavours = ["openmpi", "mpich"]
    if mpi is not None:
        flavours = [mpi if mpi in flavours else launcher_of_directory(Path(mpi)).flavour]
    for directory in library_directories():
        for flavour in flavours:
            program = directory.parent / "bin" / f"sibyl-cluster-check-{flavour}"
            if os.access(program, os.X_OK):
                return program
    raise CommandError(
        f"sibyl-cluster-check-{flavours[0]} was not found; build it with: make, or name it with "
        f"--program"
    )


def print_check(result: Check, console: Console) -> None:
    """Print a check as a table, and what it means for measurements on this cluster."""
    table = Table(
        title=f"cluster '{result.name}': {counted(result.hosts, 'host')}, "
        f"{state.rate_text(result.rate)}, {result.mpi}",
        title_justify="left",
    )
    table.add_column("measured")
    table.add_column("value", justify="right")
    table.add_column("times the wire's", justify="right")
    table.add_row("alpha, others asleep", f"{result.alpha_s * 1e6:.1f} us", "")
    table.add_row("alpha, others waiting in MPI", f"{result.alpha_busy_s * 1e6:.1f} us", "")
    beta_ratio = result.beta_s_per_byte * result.rate / 8
    table.add_row("beta", f"{result.beta_s_per_byte * 1e9:.2f} ns/byte", f"{beta_ratio:.3f}")
    table.add_row(
        "gather to one root", state.rate_text(result.gather_rate), f"{result.gather_ratio:.3f}"
    )
    table.add_row(
        "shift, all at once", state.rate_text(result.shift_rate), f"{result.shift_ratio:.3f}"
    )
    table.add_row("shift, three hosts alone", "", f"{result.few_ratio:.3f}")
    table.add_row("shift, all hosts together", state.rate_text(result.total_rate), "")
    table.add_row("processors idle in the shift", f"{result.idle_share:.0%}", "")
    table.add_row("kernel's share of them", f"{result.kernel_share:.0%}", "")
    console.print(table, soft_wrap=True)
    for line in findings(result):
        console.print(line, highlight=False, soft_wrap=True)


def findings(result: Check) -> list[str]:
    """What a check means for measurements, in sentences."""
    lines = []
    true = (
        "one busy link is true to the wire"
        if result.gather_true
        else (f"even one busy link takes {result.gather_ratio:.2f} times the wire's time")
    )
    if result.queue:
        lines.append(f"the switch keeps {result.queue} bytes in front of each link and loses more")
    lines.append(f"gather, scatter: {true}")
    if result.shift_true:
        lines.append("all links busy at once: true to the wire")
    else:
        cause = (
            "the processors are the bottleneck; choose a lower rate or fewer hosts"
            if result.cpu_bound
            else "the processors are not: look for lost segments (tc -s qdisc)"
        )
        lines.append(
            f"all links busy at once: {result.shift_ratio:.2f} times the wire's time, and {cause}"
        )
    if not result.latency_true:
        lines.append(
            "small calls: their latency is that of ranks taking turns on the processors, not the "
            "network's"
        )
    return lines
