// What the executor must know of an MPI datatype, and copies between typed and packed data.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <limits>

namespace sibyl {

// A datatype is `dense` when its elements lie in memory exactly as they would be packed, one after
// the other without gaps: then bytes may be cut, copied and sent without the datatype engine. A
// permuting derived type has size == extent too, so only types known to be in order count.
struct DatatypeInfo {
  // In an order that leaves no room at the end, which would not be copied with the rest: copies
  // in pieces of odd places make the processor wait.
  MPI_Datatype handle = MPI_DATATYPE_NULL;
  bool named = false;  // predefined: never freed, so it may be remembered by its handle
  bool dense = true;
  std::size_t size = 0;  // bytes of one packed element
  MPI_Aint extent = 0;
  MPI_Aint true_lower_bound = 0;
  MPI_Aint true_extent = 0;

  // Elements one after the other do not reach into each other.
  bool lie_side_by_side() const { return extent >= true_extent; }
  // By what equal types have in common, however they were made: for what ranks decide alike.
  bool has_gaps() const {
    return static_cast<MPI_Aint>(size) != extent || extent != true_extent || true_lower_bound != 0;
  }
};

// How a datatype was made.
struct Envelope {
  int integers = 0;
  int large_counts = 0;
  int addresses = 0;
  int datatypes = 0;
  int combiner = 0;
};
// An error code. Asked in the way that also knows types which a `_c` function has made: the other
// one refuses those, through the world's error handler.
int envelope_of(MPI_Datatype datatype, Envelope& envelope);
// Whether the MPI library has made a type for itself, of which it does not tell how: it is taken
// for some derived one. Null where collectives inside the library do not come to Sibyl.
inline bool (*is_librarys_type)(MPI_Datatype) = nullptr;

// Cost: a few calls into the MPI library; returns its error code.
int inspect(MPI_Datatype datatype, DatatypeInfo& info);
// Whether data may be sent by it; `comm` returns its errors. MPI has no call that says so.
bool is_committed(MPI_Datatype datatype, MPI_Comm comm);

// Bytes from the lowest to the highest address that `count` elements touch.
std::size_t span_of(const DatatypeInfo& type, MPI_Count count);
// Bytes from the address of `count` elements, as MPI is given it, to the lowest that they touch.
MPI_Aint lowest_of(const DatatypeInfo& type, MPI_Count count);

// Copies between user data and packed bytes, of which there are count * size. They return an MPI
// error code. `most`: the bytes that one call of the MPI library can count.
inline constexpr std::size_t most_countable = std::numeric_limits<int>::max();
int pack(const void* from, MPI_Count count, const DatatypeInfo& type, char* packed, MPI_Comm comm,
         std::size_t most = most_countable);
int unpack(const char* packed, void* to, MPI_Count count, const DatatypeInfo& type, MPI_Comm comm,
           std::size_t most = most_countable);

// Copies `count` elements between two buffers of the same type without touching the gaps.
// `workspace` holds count * size bytes when the type is not dense.
int copy_elements(const void* from, void* to, MPI_Count count, const DatatypeInfo& type,
                  char* workspace, MPI_Comm comm);

}  // namespace sibyl
