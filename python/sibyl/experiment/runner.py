"""Run the jobs of a grid: start the MPI program, read its samples, leave nothing behind.

The program is a child in a process group of its own. It is told to end when this process is told
to, ends by itself when this process dies, and whatever outlives it is ended too.
"""

import os
import selectors
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import FrameType
from typing import IO, Any

from sibyl.errors import CommandError
from sibyl.experiment.grid import BARE, SHAPES, Cell, Grid
from sibyl.experiment.recording import pattern_text
from sibyl.experiment.samples import CellResult, SampleReader
from sibyl.mpi.command_line import launcher_command, launcher_environment
from sibyl.mpi.installation import Launcher, choose_launcher
from sibyl.mpi.library import find_benchmark
from sibyl.processes.command import OWN_COMMAND
from sibyl.processes.guardian import held_open
from sibyl.processes.signals import handled, heeded
from sibyl.processes.supervisor import ENDING, Supervised, run_captured

# Seconds that a job may take to end once it was told to.
PATIENCE = 5.0
# The same for a program that has told everything.
LINGER = 2.0
# Without a sample for so long, and what its computing and delays take, a job hangs.
SILENCE = 180.0
# The system counts a wait in milliseconds, in an int.
LONGEST_WAIT = 2e6
# That a program may take to say what it offers.
LISTING = 60.0
WRONG_RESULT = 3  # exit status of the program, after all its samples


class Interrupted(Exception):
    """A signal has ended the run; `number` is the signal's."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number


class JobFailed(CommandError):
    """The MPI program ended badly."""

    exit_code = 1


@dataclass(frozen=True)
class Job:
    """How one job is started.

    Attributes:
        command: the words.
        environment: of the command.
        facts: what to add to the "begin" line of its results.
        launcher: the one of the MPI that is to be measured; None where it is simulated.
        silence: seconds without a word after which it hangs.
    """

    command: Sequence[str]
    environment: Mapping[str, str]
    facts: Mapping[str, object]
    silence: float = SILENCE
    launcher: Launcher | None = None

    def check(self, begun: Mapping[str, Any]) -> None:
        """Raise CommandError where the ranks use another MPI than the launcher's.

        Theirs may have been found first: what they measured would go under a wrong name.
        """
        launcher, used = self.launcher, " ".join(begun["mpi"].split())
        if launcher is None or launcher.version in used:
            return
        raise CommandError(
            f"the benchmark uses {used}, not the MPI of {launcher}; build Sibyl for that one "
            f"(cmake --preset release -B build/other -DSIBYL_MPICC=its mpicc) and set "
            f"SIBYL_LIBRARY_DIR=build/other/lib"
        )


def silence_of(grid: Grid, pattern_file: str | None, data: float = 0.0) -> float:
    """Seconds without a word after which its job hangs: it says something after each iteration.

    Args:
        grid: what is measured.
        pattern_file: that is replayed.
        data: seconds that a call may take by itself, as far as is known.
    """
    longest = max((cell.max_delay for cell in grid.cells), default=0.0)
    if pattern_file is not None:
        lines = Path(pattern_file).read_text(encoding="utf-8", errors="replace").splitlines()
        times = (float(line) for line in lines if line.strip() and not line.startswith("#"))
        longest = max([longest, *times])
    patience = SILENCE + 2 * len(grid.algorithms) * (grid.compute + longest + data)
    return min(patience, LONGEST_WAIT)


def local_job(grid: Grid, launcher: Launcher, pattern_file: str | None) -> Job:
    """The job of a grid with one number of ranks, on this machine."""
    program = find_benchmark(launcher.flavour)
    words = [str(program), *grid.words(grid.cells, pattern_file)]
    command = launcher_command(launcher, grid.cells[0].ranks, {}, words)
    facts = {"launcher": str(launcher)}
    silence = silence_of(grid, pattern_file)
    return Job(command, launcher_environment(launcher), facts, silence, launcher)


def cluster_job(
    grid: Grid, launcher: Launcher, name: str, check: Mapping[str, Any], pattern_file: str | None
) -> Job:
    """The same on a cluster of namespaces that is up and was checked."""
    program = find_benchmark(launcher.flavour)
    words = [str(program), *grid.words(grid.cells, pattern_file)]
    command = [*OWN_COMMAND, "cluster", "run", "-n", str(grid.cells[0].ranks)]
    command += ["--ranks-per-host", str(grid.ranks_per_node), "--waiting", grid.waiting]
    command += ["--name", name, "--native", *(["--mpi", grid.mpi] if grid.mpi else []), "--"]
    # The bounds are the wire's: its rate, and the latency while nobody else takes the processors.
    words += ["--alpha", repr(check["alpha_s"]), "--beta", repr(8 / check["rate"])]
    facts: dict[str, object] = {"launcher": str(launcher), "rate": grid.rate}
    facts["cluster_check"] = check
    facts |= {"ranks_per_host": grid.ranks_per_node, "waiting": grid.waiting}
    # Linear algorithms, and chains of whole vectors, have a link carry what each rank has.
    largest = max((cell.size for cell in grid.cells), default=0)
    data = grid.cells[0].ranks * 8 * largest / check["rate"]
    silence = silence_of(grid, pattern_file, data)
    return Job([*command, *words], dict(os.environ), facts, silence, launcher)


def choose_benchmark_launcher(mpi: str | None) -> Launcher:
    """The launcher that --mpi means; the first in PATH that there is a benchmark for if absent."""
    return choose_launcher(mpi, Path(shutil.which("true") or "/bin/true"))


@cache
def native_variants(launcher: Launcher, collective: str) -> tuple[str, ...]:
    """The MPI library's own algorithms for a collective, as contenders: native:NAME.

    A job tells them, once in a process.

    Raises:
        CommandError: the benchmark does not say.
    """
    program = find_benchmark(launcher.flavour)
    words = [str(program), "calls", "--list", "--collective", collective]
    command = launcher_command(launcher, 1, {}, words)
    try:
        done = run_captured(command, launcher_environment(launcher), LISTING)
    except subprocess.TimeoutExpired as error:
        raise CommandError(f"{launcher} does not start {program.name}") from error
    if done.returncode != 0:
        said = done.stderr.strip().splitlines() or [f"it ended with status {done.returncode}"]
        raise CommandError(f"{program.name} --list: {said[-1]}")
    return tuple(name for name in done.stdout.split() if name.startswith("native:"))


@contextmanager
def signals_interrupt() -> Iterator[None]:
    """Within: SIGINT, SIGTERM and SIGHUP raise Interrupted."""

    def interrupt(number: int, _frame: FrameType | None) -> None:
        raise Interrupted(number)

    with handled(heeded(ENDING), interrupt):
        yield


@contextmanager
def signals_ignored() -> Iterator[None]:
    """Within: nothing keeps us from cleaning up."""
    with handled(ENDING, signal.SIG_IGN):
        yield


@contextmanager
def pattern_files(grid: Grid) -> Iterator[str | None]:
    """What the MPI program replays, where the grid does; recordings are converted."""
    names = {cell.pattern for cell in grid.cells} - {*SHAPES, BARE}
    if not names:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="sibyl-bench-") as directory:
        path = Path(directory) / "pattern.txt"
        text = pattern_text(names.pop(), grid.cells[0].ranks)
        path.write_text(text, encoding="utf-8", errors="replace")  # it tells the file's name
        yield str(path)


def run_job(
    job: Job,
    grid: Grid,
    finished: Callable[[CellResult], None],
    progressed: Callable[[Cell], None],
) -> dict[str, float]:
    """Run one job to its end and hand out its cells as they are finished.

    Args:
        job: how it is started.
        grid: what it measures.
        finished: takes each complete cell.
        progressed: hears of every sample.

    Returns:
        What messages and operators cost, where Sibyl measured it.

    Raises:
        JobFailed: the program ended badly, said nothing for too long, or lacks cells.
        CommandError: it uses another MPI than its launcher's.
        Interrupted: a signal came; the job has been ended.
    """
    complete = 0

    def keep(result: CellResult) -> None:
        nonlocal complete
        complete += 1
        result.job = {**result.job, **job.facts, "collective": grid.collective}
        finished(result)

    reader = SampleReader(grid, keep, progressed, job.check)
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as messages:
        program = Supervised(
            job.command,
            job.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=messages,
        )
        try:
            others = _read_lines(program.process, reader, job.silence)
            code = _wait_for_end(program, reader)
        except BaseException:
            program.end(PATIENCE)
            raise
        if code in (0, WRONG_RESULT):
            program.release()
        else:  # a launcher that has died leaves its ranks
            program.end_leftovers()
        if code not in (0, WRONG_RESULT) or reader.clocks_after is None:
            messages.seek(0)
            told = (others + messages.read()).strip().splitlines()
            raise JobFailed(
                f"the benchmark ended with status {code} after {len(told)} lines of messages: "
                + " / ".join(line for line in told[:6] if line.strip())
            )
        if complete < len(grid.cells):
            raise JobFailed(
                f"{len(grid.cells) - complete} of {len(grid.cells)} cells lack samples: something "
                f"else printed into the benchmark's lines; measure them again, with --resume"
            )
    return reader.costs


def _read_lines(process: subprocess.Popen[bytes], reader: SampleReader, silence: float) -> str:
    """Feed the reader until the program closes its output; return the lines that are not ours."""
    assert process.stdout is not None
    stream: IO[bytes] = process.stdout
    os.set_blocking(stream.fileno(), False)
    others = ""
    text = b""
    with selectors.DefaultSelector() as selector:
        selector.register(stream, selectors.EVENT_READ)
        while True:
            ended = reader.clocks_after is not None
            if not selector.select(LINGER if ended else silence):
                if ended:
                    return others
                raise JobFailed(f"the benchmark has said nothing for {silence:.0f} s; ended it")
            chunk = stream.read()
            if chunk is None:
                continue
            if not chunk:
                return others
            *lines, text = (text + chunk).split(b"\n")
            for line in lines:
                words = line.decode("utf-8", "replace")
                if not reader.take(words) and len(others) < 10_000:
                    others += words + "\n"


def _wait_for_end(program: Supervised, reader: SampleReader) -> int:
    """The exit status. A program that has told everything and hangs in MPI_Finalize is ended.

    MPICH 4 over UCX and TCP does: a put waits for an acknowledgement, which a peer that waits for
    the process manager does not give. (`sibyl cluster` preloads a cure; other launchers do not.)
    """
    try:
        return program.process.wait(LINGER if reader.clocks_after is not None else None)
    except subprocess.TimeoutExpired:
        program.end(LINGER)
        return 0


def run_sibyl(*words: str) -> str:
    """Run another command of Sibyl's and return what it printed.

    Raises:
        CommandError: it failed; with its own message.
    """
    done = subprocess.run(
        [*OWN_COMMAND, *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        start_new_session=True,  # a Ctrl-C in the terminal is for us to answer
        pass_fds=held_open,
    )
    if done.returncode != 0:
        said = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise CommandError(said[-1].removeprefix("sibyl: ") if said else f"sibyl {words[0]} failed")
    return done.stdout
