// Types of many elements; see large_message.hpp.
#include "executor/large_message.hpp"

#include <array>

namespace sibyl {

int make_type_of_many(MPI_Count count, MPI_Datatype type, MPI_Datatype& made, int piece) {
  const auto pieces = static_cast<int>(count / piece);
  const auto rest = static_cast<int>(count % piece);
  MPI_Aint lower_bound = 0;
  MPI_Aint extent = 0;
  MPI_Datatype one = MPI_DATATYPE_NULL;
  int error = PMPI_Type_get_extent(type, &lower_bound, &extent);
  if (error == MPI_SUCCESS) error = PMPI_Type_contiguous(piece, type, &one);
  if (error != MPI_SUCCESS) return error;
  std::array<int, 2> counts{pieces, rest};
  std::array<MPI_Aint, 2> places{0, static_cast<MPI_Aint>(pieces) * piece * extent};
  std::array<MPI_Datatype, 2> types{one, type};
  error = PMPI_Type_create_struct(2, counts.data(), places.data(), types.data(), &made);
  PMPI_Type_free(&one);
  if (error != MPI_SUCCESS) return error;
  error = PMPI_Type_commit(&made);
  if (error != MPI_SUCCESS) PMPI_Type_free(&made);
  return error;
}

}  // namespace sibyl
