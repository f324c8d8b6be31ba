"""`sibyl simulate`: collectives in simulated time, on a model of a network."""

import re
from pathlib import Path
from typing import Annotated

import typer


def simulate(
    collective: Annotated[str, typer.Argument(metavar="COLLECTIVE", show_default=False)],
    algorithms: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,...",
            help="Names of `sibyl algorithms`, with :sorted or :background, or of the papers: "
            "SLIN, BSBN, ... All of the table if absent.",
        ),
    ] = None,
    ranks: Annotated[str, typer.Option("-n", "--ranks", metavar="N,...", help="Ranks.")] = "48",
    size: Annotated[
        str,
        typer.Option(
            metavar="BYTES,...",
            help="In all at the root (gather, scatter), of each rank's vector (reduce, scans).",
        ),
    ] = "1MiB",
    pattern: Annotated[
        str,
        typer.Option(
            metavar="SHAPE,...|FILE",
            help="Arrivals: flat, uniform, skewed, root-late, fixed, normal, exponential, or a "
            "file of arrival times.",
        ),
    ] = "uniform",
    max_delay: Annotated[
        str, typer.Option(metavar="T,...", help="Largest delays, as in 0,1ms,5ms.")
    ] = "0",
    iterations: Annotated[
        int, typer.Option(metavar="K", help="Patterns per cell, where they are drawn.")
    ] = 16,
    seed: Annotated[int, typer.Option(metavar="S", help="Of the patterns.")] = 1,
    root: Annotated[int, typer.Option(metavar="R", help="Of rooted collectives.")] = 0,
    compute: Annotated[
        str,
        typer.Option(
            metavar="T", help="What all compute before their delay; background steps run in it."
        ),
    ] = "0",
    model: Annotated[
        str, typer.Option(metavar="hockney|loggp", help="Of the network.")
    ] = "hockney",
    alpha: Annotated[
        str | None, typer.Option(metavar="T", help="Hockney: startup latency; 25us if absent.")
    ] = None,
    beta: Annotated[
        str | None, typer.Option(metavar="T/B", help="Hockney: time per byte; 8ns/B if absent.")
    ] = None,
    loggp: Annotated[
        str, typer.Option(metavar="L,o,g,G", help="LogGP: three times and a time per byte.")
    ] = "20us,2.5us,5us,8ns/B",
    calibrate: Annotated[
        bool,
        typer.Option(
            "--calibrate",
            help="Measure alpha, beta and the operator's cost between two ranks of an MPI here.",
        ),
    ] = False,
    mpi: Annotated[
        str | None,
        typer.Option(metavar="openmpi|mpich|DIR", help="Which MPI --calibrate measures."),
    ] = None,
    calibration: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.json",
            help="alpha and beta (seconds) from a file, such as `sibyl cluster check` writes.",
        ),
    ] = None,
    ranks_per_node: Annotated[
        int, typer.Option(metavar="K", help="Consecutive ranks that share a node and its link.")
    ] = 1,
    inside: Annotated[
        str, typer.Option(metavar="T,T/B", help="alpha and beta inside a node.")
    ] = "0.5us,0.2ns/B",
    operator_cost: Annotated[
        str | None,
        typer.Option(metavar="T/B", help="Of the reduction operator; nothing if absent."),
    ] = None,
    planning: Annotated[
        str, typer.Option(metavar="T", help="Time to make the schedule, after arrival.")
    ] = "0",
    eager: Annotated[
        str | None,
        typer.Option(metavar="BYTES", help="Messages up to this size do not wait for a receive."),
    ] = None,
    half_duplex: Annotated[
        bool, typer.Option("--half-duplex", help="One port for both directions.")
    ] = False,
    blocking: Annotated[
        bool, typer.Option("--blocking", help="One send and one receive at a time, in order.")
    ] = False,
    segments: Annotated[
        int, typer.Option(metavar="N", help="Parts of a vector that is cut; 0: from the model.")
    ] = 0,
    in_order: Annotated[
        bool,
        typer.Option(
            "--in-order",
            help="Clairvoyant: send strictly in the order of the schedule, as over links that "
            "carry messages in turn.",
        ),
    ] = False,
    csv: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a table.")] = None,
    json: Annotated[Path | None, typer.Option(metavar="FILE", help="Write everything.")] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw run times (.png, .svg, .pdf).")
    ] = None,
    svg: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw ranks and messages in time; waits in red."),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The same as a page that can be zoomed."),
    ] = None,
) -> int:
    """Simulate a collective on a model of a network: run times, and who waits for whom."""
    from sibyl.errors import CommandError
    from sibyl.experiment.units import read_size, read_time
    from sibyl.simulator.calibration import Calibration, measure, read
    from sibyl.simulator.model import LogGP, Network, Nodes
    from sibyl.simulator.session import Settings
    from sibyl.simulator.simulate import Outputs, Wishes, run

    if model not in ("hockney", "loggp"):
        raise CommandError(f"--model {model}: there are hockney and loggp")
    if ranks_per_node < 1:
        raise CommandError(f"--ranks-per-node {ranks_per_node}: a node holds at least 1 rank")
    if iterations < 1:
        raise CommandError(f"--iterations {iterations}: at least 1")
    if segments < 0:
        raise CommandError(f"--segments {segments}: at least 1, or 0 to take them from the model")
    if in_order and collective != "reduce":
        raise CommandError("--in-order: only reduce has an algorithm with a schedule of segments")
    if root < 0:
        raise CommandError(f"--root {root}: a root is one of the ranks")
    startup = None if alpha is None else read_time(alpha)
    per_byte = None if beta is None else read_time_per_byte(beta, "--beta")
    combine = None
    if operator_cost is not None:
        combine = read_time_per_byte(operator_cost, "--operator-cost")
    if (calibrate or calibration is not None) and model == "loggp":
        raise CommandError("--calibrate and --calibration are for --model hockney")
    if calibrate and calibration is not None:
        raise CommandError("--calibrate measures what --calibration reads: say one of them")
    if mpi is not None and not calibrate:
        raise CommandError("--mpi says what --calibrate measures, which is absent")
    nodes = None
    if ranks_per_node > 1:
        words = _words(inside, 2, "--inside", "0.5us,0.2ns/B")
        nodes = Nodes(ranks_per_node, read_time(words[0]), read_time_per_byte(words[1], "--inside"))
    numbers = None
    if model == "loggp":
        words = _words(loggp, 4, "--loggp", "20us,2.5us,5us,8ns/B")
        numbers = LogGP(
            *(read_time(word) for word in words[:3]), read_time_per_byte(words[3], "--loggp")
        )
    wishes = Wishes(algorithms, ranks, size, pattern, max_delay)
    outputs = Outputs(csv, json, plot, svg, html)
    outputs.check()
    known = Calibration(25e-6, 8e-9, None, "")
    if calibration is not None:
        known = read(calibration)
    elif calibrate:
        known = measure(mpi)
    network = Network(
        alpha=known.alpha if startup is None else startup,
        beta=known.beta if per_byte is None else per_byte,
        loggp=numbers,
        nodes=nodes,
        full_duplex=not half_duplex,
        eager=None if eager is None else read_size(eager),
        combine=(known.gamma or 0.0) if combine is None else combine,
        planning=read_time(planning),
        blocking=blocking,
    )
    settings = Settings(
        collective, network, root, iterations, seed, read_time(compute), segments, in_order=in_order
    )
    if known.origin:
        print(f"alpha and beta {known.origin}")
    return run(settings, wishes, outputs)


def _words(text: str, count: int, option: str, like: str) -> list[str]:
    from sibyl.errors import CommandError

    words = text.split(",")
    if len(words) != count:
        raise CommandError(f"{option} '{text}': write {count} values, as in {like}")
    return words


_PER_BYTE = re.compile(r"(\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|\.\d+)\s*(s|ms|us|ns|ps)?(?:/B)?$")
_PARTS = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9, "ps": 1e12, None: 1.0}


def read_time_per_byte(text: str, option: str) -> float:
    """Seconds per byte: a number with s, ms, us, ns or ps, and /B."""
    from sibyl.errors import CommandError

    match = _PER_BYTE.match(text.strip())
    if match is None:
        raise CommandError(f"{option} '{text}': write a time per byte, as in 8ns/B")
    return float(match.group(1)) / _PARTS[match.group(2)]
