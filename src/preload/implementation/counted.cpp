// Adds counted collectives to the process's report; see counted.hpp.
#include "preload/implementation/counted.hpp"

#include <new>

#include "communicator/process.hpp"

namespace sibyl::preload {

void count_native(const CountedCollective<MPI_Comm>& call,
                  std::chrono::steady_clock::time_point begin) try {
  const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - begin;
  int size = 0;
  Process* const process = Process::get();
  if (process == nullptr || PMPI_Comm_size(call.comm, &size) != MPI_SUCCESS) return;
  process->count_native(call.name, size, took);
} catch (const std::bad_alloc&) {
  return;  // the report lacks a call
}

}  // namespace sibyl::preload
