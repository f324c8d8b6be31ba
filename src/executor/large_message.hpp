// Messages of more elements than an int counts, in an MPI library that has no large-count
// functions.
//
// Counts of the user's come as ints there, but bytes that are put together from his elements may be
// more. They go as one element of a type that is made for the message.
#pragma once

#include <mpi.h>

namespace sibyl {

// A committed type of `count` elements of `type`, which has no gaps, to be freed when the message
// is posted. `piece`: the most elements that one type is made of directly. An error code.
int make_type_of_many(MPI_Count count, MPI_Datatype type, MPI_Datatype& made, int piece = 1 << 30);

}  // namespace sibyl
