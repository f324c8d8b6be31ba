// Whether all ranks of the program run under the preload.
//
// Sibyl's ranks agree on everything by messages, so a rank without the preload (of a job whose
// launcher was told to set it for some) would leave them waiting for ever. Ranks can know before
// any message: in MPI_Init every rank publishes how it can be reached, by PMIx under Open MPI and
// by PMI under MPICH's launcher, and a rank under the preload publishes a mark beside it
// (../world.c, mark_this_rank). Whoever finds it missing at one rank leaves all calls to the MPI
// library. All marked ranks find the same, since what is published is complete when MPI_Init ends.
//
// Thread safety: any number of threads.
#pragma once

namespace sibyl::preload {

// False where a rank of this process's MPI_COMM_WORLD is known to be without the preload; true also
// where nothing can be known. Asked once, after MPI_Init; then this is a look at a number.
bool whole_world_may_be_served();

}  // namespace sibyl::preload

namespace sibyl::hooks {

// Before MPI_Init, where PMI is to be asked for the mark afterwards.
void mark_this_rank();

}  // namespace sibyl::hooks
