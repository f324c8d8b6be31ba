// Whether all ranks of the program run under the preload.
//
// Sibyl's ranks agree on everything by messages, so a rank without the preload (of a job whose
// launcher was told to set it for some) would leave them waiting for ever. Where the MPI library
// takes its start from PMIx, as Open MPI does, ranks can know before any message: the shim puts a
// mark among what every rank publishes in MPI_Init (../world.c), and whoever finds it missing at
// one rank leaves all calls to the MPI library. All marked ranks find the same, since what is
// published is complete when MPI_Init ends.
//
// Thread safety: any number of threads.
#pragma once

namespace sibyl::preload {

// False where a rank of this process's MPI_COMM_WORLD is known to be without the preload; true also
// where nothing can be known. PMIx is asked once, after MPI_Init; then this is a look at a number.
bool whole_world_may_be_served();

}  // namespace sibyl::preload
