"""A cluster on one machine: hosts are network namespaces, their links are shaped, MPI is real.

Only this package changes the machine, and only by namespaces of its own: the switch is a namespace
too, and the launcher runs in it, so that the machine's own network sees nothing of a cluster.
"""

from sibyl.cluster.instrument import Check, check

__all__ = ["Check", "check"]
