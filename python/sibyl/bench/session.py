"""One `sibyl bench` from its options to its files."""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

import sibyl
from sibyl.bench import output, plots, simulated
from sibyl.bench.grid import (
    BARE,
    COLLECTIVES,
    COUNTS,
    IRREGULAR,
    LOOPS,
    OPERATORS,
    PERSISTENT,
    PREDICTING,
    PREDICTIONS,
    SCANS,
    SHAPES,
    Cell,
    Grid,
    make_cells,
)
from sibyl.bench.guardian import guarded
from sibyl.bench.journal import Journal, write_whole
from sibyl.bench.judge import Row, judge
from sibyl.bench.memory import check_memory
from sibyl.bench.predictions import prediction_lines
from sibyl.bench.provenance import file_hash, provenance
from sibyl.bench.recording import pattern_text
from sibyl.bench.runner import (
    Interrupted,
    choose_benchmark_launcher,
    cluster_job,
    local_job,
    pattern_files,
    run_job,
    run_sibyl,
    signals_ignored,
    signals_interrupt,
)
from sibyl.bench.samples import CellResult
from sibyl.bench.units import read_size, read_time
from sibyl.errors import CommandError
from sibyl.mpi.installation import Launcher
from sibyl.mpi.library import find_benchmark

# Measures a grid with one number of ranks, with the file that is replayed; hands out each cell
# when it is complete, and names the cell of every sample.
JobRunner = Callable[[Grid, str | None, Callable[[CellResult], None], Callable[[Cell], None]], None]
MEASURED, SIMULATED = (32, 3), (5, 1)  # iterations and warm-up
CLUSTER_NAME = f"bench-{os.getpid()}"  # several runs side by side do not meet


@dataclass(frozen=True)
class Wishes:
    """The options that decide what is measured, as they stand on the command line."""

    collective: str
    algorithms: str | None
    pattern: str
    max_delay: str
    size: str
    blocks: str | None
    counts: str
    ranks: str | None
    on: str
    mpi: str | None
    rate: str
    platform: str
    ranks_per_node: int
    iterations: int | None
    warm_up: int | None
    compute: str
    prediction: str
    operator: str | None
    root: int
    seed: int
    reference: str


@dataclass(frozen=True)
class Outputs:
    """The options that decide what becomes of the samples."""

    metric: str
    csv: Path | None
    json: Path | None
    plot: Path | None
    format: str
    resume: bool

    def check(self) -> None:
        """Notice before a long run what would fail after it."""
        if self.metric not in ("run", "elapsed", "absorbed"):
            raise CommandError(f"--metric wants run, elapsed or absorbed, not '{self.metric}'")
        if self.format not in ("table", "osu"):
            raise CommandError(f"--format wants table or osu, not '{self.format}'")
        if self.plot is not None:
            plots.check_plot(self.plot)
        for option, path in (("--csv", self.csv), ("--json", self.json), ("--plot", self.plot)):
            if path is None:
                continue
            folder = path.absolute().parent
            if path.is_dir() or not folder.is_dir() or not os.access(folder, os.W_OK):
                raise CommandError(f"{option} {path}: cannot be written; choose another place")


def words_of(option: str, text: str) -> list[str]:
    """The values of an option, at least one, that stand between commas."""
    words = [word.strip() for word in text.split(",") if word.strip()]
    if not words:
        raise CommandError(f"{option} '{text}': name at least one value")
    return words


def of_known(option: str, word: str, allowed: Sequence[str]) -> str:
    """Return `word` if it is among `allowed`."""
    if word not in allowed:
        raise CommandError(f"{option} {word}: there are {', '.join(allowed)}")
    return word


def _algorithms(collective: str, text: str | None, reference: str) -> tuple[str, ...]:
    """The contenders, what they are compared with first."""
    own = ["auto", *(row.name for row in sibyl.algorithms(collective))]
    bound = PERSISTENT.get(collective, ())
    known = ["native", *own, *bound, *(LOOPS if collective == "exscan" else ())]
    prefixes = [p for p in PREDICTING if bound and (p == "edges" or collective == "reduce")]
    predicting = [f"{prefix}:{name}" for prefix in prefixes for name in own[1:]]
    described = [*known, "native:VARIANT", *(f"{prefix}:NAME" for prefix in prefixes)]
    wanted = [reference, *own] if text is None else words_of("--algorithms", text)
    for option, names in (("--reference", [reference]), ("--algorithms", wanted)):
        for name in names:
            if not name.startswith("native:") and name not in predicting:
                of_known(option, name, described)
    return tuple(dict.fromkeys([reference, *wanted]))


def numbers_of_ranks(text: str | None, on: str) -> list[int]:
    """What --ranks says, or what suits the place where it says nothing."""
    if text is None:
        return [8] if on in ("cluster", "smpi") else [max(2, min(os.cpu_count() or 2, 8))]
    return numbers_of("--ranks", text, 100_000)


def numbers_of(option: str, text: str, most: int) -> list[int]:
    """The whole numbers from 1 to `most` that stand between commas."""
    numbers = []
    for word in words_of(option, text):
        if not (word.isascii() and word.isdigit()) or not 1 <= int(word) <= most:
            raise CommandError(f"{option} {word}: write numbers from 1 to {most}, as in 4,8,48")
        numbers.append(int(word))
    return numbers


def check_nodes(on: str, ranks: Sequence[int], per_node: int) -> None:
    """Notice ranks that do not fill their nodes, and nodes where there is no cluster."""
    if per_node < 1:
        raise CommandError(f"--ranks-per-node {per_node}: write a number from 1 on")
    if on == "local" and per_node > 1:
        raise CommandError(f"--ranks-per-node {per_node}: is for --on cluster and --on smpi")
    if on == "cluster" and 1 < per_node >= min(ranks):
        raise CommandError(f"--ranks-per-node {per_node}: -n {min(ranks)} is one host; take more")
    for number in ranks:
        if number % per_node != 0:
            raise CommandError(f"-n {number}: not a multiple of --ranks-per-node {per_node}")


def repetitions(
    iterations: int | None, warm_up: int | None, seed: int, default: tuple[int, int]
) -> tuple[int, int]:
    """--iterations and --warm-up, checked along with --seed; `default` where they are absent."""
    found = (
        default[0] if iterations is None else iterations,
        default[1] if warm_up is None else warm_up,
    )
    if found[0] < 1 or found[1] < 0 or seed < 0:
        raise CommandError("--iterations wants at least 1; --warm-up and --seed at least 0")
    return found


def make_grid(wishes: Wishes) -> Grid:
    """The grid that the options describe.

    Raises:
        CommandError: they describe none; with one line that says why.
    """
    collective = of_known("collective", wishes.collective, COLLECTIVES)
    of_known("--on", wishes.on, ("local", "cluster", "smpi"))
    ranks = numbers_of_ranks(wishes.ranks, wishes.on)
    if wishes.on == "smpi":
        simulated.check(wishes.mpi)
    check_nodes(wishes.on, ranks, wishes.ranks_per_node)
    patterns = words_of("--pattern", wishes.pattern)
    files = [pattern for pattern in patterns if pattern not in (*SHAPES, BARE)]
    if len(files) > 1 or (files and len(ranks) > 1):
        raise CommandError("--pattern: replay one file, on the ranks that it was recorded on")
    for name in files:
        pattern_text(name, ranks[0])
    counts = [of_known("--counts", word, COUNTS) for word in words_of("--counts", wishes.counts)]
    if collective not in IRREGULAR and counts != ["same"]:
        raise CommandError(f"--counts is for {' and '.join(IRREGULAR)}; {collective} has one count")
    blocks = [] if wishes.blocks is None else numbers_of("--blocks", wishes.blocks, 100_000_000)
    if collective not in IRREGULAR and blocks:
        raise CommandError(f"--blocks is for {' and '.join(IRREGULAR)}; {collective} has --size")
    delays = [read_time(word) for word in words_of("--max-delay", wishes.max_delay)]
    default = SIMULATED if wishes.on == "smpi" else MEASURED
    iterations, warm_up = repetitions(wishes.iterations, wishes.warm_up, wishes.seed, default)
    if not 0 <= wishes.root < min(ranks):
        raise CommandError(f"--root {wishes.root}: ranks go from 0 to {min(ranks) - 1}")
    operator = wishes.operator or ("bxor" if collective in SCANS else "sum")
    of_known("--operator", operator, OPERATORS)
    sizes = [read_size(word) for word in words_of("--size", wishes.size)]
    cells = make_cells(ranks, sizes, counts, patterns, delays, blocks)
    check_memory(collective, operator, cells)
    return Grid(
        collective=collective,
        algorithms=_algorithms(collective, wishes.algorithms, wishes.reference),
        cells=cells,
        iterations=iterations,
        warm_up=warm_up,
        compute=read_time(wishes.compute),
        operator=operator,
        root=wishes.root,
        seed=wishes.seed,
        prediction=of_known("--prediction", wishes.prediction, PREDICTIONS),
        on=wishes.on,
        mpi=wishes.mpi,
        rate=wishes.rate,
        platform=wishes.platform if wishes.on == "smpi" else "",
        ranks_per_node=wishes.ranks_per_node,
    )


@contextmanager
def progress_bar(grid: Grid, done: Sequence[CellResult]) -> Iterator[Callable[[Cell], None]]:
    """A bar with the time left, where somebody looks; hears of every sample."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda _cell: None
        return
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    )
    total = sum(grid.seconds_expected(cell) for cell in grid.cells)
    samples = (grid.iterations + grid.warm_up) * len(grid.algorithms)
    with bar:
        task = bar.add_task(grid.collective, total=total)
        bar.advance(task, sum(grid.seconds_expected(result.cell) for result in done))
        yield lambda cell: bar.advance(task, grid.seconds_expected(cell) / samples)


@contextmanager
def cluster_up(hosts: int, rate: str) -> Iterator[None]:
    """A cluster of namespaces for the jobs within, taken down whatever happens."""
    name = ["--name", CLUSTER_NAME]
    with guarded(CLUSTER_NAME):
        try:
            run_sibyl("cluster", "up", "--hosts", str(hosts), "--rate", rate, *name)
            yield
        finally:
            with signals_ignored():
                run_sibyl("cluster", "down", "--force", *name)


def check_cluster(mpi: str | None) -> dict[str, Any]:
    """How true the cluster that is up is to its wire."""
    from sibyl.cluster import check

    return check(CLUSTER_NAME, mpi).as_json()


def job_runner(launcher: Launcher, check: dict[str, Any] | None) -> JobRunner:
    """How jobs are run: on this machine, or on the cluster that is up and was checked."""

    def run(
        part: Grid,
        pattern_file: str | None,
        finished: Callable[[CellResult], None],
        progressed: Callable[[Cell], None],
    ) -> None:
        if check is None:
            job = local_job(part, launcher, pattern_file)
        else:
            job = cluster_job(part, launcher, CLUSTER_NAME, check, pattern_file)
        run_job(job, part, finished, progressed)

    return run


@contextmanager
def place(grid: Grid, launcher: Launcher, needed: bool) -> Iterator[JobRunner]:
    """Where the jobs run: here, on a simulated cluster, or on one that is brought up.

    Args:
        grid: all cells.
        launcher: of the MPI that the grid names.
        needed: whether any cell is still to be measured.
    """
    if grid.on == "smpi":
        cluster = simulated.SimulatedCluster(launcher, grid.platform, grid.ranks_per_node, grid.mpi)
        cluster.check(max(cell.ranks for cell in grid.cells))
        yield cluster.run
    elif grid.on == "cluster" and needed:
        with cluster_up(max(cell.ranks for cell in grid.cells) // grid.ranks_per_node, grid.rate):
            yield job_runner(launcher, check_cluster(grid.mpi))
    else:
        yield job_runner(launcher, None)


def measure(
    grid: Grid, journal: Journal, progressed: Callable[[Cell], None], run: JobRunner
) -> list[CellResult]:
    """Measure what the journal lacks, put it there, and return all in the grid's order.

    Args:
        grid: what to measure.
        journal: of this grid.
        progressed: hears of every sample.
        run: of the place where the jobs run.
    """
    for part in grid.without([result.cell for result in journal.read()]).jobs():
        with pattern_files(part) as pattern_file:
            run(part, pattern_file, journal.add, progressed)
    results = {result.cell: result for result in journal.read()}
    return [results[cell] for cell in grid.cells]


def find_launcher(on: str, mpi: str | None) -> Launcher:
    """What starts the jobs."""
    return simulated.find_launcher() if on == "smpi" else choose_benchmark_launcher(mpi)


def open_journal(grid: Grid, launcher: Launcher, resume: bool) -> Journal:
    """The journal of a grid, emptied unless a run is resumed."""
    program = find_benchmark(launcher.flavour)
    journal = Journal(grid.fingerprint(file_hash(program), str(launcher)))
    if not resume:
        journal.forget()
    return journal


def run_session(wishes: Wishes, outputs: Outputs, command: Sequence[str]) -> int:
    """Measure a grid, judge it, and write what was asked for; see `sibyl bench --help`.

    Returns:
        0; 3 when a result was wrong; 128 plus the number of a signal that ended the run.
    """
    outputs.check()
    grid = make_grid(wishes)
    launcher = find_launcher(grid.on, wishes.mpi)
    program = find_benchmark(launcher.flavour)
    journal = open_journal(grid, launcher, outputs.resume)
    done = journal.read()
    try:
        with (
            signals_interrupt(),
            progress_bar(grid, done) as progressed,
            place(grid, launcher, len(done) < len(grid.cells)) as run,
        ):
            results = measure(grid, journal, progressed, run)
    except Interrupted as signal:
        kept = len(journal.read())
        print(
            f"sibyl: interrupted; {kept} of {len(grid.cells)} cells are kept, go on with the same "
            f"command and --resume",
            file=sys.stderr,
        )
        return 128 + signal.number
    origin = provenance(program, launcher, list(command))
    return _write(grid, results, outputs, journal, origin)


def _write(
    grid: Grid,
    results: Sequence[CellResult],
    outputs: Outputs,
    journal: Journal,
    origin: dict[str, object],
) -> int:
    rows = judge(results, grid.algorithms[0], outputs.metric)
    if outputs.json is not None:
        write_whole(outputs.json, output.to_json(grid, results, rows, origin))
    if outputs.csv is not None:
        write_whole(outputs.csv, output.to_csv(grid, rows))
    if outputs.plot is not None:
        draw(grid, rows, outputs.plot, outputs.metric)
    if outputs.format == "osu":
        print(output.to_osu(grid, rows, outputs.metric))
    else:
        console = Console(width=None if sys.stdout.isatty() else 120)
        output.print_table(grid, rows, console, outputs.metric)
        for line in prediction_lines(grid, results):
            console.print(line, highlight=False)
    journal.forget()
    return 3 if any(result.wrong for result in results) else 0


def draw(grid: Grid, rows: Sequence[Row], path: Path, metric: str) -> None:
    """Draw both plots, each written whole."""
    curves = plots.draw_curves(grid, rows, path, metric)
    if curves is not None:
        write_whole(path, curves)
    distribution = path.with_name(f"{path.stem}-distribution{path.suffix}")
    write_whole(distribution, plots.draw_distributions(grid, rows, path, metric))
