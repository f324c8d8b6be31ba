"""`sibyl profile`: who is late, where, and what it costs."""

import shlex
import sys
from typing import Annotated

import typer

from sibyl.option_classes import takes_options
from sibyl.profile.options import Launch, Outputs


@takes_options
def profile(
    launch: Launch,
    outputs: Outputs,
    program: Annotated[
        list[str] | None, typer.Argument(metavar="PROGRAM [ARGS]", show_default=False)
    ] = None,
) -> int:
    """Run an unmodified MPI program and show who is late, where, and what it costs."""
    from sibyl.profile.session import profile_program

    words = [shlex.quote(word) for word in ["sibyl", *sys.argv[1:]]]
    return profile_program(program or [], launch, outputs, words)
