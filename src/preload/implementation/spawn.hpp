// Processes that a program starts come under the preload as well.
//
// Children that were served by nobody would be slower than their parents, no more; but a program
// expects of MPI_Comm_spawn that the new processes see what it sees. Where the variables stand in
// the environment of mpiexec they do. Open MPI's children do not get what its `mpiexec -x` gave the
// parents (5.0), or what a script set between mpiexec and the program; they are told by a key of
// the info argument, of which a copy is handed on. MPICH has no such key: its children get the
// environment of mpiexec and what -genv gave, and not what -env gave.
//
// Thread safety: any number of threads.
#pragma once

#include <mpi.h>

#include <atomic>
#include <string>

#include "preload/implementation/support.hpp"

#if SIBYL_PRELOAD_OPENMPI

namespace sibyl::preload {

// The MPI library's own functions, found before the first call. PMPI: a tool behind the shim is
// called before these wrappers, not by them.
extern std::atomic<void*> native_comm_spawn;
extern std::atomic<void*> native_comm_spawn_multiple;

extern "C" int c_comm_spawn(const char* command, char* argv[], int maxprocs, MPI_Info info,
                            int root, MPI_Comm comm, MPI_Comm* children, int codes[]);
extern "C" int c_comm_spawn_multiple(int count, char* commands[], char** argvs[],
                                     const int maxprocs[], const MPI_Info infos[], int root,
                                     MPI_Comm comm, MPI_Comm* children, int codes[]);

// Exposed for tests. The value of the info key: the lines of `own`, which the program has set, and
// of LD_PRELOAD and the SIBYL_ variables of `environment` those that fit into what a value may
// have, the first first. Empty where nothing is to be added: no preload of ours, or the program
// says itself which one its children get.
std::string value_for_children(std::string own, const char* const* environment);

}  // namespace sibyl::preload

#endif
