// The bodies of the C API: each names its collective and whether the counts are large.
#include "collectives/collectives.hpp"
#include "sibyl/sibyl.h"

extern "C" {

int SIBYL_Get_version(int* major, int* minor, int* patch) {
  if (major != nullptr) *major = SIBYL_VERSION_MAJOR;
  if (minor != nullptr) *minor = SIBYL_VERSION_MINOR;
  if (patch != nullptr) *patch = SIBYL_VERSION_PATCH;
  return MPI_SUCCESS;
}

int SIBYL_Exscan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                 MPI_Comm comm) {
  return sibyl::serve_exscan(sibyl::c_api_from_here(), sendbuf, recvbuf, count, datatype, op, comm);
}

int SIBYL_Scan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
               MPI_Comm comm) {
  return sibyl::serve_scan(sibyl::c_api_from_here(), sendbuf, recvbuf, count, datatype, op, comm);
}

int SIBYL_Gather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                 int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return sibyl::serve_gather(sibyl::c_api_from_here(), sendbuf, sendcount, sendtype, recvbuf,
                             recvcount, recvtype, root, comm);
}

int SIBYL_Scatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                  int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return sibyl::serve_scatter(sibyl::c_api_from_here(), sendbuf, sendcount, sendtype, recvbuf,
                              recvcount, recvtype, root, comm);
}

int SIBYL_Gatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                  const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                  MPI_Comm comm) {
  return sibyl::serve_gatherv(sibyl::c_api_from_here(), sendbuf, sendcount, sendtype, recvbuf,
                              recvcounts, displs, recvtype, root, comm);
}

int SIBYL_Scatterv(const void* sendbuf, const int sendcounts[], const int displs[],
                   MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype,
                   int root, MPI_Comm comm) {
  return sibyl::serve_scatterv(sibyl::c_api_from_here(), sendbuf, sendcounts, displs, sendtype,
                               recvbuf, recvcount, recvtype, root, comm);
}

int TUW_Gatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                MPI_Comm comm) {
  return sibyl::serve_gatherv(sibyl::papers_api, sendbuf, sendcount, sendtype, recvbuf, recvcounts,
                              displs, recvtype, root, comm);
}

int TUW_Scatterv(const void* sendbuf, const int sendcounts[], const int displs[],
                 MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype,
                 int root, MPI_Comm comm) {
  return sibyl::serve_scatterv(sibyl::papers_api, sendbuf, sendcounts, displs, sendtype, recvbuf,
                               recvcount, recvtype, root, comm);
}

int SIBYL_Reduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                 int root, MPI_Comm comm) {
  return sibyl::serve_reduce(sibyl::c_api_from_here(), sendbuf, recvbuf, count, datatype, op, root,
                             comm);
}

int SIBYL_Allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                    MPI_Comm comm) {
  return sibyl::serve_allreduce(sibyl::c_api_from_here(), sendbuf, recvbuf, count, datatype, op,
                                comm);
}

int SIBYL_Bcast(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm) {
  return sibyl::serve_bcast(sibyl::c_api_from_here(), buffer, count, datatype, root, comm);
}

int SIBYL_Reduce_scatter(const void* sendbuf, void* recvbuf, const int recvcounts[],
                         MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  return sibyl::serve_reduce_scatter(sibyl::c_api_from_here(), sendbuf, recvbuf, recvcounts,
                                     datatype, op, comm);
}

int SIBYL_Reduce_scatter_block(const void* sendbuf, void* recvbuf, int recvcount,
                               MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  return sibyl::serve_reduce_scatter_block(sibyl::c_api_from_here(), sendbuf, recvbuf, recvcount,
                                           datatype, op, comm);
}

int SIBYL_Allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                    int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  return sibyl::serve_allgather(sibyl::c_api_from_here(), sendbuf, sendcount, sendtype, recvbuf,
                                recvcount, recvtype, comm);
}

int SIBYL_Allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                     const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                     MPI_Comm comm) {
  return sibyl::serve_allgatherv(sibyl::c_api_from_here(), sendbuf, sendcount, sendtype, recvbuf,
                                 recvcounts, displs, recvtype, comm);
}

int SIBYL_Alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                   int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  return sibyl::serve_alltoall(sibyl::c_api_from_here(), sendbuf, sendcount, sendtype, recvbuf,
                               recvcount, recvtype, comm);
}

int SIBYL_Alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[],
                    MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                    const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm) {
  return sibyl::serve_alltoallv(sibyl::c_api_from_here(), sendbuf, sendcounts, sdispls, sendtype,
                                recvbuf, recvcounts, rdispls, recvtype, comm);
}

int SIBYL_Barrier(MPI_Comm comm) { return sibyl::serve_barrier(sibyl::c_api, comm); }

int SIBYL_Comm_set_arrivals(MPI_Comm comm, const double arrivals[], int count) {
  return sibyl::set_arrivals(comm, arrivals, count);
}

#if MPI_VERSION >= 4
int SIBYL_Exscan_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                   MPI_Op op, MPI_Comm comm) {
  return sibyl::serve_exscan(sibyl::c_api_from_here(true), sendbuf, recvbuf, count, datatype, op,
                             comm);
}

int SIBYL_Scan_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                 MPI_Op op, MPI_Comm comm) {
  return sibyl::serve_scan(sibyl::c_api_from_here(true), sendbuf, recvbuf, count, datatype, op,
                           comm);
}

int SIBYL_Gather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                   MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return sibyl::serve_gather(sibyl::c_api_from_here(true), sendbuf, sendcount, sendtype, recvbuf,
                             recvcount, recvtype, root, comm);
}

int SIBYL_Scatter_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                    MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return sibyl::serve_scatter(sibyl::c_api_from_here(true), sendbuf, sendcount, sendtype, recvbuf,
                              recvcount, recvtype, root, comm);
}

int SIBYL_Gatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                    const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                    int root, MPI_Comm comm) {
  return sibyl::serve_gatherv(sibyl::c_api_from_here(true), sendbuf, sendcount, sendtype, recvbuf,
                              recvcounts, displs, recvtype, root, comm);
}

int SIBYL_Scatterv_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                     MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                     MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return sibyl::serve_scatterv(sibyl::c_api_from_here(true), sendbuf, sendcounts, displs, sendtype,
                               recvbuf, recvcount, recvtype, root, comm);
}

int SIBYL_Reduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                   MPI_Op op, int root, MPI_Comm comm) {
  return sibyl::serve_reduce(sibyl::c_api_from_here(true), sendbuf, recvbuf, count, datatype, op,
                             root, comm);
}

int SIBYL_Allreduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                      MPI_Op op, MPI_Comm comm) {
  return sibyl::serve_allreduce(sibyl::c_api_from_here(true), sendbuf, recvbuf, count, datatype, op,
                                comm);
}

int SIBYL_Bcast_c(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm) {
  return sibyl::serve_bcast(sibyl::c_api_from_here(true), buffer, count, datatype, root, comm);
}

int SIBYL_Reduce_scatter_c(const void* sendbuf, void* recvbuf, const MPI_Count recvcounts[],
                           MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  return sibyl::serve_reduce_scatter(sibyl::c_api_from_here(true), sendbuf, recvbuf, recvcounts,
                                     datatype, op, comm);
}

int SIBYL_Reduce_scatter_block_c(const void* sendbuf, void* recvbuf, MPI_Count recvcount,
                                 MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  return sibyl::serve_reduce_scatter_block(sibyl::c_api_from_here(true), sendbuf, recvbuf,
                                           recvcount, datatype, op, comm);
}

int SIBYL_Allgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                      void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  return sibyl::serve_allgather(sibyl::c_api_from_here(true), sendbuf, sendcount, sendtype, recvbuf,
                                recvcount, recvtype, comm);
}

int SIBYL_Allgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                       void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                       MPI_Datatype recvtype, MPI_Comm comm) {
  return sibyl::serve_allgatherv(sibyl::c_api_from_here(true), sendbuf, sendcount, sendtype,
                                 recvbuf, recvcounts, displs, recvtype, comm);
}

int SIBYL_Alltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                     MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  return sibyl::serve_alltoall(sibyl::c_api_from_here(true), sendbuf, sendcount, sendtype, recvbuf,
                               recvcount, recvtype, comm);
}

int SIBYL_Alltoallv_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                      MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[],
                      const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm) {
  return sibyl::serve_alltoallv(sibyl::c_api_from_here(true), sendbuf, sendcounts, sdispls,
                                sendtype, recvbuf, recvcounts, rdispls, recvtype, comm);
}
#endif

}  // extern "C"
