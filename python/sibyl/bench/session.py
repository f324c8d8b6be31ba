"""One `sibyl bench` from its options to its files."""

from collections.abc import Callable, Sequence
from pathlib import Path

import sibyl
from sibyl.bench import output, plots
from sibyl.bench.memory import check_memory
from sibyl.bench.options import Outputs, Wishes, distributions_beside
from sibyl.bench.predictions import prediction_lines
from sibyl.cluster.placement import WAITING
from sibyl.cluster.state import parse_rate
from sibyl.errors import CommandError
from sibyl.experiment import simulated
from sibyl.experiment.grid import (
    AGAIN,
    ALL_OF_SIBYL,
    ALL_VARIANTS,
    COLLECTIVES,
    COUNTS,
    FALSE_LATE,
    GOVERNED,
    IRREGULAR,
    LEARNING,
    LOOPS,
    MISLED,
    OPERATORS,
    PERSISTENT,
    PIGGYBACK,
    PREDICTING,
    PREDICTIONS,
    SCANS,
    TOLD,
    Grid,
    is_persistent_form,
    make_cells,
)
from sibyl.experiment.judge import Row, judge
from sibyl.experiment.measured_run import MeasuredRun
from sibyl.experiment.options import (
    PLACES,
    check_nodes,
    numbers_of,
    numbers_of_ranks,
    of_known,
    read_patterns,
    recorded_pattern,
    repetitions,
    root_and_sizes,
    words_of,
)
from sibyl.experiment.places import find_launcher
from sibyl.experiment.provenance import provenance
from sibyl.experiment.recording import is_recording
from sibyl.experiment.runner import Interrupted, choose_benchmark_launcher, native_variants
from sibyl.experiment.samples import CellResult
from sibyl.experiment.units import read_size, read_time
from sibyl.files import console_beside, write_result
from sibyl.inputs import is_int
from sibyl.mpi.command_line import hosts_are_given
from sibyl.mpi.installation import Launcher
from sibyl.mpi.library import find_benchmark

# Of Open MPI: they fail on any other number of ranks.
OF_TWO_RANKS = ("native:two_proc",)
# Of Open MPI: they step aside on one host, and the job of one rank that lists does not say them.
OF_SEVERAL_HOSTS = ("native:han",)
MEASURED, SIMULATED = (32, 3), (5, 1)  # iterations and warm-up


def _algorithms(
    collective: str, text: str | None, reference: str, variants: Callable[[], Sequence[str]]
) -> tuple[str, ...]:
    """The contenders, what they are compared with first."""
    own = ["auto", *(row.name for row in sibyl.algorithms(collective))]
    bound = PERSISTENT.get(collective, ())
    loops = LOOPS if collective == "exscan" else ()
    known = ["native", AGAIN, *own, GOVERNED, *bound, *loops]
    prefixes = [p for p in PREDICTING if bound and (p == "edges" or collective == "reduce")]
    predicting = [f"{prefix}:{name}" for prefix in prefixes for name in own[1:]]
    if collective in TOLD:
        prefixes += PREDICTIONS
        predicting += [f"{prediction}:{name}" for prediction in PREDICTIONS for name in own]
    if collective == LEARNING:
        prefixes.append(PIGGYBACK)
        predicting += [f"{PIGGYBACK}:{name}" for name in own]
    described = [*known, "native:VARIANT", *(f"{prefix}:NAME" for prefix in prefixes)]
    if bound:
        described += ["NAME@TRANSFERS", *(f"{told}:NAME" for told in MISLED)]
    wanted = [reference, *own] if text is None else []
    for word in words_of("--algorithms", text) if text is not None else ():
        if word == ALL_VARIANTS:
            wanted += variants()
        else:
            wanted += own[1:] if word == ALL_OF_SIBYL else [word]
    for option, names in (("--reference", [reference]), ("--algorithms", wanted)):
        for name in names:
            known_otherwise = name.startswith("native:") or is_persistent_form(collective, name)
            if not known_otherwise and name not in predicting:
                of_known(option, name, described)
    return tuple(dict.fromkeys([reference, *wanted]))


def _native_variants(collective: str, wishes: Wishes, ranks: Sequence[int]) -> list[str]:
    """The contenders that native:* stands for: what the MPI library says that it has.

    Raises:
        CommandError: it does not say.
    """
    if wishes.simulated:
        raise CommandError(f"{ALL_VARIANTS}: SMPI does not list its algorithms; name them")
    names = native_variants(choose_benchmark_launcher(wishes.mpi), collective)
    return [name for name in names if set(ranks) == {2} or name not in OF_TWO_RANKS]


def check_variants(grid: Grid, launcher: Launcher) -> None:
    """Notice contenders native:VARIANT that the MPI library has not, before anything is brought up.

    Raises:
        CommandError: there is one; with one line that names those that there are.
    """
    if grid.on == "smpi":  # SMPI does not list its own
        return
    named = [name for name in grid.algorithms if name.startswith("native:")]
    if not named:
        return
    known = list(native_variants(launcher, grid.collective))
    several_hosts = grid.on == "cluster" or hosts_are_given(())
    if several_hosts and launcher.family == "openmpi":
        known += OF_SEVERAL_HOSTS
    for name in named:
        if name.partition("@")[0] not in known:
            there = ", ".join(known) or "none"
            raise CommandError(f"--algorithms {name}: of {grid.collective} there are {there}")
        _, at, segment = name.partition("@")
        if at and not is_int(segment, least=1):
            raise CommandError(f"--algorithms {name}: write the bytes of a segment after the @")


def make_grid(collective: str, wishes: Wishes) -> Grid:
    """The grid that the options describe.

    Raises:
        CommandError: they describe none; with one line that says why.
    """
    of_known("collective", collective, COLLECTIVES)
    of_known("--on", wishes.on, PLACES)
    sizes = [] if wishes.size is None else list(map(read_size, words_of("--size", wishes.size)))
    pattern, recorded = recorded_pattern(wishes.pattern, collective, sizes)
    ranks = numbers_of_ranks(wishes.ranks, wishes.on, recorded)
    if wishes.simulated:
        simulated.check(wishes.mpi)
    if wishes.blocks is not None and sizes:
        raise CommandError("--size and --blocks both say how long blocks are: give one of them")
    check_nodes(wishes.on, ranks, wishes.ranks_per_node)
    if wishes.on == "cluster":
        parse_rate(wishes.rate)
    of_known("--waiting", wishes.waiting, WAITING)
    if wishes.waiting != "sleep" and wishes.on != "cluster":
        raise CommandError("--waiting is for --on cluster; ranks on this machine look all the time")
    patterns = read_patterns(pattern, ranks)
    counts = [of_known("--counts", word, COUNTS) for word in words_of("--counts", wishes.counts)]
    if collective not in IRREGULAR and counts != ["same"]:
        raise CommandError(f"--counts is for {', '.join(IRREGULAR)}; {collective} has one count")
    blocks = [] if wishes.blocks is None else numbers_of("--blocks", wishes.blocks, 100_000_000)
    if collective not in IRREGULAR and blocks:
        raise CommandError(f"--blocks is for {', '.join(IRREGULAR)}; {collective} has --size")
    delays = [read_time(word) for word in words_of("--max-delay", wishes.max_delay)]
    default = SIMULATED if wishes.simulated else MEASURED
    iterations, warm_up = repetitions(wishes.iterations, wishes.warm_up, wishes.seed, default)
    root, sizes = root_and_sizes(collective, wishes.root, sizes, recorded)
    if not 0 <= root < min(ranks):
        raise CommandError(f"--root {root}: ranks go from 0 to {min(ranks) - 1}")
    operator = wishes.operator or ("bxor" if collective in SCANS else "sum")
    of_known("--operator", operator, OPERATORS)
    cells = make_cells(ranks, sizes, counts, patterns, delays, blocks)
    check_memory(collective, operator, cells)
    told_falsely = wishes.prediction == FALSE_LATE or FALSE_LATE in (wishes.algorithms or "")
    if told_falsely and read_time(wishes.compute) == 0:
        raise CommandError(
            f"{FALSE_LATE} tells of a rank that is late by --compute, which is 0; say another one"
        )
    return Grid(
        collective=collective,
        algorithms=_algorithms(
            collective,
            wishes.algorithms,
            wishes.reference,
            lambda: _native_variants(collective, wishes, ranks),
        ),
        cells=cells,
        iterations=iterations,
        warm_up=warm_up,
        compute=read_time(wishes.compute),
        operator=operator,
        root=root,
        seed=wishes.seed,
        prediction=of_known("--prediction", wishes.prediction, PREDICTIONS),
        on=wishes.on,
        mpi=wishes.mpi,
        rate=wishes.rate,
        queue=wishes.queue_bytes,
        platform=wishes.platform if wishes.simulated else "",
        ranks_per_node=wishes.ranks_per_node,
        waiting=wishes.waiting,
    )


def run_session(collective: str, wishes: Wishes, outputs: Outputs, command: Sequence[str]) -> int:
    """Measure a grid, judge it, and write what was asked for; see `sibyl bench --help`.

    Returns:
        0; 3 when a result was wrong; 128 plus the number of a signal that ended the run.
    """
    outputs.check(wishes)
    if outputs.page is not None or wishes.pieces is not None or wishes.minutes is not None:
        raise CommandError("--page, --pieces and --minutes are for bench all and bench grid")
    wishes.check_place()
    grid = make_grid(collective, wishes)
    if collective not in TOLD and wishes.prediction != Wishes.prediction:
        raise CommandError(f"--prediction is for {', '.join(TOLD)}; {collective} is told nothing")
    if outputs.plot is not None:
        plots.check_panels(grid.cells)
    launcher = find_launcher(grid.on, wishes.mpi)
    program = find_benchmark(launcher.flavour)
    check_variants(grid, launcher)
    run = MeasuredRun([grid], launcher, outputs.resume)
    with run.kept_on_failure():
        try:
            with run.bar(collective) as seen:
                (results,) = run.measure(seen)
        except Interrupted as signal:
            return run.interrupted(signal)
        _write(grid, results, outputs, provenance(program, launcher, list(command)))
    run.forget()
    return 3 if any(result.wrong for result in results) else 0


def _write(
    grid: Grid, results: Sequence[CellResult], outputs: Outputs, origin: dict[str, object]
) -> None:
    # What a program's ranks lose between their own arrivals and ends is what its users feel.
    replayed = any(is_recording(cell.pattern) for cell in grid.cells)
    metric = outputs.metric or ("elapsed" if replayed else "run")
    rows = judge(results, grid.algorithms[0], metric)
    if outputs.json is not None:
        write_result(outputs.json, output.to_json(grid, results, rows, origin))
    if outputs.csv is not None:
        write_result(outputs.csv, output.to_csv(grid, rows))
    if outputs.plot is not None:
        draw(grid, rows, outputs.plot, metric)
    if outputs.format == "osu":
        text = output.to_osu(grid, rows, metric)
        console_beside(*outputs.files().values()).out(text, highlight=False)
    else:
        console = console_beside(*outputs.files().values())
        output.print_table(grid, rows, console, metric)
        for line in prediction_lines(grid, results):
            console.print(line, highlight=False)


def draw(grid: Grid, rows: Sequence[Row], path: Path, metric: str) -> None:
    """Draw both plots, each written whole."""
    write_result(path, plots.draw_curves(grid, rows, path, metric))
    write_result(distributions_beside(path), plots.draw_distributions(grid, rows, path, metric))
