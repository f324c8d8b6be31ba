"""`sibyl simulate`: collectives in simulated time, on a model of a network."""

from typing import Annotated

import typer

from sibyl.arguments import complete_collective
from sibyl.errors import CommandError
from sibyl.experiment.options import words_of
from sibyl.experiment.recording import pattern_paths
from sibyl.files import console_beside
from sibyl.node_options import NodeOptions
from sibyl.option_classes import takes_options
from sibyl.simulator.options import NetworkOptions, Outputs, SettingsOptions, Wishes


@takes_options
def simulate(
    collective: Annotated[
        str,
        typer.Argument(
            metavar="COLLECTIVE", show_default=False, autocompletion=complete_collective
        ),
    ],
    wishes: Wishes,
    settings: SettingsOptions,
    network: NetworkOptions,
    nodes: NodeOptions,
    outputs: Outputs,
) -> int:
    """Simulate a collective on a model of a network: run times, and who waits for whom."""
    from sibyl.simulator.simulate import run

    settings.check(collective)
    if network.calibrate and outputs.resume:
        raise CommandError(
            "--resume: --calibrate measures other numbers each time; say those of the interrupted "
            "run with --alpha and --beta"
        )
    nodes.check()
    network.check(nodes.placed())
    patterns = pattern_paths(words_of("--pattern", wishes.pattern))
    read = [("--pattern", path) for path in patterns]
    outputs.check([("--calibration", network.calibration), *read])
    known = network.calibrated()
    model = network.network(known, nodes.placed())
    described = settings.settings(collective, model, nodes.lanes)
    if known.origin:
        console = console_beside(*outputs.files.values())
        console.out(f"alpha and beta {known.origin}", highlight=False)
    return run(described, wishes, nodes, outputs)
