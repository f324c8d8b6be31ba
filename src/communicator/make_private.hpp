// Makes communicators that the program does not see.
//
// They come from PMPI_Comm_create, not from a duplicate, which would run the program's attribute
// callbacks. While one is made the program's communicator returns errors (ReturnErrors): running
// out of contexts is no error of the program's.
#pragma once

#include <mpi.h>

namespace sibyl {

// An MPI library that asks Sibyl whether it is to serve a new communicator (openmpi_component/) is
// told no for these. It may ask in any thread, for any communicator that has become ready, so it
// asks by the group that the communicator has. Set before the first one is made.
extern bool library_asks_what_is_private;
bool is_made_private(MPI_Group group);

// Replaces the error handler of a communicator for a while, unless another thread sets one
// meanwhile, or it could not be given back (make_private.cpp). `has_contexts`: there are contexts,
// so that no error is to be feared.
class ReturnErrors {
 public:
  explicit ReturnErrors(MPI_Comm comm, bool has_contexts = false);
  ~ReturnErrors() {
    if (before_ == MPI_ERRHANDLER_NULL) return;
    MPI_Errhandler now = MPI_ERRHANDLER_NULL;
    if (PMPI_Comm_get_errhandler(comm_, &now) == MPI_SUCCESS) {
      if (now == MPI_ERRORS_RETURN) PMPI_Comm_set_errhandler(comm_, before_);
      PMPI_Errhandler_free(&now);
    }
    PMPI_Errhandler_free(&before_);
  }
  ReturnErrors(const ReturnErrors&) = delete;
  ReturnErrors& operator=(const ReturnErrors&) = delete;

 private:
  MPI_Comm comm_;
  MPI_Errhandler before_ = MPI_ERRHANDLER_NULL;
};

// One of the ranks of `comm`, which returns errors; MPI_COMM_NULL where MPI gives none. Collective.
MPI_Comm make_private(MPI_Comm comm);

}  // namespace sibyl
