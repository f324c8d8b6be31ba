"""`sibyl guidelines`: judge an MPI library by performance guidelines."""

import sys

from sibyl.guidelines.options import Outputs, Wishes
from sibyl.option_classes import takes_options


@takes_options
def guidelines(wishes: Wishes, outputs: Outputs) -> int:
    """Judge an MPI library by performance guidelines: no collective slower than its substitutes."""
    from sibyl.guidelines.session import run_session

    return run_session(wishes, outputs, sys.argv[2:])
