"""`sibyl plan`: one plan as a summary for people, as JSON, as a picture, or for LogGOPSim."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sibyl
from sibyl.arguments import check_algorithm, read_order, read_sizes
from sibyl.errors import CommandError
from sibyl.files import write_result

if TYPE_CHECKING:
    import numpy

# Up to this many ranks the summary shows every step.
STEPS_UP_TO = 16


@dataclass(frozen=True)
class PlanOptions:
    """What is planned.

    Attributes:
        collective: exscan, scan, gather, scatter, gatherv, scatterv or reduce.
        algorithm: a name of the table of algorithms.
        ranks: at least 1.
        root: 0 for collectives without one.
        count: elements per vector (scans) or per block (gather, scatter); None: not said, 1.
        order: a file with the order of the ranks other than the root.
        in_place: MPI_IN_PLACE at every rank, or at the root where there is one.
        background: open the gates that can be opened.
        operator_rounds: 0 takes the algorithm's own.
        arrivals: a pattern file or a short form (uniform:MAX:SEED, ...); None: all at once.
        segments: parts that the vector is cut into.
        round_time: seconds that a round takes.
        generator: which of the generators of one schedule.
        root_order: first or availability.
        ranks_per_node: consecutive ranks that share a node.
        sizes: of each rank's block: numbers with commas between them, or a file with one a line.
        direct_from: from this size on blocks go straight; None: none does.
    """

    collective: str
    algorithm: str
    ranks: int
    root: int
    count: int | None
    order: Path | None
    in_place: bool
    background: bool
    operator_rounds: int
    arrivals: str | None = None
    segments: int = 1
    round_time: float = 1.0
    generator: str = "fast"
    root_order: str = "first"
    ranks_per_node: int = 1
    sizes: str | None = None
    direct_from: int | None = None


def make_plan(options: PlanOptions) -> sibyl.Plan:
    """Plan it.

    Raises:
        CommandError: the table's own line on what is wrong with the request.
    """
    check_algorithm(options.collective, options.algorithm)
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
            options.collective,
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
        raise CommandError(f"{options.collective} {options.algorithm}: {error}") from error


def _arrivals(options: PlanOptions) -> list[float] | None:
    """The arrival time of each rank; ValueError where there is no such pattern."""
    if options.arrivals is None:
        return None
    return sibyl.arrival_pattern(options.arrivals, options.ranks, options.root).tolist()


def write_events(options: PlanOptions, name: str) -> None:
    """Write the schedule of a reduce as CSV: round, sender, receiver, segment."""
    _, events = _schedule(options, "--events", "")
    lines = ["round,sender,receiver,segment"]
    lines += [f"{r},{s},{d},{n}" for r, s, d, n in events.tolist()]
    _write(name, "\n".join(lines))


def write_page(options: PlanOptions, name: str) -> None:
    """Write the schedule of a reduce as a page that plays it."""
    from sibyl.simulator.schedule_page import check_size, schedule_page

    check_size(options.ranks, options.segments)
    times, events = _schedule(options, "--html", "; sibyl simulate --html draws any algorithm")
    _write(name, schedule_page(times, options.segments, options.round_time, options.root, events))


def _schedule(
    options: PlanOptions, option: str, hint: str
) -> tuple["numpy.ndarray", "numpy.ndarray"]:
    """Arrival times and events of a schedule; CommandError where the algorithm has none."""
    import numpy

    if not any(row.arrivals for row in _rows(options)):
        raise CommandError(
            f"{option}: {options.collective} {options.algorithm} has no schedule of segments; "
            f"it is for reduce --algorithm clairvoyant{hint}"
        )
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


def _rows(options: PlanOptions) -> list[sibyl.Algorithm]:
    return [row for row in sibyl.algorithms(options.collective) if row.name == options.algorithm]


def write_plan(
    options: PlanOptions,
    json_to: str | None,
    svg_to: str | None,
    goal_to: str | None,
    events_to: str | None = None,
    page_to: str | None = None,
) -> int:
    """Plan and write; see `sibyl plan --help`. Returns the exit code.

    Where no output is asked for, a summary goes to stdout.
    """
    outputs = {
        "--events": events_to,
        "--html": page_to,
        "--json": json_to,
        "--svg": svg_to,
        "--goal": goal_to,
    }
    to_stdout = [option for option, name in outputs.items() if name == "-"]
    if len(to_stdout) > 1:
        raise CommandError(f"{' and '.join(to_stdout)}: only one can be written to '-'")
    plan = make_plan(options)
    if events_to is not None:
        write_events(options, events_to)
    if page_to is not None:
        write_page(options, page_to)
    if json_to is not None:
        _write(json_to, _with_count(plan.to_json(), options.count))
    if svg_to is not None:
        _write(svg_to, plan.to_svg())
    if goal_to is not None:
        _write(goal_to, plan.to_goal(1 if options.count is None else options.count))
    if all(to is None for to in (json_to, svg_to, goal_to, events_to, page_to)):
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
    rooted = options.collective not in ("exscan", "scan")
    title = f"{plan.collective} {plan.algorithm}, {plan.ranks} ranks"
    print(f"{title}, root {plan.root}" if rooted else title)
    unit = "vector" if plan.partition == "vector" else "block"
    print(f"  rounds      {plan.rounds}")
    print(f"  messages    {plan.messages}")
    print(f"  steps       {plan.steps}")
    size = "" if options.count is None else f" of {options.count} element(s)"
    print(f"  partition   {plan.segments} part(s) a {unit}{size}")
    print(f"  one-ported  {'yes' if plan.one_ported else 'no'}")
    if plan.partition == "vector":
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
