"""An MPI program that needs no compiler and no mpi4py: `sibyl doctor` starts it on two ranks.

Calls MPI_Exscan through the global scope, as a compiled program does, so that a preloaded shim
sees the calls. Rank 0 prints one line of JSON; a wrong result or an MPI error ends in exit code 1.

Run as: python probe.py LIBRARY FLAVOUR
"""

import ctypes
import json
import sys

CALLS = 20
THREAD_LEVELS = ("SINGLE", "FUNNELED", "SERIALIZED", "MULTIPLE")

# Handles of MPICH's binary interface, which all of its kin keep.
_MPICH_HANDLES = {"world": 0x44000000, "long": 0x4C000807, "sum": 0x58000003}
# Open MPI's handles are addresses of its data symbols.
_OPENMPI_SYMBOLS = {
    "world": "ompi_mpi_comm_world",
    "long": "ompi_mpi_long",
    "sum": "ompi_mpi_op_sum",
}


def _handles(library: ctypes.CDLL, flavour: str) -> dict[str, ctypes.c_void_p | ctypes.c_int]:
    if flavour == "openmpi":
        return {
            name: ctypes.c_void_p(ctypes.addressof(ctypes.c_char.in_dll(library, symbol)))
            for name, symbol in _OPENMPI_SYMBOLS.items()
        }
    return {name: ctypes.c_int(value) for name, value in _MPICH_HANDLES.items()}


def probe(path: str, flavour: str) -> int:
    """Run the probe with the MPI library at `path`; return the exit code."""
    library = ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
    mpi = ctypes.CDLL(None)
    handle = _handles(library, flavour)
    provided, rank, size = ctypes.c_int(-1), ctypes.c_int(-1), ctypes.c_int(-1)
    failed = mpi.MPI_Init_thread(None, None, ctypes.c_int(3), ctypes.byref(provided))
    failed |= mpi.MPI_Comm_rank(handle["world"], ctypes.byref(rank))
    failed |= mpi.MPI_Comm_size(handle["world"], ctypes.byref(size))
    for call in range(CALLS):
        value, before = ctypes.c_long(rank.value + call), ctypes.c_long(-1)
        failed |= mpi.MPI_Exscan(
            ctypes.byref(value),
            ctypes.byref(before),
            ctypes.c_int(1),
            handle["long"],
            handle["sum"],
            handle["world"],
        )
        failed |= rank.value > 0 and before.value != sum(r + call for r in range(rank.value))
    text = ctypes.create_string_buffer(8193)
    mpi.MPI_Get_library_version(text, ctypes.byref(ctypes.c_int()))
    if rank.value == 0:
        lines = text.value.decode("utf-8", "replace").splitlines() or ["unknown"]
        version = " ".join(lines[0].split(",")[0].split())
        answer = {
            "version": version,
            "thread_level": f"MPI_THREAD_{THREAD_LEVELS[provided.value]}",
            "size": size.value,
        }
        print(json.dumps(answer), flush=True)
    failed |= mpi.MPI_Finalize()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(probe(sys.argv[1], sys.argv[2]))
