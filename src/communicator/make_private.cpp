// Makes communicators that the program does not see; see make_private.hpp.
#include "communicator/make_private.hpp"

#include "executor/faults.hpp"

namespace sibyl {

thread_local bool makes_private = false;

MPI_Comm make_private(MPI_Comm comm) {
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm made = MPI_COMM_NULL;
  if (PMPI_Comm_group(comm, &group) != MPI_SUCCESS) return MPI_COMM_NULL;
  makes_private = true;
  const int error = PMPI_Comm_create(comm, group, &made);
  makes_private = false;
  PMPI_Group_free(&group);
  if (error != MPI_SUCCESS) return MPI_COMM_NULL;
  if (made != MPI_COMM_NULL) return_errors(made);
  return made;
}

}  // namespace sibyl
