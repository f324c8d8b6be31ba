"""`sibyl cluster`: hosts on one machine, joined by links of a chosen rate."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from sibyl.errors import CommandError
from sibyl.files import (
    STDOUT,
    check_all_writable,
    check_json_file,
    console_beside,
    write_result,
)
from sibyl.mpi.run_options import RunOptions
from sibyl.option_classes import takes_options
from sibyl.terminal import say

cluster = typer.Typer(
    name="cluster",
    help="A cluster on this machine: network namespaces as hosts, real MPI over shaped TCP.",
    no_args_is_help=True,
)

Name = Annotated[str, typer.Option(metavar="NAME", help="Several clusters have several names.")]
OptionalName = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Which of several; 'default' if absent.", show_default=False),
]
WhichMpi = Annotated[
    str | None,
    typer.Option(
        metavar="openmpi|mpich|DIR",
        help="Which MPI; the one that the program is linked with if absent.",
    ),
]


@dataclass(frozen=True, kw_only=True)
class ClusterRunOptions(RunOptions):
    """How a program is to be run on a cluster."""

    ranks: Annotated[
        int | None,
        typer.Option("-n", "--ranks", metavar="N", help="Ranks; all hosts are filled if absent."),
    ] = None
    native: Annotated[
        bool, typer.Option("--native/--sibyl", help="Leave Sibyl out, or preload it.")
    ] = False


@cluster.command()
def up(
    hosts: Annotated[int, typer.Option(metavar="N", help="Number of hosts.", show_default=False)],
    rate: Annotated[
        str, typer.Option(metavar="RATE", help="Of each link and direction; kbit, mbit or gbit.")
    ] = "100mbit",
    queue: Annotated[
        str | None,
        typer.Option(
            metavar="BYTES",
            help="What the switch keeps in front of each host's link; the rest is lost. As much as "
            "comes if absent.",
        ),
    ] = None,
    name: Name = "default",
) -> int:
    """Make a cluster, or change the one of that name into what is wanted."""
    from sibyl.cluster.lifecycle import bring_up
    from sibyl.cluster.state import check_queue, parse_rate, rate_text
    from sibyl.experiment.units import read_size, size_text

    size = 0 if queue is None else check_queue(read_size(queue))
    made, what = bring_up(name, hosts, parse_rate(rate), size)
    plural = "host" if made.hosts == 1 else "hosts"
    print(
        f"cluster '{name}' {what}: {made.hosts} {plural}, {rate_text(made.rate)} each way"
        + (f", queues of {size_text(made.queue)}" if made.queue else "")
    )
    return 0


@cluster.command()
def down(
    name: OptionalName = None,
    all_clusters: Annotated[bool, typer.Option("--all", help="Every cluster.")] = False,
    force: Annotated[bool, typer.Option("--force", help="End a run that is under way.")] = False,
) -> int:
    """Remove a cluster and everything that runs in it."""
    from sibyl.cluster.lifecycle import take_down
    from sibyl.cluster.state import names

    if all_clusters and name is not None:
        raise CommandError(f"--all and --name {name}: say one of the two")
    wanted = names() if all_clusters else [name or "default"]
    if not wanted:
        print("there is no cluster")
    status = 0
    for each in wanted:  # one that stays does not keep the others
        try:
            gone = take_down(each, force)
        except CommandError as error:
            say(str(error))
            status = error.exit_code
        else:
            print(f"cluster '{each}' is down" if gone else f"there is no cluster '{each}'")
    return status


@cluster.command()
def status(
    as_json: Annotated[bool, typer.Option("--json", help="The list as JSON.")] = False,
    file: Annotated[
        Path, typer.Argument(metavar="FILE|-", help="Where --json goes.", show_default="stdout")
    ] = STDOUT,
) -> int:
    """List the clusters of this machine."""
    from sibyl.cluster.state import Damaged, holder, load_all, rate_text, roots_are_hidden
    from sibyl.errors import counted
    from sibyl.experiment.units import size_text

    check_json_file("sibyl cluster status", as_json, file)
    rows = []
    found = load_all()
    broken = [each for each in found if isinstance(each, Damaged)]
    for each in found:
        if isinstance(each, Damaged):
            continue
        holding = holder(each.name)
        condition = "up" if each.complete and not each.missing() else "damaged"
        process = None
        if holding is not None:
            condition = "in use" if each.complete else "changing"
            process = 0 if holding == "unknown" else holding.pid
        rows.append((each, condition, process))
    if as_json:
        listed = [
            {
                "name": each.name,
                "hosts": each.hosts,
                "rate_bits_per_second": each.rate,
                "queue_bytes": each.queue or None,
                "network": each.network,
                "condition": condition,
                "process": process,
                "namespaces": each.namespaces,
            }
            for each, condition, process in rows
        ]
        nothing = dict.fromkeys(("hosts", "rate_bits_per_second", "queue_bytes", "network"))
        for each in broken:
            known = {"condition": "damaged", "process": None, "namespaces": each.namespaces}
            listed.append({"name": each.name, **nothing, **known})
        write_result(file, json.dumps(listed, indent=2) + "\n")
        return 0
    for each in broken:
        print(f"{each.name}: damaged; remove it with: sibyl cluster down --name {each.name}")
    if not rows and not broken:
        print("there is no cluster; make one with: sibyl cluster up --hosts N")
        if roots_are_hidden():
            print("root may have some, which cannot be seen; ask: sudo sibyl cluster status")
    for each, condition, process in rows:
        queues = f" with queues of {size_text(each.queue)}" if each.queue else ""
        used = f" by process {process}" if process else ""
        print(
            f"{each.name}: {counted(each.hosts, 'host')}, {rate_text(each.rate)}{queues}, "
            f"{each.network}, namespaces {each.prefix}-*, {condition}{used}"
        )
    return 0


@cluster.command(
    context_settings={"allow_interspersed_args": False, "ignore_unknown_options": False},
    options_metavar="[OPTIONS] --",
)
@takes_options
def run(
    program: Annotated[list[str], typer.Argument(metavar="PROGRAM [ARGS]", show_default=False)],
    options: ClusterRunOptions,
    name: Name = "default",
    ranks_per_host: Annotated[
        int, typer.Option(metavar="K", help="Ranks on each host, filled one after the other.")
    ] = 1,
    waiting: Annotated[
        str,
        typer.Option(
            metavar="sleep|spin",
            help="What ranks do that wait: leave the processors to others, or look all the time.",
        ),
    ] = "sleep",
) -> int:
    """Run an MPI program on the hosts of a cluster."""
    from sibyl.cluster.job import run_on_cluster

    return run_on_cluster(name, program, options, ranks_per_host, waiting)


@cluster.command()
def check(
    name: Name = "default",
    mpi: WhichMpi = None,
    program: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The measuring program; Sibyl's own if absent."),
    ] = None,
    as_json: Annotated[
        Path | None, typer.Option("--json", metavar="FILE|-", help="Write the result here too.")
    ] = None,
) -> int:
    """Measure what the cluster holds of its rate, and whether processors or the wire decide."""
    from sibyl.cluster.instrument import check as measure
    from sibyl.cluster.instrument import print_check

    check_all_writable({"--json": as_json}, [("--program", program)])
    result = measure(name, mpi, program)
    if as_json is not None:
        write_result(as_json, json.dumps(result.as_json(), indent=2) + "\n")
    print_check(result, console_beside(as_json))
    return 0
