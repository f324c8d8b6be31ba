"""One `sibyl guidelines` from its options to its files."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import sibyl
from sibyl.errors import CommandError
from sibyl.experiment import simulated
from sibyl.experiment.grid import BARE, COUNTS, MOST_ELEMENTS, SHAPES, SPIKE, Cell, Grid
from sibyl.experiment.measured_run import MeasuredRun
from sibyl.experiment.options import (
    PLACES,
    check_nodes,
    numbers_of,
    numbers_of_ranks,
    of_known,
    read_patterns,
    repetitions,
    words_of,
)
from sibyl.experiment.places import find_launcher
from sibyl.experiment.provenance import provenance
from sibyl.experiment.runner import Interrupted
from sibyl.experiment.units import read_time
from sibyl.files import console_beside, write_result
from sibyl.guidelines import output
from sibyl.guidelines.catalogue import LEFT_SIDES, PROBLEMS, REGULAR, chosen
from sibyl.guidelines.groups import HOLD_ALL, Group, groups, side
from sibyl.guidelines.judge import judge
from sibyl.guidelines.options import Outputs, Wishes
from sibyl.guidelines.report import Report
from sibyl.mpi.library import find_benchmark

if TYPE_CHECKING:
    from sibyl.guidelines.selection.learn import Learner

# The paper's, and what simulated times need.
MEASURED, SIMULATED = (75, 10), (1, 1)


@dataclass(frozen=True)
class Plan:
    """What is measured.

    Attributes:
        parts: the grids, each with the guidelines that are judged there.
        unders: native, and sibyl where the left sides are also served by Sibyl.
    """

    parts: tuple[tuple[Grid, Group], ...]
    unders: tuple[str, ...]


def _arrivals(wishes: Wishes, ranks: Sequence[int]) -> list[tuple[str, float]]:
    """Pattern and largest delay of the cells, in the order in which they are measured."""
    patterns = read_patterns(wishes.pattern, ranks)
    delays = [read_time(word) for word in words_of("--max-delay", wishes.max_delay)]
    if "max_delay" in wishes.given and set(patterns) == {BARE} and max(delays) > 0:
        raise CommandError(
            f"--max-delay: with --pattern {BARE}, which is the default, nobody is late; say "
            "--pattern uniform or another"
        )
    found = []
    for pattern in patterns:
        takes_delay = pattern in SHAPES and pattern != "flat"
        if takes_delay and max(delays) <= 0:
            raise CommandError(f"--pattern {pattern}: say how late with --max-delay, as in 1ms")
        found += [(pattern, delay) for delay in (delays if takes_delay else [0.0])]
    return list(dict.fromkeys(found))


def contenders(group: Group, unders: Sequence[str], more: Sequence[str] = ()) -> tuple[str, ...]:
    """Who takes turns: the MPI library's own, Sibyl's left sides, and what tables are learned from.

    Args:
        group: the operations.
        unders: native, sibyl.
        more: algorithms to learn from, as OPERATION/NAME.
    """
    found = [side(operation) for operation in group.operations]
    if "sibyl" in unders:
        left = dict.fromkeys(guideline.left for guideline in group.guidelines)
        served = sibyl.collectives()
        found += [side(operation, "auto") for operation in left if operation in served]
    found += [name for name in more if name.partition("/")[0] in group.operations]
    return tuple(dict.fromkeys(found))


def _groups(wishes: Wishes) -> list[Group]:
    """The guidelines and problems that are asked for."""
    names = LEFT_SIDES
    if wishes.collectives is not None:
        words = words_of("--collectives", wishes.collectives)
        names = tuple(of_known("--collectives", word, LEFT_SIDES) for word in words)
    problems: Sequence[str] = PROBLEMS
    if wishes.problems is not None:
        words = words_of("--problems", wishes.problems)
        problems = tuple(dict.fromkeys(of_known("--problems", word, COUNTS) for word in words))
    found = groups(chosen(names), problems)
    if not found:
        raise CommandError(
            f"--problems {','.join(problems)}: the guidelines of {', '.join(names)} are about "
            f"equal blocks; add: {REGULAR}"
        )
    return found


def _check_sizes(
    wishes: Wishes, found: Sequence[Group], ranks: Sequence[int], blocks: Sequence[int]
) -> None:
    """Notice vectors that MPI cannot count, or that do not fit into a simulation."""
    # The largest vector is the broadcast of all blocks, or the padded spikes.
    if max(ranks) * SPIKE * max(blocks) > MOST_ELEMENTS:
        raise CommandError(
            f"--blocks {max(blocks)} on {max(ranks)} ranks: more than 2^31 elements when padded"
        )
    operations = [name for group in found for name in group.operations if name in HOLD_ALL]
    memory = 4 * max(ranks) ** 2 * max(blocks)
    if wishes.simulated and operations and memory > simulated.MEMORY_MOST:
        everybody = " and ".join(dict.fromkeys(operations))
        raise CommandError(
            f"--blocks {max(blocks)} on {max(ranks)} simulated ranks: {everybody} "
            f"would take {memory >> 30} GiB; choose smaller ones, or --collectives gatherv,scatterv"
        )


def _learned_from(group: Group, candidates: Callable[[str], Sequence[str]] | None) -> list[str]:
    """The contenders that selection tables of a group's left sides are learned from."""
    if candidates is None or REGULAR not in group.problems:
        return []
    operations = dict.fromkeys(guideline.left for guideline in group.guidelines)
    return [side(operation, name) for operation in operations for name in candidates(operation)]


def make_plan(wishes: Wishes, candidates: Callable[[str], Sequence[str]] | None) -> Plan:
    """What the options describe.

    Args:
        wishes: the options.
        candidates: gives the algorithms that a collective's tables may name; None: no tables.

    Raises:
        CommandError: they describe nothing; with one line that says why.
    """
    of_known("--on", wishes.on, PLACES)
    of_known("--under", wishes.under, ("native", "sibyl"))
    wishes.check_place()
    found = _groups(wishes)
    default = SIMULATED if wishes.simulated else MEASURED
    iterations, warm_up = repetitions(wishes.iterations, wishes.warm_up, wishes.seed, default)
    ranks = numbers_of_ranks(wishes.ranks, wishes.on)
    if wishes.simulated:
        simulated.check(wishes.mpi)
    check_nodes(wishes.on, ranks, wishes.ranks_per_node)
    blocks = list(dict.fromkeys(numbers_of("--blocks", wishes.blocks, 10**8)))
    _check_sizes(wishes, found, ranks, blocks)
    arrivals = _arrivals(wishes, ranks)
    unders = ("native", "sibyl") if wishes.under == "sibyl" else ("native",)
    parts = []
    for number in dict.fromkeys(ranks):
        for group in found:
            cells = tuple(
                Cell(number, 0, problem, pattern, delay, block)
                for pattern, delay in arrivals
                for problem in group.problems
                for block in group.blocks(blocks)
            )
            grid = Grid(
                collective=group.collective,
                algorithms=contenders(group, unders, _learned_from(group, candidates)),
                cells=cells,
                iterations=iterations,
                warm_up=warm_up,
                compute=read_time(wishes.compute),
                operator="int-sum",
                root=number // 2,
                seed=wishes.seed,
                on=wishes.on,
                mpi=wishes.mpi,
                rate=wishes.rate,
                queue=wishes.queue_bytes,
                platform=wishes.platform,
                ranks_per_node=wishes.ranks_per_node,
            )
            parts.append((grid, group))
    return Plan(tuple(parts), unders)


def run_session(wishes: Wishes, outputs: Outputs, command: Sequence[str]) -> int:
    """Measure, judge, and write what was asked for; see `sibyl guidelines --help`.

    Returns:
        0; 3 when a result was wrong; 128 plus the number of a signal that ended the run.
    """
    make_plan(wishes, None)  # complains before anything is written or started
    if wishes.simulated and outputs.tables is not None:
        raise CommandError("--tables: what is simulated is no MPI that could read them")
    outputs.check(wishes)
    launcher = find_launcher(wishes.on, wishes.mpi)
    program = find_benchmark(launcher.flavour)
    learner = None
    if outputs.tables is not None:
        from sibyl.guidelines.selection.learn import Learner

        learner = Learner(launcher, program, wishes.under == "sibyl")
    plan = make_plan(wishes, learner.candidates if learner else None)
    run = MeasuredRun([grid for grid, _ in plan.parts], launcher, outputs.resume)
    with run.kept_on_failure():
        try:
            with run.bar("guidelines") as seen:
                found = run.measure(seen)
        except Interrupted as signal:
            return run.interrupted(signal)
        cells = [
            (result, group.guidelines)
            for (_, group), results in zip(plan.parts, found, strict=True)
            for result in results
        ]
        origin = provenance(program, launcher, list(command), "guidelines")
        findings = judge(cells, plan.unders)
        flavour = wishes.mpi or "" if wishes.simulated else launcher.flavour
        report = Report(flavour, plan.parts[0][0].iterations, plan.unders, cells, findings, origin)
        _write(report, outputs, learner)
    run.forget()
    return 3 if report.wrong else 0


def _write(report: Report, outputs: Outputs, learner: "Learner | None") -> None:
    """Write the files that are wanted, and print the tables."""
    if outputs.json is not None:
        write_result(outputs.json, output.to_json(report))
    if outputs.csv is not None:
        write_result(outputs.csv, output.to_csv(report))
    written = []
    if learner is not None and outputs.tables is not None:
        written = learner.write(report, outputs.tables)
    page_file = outputs.page_file()
    if page_file is not None:
        from sibyl.guidelines import page

        write_result(page_file, page.to_html(report, written))
    console = console_beside(*outputs.files().values())
    output.print_report(report, console)
    for path, what in written:
        console.print(f"{path}: {what}", highlight=False, soft_wrap=True)
