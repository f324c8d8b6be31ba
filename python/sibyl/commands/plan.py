"""`sibyl plan`: one plan as a summary for people, as JSON, as a picture, or for LogGOPSim."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import sibyl
from sibyl.arguments import (
    check_algorithm,
    check_collective,
    complete_algorithm,
    read_order,
    read_sizes,
)
from sibyl.commands.plan_summary import print_summary
from sibyl.errors import CommandError, one_line
from sibyl.experiment.units import read_time
from sibyl.files import Read, check_all_writable, write_result
from sibyl.memory import check_plan_memory
from sibyl.node_options import NodeOptions

if TYPE_CHECKING:
    import numpy

# What --nodes without --algorithm plans.
ON_NODES = "two-level"
# Bytes of a step in what is written, and in what that is made from: measured.
A_STEP = {"events": 1000, "html": 0, "json": 240, "svg": 500, "goal": 100}


@dataclass(frozen=True, kw_only=True)
class PlanOptions:
    """What is planned."""

    algorithm: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="See: sibyl algorithms; with --nodes two-level if absent.",
            show_default=False,
            autocompletion=complete_algorithm,
        ),
    ] = None
    ranks: Annotated[
        int | None,
        typer.Option(
            "-n",
            "--ranks",
            metavar="P",
            help="Number of ranks; may be left out with --nodes.",
            show_default=False,
        ),
    ] = None
    root: Annotated[
        int, typer.Option(metavar="R", help="Root of gather, scatter, reduce, bcast.")
    ] = 0
    count: Annotated[
        int | None,
        typer.Option(metavar="M", help="Elements per vector or block; recorded, sizes in GOAL."),
    ] = None
    order: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Order of the ranks other than the root, one a line."),
    ] = None
    in_place: Annotated[bool, typer.Option("--in-place", help="Plan for MPI_IN_PLACE.")] = False
    background: Annotated[
        bool, typer.Option("--background", help="Open the gates that the algorithm can open.")
    ] = False
    operator_rounds: Annotated[
        int, typer.Option(metavar="Q", help="Scan family: rounds with the operator; 0: its own.")
    ] = 0
    sizes: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|A,B,...",
            help="Gatherv and the like: size of each rank's block; in alltoallv a row for each "
            "rank; all alike if absent.",
        ),
    ] = None
    direct_from: Annotated[
        int | None,
        typer.Option(metavar="SIZE", help="Gatherv, scatterv: blocks of this size go direct."),
    ] = None
    arrivals: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|SHAPE",
            help="Clairvoyant: one arrival time a line, or flat, uniform:MAX:SEED, skewed:MAX, ... "
            "with MAX in seconds; all at once if absent.",
        ),
    ] = None
    segments: Annotated[
        int, typer.Option(metavar="N", help="Parts that a vector or block is cut into.")
    ] = 1
    round_time: Annotated[
        str,
        typer.Option(
            metavar="T",
            help="Clairvoyant: what a round takes, as in 500us; a bare number is seconds.",
        ),
    ] = "1.0"
    generator: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Reduce: linear, pairing-heap, segment-tree or fast; all give the same schedule.",
        ),
    ] = "fast"
    root_order: Annotated[
        str,
        typer.Option(
            metavar="first|availability", help="Reduce: where the root stands among senders."
        ),
    ] = "first"

    @property
    def round_seconds(self) -> float:
        """Of --round-time."""
        try:
            return float(self.round_time)
        except ValueError:
            return read_time(self.round_time)


@dataclass(frozen=True, kw_only=True)
class PlanOutputs:
    """Where the plan goes; - is stdout, where one of them can go."""

    events: Annotated[
        str | None,
        typer.Option(
            metavar="FILE.csv|-",
            help="Clairvoyant: write the schedule: round,sender,receiver,segment.",
        ),
    ] = None
    json: Annotated[
        str | None, typer.Option(metavar="FILE|-", help="Write the plan as JSON (-: stdout).")
    ] = None
    svg: Annotated[
        str | None, typer.Option(metavar="FILE", help="Draw the plan as a space-time picture.")
    ] = None
    goal: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write the plan for LogGOPSim.")
    ] = None
    html: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Clairvoyant: a page that plays the schedule."),
    ] = None


@dataclass(frozen=True)
class Asked:
    """What is planned, once what options leave out is known."""

    collective: str
    row: sibyl.Algorithm
    ranks: int
    options: PlanOptions
    nodes: NodeOptions

    @property
    def title(self) -> str:
        """Collective and algorithm."""
        return f"{self.collective} {self.row.name}"


def read_asked(collective: str, options: PlanOptions, nodes: NodeOptions) -> Asked:
    """Check the options and find what they leave out.

    Raises:
        CommandError: one line on what is wrong with them.
    """
    check_collective(collective)
    algorithm = options.algorithm
    if algorithm is None:
        if nodes.nodes is None:
            raise CommandError("Missing option '--algorithm'. (see: sibyl plan --help)")
        algorithm = ON_NODES
        if algorithm not in (row.name for row in sibyl.algorithms(collective)):
            raise CommandError(
                f"{collective} has no algorithm {ON_NODES}; say --algorithm (see: sibyl algorithms)"
            )
    check_algorithm(collective, algorithm)
    nodes.check()
    named = nodes.named()
    ranks = options.ranks
    if ranks is None:
        if named is None:
            raise CommandError("Missing option '--ranks'. (see: sibyl plan --help)")
        ranks = len(named)
    if ranks < 1:
        raise CommandError(f"--ranks {ranks}: a plan has at least 1 rank")
    nodes.check_ranks(ranks)
    if not 0 <= options.root < ranks:
        raise CommandError(f"--root {options.root} is not a rank; {ranks} ranks are 0..{ranks - 1}")
    if options.count is not None and options.count < 0:
        raise CommandError(f"--count {options.count}: a count of elements is not negative")
    row = next(row for row in sibyl.algorithms(collective) if row.name == algorithm)
    return Asked(collective, row, ranks, options, nodes)


def make_plan(asked: Asked) -> sibyl.Plan:
    """Plan it.

    Raises:
        CommandError: the table's own line on what is wrong with the request.
    """
    options = asked.options
    order = None
    if options.order is not None:
        order = read_order(options.order, asked.ranks, options.root)
    try:
        return sibyl.make_plan(
            asked.collective,
            asked.row.name,
            asked.ranks,
            root=options.root,
            order=order,
            background=options.background,
            in_place=options.in_place,
            operator_rounds=options.operator_rounds,
            arrivals=_arrivals(asked),
            segments=options.segments,
            round_time=options.round_seconds,
            generator=options.generator,
            root_order=options.root_order,
            lanes=asked.nodes.lanes,
            sizes=None if options.sizes is None else read_sizes(options.sizes),
            direct_from=options.direct_from,
            **asked.nodes.placed().asked(),
        )
    except ValueError as error:
        raise CommandError(f"{asked.title}: {error}") from error


def _arrivals(asked: Asked) -> list[float] | None:
    """The arrival time of each rank; ValueError where there is no such pattern."""
    options = asked.options
    if options.arrivals is None:
        return None
    return sibyl.arrival_pattern(options.arrivals, asked.ranks, options.root).tolist()


def events_text(asked: Asked, plan: sibyl.Plan) -> str:
    """The schedule of segments as CSV: round, sender, receiver, segment."""
    if asked.collective == "reduce":
        _, events = _schedule(asked, "--events", "")
        rows = events.tolist()
    else:
        _check_arrivals(asked, "--events", "")
        rows = sorted(
            (step["round"], sender, step["peer"], step["first"])
            for sender, program in enumerate(json.loads(plan.to_json())["programs"])
            for step in program
            if step["kind"] == "send"
        )
    lines = ["round,sender,receiver,segment"]
    lines += [f"{r},{s},{d},{n}" for r, s, d, n in rows]
    return "\n".join(lines)


def goal_text(asked: Asked, plan: sibyl.Plan) -> str:
    """The plan for LogGOPSim, with the sizes that --count says.

    Raises:
        CommandError: they are too large.
    """
    count = 1 if asked.options.count is None else asked.options.count
    try:
        return plan.to_goal(count)
    except ValueError as error:
        raise CommandError(f"--count {count}: {error}; ask for fewer elements") from error


def page_text(asked: Asked) -> str:
    """The schedule of a reduce as a page that plays it."""
    from sibyl.simulator.schedule_page import check_size, schedule_page

    options = asked.options
    check_size(asked.ranks, options.segments)
    hint = "; sibyl simulate --html draws any algorithm"
    times, events = _schedule(asked, "--html", hint)
    return schedule_page(times, options.segments, options.round_seconds, options.root, events)


def _schedule(asked: Asked, option: str, hint: str) -> tuple["numpy.ndarray", "numpy.ndarray"]:
    """Arrival times and events of a schedule; CommandError where the algorithm has none."""
    import numpy

    _check_arrivals(asked, option, hint)
    if asked.collective != "reduce":
        raise CommandError(
            f"{option} plays the schedule of a reduce, not of {asked.collective}{hint}"
        )
    options, arrivals = asked.options, _arrivals(asked)
    times = numpy.zeros(asked.ranks) if arrivals is None else numpy.array(arrivals)
    events = sibyl.clairvoyant(
        times,
        options.segments,
        options.round_seconds,
        options.root,
        options.generator,
        options.root_order,
    )
    return times, events


def _check_arrivals(asked: Asked, option: str, hint: str) -> None:
    # A plan for nodes has a schedule of nodes, not of ranks.
    if not asked.row.arrivals or asked.row.nodes:
        raise CommandError(
            f"{option}: {asked.title} has no schedule of segments; "
            f"it is for reduce --algorithm clairvoyant{hint}"
        )


def write_plan(
    collective: str, options: PlanOptions, nodes: NodeOptions, outputs: PlanOutputs
) -> int:
    """Plan and write; see `sibyl plan --help`. Returns the exit code.

    Where no output is asked for, a summary goes to stdout; that of a plan for --nodes proves it.
    """
    wanted = {name: Path(to) for name, to in vars(outputs).items() if to is not None}
    check_all_writable({f"--{name}": path for name, path in wanted.items()}, _read_by(options))
    asked = read_asked(collective, options, nodes)
    beside = max((A_STEP[name] for name in wanted), default=0)
    check_plan_memory(asked.row, asked.ranks, options.segments, beside)
    plan = make_plan(asked)
    texts: dict[str, Callable[[], str]] = {
        "events": lambda: events_text(asked, plan),
        "html": lambda: page_text(asked),
        "json": lambda: _with_request(plan.to_json(), asked),
        "svg": plan.to_svg,
        "goal": lambda: goal_text(asked, plan),
    }
    for name, text in texts.items():
        if name in wanted:
            write_result(wanted[name], _with_line_end(text()))
    if wanted:
        return 0
    named = nodes.named()
    problem = None if named is None else _problem_of(plan)
    print_summary(plan, options.count, named, nodes.lanes, problem)
    return 1 if problem else 0


def _read_by(options: PlanOptions) -> list[Read]:
    """The files that a plan is made from; shapes and sizes are none."""
    texts = {"--sizes": options.sizes, "--arrivals": options.arrivals}
    named: list[Read] = [(option, Path(text)) for option, text in texts.items() if text]
    return [("--order", options.order), *named]


def _problem_of(plan: sibyl.Plan) -> str:
    """Why a plan is wrong; empty where it is proven."""
    try:
        plan.verify()
    except sibyl.VerificationError as error:
        return one_line(str(error))
    return ""


def _with_line_end(text: str) -> str:
    return text if text.endswith("\n") else text + "\n"


def _with_request(text: str, asked: Asked) -> str:
    """The plan's JSON with count, nodes and lanes recorded where the user gave them."""
    lanes = None if asked.nodes.lanes == 1 else asked.nodes.lanes
    fields = {"count": asked.options.count, "nodes": asked.nodes.named(), "lanes": lanes}
    given = {name: value for name, value in fields.items() if value is not None}
    if not given:
        return text
    return json.dumps({**json.loads(text), **given}, separators=(",", ":"))
