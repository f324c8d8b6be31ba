// What the MPI library needs to serve a persistent collective: its own nonblocking one, begun with
// the same arguments in every iteration, by the large-count function where the request was made by
// one.
#pragma once

#include <mpi.h>

#include <vector>

#include "collectives/collectives.hpp"
#include "sibyl/planners.hpp"

namespace sibyl {

struct NativeForm {
  Caller caller;
  Collective collective;
  const void* send = nullptr;
  MPI_Count send_count = 0;
  MPI_Datatype send_type = MPI_DATATYPE_NULL;
  void* receive = nullptr;
  MPI_Count receive_count = 0;
  MPI_Datatype receive_type = MPI_DATATYPE_NULL;
  MPI_Op op = MPI_OP_NULL;
  int root = 0;
  bool is_whole = true;  // else there was no memory for the arrays
  // Of who has blocks of any sizes; those that the functions with int arguments take besides.
  std::vector<MPI_Count> counts{};
  std::vector<MPI_Aint> displacements{};
  std::vector<int> small_counts{};
  std::vector<int> small_displacements{};

  // The arrays of a root, or of all ranks where there is none, which the program may use again at
  // once; nothing elsewhere.
  void copy_arrays(Counts all_counts, Displacements all_displacements, MPI_Comm comm);
  // The arrays and what else is bound must live until the request is complete.
  int begin(MPI_Comm comm, MPI_Request* request) const;

 private:
  int begin_large(MPI_Comm comm, MPI_Request* request) const;
  const void* given_to_reduce() const;
};

}  // namespace sibyl
