// Judges null pointers and types; see verdict.hpp.
#include "collectives/verdict.hpp"

#include <utility>

#include "communicator/process.hpp"
#include "executor/datatype.hpp"

namespace sibyl {

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
  Process* const process = Process::get();
  const MPI_Comm self = process == nullptr ? MPI_COMM_NULL : process->own_self();
  if (self == MPI_COMM_NULL || is_committed(datatype, self)) return {};
  return {MPI_ERR_TYPE, any_refuses()};
}

}  // namespace sibyl
