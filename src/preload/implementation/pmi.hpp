// Marks of ranks under the preload in the key-value space of MPICH's launcher (Hydra).
//
// Under Hydra a process talks with its launcher over the descriptor PMI_FD, by the lines of PMI 1:
//
//   cmd=init pmi_version=1 pmi_subversion=1         cmd=response_to_init rc=0 ...
//   cmd=get_my_kvsname                              cmd=my_kvsname kvsname=NAME
//   cmd=put kvsname=NAME key=KEY value=VALUE        cmd=put_result rc=0
//   cmd=get kvsname=NAME key=KEY                    cmd=get_result rc=0 value=VALUE, or rc not 0
//
// MPICH does so in MPI_Init, and nothing speaks there before and after it; a second init is
// answered as the first. What is put before MPI_Init can be got after it, at every rank, since
// MPICH puts its addresses there in between and waits until they are everywhere. Other launchers
// give a PMI_FD as well and may not be as patient, so nothing is said to them, nor in libraries
// that are not MPICH's own.
//
// Source: Pavan Balaji et al., PMI: A Scalable Parallel Process-Management Interface for
// Extreme-Scale Systems, EuroMPI 2010; the lines as Hydra 4.0 and 5.0 answer them.
// Thread safety: none; called in MPI_Init.
#pragma once

namespace sibyl::preload {

// In larger jobs nobody asks: every rank would ask for every other's mark, some ten microseconds
// each.
inline constexpr int most_ranks_asked = 1024;

// Puts this rank's mark.
void mark_by_pmi();

// False where this rank's mark is there and another's is not.
bool all_marked_by_pmi();

}  // namespace sibyl::preload
