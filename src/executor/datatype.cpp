// Datatype inspection and packed copies; see datatype.hpp.
#include "executor/datatype.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "executor/messages.hpp"

#if MPI_VERSION >= 4
// Other libraries of the same binary interface may be older.
#pragma weak PMPI_Type_get_envelope_c
#endif

namespace sibyl {

int envelope_of(MPI_Datatype datatype, Envelope& envelope) {
  if (is_librarys_type != nullptr && is_librarys_type(datatype)) {
    envelope = {};
    envelope.combiner = MPI_COMBINER_HINDEXED;
    return MPI_SUCCESS;
  }
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

// Of types that nobody frees. Those for Fortran's kinds are predefined, but not named, and so are
// those of a value and its index.
bool is_predefined(int combiner) {
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
  if (combiner == MPI_COMBINER_VALUE_INDEX) return true;
#endif
  return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
         combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
}

// True for named types without gaps, and for contiguous runs and duplicates of dense types.
int is_dense(MPI_Datatype datatype, int& combiner, bool& dense) {
  Envelope envelope;
  int error = envelope_of(datatype, envelope);
  if (error != MPI_SUCCESS) return error;
  const auto [integers, large_counts, addresses, datatypes, made_by] = envelope;
  combiner = made_by;
  const bool named = combiner == MPI_COMBINER_NAMED;
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
  int inner_combiner = MPI_COMBINER_NAMED;
  error = is_dense(inner, inner_combiner, dense);
  if (!is_predefined(inner_combiner)) PMPI_Type_free(&inner);
  return error;
}

// Calls `use` with a count that is an int, and a type.
template <class Use>
int as_int(MPI_Count count, MPI_Datatype type, Use use) {
  if (!needs_large_count(count)) return use(static_cast<int>(count), type);
  return post_many(count, type, [&](MPI_Datatype many) { return use(1, many); });
}

// A copy between typed and packed data of any size. It takes MPI_BOTTOM with a type of absolute
// addresses: MPICH's pack and unpack refuse the null pointer, its messages do not. One at a time:
// the messages of two threads would be taken for each other.
int copy_through_message(const void* from, MPI_Count from_count, MPI_Datatype from_type, void* to,
                         MPI_Count to_count, MPI_Datatype to_type, MPI_Comm comm) {
#ifndef SMPI_H  // whose ranks share a thread, and would wait in it for each other
  static std::mutex under_way;
  const std::lock_guard<std::mutex> lock(under_way);
#endif
  int self = 0;
  const int error = PMPI_Comm_rank(comm, &self);
  if (error != MPI_SUCCESS) return error;
  return as_int(from_count, from_type, [&](int sent, MPI_Datatype sent_type) {
    return as_int(to_count, to_type, [&](int received, MPI_Datatype received_type) {
      return PMPI_Sendrecv(from, sent, sent_type, self, 0, to, received, received_type, self, 0,
                           comm, MPI_STATUS_IGNORE);
    });
  });
}

// Pack and unpack count bytes in an int, so larger data goes in pieces. `copy` takes the elements
// of one, its bytes, and where it begins among the user's data and among what is packed.
template <class Copy>
int in_pieces(MPI_Count count, const DatatypeInfo& type, std::size_t most, Copy copy) {
  const auto piece = static_cast<MPI_Count>(most / type.size);
  for (MPI_Count done = 0; done < count; done += piece) {
    const MPI_Count now = std::min(piece, count - done);
    const int error =
        copy(static_cast<int>(now), static_cast<int>(now) * static_cast<int>(type.size),
             static_cast<MPI_Aint>(done) * type.extent, static_cast<std::size_t>(done) * type.size);
    if (error != MPI_SUCCESS) return error;
  }
  return MPI_SUCCESS;
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
  int combiner = MPI_COMBINER_NAMED;
  if (error == MPI_SUCCESS) error = is_dense(datatype, combiner, info.dense);
  if (error != MPI_SUCCESS) return error;
  info.named = is_predefined(combiner);
  info.handle = datatype;
  info.size = static_cast<std::size_t>(size);
  // Resizing hides behind a derived combiner, so a dense type's extent is its size.
  info.dense = info.dense && info.extent == static_cast<MPI_Aint>(info.size);
  return MPI_SUCCESS;
}

bool is_committed(MPI_Datatype datatype, MPI_Comm comm) {
  const char nothing_is_read = 0;  // MPICH lets no elements pass
  return PMPI_Send(&nothing_is_read, 1, datatype, MPI_PROC_NULL, 0, comm) == MPI_SUCCESS;
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

int pack(const void* from, MPI_Count count, const DatatypeInfo& type, char* packed, MPI_Comm comm,
         std::size_t most) {
  const std::size_t bytes = static_cast<std::size_t>(count) * type.size;
  if (bytes == 0) return MPI_SUCCESS;
  if (type.dense) {
    std::memcpy(packed, from, bytes);
    return MPI_SUCCESS;
  }
  if (from == MPI_BOTTOM || type.size > most) {
    return copy_through_message(from, count, type.handle, packed, static_cast<MPI_Count>(bytes),
                                MPI_BYTE, comm);
  }
  return in_pieces(count, type, most, [&](int now, int size, MPI_Aint begin, std::size_t at) {
    int position = 0;
    return PMPI_Pack(static_cast<const char*>(from) + begin, now, type.handle, packed + at, size,
                     &position, comm);
  });
}

int unpack(const char* packed, void* to, MPI_Count count, const DatatypeInfo& type, MPI_Comm comm,
           std::size_t most) {
  const std::size_t bytes = static_cast<std::size_t>(count) * type.size;
  if (bytes == 0) return MPI_SUCCESS;
  if (type.dense) {
    std::memcpy(to, packed, bytes);
    return MPI_SUCCESS;
  }
  if (to == MPI_BOTTOM || type.size > most) {
    return copy_through_message(packed, static_cast<MPI_Count>(bytes), MPI_BYTE, to, count,
                                type.handle, comm);
  }
  return in_pieces(count, type, most, [&](int now, int size, MPI_Aint begin, std::size_t at) {
    int position = 0;
    return PMPI_Unpack(packed + at, size, &position, static_cast<char*>(to) + begin, now,
                       type.handle, comm);
  });
}

int copy_elements(const void* from, void* to, MPI_Count count, const DatatypeInfo& type,
                  char* workspace, MPI_Comm comm) {
  if (type.dense) {
    const std::size_t bytes = static_cast<std::size_t>(count) * type.size;
    if (bytes != 0) std::memcpy(to, from, bytes);
    return MPI_SUCCESS;
  }
  const int error = pack(from, count, type, workspace, comm);
  return error == MPI_SUCCESS ? unpack(workspace, to, count, type, comm) : error;
}

}  // namespace sibyl
