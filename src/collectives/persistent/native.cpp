// Begins the MPI library's nonblocking collectives; see native.hpp.
#include "collectives/persistent/native.hpp"

#include "collectives/native.hpp"

namespace sibyl {

void NativeForm::copy_arrays(Counts all_counts, Displacements all_displacements, MPI_Comm comm) {
  if (comm == MPI_COMM_NULL || !all_counts.given() || !all_displacements.given()) return;
  const int size = significant_entries(collective, root, comm);
  for (Rank r = 0; r < size; ++r) {
    counts.push_back(all_counts[r]);
    displacements.push_back(all_displacements[r]);
    if (caller.large) continue;
    small_counts.push_back(small(all_counts[r]));
    small_displacements.push_back(static_cast<int>(all_displacements[r]));
  }
}

// MPICH 4.0 wants a buffer, and another one, also of a root that takes what another group gives.
const void* NativeForm::given_to_reduce() const {
  static const char never_read = 0;
  return root == MPI_ROOT && send == nullptr ? &never_read : send;
}

int NativeForm::begin(MPI_Comm comm, MPI_Request* request) const {
  if (caller.large) return begin_large(comm, request);
  switch (collective) {
    case Collective::gather:
      return PMPI_Igather(send, small(send_count), send_type, receive, small(receive_count),
                          receive_type, root, comm, request);
    case Collective::scatter:
      return PMPI_Iscatter(send, small(send_count), send_type, receive, small(receive_count),
                           receive_type, root, comm, request);
    case Collective::gatherv:
      return PMPI_Igatherv(send, small(send_count), send_type, receive, small_counts.data(),
                           small_displacements.data(), receive_type, root, comm, request);
    case Collective::scatterv:
      return PMPI_Iscatterv(send, small_counts.data(), small_displacements.data(), send_type,
                            receive, small(receive_count), receive_type, root, comm, request);
    case Collective::reduce:
      return PMPI_Ireduce(given_to_reduce(), receive, small(send_count), send_type, op, root, comm,
                          request);
    case Collective::allreduce:
      return PMPI_Iallreduce(send, receive, small(send_count), send_type, op, comm, request);
    case Collective::bcast:
      return PMPI_Ibcast(receive, small(send_count), send_type, root, comm, request);
    case Collective::allgather:
      return PMPI_Iallgather(send, small(send_count), send_type, receive, small(receive_count),
                             receive_type, comm, request);
    case Collective::allgatherv:
      return PMPI_Iallgatherv(send, small(send_count), send_type, receive, small_counts.data(),
                              small_displacements.data(), receive_type, comm, request);
    case Collective::alltoall:
      return PMPI_Ialltoall(send, small(send_count), send_type, receive, small(receive_count),
                            receive_type, comm, request);
    case Collective::exscan:
      return PMPI_Iexscan(send, receive, small(send_count), send_type, op, comm, request);
    default:
      break;
  }
  return MPI_ERR_INTERN;
}

int NativeForm::begin_large([[maybe_unused]] MPI_Comm comm,
                            [[maybe_unused]] MPI_Request* request) const {
#if MPI_VERSION >= 4
  switch (collective) {
    case Collective::gather:
      return PMPI_Igather_c(send, send_count, send_type, receive, receive_count, receive_type, root,
                            comm, request);
    case Collective::scatter:
      return PMPI_Iscatter_c(send, send_count, send_type, receive, receive_count, receive_type,
                             root, comm, request);
    case Collective::gatherv:
      return PMPI_Igatherv_c(send, send_count, send_type, receive, counts.data(),
                             displacements.data(), receive_type, root, comm, request);
    case Collective::scatterv:
      return PMPI_Iscatterv_c(send, counts.data(), displacements.data(), send_type, receive,
                              receive_count, receive_type, root, comm, request);
    case Collective::reduce:
      return PMPI_Ireduce_c(given_to_reduce(), receive, send_count, send_type, op, root, comm,
                            request);
    case Collective::allreduce:
      return PMPI_Iallreduce_c(send, receive, send_count, send_type, op, comm, request);
    case Collective::bcast:
      return PMPI_Ibcast_c(receive, send_count, send_type, root, comm, request);
    case Collective::allgather:
      return PMPI_Iallgather_c(send, send_count, send_type, receive, receive_count, receive_type,
                               comm, request);
    case Collective::allgatherv:
      return PMPI_Iallgatherv_c(send, send_count, send_type, receive, counts.data(),
                                displacements.data(), receive_type, comm, request);
    case Collective::alltoall:
      return PMPI_Ialltoall_c(send, send_count, send_type, receive, receive_count, receive_type,
                              comm, request);
    case Collective::exscan:
      return PMPI_Iexscan_c(send, receive, send_count, send_type, op, comm, request);
    default:
      break;
  }
#endif
  return MPI_ERR_INTERN;
}

}  // namespace sibyl
