// Judges one buffer; see verdict.hpp.
#include "collectives/verdict.hpp"

namespace sibyl {

Verdict judge_data(const void* buffer, MPI_Count count, MPI_Datatype datatype) {
  if (count < 0) return {MPI_ERR_COUNT, any_refuses};
  if (datatype == MPI_DATATYPE_NULL) return {MPI_ERR_TYPE, any_refuses};
  if (buffer != nullptr || count == 0) return {};
  // MPI_BOTTOM is a null pointer too: it is right with a type that holds addresses.
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
