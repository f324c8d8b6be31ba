// Judges null pointers; see verdict.hpp.
#include "collectives/verdict.hpp"

namespace sibyl {

// MPI_BOTTOM is one too: it is right with a type that holds addresses.
Verdict judge_null_pointer(MPI_Datatype datatype) {
  int integers = 0;
  int addresses = 0;
  int datatypes = 0;
  int combiner = 0;
  const int error = PMPI_Type_get_envelope(datatype, &integers, &addresses, &datatypes, &combiner);
  if (error != MPI_SUCCESS) return {MPI_ERR_TYPE, any_refuses};
  if (combiner == MPI_COMBINER_NAMED) return {MPI_ERR_BUFFER, mpich_refuses};
  return {};
}

}  // namespace sibyl
