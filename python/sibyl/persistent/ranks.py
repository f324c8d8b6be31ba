"""Which ranks a communicator's roots and blocks are of."""

from mpi4py import MPI


def ranks_of(comm: MPI.Comm) -> int:
    """How many ranks the blocks of a root are for."""
    return int(MPI.Intercomm(comm).Get_remote_size() if comm.Is_inter() else comm.Get_size())


def is_root(comm: MPI.Comm, root: int) -> bool:
    """Whether this rank is the root of a call."""
    return bool(root == (MPI.ROOT if comm.Is_inter() else comm.Get_rank()))
