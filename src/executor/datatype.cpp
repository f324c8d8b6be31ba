// Datatype inspection and packed copies; see datatype.hpp.
#include "executor/datatype.hpp"

#include <climits>
#include <cstring>

#if MPI_VERSION >= 4
// Other libraries of the same binary interface may be older.
#pragma weak PMPI_Type_get_envelope_c
#endif

namespace sibyl {

int envelope_of(MPI_Datatype datatype, Envelope& envelope) {
#if MPI_VERSION >= 4
  if (&PMPI_Type_get_envelope_c != nullptr) {
    MPI_Count integers = 0;
    MPI_Count addresses = 0;
    MPI_Count large_counts = 0;
    MPI_Count datatypes = 0;
    const int error = PMPI_Type_get_envelope_c(datatype, &integers, &addresses, &large_counts,
                                               &datatypes, &envelope.combiner);
    envelope.integers = static_cast<int>(integers);
    envelope.large_counts = static_cast<int>(large_counts);
    envelope.addresses = static_cast<int>(addresses);
    envelope.datatypes = static_cast<int>(datatypes);
    return error;
  }
#endif
  return PMPI_Type_get_envelope(datatype, &envelope.integers, &envelope.addresses,
                                &envelope.datatypes, &envelope.combiner);
}

namespace {

// True for named types without gaps, and for contiguous runs and duplicates of dense types.
int is_dense(MPI_Datatype datatype, bool& named, bool& dense) {
  Envelope envelope;
  int error = envelope_of(datatype, envelope);
  const auto [integers, large_counts, addresses, datatypes, combiner] = envelope;
  if (error != MPI_SUCCESS) return error;
  named = combiner == MPI_COMBINER_NAMED;
  dense = false;
  if (named || (combiner != MPI_COMBINER_DUP && combiner != MPI_COMBINER_CONTIGUOUS)) {
    MPI_Count size = 0;
    MPI_Count lower_bound = 0;
    MPI_Count extent = 0;
    error = PMPI_Type_size_x(datatype, &size);
    if (error == MPI_SUCCESS) error = PMPI_Type_get_extent_x(datatype, &lower_bound, &extent);
    dense = named && size == extent && lower_bound == 0;
    return error;
  }
  // The two combiners have one inner type and at most one count; one that is large is not among the
  // contents that are asked for below: such a type is taken not to be dense.
  if (large_counts != 0 || datatypes != 1 || addresses != 0 ||
      integers != (combiner == MPI_COMBINER_DUP ? 0 : 1)) {
    return MPI_SUCCESS;
  }
  int count = 0;
  MPI_Aint address = 0;
  MPI_Datatype inner = MPI_DATATYPE_NULL;
  error =
      PMPI_Type_get_contents(datatype, integers, addresses, datatypes, &count, &address, &inner);
  if (error != MPI_SUCCESS) return error;
  bool inner_named = false;
  error = is_dense(inner, inner_named, dense);
  if (!inner_named) PMPI_Type_free(&inner);
  return error;
}

// A copy between typed and packed data that takes MPI_BOTTOM with a type of absolute addresses:
// MPICH's pack and unpack refuse the null pointer, its messages do not.
int copy_through_message(const void* from, int from_count, MPI_Datatype from_type, void* to,
                         int to_count, MPI_Datatype to_type, MPI_Comm comm) {
  int self = 0;
  const int error = PMPI_Comm_rank(comm, &self);
  if (error != MPI_SUCCESS) return error;
  return PMPI_Sendrecv(from, from_count, from_type, self, 0, to, to_count, to_type, self, 0, comm,
                       MPI_STATUS_IGNORE);
}

}  // namespace

int inspect(MPI_Datatype datatype, DatatypeInfo& info) {
  MPI_Count size = 0;
  MPI_Aint lower_bound = 0;
  int error = PMPI_Type_size_x(datatype, &size);
  if (error == MPI_SUCCESS) error = PMPI_Type_get_extent(datatype, &lower_bound, &info.extent);
  if (error == MPI_SUCCESS) {
    error = PMPI_Type_get_true_extent(datatype, &info.true_lower_bound, &info.true_extent);
  }
  if (error == MPI_SUCCESS) error = is_dense(datatype, info.named, info.dense);
  if (error != MPI_SUCCESS) return error;
  info.handle = datatype;
  info.size = static_cast<std::size_t>(size);
  // Resizing hides behind a derived combiner, so a dense type's extent is its size.
  info.dense = info.dense && info.extent == static_cast<MPI_Aint>(info.size);
  return MPI_SUCCESS;
}

std::size_t span_of(const DatatypeInfo& type, MPI_Count count) {
  if (count <= 0) return 0;
  const MPI_Aint stride = type.extent < 0 ? -type.extent : type.extent;
  return static_cast<std::size_t>(type.true_extent) +
         static_cast<std::size_t>(count - 1) * static_cast<std::size_t>(stride);
}

MPI_Aint lowest_of(const DatatypeInfo& type, MPI_Count count) {
  const bool backward = type.extent < 0 && count > 1;
  return type.true_lower_bound +
         (backward ? static_cast<MPI_Aint>(count - 1) * type.extent : MPI_Aint{0});
}

int pack(const void* from, MPI_Count count, const DatatypeInfo& type, char* packed, MPI_Comm comm) {
  const std::size_t bytes = static_cast<std::size_t>(count) * type.size;
  if (type.dense) {
    if (bytes != 0) std::memcpy(packed, from, bytes);
    return MPI_SUCCESS;
  }
  if (from == MPI_BOTTOM) {
    return copy_through_message(from, static_cast<int>(count), type.handle, packed,
                                static_cast<int>(bytes), MPI_BYTE, comm);
  }
  int position = 0;
  return PMPI_Pack(from, static_cast<int>(count), type.handle, packed, static_cast<int>(bytes),
                   &position, comm);
}

int unpack(const char* packed, void* to, MPI_Count count, const DatatypeInfo& type, MPI_Comm comm) {
  const std::size_t bytes = static_cast<std::size_t>(count) * type.size;
  if (type.dense) {
    if (bytes != 0) std::memcpy(to, packed, bytes);
    return MPI_SUCCESS;
  }
  if (to == MPI_BOTTOM) {
    return copy_through_message(packed, static_cast<int>(bytes), MPI_BYTE, to,
                                static_cast<int>(count), type.handle, comm);
  }
  int position = 0;
  return PMPI_Unpack(packed, static_cast<int>(bytes), &position, to, static_cast<int>(count),
                     type.handle, comm);
}

int copy_elements(const void* from, void* to, MPI_Count count, const DatatypeInfo& type,
                  char* workspace, MPI_Comm comm) {
  const std::size_t bytes = static_cast<std::size_t>(count) * type.size;
  if (type.dense) {
    if (bytes != 0) std::memcpy(to, from, bytes);
    return MPI_SUCCESS;
  }
  // Pack counts bytes in an int, so larger vectors go in pieces.
  const MPI_Count piece =
      type.size == 0 ? count
                     : static_cast<MPI_Count>(static_cast<std::size_t>(INT_MAX) / type.size);
  for (MPI_Count done = 0; done < count;) {
    const MPI_Count now = count - done < piece ? count - done : piece;
    const auto offset = static_cast<MPI_Aint>(done) * type.extent;
    int error = pack(static_cast<const char*>(from) + offset, now, type, workspace, comm);
    if (error == MPI_SUCCESS) {
      error = unpack(workspace, static_cast<char*>(to) + offset, now, type, comm);
    }
    if (error != MPI_SUCCESS) return error;
    done += now;
  }
  return MPI_SUCCESS;
}

}  // namespace sibyl
