"""Sibyl: MPI collectives that know who is late.

This package holds the `sibyl` command and, for programs, the schedules of Sibyl's algorithms: plan
an algorithm with `make_plan`, prove the plan with `Plan.verify`, and read it as JSON, GOAL or SVG.
Nothing here needs an MPI.

>>> import sibyl
>>> plan = sibyl.make_plan("exscan", "123-doubling", ranks=36)
>>> plan.verify()
>>> plan.rounds
6
"""

from sibyl._core import (
    Algorithm,
    Plan,
    VerificationError,
    __version__,
    algorithms,
    collectives,
    make_plan,
    prove,
)
from sibyl.schedules import arrival_pattern, clairvoyant
from sibyl.simulator.model import LogGP, Network, Nodes, Queue
from sibyl.simulator.run import Simulated, simulate

__all__ = [
    "Algorithm",
    "LogGP",
    "Network",
    "Nodes",
    "Plan",
    "Queue",
    "Simulated",
    "VerificationError",
    "__version__",
    "algorithms",
    "arrival_pattern",
    "clairvoyant",
    "collectives",
    "make_plan",
    "prove",
    "simulate",
]
