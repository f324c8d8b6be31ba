"""`sibyl plan`: one plan as a summary for people, as JSON, as a picture, or for LogGOPSim."""

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import sibyl
from sibyl.arguments import check_algorithm, read_order, read_sizes
from sibyl.errors import CommandError
from sibyl.files import write_result

if TYPE_CHECKING:
    import numpy

# Up to this many ranks the summary shows every step.
STEPS_UP_TO = 16


@dataclass(frozen=True, kw_only=True)
class PlanOptions:
    """What is planned."""

    algorithm: Annotated[
        str, typer.Option(metavar="NAME", help="See: sibyl algorithms.", show_default=False)
    ]
    ranks: Annotated[int, typer.Option(metavar="P", help="Number of ranks.", show_default=False)]
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
    ranks_per_node: Annotated[
        int,
        typer.Option(metavar="K", help="Two-level, trees: consecutive ranks that share a node."),
    ] = 1
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
        float, typer.Option(metavar="D", help="Clairvoyant: seconds that a round takes.")
    ] = 1.0
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


def make_plan(collective: str, options: PlanOptions) -> sibyl.Plan:
    """Plan it.

    Raises:
        CommandError: the table's own line on what is wrong with the request.
    """
    check_algorithm(collective, options.algorithm)
    if options.ranks < 1:
        raise CommandError(f"--ranks {options.ranks}: a plan has at least 1 rank")
    if not 0 <= options.root < options.ranks:
        raise CommandError(
            f"--root {options.root} is not a rank; {options.ranks} ranks are 0..{options.ranks - 1}"
        )
    if options.count is not None and options.count < 0:
        raise CommandError(f"--count {options.count}: a count of elements is not negative")
    order = None
    if options.order is not None:
        order = read_order(options.order, options.ranks, options.root)
    try:
        return sibyl.make_plan(
            collective,
            options.algorithm,
            options.ranks,
            root=options.root,
            order=order,
            background=options.background,
            in_place=options.in_place,
            operator_rounds=options.operator_rounds,
            arrivals=_arrivals(options),
            segments=options.segments,
            round_time=options.round_time,
            generator=options.generator,
            root_order=options.root_order,
            ranks_per_node=options.ranks_per_node,
            sizes=None if options.sizes is None else read_sizes(options.sizes),
            direct_from=options.direct_from,
        )
    except ValueError as error:
        raise CommandError(f"{collective} {options.algorithm}: {error}") from error


def _arrivals(options: PlanOptions) -> list[float] | None:
    """The arrival time of each rank; ValueError where there is no such pattern."""
    if options.arrivals is None:
        return None
    return sibyl.arrival_pattern(options.arrivals, options.ranks, options.root).tolist()


def events_text(collective: str, options: PlanOptions, plan: sibyl.Plan) -> str:
    """The schedule of segments as CSV: round, sender, receiver, segment."""
    if collective == "reduce":
        _, events = _schedule(collective, options, "--events", "")
        rows = events.tolist()
    else:
        _check_arrivals(collective, options, "--events", "")
        rows = sorted(
            (step["round"], sender, step["peer"], step["first"])
            for sender, program in enumerate(json.loads(plan.to_json())["programs"])
            for step in program
            if step["kind"] == "send"
        )
    lines = ["round,sender,receiver,segment"]
    lines += [f"{r},{s},{d},{n}" for r, s, d, n in rows]
    return "\n".join(lines)


def page_text(collective: str, options: PlanOptions) -> str:
    """The schedule of a reduce as a page that plays it."""
    from sibyl.simulator.schedule_page import check_size, schedule_page

    check_size(options.ranks, options.segments)
    hint = "; sibyl simulate --html draws any algorithm"
    times, events = _schedule(collective, options, "--html", hint)
    return schedule_page(times, options.segments, options.round_time, options.root, events)


def _schedule(
    collective: str, options: PlanOptions, option: str, hint: str
) -> tuple["numpy.ndarray", "numpy.ndarray"]:
    """Arrival times and events of a schedule; CommandError where the algorithm has none."""
    import numpy

    _check_arrivals(collective, options, option, hint)
    if collective != "reduce":
        raise CommandError(f"{option} plays the schedule of a reduce, not of {collective}{hint}")
    arrivals = _arrivals(options)
    times = numpy.zeros(options.ranks) if arrivals is None else numpy.array(arrivals)
    events = sibyl.clairvoyant(
        times,
        options.segments,
        options.round_time,
        options.root,
        options.generator,
        options.root_order,
    )
    return times, events


def _check_arrivals(collective: str, options: PlanOptions, option: str, hint: str) -> None:
    if not any(row.arrivals for row in _rows(collective, options)):
        raise CommandError(
            f"{option}: {collective} {options.algorithm} has no schedule of segments; "
            f"it is for reduce --algorithm clairvoyant{hint}"
        )


def _rows(collective: str, options: PlanOptions) -> list[sibyl.Algorithm]:
    return [row for row in sibyl.algorithms(collective) if row.name == options.algorithm]


def write_plan(collective: str, options: PlanOptions, outputs: PlanOutputs) -> int:
    """Plan and write; see `sibyl plan --help`. Returns the exit code.

    Where no output is asked for, a summary goes to stdout.
    """
    wanted = {name: to for name, to in vars(outputs).items() if to is not None}
    to_stdout = [f"--{name}" for name in ("events", "html", "json", "svg", "goal")]
    to_stdout = [option for option in to_stdout if wanted.get(option[2:]) == "-"]
    if len(to_stdout) > 1:
        raise CommandError(f"{' and '.join(to_stdout)}: only one can be written to '-'")
    plan = make_plan(collective, options)
    texts: dict[str, Callable[[], str]] = {
        "events": lambda: events_text(collective, options, plan),
        "html": lambda: page_text(collective, options),
        "json": lambda: _with_count(plan.to_json(), options.count),
        "svg": plan.to_svg,
        "goal": lambda: plan.to_goal(1 if options.count is None else options.count),
    }
    for name, text in texts.items():
        if name in wanted:
            _write(wanted[name], text())
    if not wanted:
        print_summary(plan, options)
    return 0


def _with_count(text: str, count: int | None) -> str:
    """The plan's JSON with `count` recorded where the user gave one."""
    if count is None:
        return text
    return json.dumps({**json.loads(text), "count": count}, separators=(",", ":"))


def _write(name: str, text: str) -> None:
    if not text.endswith("\n"):
        text += "\n"
    if name == "-":
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    write_result(Path(name), text)


def _slice_text(buffer: str, ranges: list[list[int]]) -> str:
    parts = [str(f) if n == 1 else f"{f}..{f + n - 1}" for f, n in ranges]
    return f"{buffer}[{', '.join(parts)}]"


def _data_text(data: dict[str, Any], count: int) -> str:
    ranges = data.get("ranges") or [[data["first"], data.get("count", count)]]
    total = sum(n for _, n in ranges)
    return _slice_text(data["buffer"], ranges) if total else "nothing"


def step_text(step: dict[str, Any]) -> str:
    """One step of the plan's JSON in words."""
    data = _data_text(step, step["count"])
    kind, peer = step["kind"], step.get("peer")
    if kind == "send":
        text = f"send {data} to {peer}"
    elif kind == "receive":
        text = f"receive {data} from {peer}"
    elif kind == "receive_combine":
        text = f"receive from {peer} and combine: {data} := message (+) {data}"
    elif kind == "copy":
        text = f"copy {data} := {_data_text(step['from'], step['count'])}"
    else:
        text = f"combine {data} := {_data_text(step['from'], step['count'])} (+) {data}"
    if step["gate"] == "on_start":
        text += ", in the background"
    if step["after"]:
        text += f", after step {', '.join(str(s) for s in step['after'])}"
    return text


def print_summary(plan: sibyl.Plan, options: PlanOptions) -> None:
    """Print measures and, for few ranks, every step."""
    row = next(row for row in sibyl.algorithms(plan.collective) if row.name == plan.algorithm)
    title = f"{plan.collective} {plan.algorithm}, {plan.ranks} ranks"
    print(f"{title}, root {plan.root}" if row.rooted else title)
    unit = "vector" if plan.partition == "vector" else "block"
    print(f"  rounds      {plan.rounds}")
    print(f"  messages    {plan.messages}")
    print(f"  steps       {plan.steps}")
    size = "" if options.count is None else f" of {options.count} element(s)"
    print(f"  partition   {plan.segments} part(s) a {unit}{size}")
    print(f"  one-ported  {'yes' if plan.one_ported else 'no'}")
    if row.combines:
        print(f"  operands    {'in rank order' if plan.keeps_order else 'in any order'}")
    if plan.ranks > STEPS_UP_TO:
        print(f"(steps are shown up to {STEPS_UP_TO} ranks; --json FILE writes them all)")
        return
    for rank, program in enumerate(json.loads(plan.to_json())["programs"]):
        print(f"rank {rank}")
        if not program:
            print("  nothing to do")
        for number, step in enumerate(program):
            print(f"  {number:>3}  round {step['round']:>2}  {step_text(step)}")
