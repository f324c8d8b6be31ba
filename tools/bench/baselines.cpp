// The hand-written exclusive scans; see baselines.hpp.
#include "bench/baselines.hpp"

#include <cstring>

namespace sibyl::bench {
namespace {

constexpr int tag = 1;

// Sends to `to` and receives from `from` at the same time; ranks outside 0..p-1 are no partners.
int exchange(const HandScan& scan, const void* out, int to, void* in, int from) {
  return PMPI_Sendrecv(out, scan.count, scan.type, to, tag, in, scan.count, scan.type, from, tag,
                       scan.comm, MPI_STATUS_IGNORE);
}

}  // namespace

int hand_123_doubling(const HandScan& scan) {
  const auto above = [&](int skip) {
    return scan.rank + skip < scan.ranks ? scan.rank + skip : MPI_PROC_NULL;
  };
  char* incoming = scan.first;
  int error = exchange(scan, scan.send, above(1), scan.receive,
                       scan.rank > 0 ? scan.rank - 1 : MPI_PROC_NULL);
  if (error != MPI_SUCCESS || scan.ranks <= 2) return error;

  const void* out = scan.send;
  if (scan.rank > 0 && scan.rank + 2 < scan.ranks) {
    std::memcpy(scan.second, scan.send, scan.bytes);
    PMPI_Reduce_local(scan.receive, scan.second, scan.count, scan.type, scan.op);
    out = scan.second;
  }
  error = exchange(scan, out, above(2), incoming, scan.rank >= 2 ? scan.rank - 2 : MPI_PROC_NULL);
  if (error != MPI_SUCCESS) return error;
  if (scan.rank >= 2) {
    PMPI_Reduce_local(incoming, scan.receive, scan.count, scan.type, scan.op);
  }
  // Rank 0 is contained in everything from here on.
  for (int skip = 3; scan.rank > 0 && skip < scan.ranks - 1; skip *= 2) {
    const int from = scan.rank - skip > 0 ? scan.rank - skip : MPI_PROC_NULL;
    error = exchange(scan, scan.receive, above(skip), incoming, from);
    if (error != MPI_SUCCESS) return error;
    if (from != MPI_PROC_NULL) {
      PMPI_Reduce_local(incoming, scan.receive, scan.count, scan.type, scan.op);
    }
  }
  return MPI_SUCCESS;
}

int hand_recursive_doubling(const HandScan& scan) {
  char* total = scan.first;  // of the ranks that this one has heard of, itself included
  char* incoming = scan.second;
  bool begun = false;
  std::memcpy(total, scan.send, scan.bytes);
  for (int bit = 1; bit < scan.ranks; bit *= 2) {
    const int partner = scan.rank ^ bit;
    if (partner >= scan.ranks) continue;
    const int error = exchange(scan, total, partner, incoming, partner);
    if (error != MPI_SUCCESS) return error;
    if (partner < scan.rank) {
      PMPI_Reduce_local(incoming, total, scan.count, scan.type, scan.op);
      if (begun) {
        PMPI_Reduce_local(incoming, scan.receive, scan.count, scan.type, scan.op);
      } else {
        std::memcpy(scan.receive, incoming, scan.bytes);
        begun = true;
      }
    } else if (scan.commutes) {
      PMPI_Reduce_local(incoming, total, scan.count, scan.type, scan.op);
    } else {
      PMPI_Reduce_local(total, incoming, scan.count, scan.type, scan.op);
      char* const spare = total;
      total = incoming;
      incoming = spare;
    }
  }
  return MPI_SUCCESS;
}

int hand_chain(const HandScan& scan) {
  if (scan.rank > 0) {
    const int error = PMPI_Recv(scan.receive, scan.count, scan.type, scan.rank - 1, tag, scan.comm,
                                MPI_STATUS_IGNORE);
    if (error != MPI_SUCCESS) return error;
  }
  if (scan.rank + 1 == scan.ranks) return MPI_SUCCESS;
  const void* out = scan.send;
  if (scan.rank > 0) {
    std::memcpy(scan.first, scan.send, scan.bytes);
    PMPI_Reduce_local(scan.receive, scan.first, scan.count, scan.type, scan.op);
    out = scan.first;
  }
  return PMPI_Send(out, scan.count, scan.type, scan.rank + 1, tag, scan.comm);
}

}  // namespace sibyl::bench
