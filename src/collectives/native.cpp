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
  LINE(MPI_Scatter_c) LINE(MPI_Gatherv_c) LINE(MPI_Scatterv_c)
#else
#define LARGE_FUNCTIONS(LINE)
#endif
#define SERVED_FUNCTIONS(LINE)                                                \
  LINE(MPI_Exscan) LINE(MPI_Scan) LINE(MPI_Reduce) LINE(MPI_Gather)           \
  LINE(MPI_Scatter) LINE(MPI_Gatherv) LINE(MPI_Scatterv)                      \
  LINE(MPIX_Comm_revoke) LARGE_FUNCTIONS(LINE)
// clang-format on

// Where calls are handed back to. A null pointer stands for PMPI_X, which is not put here from the
// start since some MPI libraries lack some of these, and a library that named them would not load.
struct Next {
#define MEMBER(name) decltype(&P##name) name = nullptr;
  SERVED_FUNCTIONS(MEMBER)
#undef MEMBER
};
Next next;

#define HAND_BACK(name, ...) (next.name != nullptr ? next.name(__VA_ARGS__) : P##name(__VA_ARGS__))

// A count of a call that did not come through a `_c` function, or of an argument that is not
// significant here and may hold anything.
int small(MPI_Count count) { return static_cast<int>(count); }

// The root's counts and displacements as the functions with int arguments want them: as they are,
// or narrowed where a `_c` function was called in a library that has none. Elsewhere than at the
// root the arrays are not read.
class SmallArrays {
 public:
  SmallArrays(Counts counts, Displacements displacements, int root, MPI_Comm comm)
      : counts_(counts.small()), displacements_(displacements.small()) {
    if (counts.large() == nullptr && displacements.large() == nullptr) return;
    int rank = 0;
    int size = 0;
    int inter = 0;
    if (PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS) return;
    if (inter != 0) {
      if (root != MPI_ROOT) return;
      PMPI_Comm_remote_size(comm, &size);
    } else {
      PMPI_Comm_rank(comm, &rank);
      if (rank != root) return;
      PMPI_Comm_size(comm, &size);
    }
    for (Rank r = 0; r < size; ++r) narrow(counts[r]);
    for (Rank r = 0; r < size; ++r) narrow(displacements[r]);
    counts_ = narrowed_.data();
    displacements_ = narrowed_.data() + size;
  }
  const int* counts() const { return counts_; }
  const int* displacements() const { return displacements_; }
  bool fit() const { return fit_; }

 private:
  void narrow(std::int64_t number) {
    fit_ = fit_ && std::in_range<int>(number);
    narrowed_.push_back(static_cast<int>(number));
  }
  const int* counts_;
  const int* displacements_;
  std::vector<int> narrowed_;
  bool fit_ = true;
};

}  // namespace

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

int native_exscan(Caller caller, const void* send, void* receive, MPI_Count count,
                  MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
#if MPI_VERSION >= 4
  if (caller.large) return HAND_BACK(MPI_Exscan_c, send, receive, count, datatype, op, comm);
#else
  (void)caller;
#endif
  return HAND_BACK(MPI_Exscan, send, receive, small(count), datatype, op, comm);
}

int native_scan(Caller caller, const void* send, void* receive, MPI_Count count,
                MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
#if MPI_VERSION >= 4
  if (caller.large) return HAND_BACK(MPI_Scan_c, send, receive, count, datatype, op, comm);
#else
  (void)caller;
#endif
  return HAND_BACK(MPI_Scan, send, receive, small(count), datatype, op, comm);
}

int native_gather(Caller caller, const void* send, MPI_Count send_count, MPI_Datatype send_type,
                  void* receive, MPI_Count receive_count, MPI_Datatype receive_type, int root,
                  MPI_Comm comm) {
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

int native_scatter(Caller caller, const void* send, MPI_Count send_count, MPI_Datatype send_type,
                   void* receive, MPI_Count receive_count, MPI_Datatype receive_type, int root,
                   MPI_Comm comm) {
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

int native_gatherv(Caller caller, const void* send, MPI_Count send_count, MPI_Datatype send_type,
                   void* receive, Counts receive_counts, Displacements displacements,
                   MPI_Datatype receive_type, int root, MPI_Comm comm) {
#if MPI_VERSION >= 4
  if (caller.large) {
    return HAND_BACK(MPI_Gatherv_c, send, send_count, send_type, receive, receive_counts.large(),
                     displacements.large(), receive_type, root, comm);
  }
#else
  (void)caller;
#endif
  const SmallArrays arrays(receive_counts, displacements, root, comm);
  if (!arrays.fit()) return raise(comm, MPI_ERR_COUNT);
  return HAND_BACK(MPI_Gatherv, send, small(send_count), send_type, receive, arrays.counts(),
                   arrays.displacements(), receive_type, root, comm);
}

int native_scatterv(Caller caller, const void* send, Counts send_counts,
                    Displacements displacements, MPI_Datatype send_type, void* receive,
                    MPI_Count receive_count, MPI_Datatype receive_type, int root, MPI_Comm comm) {
#if MPI_VERSION >= 4
  if (caller.large) {
    return HAND_BACK(MPI_Scatterv_c, send, send_counts.large(), displacements.large(), send_type,
                     receive, receive_count, receive_type, root, comm);
  }
#else
  (void)caller;
#endif
  const SmallArrays arrays(send_counts, displacements, root, comm);
  if (!arrays.fit()) return raise(comm, MPI_ERR_COUNT);
  return HAND_BACK(MPI_Scatterv, send, arrays.counts(), arrays.displacements(), send_type, receive,
                   small(receive_count), receive_type, root, comm);
}

int native_reduce(Caller caller, const void* send, void* receive, MPI_Count count,
                  MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm) {
#if MPI_VERSION >= 4
  if (caller.large) return HAND_BACK(MPI_Reduce_c, send, receive, count, datatype, op, root, comm);
#else
  (void)caller;
#endif
  return HAND_BACK(MPI_Reduce, send, receive, small(count), datatype, op, root, comm);
}

}  // namespace sibyl
