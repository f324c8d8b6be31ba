// Collectives that Sibyl does not serve and yet counts for the report: MPI_Alltoallw and those of
// neighbours. The arguments go on as they are; nothing of the communicator's is looked at but its
// size, after the call. Where no report is asked for, the shim calls the native function itself.
//
// Thread safety: any number of threads.
#pragma once

#include <mpi.h>

#include <chrono>

#include "preload/implementation/support.hpp"

namespace sibyl::preload {

template <typename Communicator>
struct CountedCollective {
  const char* name;  // in the report
  Communicator comm;
};

// Adds a call that the MPI library has performed since `begin`.
void count_native(const CountedCollective<MPI_Comm>& call,
                  std::chrono::steady_clock::time_point begin);

template <typename... Words>
word counted(const std::atomic<void*>& native, CountedCollective<MPI_Comm> call, Words... words) {
  const auto begin = std::chrono::steady_clock::now();
  const int status = call_native(native, words...);
  if (status == MPI_SUCCESS) count_native(call, begin);
  return static_cast<word>(status);
}

#if SIBYL_PRELOAD_FORTRAN
// `ierror` may be null: in mpi_f08 it is optional.
template <typename... Words>
void counted_fortran(const std::atomic<void*>& native, CountedCollective<const MPI_Fint*> call,
                     MPI_Fint* ierror, Words... words) {
  const auto begin = std::chrono::steady_clock::now();
  std::int64_t code = MPI_SUCCESS;  // as in hooked_fortran
  call_native(native, words..., &code);
  const auto status = static_cast<MPI_Fint>(code);
  if (status == MPI_SUCCESS) count_native({call.name, PMPI_Comm_f2c(*call.comm)}, begin);
  if (ierror != nullptr) *ierror = status;
}
#endif

}  // namespace sibyl::preload
