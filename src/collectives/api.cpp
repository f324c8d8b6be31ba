// The bodies of the C API: each names its collective and whether the counts are large.
#include "collectives/collectives.hpp"
#include "sibyl/sibyl.h"

namespace {

constexpr sibyl::Caller caller{};
#if MPI_VERSION >= 4
constexpr sibyl::Caller large_caller{false, true};
#endif

}  // namespace

extern "C" {

int SIBYL_Get_version(int* major, int* minor, int* patch) {
  if (major != nullptr) *major = SIBYL_VERSION_MAJOR;
  if (minor != nullptr) *minor = SIBYL_VERSION_MINOR;
  if (patch != nullptr) *patch = SIBYL_VERSION_PATCH;
  return MPI_SUCCESS;
}

int SIBYL_Exscan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                 MPI_Comm comm) {
  return sibyl::serve_exscan(caller, sendbuf, recvbuf, count, datatype, op, comm);
}

int SIBYL_Scan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
               MPI_Comm comm) {
  return sibyl::serve_scan(caller, sendbuf, recvbuf, count, datatype, op, comm);
}

int SIBYL_Gather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                 int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return sibyl::serve_gather(caller, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                             root, comm);
}

int SIBYL_Scatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                  int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return sibyl::serve_scatter(caller, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                              root, comm);
}

int SIBYL_Gatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                  const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                  MPI_Comm comm) {
  return sibyl::serve_gatherv(caller, sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                              recvtype, root, comm);
}

int SIBYL_Scatterv(const void* sendbuf, const int sendcounts[], const int displs[],
                   MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype,
                   int root, MPI_Comm comm) {
  return sibyl::serve_scatterv(caller, sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount,
                               recvtype, root, comm);
}

int TUW_Gatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                MPI_Comm comm) {
  return SIBYL_Gatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root,
                       comm);
}

int TUW_Scatterv(const void* sendbuf, const int sendcounts[], const int displs[],
                 MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype,
                 int root, MPI_Comm comm) {
  return SIBYL_Scatterv(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root,
                        comm);
}

int SIBYL_Reduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                 int root, MPI_Comm comm) {
  return sibyl::serve_reduce(caller, sendbuf, recvbuf, count, datatype, op, root, comm);
}

int SIBYL_Allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                    MPI_Comm comm) {
  return sibyl::serve_allreduce(caller, sendbuf, recvbuf, count, datatype, op, comm);
}

int SIBYL_Bcast(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm) {
  return sibyl::serve_bcast(caller, buffer, count, datatype, root, comm);
}

int SIBYL_Reduce_scatter(const void* sendbuf, void* recvbuf, const int recvcounts[],
                         MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  return sibyl::serve_reduce_scatter(caller, sendbuf, recvbuf, recvcounts, datatype, op, comm);
}

int SIBYL_Reduce_scatter_block(const void* sendbuf, void* recvbuf, int recvcount,
                               MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  return sibyl::serve_reduce_scatter_block(caller, sendbuf, recvbuf, recvcount, datatype, op, comm);
}

int SIBYL_Allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                    int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  return sibyl::serve_allgather(caller, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                comm);
}

int SIBYL_Allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                     const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                     MPI_Comm comm) {
  return sibyl::serve_allgatherv(caller, sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                                 recvtype, comm);
}

int SIBYL_Alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                   int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  return sibyl::serve_alltoall(caller, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                               comm);
}

int SIBYL_Alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[],
                    MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                    const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm) {
  return sibyl::serve_alltoallv(caller, sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                                rdispls, recvtype, comm);
}

int SIBYL_Barrier(MPI_Comm comm) { return sibyl::serve_barrier(caller, comm); }

int SIBYL_Comm_set_arrivals(MPI_Comm comm, const double arrivals[], int count) {
  return sibyl::set_arrivals(comm, arrivals, count);
}

#if MPI_VERSION >= 4
int SIBYL_Exscan_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                   MPI_Op op, MPI_Comm comm) {
  return sibyl::serve_exscan(large_caller, sendbuf, recvbuf, count, datatype, op, comm);
}

int SIBYL_Scan_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                 MPI_Op op, MPI_Comm comm) {
  return sibyl::serve_scan(large_caller, sendbuf, recvbuf, count, datatype, op, comm);
}

int SIBYL_Gather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                   MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return sibyl::serve_gather(large_caller, sendbuf, sendcount, sendtype, recvbuf, recvcount,
                             recvtype, root, comm);
}

int SIBYL_Scatter_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                    MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return sibyl::serve_scatter(large_caller, sendbuf, sendcount, sendtype, recvbuf, recvcount,
                              recvtype, root, comm);
}

int SIBYL_Gatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                    const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                    int root, MPI_Comm comm) {
  return sibyl::serve_gatherv(large_caller, sendbuf, sendcount, sendtype, recvbuf, recvcounts,
                              displs, recvtype, root, comm);
}

int SIBYL_Scatterv_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                     MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                     MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return sibyl::serve_scatterv(large_caller, sendbuf, sendcounts, displs, sendtype, recvbuf,
                               recvcount, recvtype, root, comm);
}

int SIBYL_Reduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                   MPI_Op op, int root, MPI_Comm comm) {
  return sibyl::serve_reduce(large_caller, sendbuf, recvbuf, count, datatype, op, root, comm);
}

int SIBYL_Allreduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                      MPI_Op op, MPI_Comm comm) {
  return sibyl::serve_allreduce(large_caller, sendbuf, recvbuf, count, datatype, op, comm);
}

int SIBYL_Bcast_c(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm) {
  return sibyl::serve_bcast(large_caller, buffer, count, datatype, root, comm);
}

int SIBYL_Reduce_scatter_c(const void* sendbuf, void* recvbuf, const MPI_Count recvcounts[],
                           MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  return sibyl::serve_reduce_scatter(large_caller, sendbuf, recvbuf, recvcounts, datatype, op,
                                     comm);
}

int SIBYL_Reduce_scatter_block_c(const void* sendbuf, void* recvbuf, MPI_Count recvcount,
                                 MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  return sibyl::serve_reduce_scatter_block(large_caller, sendbuf, recvbuf, recvcount, datatype, op,
                                           comm);
}

int SIBYL_Allgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                      void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  return sibyl::serve_allgather(large_caller, sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                recvtype, comm);
}

int SIBYL_Allgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                       void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                       MPI_Datatype recvtype, MPI_Comm comm) {
  return sibyl::serve_allgatherv(large_caller, sendbuf, sendcount, sendtype, recvbuf, recvcounts,
                                 displs, recvtype, comm);
}

int SIBYL_Alltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                     MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  return sibyl::serve_alltoall(large_caller, sendbuf, sendcount, sendtype, recvbuf, recvcount,
                               recvtype, comm);
}

int SIBYL_Alltoallv_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                      MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[],
                      const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm) {
  return sibyl::serve_alltoallv(large_caller, sendbuf, sendcounts, sdispls, sendtype, recvbuf,
                                recvcounts, rdispls, recvtype, comm);
}
#endif

}  // extern "C"
