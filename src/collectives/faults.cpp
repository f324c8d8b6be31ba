// MPIX_Comm_revoke: what is under way on the user's communicator is under way on the private one,
// or on those of persistent requests that the library serves.
#include "executor/faults.hpp"

#include "collectives/collectives.hpp"
#include "collectives/native.hpp"
#include "communicator/communicator_state.hpp"

namespace sibyl {

// The user's first: a rank whose wait ends finds out from it why.
int serve_mpix_comm_revoke(Caller caller, MPI_Comm comm) {
  const int result = native_mpix_comm_revoke(caller, comm);
  if (result != MPI_SUCCESS || Process::communicator_key() == MPI_KEYVAL_INVALID) return result;
  void* value = nullptr;
  int found = 0;
  if (PMPI_Comm_get_attr(comm, Process::communicator_key(), &value, &found) == MPI_SUCCESS &&
      found != 0) {
    const CommunicatorState& state = *static_cast<CommunicatorState*>(value);
    revoke(state.private_comm());
    state.process().requests.revoke_all_of(comm);
  }
  return result;
}

}  // namespace sibyl
