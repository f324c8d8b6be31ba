// MPIX_Comm_revoke: what is under way on the user's communicator is under way on the private one.
#include "executor/faults.hpp"

#include "collectives/collectives.hpp"
#include "communicator/communicator_state.hpp"

namespace sibyl {

// The user's first: a rank whose wait ends finds out from it why.
int serve_mpix_comm_revoke(Caller, MPI_Comm comm) {
  if (&PMPIX_Comm_revoke == nullptr) return MPI_ERR_OTHER;  // nobody has linked such a function
  const int result = PMPIX_Comm_revoke(comm);
  if (result != MPI_SUCCESS || Process::communicator_key() == MPI_KEYVAL_INVALID) return result;
  void* value = nullptr;
  int found = 0;
  if (PMPI_Comm_get_attr(comm, Process::communicator_key(), &value, &found) == MPI_SUCCESS &&
      found != 0) {
    revoke(static_cast<CommunicatorState*>(value)->private_comm());
  }
  return result;
}

}  // namespace sibyl
