// Hands calls to the MPI library, to its large-count functions where the call came through one.
#include "collectives/native.hpp"

#include <cstdint>
#include <utility>
#include <vector>

#include "collectives/call.hpp"
#include "executor/faults.hpp"

namespace sibyl {
namespace {

// The functions that are served, as preload/functions.txt lists them; LINE(NAME) for each.
// clang-format off
#if MPI_VERSION >= 4
#define LARGE_FUNCTIONS(LINE)                                                 \
  LINE(MPI_Exscan_c) LINE(MPI_Scan_c) LINE(MPI_Reduce_c) LINE(MPI_Gather_c)   \
  LINE(MPI_Scatter_c) LINE(MPI_Gatherv_c) LINE(MPI_Scatterv_c)                \
  LINE(MPI_Allreduce_c) LINE(MPI_Bcast_c) LINE(MPI_Reduce_scatter_c)          \
  LINE(MPI_Reduce_scatter_block_c) LINE(MPI_Allgather_c)                      \
  LINE(MPI_Allgatherv_c) LINE(MPI_Alltoall_c) LINE(MPI_Alltoallv_c)
#else
#define LARGE_FUNCTIONS(LINE)
#endif
#define SERVED_FUNCTIONS(LINE)                                                \
  LINE(MPI_Exscan) LINE(MPI_Scan) LINE(MPI_Reduce) LINE(MPI_Gather)           \
  LINE(MPI_Scatter) LINE(MPI_Gatherv) LINE(MPI_Scatterv)                      \
  LINE(MPI_Allreduce) LINE(MPI_Bcast) LINE(MPI_Reduce_scatter)                \
  LINE(MPI_Reduce_scatter_block) LINE(MPI_Allgather) LINE(MPI_Allgatherv)     \
  LINE(MPI_Alltoall) LINE(MPI_Alltoallv) LINE(MPI_Barrier)                    \
  LINE(MPIX_Comm_revoke) LARGE_FUNCTIONS(LINE)
// clang-format on

// Where calls are handed back to. A null pointer stands for PMPI_X, which is not put here from the
// start since some MPI libraries lack some of these, and a library that named them would not load.
// NOLINTBEGIN(readability-identifier-naming): MPI's names
struct Next {
#define MEMBER(name) decltype(&P##name) name = nullptr;
  SERVED_FUNCTIONS(MEMBER)
#undef MEMBER
};
// NOLINTEND(readability-identifier-naming)
Next next;

#define HAND_BACK(name, ...) (next.name != nullptr ? next.name(__VA_ARGS__) : P##name(__VA_ARGS__))

// An array of counts or displacements as the functions with int arguments want it: as it is, or
// narrowed where a `_c` function was called in a library that has none: only then is it asked how
// many entries there are to be read.
template <class Array>
class SmallArray {
 public:
  template <class Entries>
  SmallArray(const Array& array, Entries entries) : array_(array.small()) {
    if (array.large() == nullptr) return;
    const int size = entries();
    if (size == 0) return;
    for (Rank r = 0; r < size; ++r) {
      const auto number = static_cast<std::int64_t>(array[r]);
      fits_ = fits_ && std::in_range<int>(number);
      narrowed_.push_back(static_cast<int>(number));
    }
    array_ = narrowed_.data();
  }
  const int* data() const { return array_; }
  bool fits() const { return fits_; }

 private:
  const int* array_;
  std::vector<int> narrowed_;
  bool fits_ = true;
};

}  // namespace

int significant_entries(Collective collective, int root, MPI_Comm comm) {
  int rank = 0;
  int size = 0;
  int inter = 0;
  if (PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS) return 0;
  PMPI_Comm_rank(comm, &rank);
  if (has_root(collective) && root != (inter != 0 ? MPI_ROOT : rank)) return 0;
  if (inter != 0 && !scatters_sums(collective)) {
    PMPI_Comm_remote_size(comm, &size);
  } else {
    PMPI_Comm_size(comm, &size);
  }
  return size;
}

void hand_back_to(std::string_view name, void* function) {
#define SET(known) \
  if (name == #known) next.known = reinterpret_cast<decltype(next.known)>(function);
  SERVED_FUNCTIONS(SET)
#undef SET
}

int native_mpix_comm_revoke(Caller, MPI_Comm comm) {
  if (next.MPIX_Comm_revoke == nullptr && &PMPIX_Comm_revoke == nullptr) return MPI_ERR_OTHER;
  return HAND_BACK(MPIX_Comm_revoke, comm);
}

[[gnu::hot]] int native_exscan(Caller caller, const void* send, void* receive, MPI_Count count,
                               MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
#if MPI_VERSION >= 4
  if (caller.large) return HAND_BACK(MPI_Exscan_c, send, receive, count, datatype, op, comm);
#else
  (void)caller;
#endif
  return HAND_BACK(MPI_Exscan, send, receive, small(count), datatype, op, comm);
}

[[gnu::hot]] int native_scan(Caller caller, const void* send, void* receive, MPI_Count count,
                             MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
#if MPI_VERSION >= 4
  if (caller.large) return HAND_BACK(MPI_Scan_c, send, receive, count, datatype, op, comm);
#else
  (void)caller;
#endif
  return HAND_BACK(MPI_Scan, send, receive, small(count), datatype, op, comm);
}

[[gnu::hot]] int native_gather(Caller caller, const void* send, MPI_Count send_count,
                               MPI_Datatype send_type, void* receive, MPI_Count receive_count,
                               MPI_Datatype receive_type, int root, MPI_Comm comm) {
#if MPI_VERSION >= 4
  if (caller.large) {
    return HAND_BACK(MPI_Gather_c, send, send_count, send_type, receive, receive_count,
                     receive_type, root, comm);
  }
#else
  (void)caller;
#endif
  return HAND_BACK(MPI_Gather, send, small(send_count), send_type, receive, small(receive_count),
                   receive_type, root, comm);
}

[[gnu::hot]] int native_scatter(Caller caller, const void* send, MPI_Count send_count,
                                MPI_Datatype send_type, void* receive, MPI_Count receive_count,
                                MPI_Datatype receive_type, int root, MPI_Comm comm) {
#if MPI_VERSION >= 4
  if (caller.large) {
    return HAND_BACK(MPI_Scatter_c, send, send_count, send_type, receive, receive_count,
                     receive_type, root, comm);
  }
#else
  (void)caller;
#endif
  return HAND_BACK(MPI_Scatter, send, small(send_count), send_type, receive, small(receive_count),
                   receive_type, root, comm);
}

[[gnu::hot]] int native_gatherv(Caller caller, const void* send, MPI_Count send_count,
                                MPI_Datatype send_type, void* receive, Counts receive_counts,
                                Displacements displacements, MPI_Datatype receive_type, int root,
                                MPI_Comm comm) {
#if MPI_VERSION >= 4
  if (caller.large) {
    return HAND_BACK(MPI_Gatherv_c, send, send_count, send_type, receive, receive_counts.large(),
                     displacements.large(), receive_type, root, comm);
  }
#else
  (void)caller;
#endif
  const auto entries = [&] { return significant_entries(Collective::gatherv, root, comm); };
  const SmallArray counts(receive_counts, entries);
  const SmallArray places(displacements, entries);
  if (!counts.fits() || !places.fits()) return raise(comm, MPI_ERR_COUNT);
  return HAND_BACK(MPI_Gatherv, send, small(send_count), send_type, receive, counts.data(),
                   places.data(), receive_type, root, comm);
}

[[gnu::hot]] int native_scatterv(Caller caller, const void* send, Counts send_counts,
                                 Displacements displacements, MPI_Datatype send_type, void* receive,
                                 MPI_Count receive_count, MPI_Datatype receive_type, int root,
                                 MPI_Comm comm) {
#if MPI_VERSION >= 4
  if (caller.large) {
    return HAND_BACK(MPI_Scatterv_c, send, send_counts.large(), displacements.large(), send_type,
                     receive, receive_count, receive_type, root, comm);
  }
#else
  (void)caller;
#endif
  const auto entries = [&] { return significant_entries(Collective::scatterv, root, comm); };
  const SmallArray counts(send_counts, entries);
  const SmallArray places(displacements, entries);
  if (!counts.fits() || !places.fits()) return raise(comm, MPI_ERR_COUNT);
  return HAND_BACK(MPI_Scatterv, send, counts.data(), places.data(), send_type, receive,
                   small(receive_count), receive_type, root, comm);
}

[[gnu::hot]] int native_reduce(Caller caller, const void* send, void* receive, MPI_Count count,
                               MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm) {
#if MPI_VERSION >= 4
  if (caller.large) return HAND_BACK(MPI_Reduce_c, send, receive, count, datatype, op, root, comm);
#else
  (void)caller;
#endif
  return HAND_BACK(MPI_Reduce, send, receive, small(count), datatype, op, root, comm);
}

[[gnu::hot]] int native_allreduce(Caller caller, const void* send, void* receive, MPI_Count count,
                                  MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
#if MPI_VERSION >= 4
  if (caller.large) {
    return HAND_BACK(MPI_Allreduce_c, send, receive, count, datatype, op, comm);
  }
#else
  (void)caller;
#endif
  return HAND_BACK(MPI_Allreduce, send, receive, small(count), datatype, op, comm);
}

[[gnu::hot]] int native_bcast(Caller caller, void* buffer, MPI_Count count, MPI_Datatype datatype,
                              int root, MPI_Comm comm) {
#if MPI_VERSION >= 4
  if (caller.large) {
    return HAND_BACK(MPI_Bcast_c, buffer, count, datatype, root, comm);
  }
#else
  (void)caller;
#endif
  return HAND_BACK(MPI_Bcast, buffer, small(count), datatype, root, comm);
}

// The counts are of the ranks of one's own group.
[[gnu::hot]] int native_reduce_scatter(Caller caller, const void* send, void* receive,
                                       Counts receive_counts, MPI_Datatype datatype, MPI_Op op,
                                       MPI_Comm comm) {
#if MPI_VERSION >= 4
  if (caller.large) {
    return HAND_BACK(MPI_Reduce_scatter_c, send, receive, receive_counts.large(), datatype, op,
                     comm);
  }
#else
  (void)caller;
#endif
  const auto entries = [&] { return significant_entries(Collective::reduce_scatter, 0, comm); };
  const SmallArray counts(receive_counts, entries);
  if (!counts.fits()) return raise(comm, MPI_ERR_COUNT);
  return HAND_BACK(MPI_Reduce_scatter, send, receive, counts.data(), datatype, op, comm);
}

[[gnu::hot]] int native_reduce_scatter_block(Caller caller, const void* send, void* receive,
                                             MPI_Count receive_count, MPI_Datatype datatype,
                                             MPI_Op op, MPI_Comm comm) {
#if MPI_VERSION >= 4
  if (caller.large) {
    return HAND_BACK(MPI_Reduce_scatter_block_c, send, receive, receive_count, datatype, op, comm);
  }
#else
  (void)caller;
#endif
  return HAND_BACK(MPI_Reduce_scatter_block, send, receive, small(receive_count), datatype, op,
                   comm);
}

[[gnu::hot]] int native_allgather(Caller caller, const void* send, MPI_Count send_count,
                                  MPI_Datatype send_type, void* receive, MPI_Count receive_count,
                                  MPI_Datatype receive_type, MPI_Comm comm) {
#if MPI_VERSION >= 4
  if (caller.large) {
    return HAND_BACK(MPI_Allgather_c, send, send_count, send_type, receive, receive_count,
                     receive_type, comm);
  }
#else
  (void)caller;
#endif
  return HAND_BACK(MPI_Allgather, send, small(send_count), send_type, receive, small(receive_count),
                   receive_type, comm);
}

[[gnu::hot]] int native_allgatherv(Caller caller, const void* send, MPI_Count send_count,
                                   MPI_Datatype send_type, void* receive, Counts receive_counts,
                                   Displacements displacements, MPI_Datatype receive_type,
                                   MPI_Comm comm) {
#if MPI_VERSION >= 4
  if (caller.large) {
    return HAND_BACK(MPI_Allgatherv_c, send, send_count, send_type, receive, receive_counts.large(),
                     displacements.large(), receive_type, comm);
  }
#else
  (void)caller;
#endif
  const auto entries = [&] { return significant_entries(Collective::allgatherv, 0, comm); };
  const SmallArray counts(receive_counts, entries);
  const SmallArray places(displacements, entries);
  if (!counts.fits() || !places.fits()) return raise(comm, MPI_ERR_COUNT);
  return HAND_BACK(MPI_Allgatherv, send, small(send_count), send_type, receive, counts.data(),
                   places.data(), receive_type, comm);
}

[[gnu::hot]] int native_alltoall(Caller caller, const void* send, MPI_Count send_count,
                                 MPI_Datatype send_type, void* receive, MPI_Count receive_count,
                                 MPI_Datatype receive_type, MPI_Comm comm) {
#if MPI_VERSION >= 4
  if (caller.large) {
    return HAND_BACK(MPI_Alltoall_c, send, send_count, send_type, receive, receive_count,
                     receive_type, comm);
  }
#else
  (void)caller;
#endif
  return HAND_BACK(MPI_Alltoall, send, small(send_count), send_type, receive, small(receive_count),
                   receive_type, comm);
}

// In place the counts of what is sent are not significant.
[[gnu::hot]] int native_alltoallv(Caller caller, const void* send, Counts send_counts,
                                  Displacements send_displacements, MPI_Datatype send_type,
                                  void* receive, Counts receive_counts,
                                  Displacements receive_displacements, MPI_Datatype receive_type,
                                  MPI_Comm comm) {
#if MPI_VERSION >= 4
  if (caller.large) {
    return HAND_BACK(MPI_Alltoallv_c, send, send_counts.large(), send_displacements.large(),
                     send_type, receive, receive_counts.large(), receive_displacements.large(),
                     receive_type, comm);
  }
#else
  (void)caller;
#endif
  const auto entries = [&] { return significant_entries(Collective::alltoallv, 0, comm); };
  const auto sent_entries = [&] { return send == MPI_IN_PLACE ? 0 : entries(); };
  const SmallArray sent(send_counts, sent_entries);
  const SmallArray sent_places(send_displacements, sent_entries);
  const SmallArray counts(receive_counts, entries);
  const SmallArray places(receive_displacements, entries);
  if (!sent.fits() || !sent_places.fits() || !counts.fits() || !places.fits()) {
    return raise(comm, MPI_ERR_COUNT);
  }
  return HAND_BACK(MPI_Alltoallv, send, sent.data(), sent_places.data(), send_type, receive,
                   counts.data(), places.data(), receive_type, comm);
}

[[gnu::hot]] int native_barrier(Caller, MPI_Comm comm) { return HAND_BACK(MPI_Barrier, comm); }

}  // namespace sibyl

#undef HAND_BACK
#undef SERVED_FUNCTIONS
#undef LARGE_FUNCTIONS
