// The call of a collective on the data of a cell.
#pragma once

#include <mpi.h>

#include <functional>

#include "bench/data.hpp"

namespace sibyl::bench {

// Ready to be made again and again; refers to `data`. Sibyl's function, or the MPI library's.
std::function<int()> collective_call(Data& data, MPI_Comm comm, bool sibyl);

}  // namespace sibyl::bench
