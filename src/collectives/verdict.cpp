// Judges null pointers and types; see verdict.hpp.
#include "collectives/verdict.hpp"

#include <atomic>
#include <utility>

#include "communicator/process.hpp"
#include "executor/datatype.hpp"

namespace sibyl {

namespace {

// Of this rank alone; MPI_COMM_NULL where there can be none.
MPI_Comm own_self() {
  Process* const process = Process::get();
  return process == nullptr ? MPI_COMM_NULL : process->own_self();
}

}  // namespace

bool refuses_twice() {
  enum : int { unknown, no, yes };
  static std::atomic<int> found = unknown;
  if (found == unknown) {
    const MPI_Comm self = own_self();
    if (self == MPI_COMM_NULL) return true;
    int word = 0;
    const bool passes = PMPI_Reduce(&word, &word, 1, MPI_INT, MPI_SUM, 0, self) == MPI_SUCCESS;
    found = passes ? no : yes;
  }
  return found == yes;
}

bool is_taken_for(const void* own, const void* buffer, MPI_Aint place, MPI_Datatype type) {
  if (place == 0) return own == buffer;
  int size = 0;
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  return PMPI_Type_size(type, &size) == MPI_SUCCESS &&
         PMPI_Type_get_extent(type, &lower, &extent) == MPI_SUCCESS && extent == size &&
         static_cast<const char*>(buffer) + place * extent == own;
}

// MPI_BOTTOM is one too: it is right with a type that holds addresses.
Verdict judge_null_pointer(MPI_Datatype datatype) {
  Envelope envelope;
  const int error = envelope_of(datatype, envelope);
  if (error != MPI_SUCCESS) return {MPI_ERR_TYPE, any_refuses()};
  if (envelope.combiner == MPI_COMBINER_NAMED) return {MPI_ERR_BUFFER, mpich_refuses()};
  return judge_type(datatype);
}

Verdict judge_type_at_length(MPI_Datatype datatype) {
  Envelope envelope;
  const int error = envelope_of(datatype, envelope);
  if (error != MPI_SUCCESS) return {MPI_ERR_TYPE, any_refuses()};
  if (envelope.combiner == MPI_COMBINER_NAMED) {
    predefined_types[1] = std::exchange(predefined_types[0], datatype);
    return {};
  }
  const MPI_Comm self = own_self();
  if (self == MPI_COMM_NULL || is_committed(datatype, self)) return {};
  return {MPI_ERR_TYPE, any_refuses()};
}

}  // namespace sibyl
