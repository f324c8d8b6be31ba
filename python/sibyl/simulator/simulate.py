"""Drives `sibyl simulate`: reads what is wished, simulates every cell, writes what is asked for."""

import hashlib
import itertools
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from sibyl import __version__, _core
from sibyl.errors import CommandError, counted
from sibyl.experiment.grid import SHAPES, SIZELESS, make_cells
from sibyl.experiment.journal import Journal, kept_on_failure, say_kept
from sibyl.experiment.options import recorded_pattern, root_and_sizes, words_of
from sibyl.experiment.recording import pattern_paths, split_name
from sibyl.experiment.runner import Interrupted, signals_interrupt
from sibyl.experiment.units import read_size, read_time
from sibyl.files import STDOUT, console_beside, write_result
from sibyl.inputs import whole_number
from sibyl.node_options import NodeOptions
from sibyl.paths import is_file, why_absent
from sibyl.progress import progress_bar
from sibyl.simulator import output, picture
from sibyl.simulator.contenders import Contender, contenders
from sibyl.simulator.options import Outputs, Wishes
from sibyl.simulator.run import run_prepared
from sibyl.simulator.session import (
    Problem,
    Row,
    Settings,
    arrivals_of,
    block_of,
    check_memory,
    replayed,
    request_of,
    run_cell,
    runs_expected,
    simulation_of,
)

# Where neither --ranks nor --nodes say it.
USUAL_RANKS = 48
PICTURES_MOST = 24


def _numbers(option: str, text: str) -> list[int]:
    numbers = []
    for word in words_of(option, text):
        number = whole_number(word)
        if number is None or not 1 <= number < 2**31:
            raise CommandError(f"{option} {word}: a number of ranks is 1 to {2**31 - 1}")
        numbers.append(number)
    return numbers


def with_problems(
    settings: Settings, wishes: Wishes, nodes: NodeOptions
) -> tuple[Settings, list[Problem]]:
    """The settings with the root that is wished for, or was recorded, and the cells."""
    named = nodes.named()
    sizes = [] if wishes.size is None else list(map(read_size, words_of("--size", wishes.size)))
    text, recorded = recorded_pattern(wishes.pattern, settings.collective, sizes)
    usual = USUAL_RANKS if named is None else len(named)
    if recorded is not None and wishes.ranks is None and named is None:
        usual = recorded.ranks
    root, sizes = root_and_sizes(settings.collective, wishes.root, sizes, recorded)
    settings = replace(settings, root=root)
    ranks = [usual] if wishes.ranks is None else _numbers("--ranks", wishes.ranks)
    for count in ranks:
        nodes.check_ranks(count)
        if not 0 <= settings.root < count:
            raise CommandError(f"--root {settings.root} is not a rank; there are {count}")
    patterns = words_of("--pattern", text)
    for pattern in patterns:
        if pattern not in SHAPES:
            _check_file(pattern, ranks)
    cells = make_cells(
        ranks,
        sizes,
        ["same"],
        patterns,
        [read_time(word) for word in words_of("--max-delay", wishes.max_delay)],
    )
    problems = [Problem(cell.ranks, cell.size, cell.pattern, cell.max_delay) for cell in cells]
    for problem in problems:
        if block_of(problem, settings) == 0 and settings.collective != SIZELESS:
            raise CommandError(
                f"--size {problem.size}: {problem.ranks} blocks have no byte each; give "
                f"{problem.ranks} or more"
            )
    return settings, problems


def _check_file(pattern: str, ranks: Sequence[int]) -> None:
    """Raise CommandError where there is no such file, none that can be read, or of other ranks."""
    path = split_name(pattern)[0]
    if not is_file(path):
        shapes = ", ".join(SHAPES)
        why = why_absent(path, f"there are {shapes}, and no file of that name")
        raise CommandError(f"--pattern {pattern}: {why}")
    for count in ranks:
        replayed(pattern, count)


def run(settings: Settings, wishes: Wishes, nodes: NodeOptions, outputs: Outputs) -> int:
    """Simulate and write; returns the exit code.

    Interrupted by a signal, it writes what is finished and returns 128 plus the signal's number.
    """
    entrants = contenders(settings.collective, wishes.algorithms)
    if settings.lanes != 1 and not any(entrant.row.lanes for entrant in entrants):
        raise CommandError(f"--lanes {settings.lanes}: none of the algorithms has several")
    settings, problems = with_problems(settings, wishes, nodes)
    outputs.check()
    if outputs.plot is not None:
        output.check_panels(problems)
    pictures = _pictures(problems, entrants, outputs) if outputs.svg or outputs.html else {}
    check_memory(problems, entrants, settings, {problem for problem, _ in pictures.values()})
    for problem, contender in pictures.values():
        _check_picture(problem, contender, settings, outputs)
    fingerprint = _fingerprint(settings, problems, entrants)
    journal = Journal(fingerprint, partial(Row.from_json, entrants=entrants))
    journal.hold()
    if not outputs.resume:
        journal.renew()
    cells = [(problem, entrant.name) for problem in problems for entrant in entrants]
    with kept_on_failure([journal], len(cells), "rows"):
        interrupted = 0
        try:
            with signals_interrupt():
                _simulate(settings, problems, entrants, journal)
        except Interrupted as signal:
            interrupted = signal.number
        found = {(row.problem, row.contender.name): row for row in journal.read()}
        _write([found[cell] for cell in cells if cell in found], settings, outputs)
        if interrupted:
            say_kept([journal], len(cells), "rows")
            return 128 + interrupted
        for suffix, (problem, contender) in pictures.items():
            _write_picture(suffix, problem, contender, settings, outputs)
    journal.forget()
    return 0


def _write(rows: Sequence[Row], settings: Settings, outputs: Outputs) -> None:
    """The table, and the files of the rows; nothing where there are none."""
    if not rows:
        return
    output.print_table(rows, settings, console_beside(*outputs.files.values()))
    if outputs.csv is not None:
        write_result(outputs.csv, output.csv_text(rows, settings))
    if outputs.json is not None:
        write_result(outputs.json, output.json_text(rows, settings))
    if outputs.plot is not None:
        write_result(outputs.plot, output.draw(rows, settings, outputs.plot))


def _simulate(
    settings: Settings,
    problems: Sequence[Problem],
    entrants: Sequence[Contender],
    journal: Journal[Row],
) -> None:
    """What the journal lacks, a row at a time: those before an interrupt are kept."""
    there = {(row.problem, row.contender.name) for row in journal.read()}
    missing = {
        problem: [entrant for entrant in entrants if (problem, entrant.name) not in there]
        for problem in problems
    }
    total = runs_expected(problems, entrants, settings)
    left = sum(runs_expected([problem], late, settings) for problem, late in missing.items())
    with progress_bar("simulating", total, total - left) as advance:
        for problem, late in missing.items():
            for row in run_cell(problem, late, settings, lambda: advance(1)):
                journal.add(row)


def _fingerprint(
    settings: Settings, problems: Sequence[Problem], entrants: Sequence[Contender]
) -> str:
    """Equal for runs with equal results only."""
    names = [entrant.name for entrant in entrants]
    digest = hashlib.sha256(repr((__version__, settings, problems, names)).encode())
    digest.update(Path(_core.__file__).read_bytes())  # planners and simulator
    for path in pattern_paths(problem.pattern for problem in problems):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _pictures(
    problems: Sequence[Problem], entrants: Sequence[Contender], outputs: Outputs
) -> dict[str, tuple[Problem, Contender]]:
    """What is drawn, by what its file's name has besides: each contender in each cell.

    The file that was named holds the first one.
    """
    number = len(problems) * len(entrants)
    for option, path in (("--svg", outputs.svg), ("--html", outputs.html)):
        if number > 1 and path == STDOUT:
            raise CommandError(
                f"{option} -: several pictures; name a file, or one algorithm and one cell"
            )
    if number > PICTURES_MOST:
        raise CommandError(
            f"--svg and --html: one picture for each of {counted(len(entrants), 'algorithm')} in "
            f"{counted(len(problems), 'cell')} are {number}; up to {PICTURES_MOST} are drawn"
        )
    found = {}
    for place, (problem, contender) in enumerate(itertools.product(problems, entrants)):
        words = [contender.name.replace(":", "-")] if len(entrants) > 1 else []
        if len(problems) > 1:
            words.append(str(place // len(entrants) + 1))
        found["-".join(["", *words]) if place else ""] = problem, contender
    return found


def _check_picture(
    problem: Problem, contender: Contender, settings: Settings, outputs: Outputs
) -> None:
    """Notice before the simulation what is too much to look at."""
    arrivals = arrivals_of(problem, settings, 0)
    request = request_of(problem, contender, settings, arrivals)
    # Programs are only made to be counted where the estimate, which is rough, is near the limit.
    messages = int(_core.estimate_steps(request)) // 2
    if messages < 16 * picture.MESSAGES_PAGE:
        messages = simulation_of(problem, contender, settings, arrivals).steps // 2
    if outputs.svg is not None:
        picture.check_size(messages, picture.MESSAGES_SVG, "--svg")
    if outputs.html is not None:
        picture.check_size(messages, picture.MESSAGES_PAGE, "--html")


def _write_picture(
    suffix: str, problem: Problem, contender: Contender, settings: Settings, outputs: Outputs
) -> None:
    """One contender in one cell, under its first pattern."""
    arrivals = arrivals_of(problem, settings, 0)
    prepared = simulation_of(problem, contender, settings, arrivals)
    simulated = run_prepared(prepared, settings.network, arrivals, record=True)
    title = f"{output.problem_title(problem, settings)}: {contender.name}"
    if outputs.svg is not None:
        path = _beside(outputs.svg, suffix)
        write_result(path, picture.svg_text(title, arrivals, simulated))
    if outputs.html is not None:
        path = _beside(outputs.html, suffix)
        write_result(path, picture.page_text(title, arrivals, simulated))


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(f"{path.stem}{suffix}{path.suffix}") if suffix else path
