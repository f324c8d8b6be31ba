// The call of a collective on the data of a cell.
#pragma once

#include <mpi.h>

#include <functional>

#include "bench/data.hpp"

namespace sibyl::bench {

// By whose function: the MPI library's, Sibyl's, or as a program under the preload makes the call
// (preload.hpp; by Sibyl's function where there is none).
enum class Way { native, sibyl, program };

// Ready to be made again and again; refers to `data`.
std::function<int()> collective_call(Data& data, MPI_Comm comm, Way way);

}  // namespace sibyl::bench
