"""`sibyl simulate`: collectives in simulated time, on a model of a network."""

from typing import Annotated

import typer

from sibyl.node_options import NodeOptions
from sibyl.option_classes import takes_options
from sibyl.simulator.options import NetworkOptions, Outputs, SettingsOptions, Wishes


@takes_options
def simulate(
    collective: Annotated[str, typer.Argument(metavar="COLLECTIVE", show_default=False)],
    wishes: Wishes,
    settings: SettingsOptions,
    network: NetworkOptions,
    nodes: NodeOptions,
    outputs: Outputs,
) -> int:
    """Simulate a collective on a model of a network: run times, and who waits for whom."""
    from sibyl.simulator.simulate import run

    settings.check(collective)
    network.check()
    nodes.check()
    outputs.check()
    known = network.calibrated()
    model = network.network(known, nodes.placed())
    described = settings.settings(collective, model, nodes.lanes)
    if known.origin:
        print(f"alpha and beta {known.origin}")
    return run(described, wishes, nodes, outputs)
