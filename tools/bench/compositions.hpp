// Other ways to the result of a collective: the right sides of performance guidelines that are no
// collective themselves, by calls of the MPI library's.
//
// They are as good as a program could make them without an algorithm of its own: blocks lie where
// the next call wants them, and where it is possible calls are in place. Padded blocks are padded
// already, so that nothing is copied.
#pragma once

#include <mpi.h>

#include <functional>

#include "bench/data.hpp"

namespace sibyl::bench {

// Of an operation that is composed. Ready to be made again and again; refers to `data`.
std::function<int()> composition(Data& data, MPI_Comm comm);

}  // namespace sibyl::bench
