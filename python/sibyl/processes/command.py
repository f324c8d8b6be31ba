"""Sibyl's own command in a process of its own."""

import sys

# As `python -m sibyl`, which would look for modules in the working directory first: others may
# write there, and a cluster's commands have the rights of root.
OWN_COMMAND = (
    *(sys.executable, "-c"),
    "import sys; sys.path[:] = filter(None, sys.path); from sibyl.cli import main; main()",
)
