// Judges null pointers; see verdict.hpp.
#include "collectives/verdict.hpp"

#include "executor/datatype.hpp"

namespace sibyl {

// MPI_BOTTOM is one too: it is right with a type that holds addresses.
Verdict judge_null_pointer(MPI_Datatype datatype) {
  Envelope envelope;
  const int error = envelope_of(datatype, envelope);
  if (error != MPI_SUCCESS) return {MPI_ERR_TYPE, any_refuses()};
  if (envelope.combiner == MPI_COMBINER_NAMED) return {MPI_ERR_BUFFER, mpich_refuses()};
  return {};
}

}  // namespace sibyl
