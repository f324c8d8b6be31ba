// The persistent part of the C API: requests are handles of PersistentRequest.
#include <memory>

#include "collectives/persistent/init.hpp"
#include "collectives/persistent/request.hpp"
#include "sibyl/sibyl.h"

namespace {

using sibyl::Collective;
using sibyl::PersistentRequest;

PersistentRequest* behind(const SIBYL_Request* request) {
  return request == nullptr ? nullptr : reinterpret_cast<PersistentRequest*>(*request);
}

int no_request() { return sibyl::raise_nowhere(MPI_ERR_REQUEST); }

// Hands the request to the program, or raises why there is none.
class Handle {
 public:
  Handle(SIBYL_Request* request, MPI_Comm comm) : request_(request), comm_(comm) {
    *request_ = SIBYL_REQUEST_NULL;
  }
  PersistentRequest** made() { return &made_; }
  int give(int error) {
    if (error == MPI_SUCCESS) {
      *request_ = reinterpret_cast<SIBYL_Request>(made_);
      return MPI_SUCCESS;
    }
    if (comm_ == MPI_COMM_NULL) return sibyl::raise_nowhere(error);
    return error == MPI_ERR_COMM ? error : sibyl::raise(comm_, error);  // MPI has raised that one
  }

 private:
  SIBYL_Request* request_;
  MPI_Comm comm_;
  PersistentRequest* made_ = nullptr;
};

}  // namespace

extern "C" {

int SIBYL_Gather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                      int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                      SIBYL_Request* request) {
  if (request == nullptr) return no_request();
  Handle handle(request, comm);
  return handle.give(sibyl::init_blocks(
      sibyl::c_api, Collective::gather,
      {{recvbuf, recvcount, recvtype}, {const_cast<void*>(sendbuf), sendcount, sendtype}, root},
      comm, info, handle.made()));
}

int SIBYL_Scatter_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                       int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                       SIBYL_Request* request) {
  if (request == nullptr) return no_request();
  Handle handle(request, comm);
  return handle.give(sibyl::init_blocks(
      sibyl::c_api, Collective::scatter,
      {{const_cast<void*>(sendbuf), sendcount, sendtype}, {recvbuf, recvcount, recvtype}, root},
      comm, info, handle.made()));
}

int SIBYL_Gatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                       const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                       MPI_Comm comm, MPI_Info info, SIBYL_Request* request) {
  if (request == nullptr) return no_request();
  Handle handle(request, comm);
  return handle.give(sibyl::init_irregular(
      sibyl::c_api, Collective::gatherv, {recvbuf, recvcounts, displs, recvtype},
      {const_cast<void*>(sendbuf), sendcount, sendtype}, root, comm, info, handle.made()));
}

int SIBYL_Scatterv_init(const void* sendbuf, const int sendcounts[], const int displs[],
                        MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype,
                        int root, MPI_Comm comm, MPI_Info info, SIBYL_Request* request) {
  if (request == nullptr) return no_request();
  Handle handle(request, comm);
  return handle.give(
      sibyl::init_irregular(sibyl::c_api, Collective::scatterv,
                            {const_cast<void*>(sendbuf), sendcounts, displs, sendtype},
                            {recvbuf, recvcount, recvtype}, root, comm, info, handle.made()));
}

int SIBYL_Reduce_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                      MPI_Op op, int root, MPI_Comm comm, MPI_Info info, SIBYL_Request* request) {
  if (request == nullptr) return no_request();
  Handle handle(request, comm);
  return handle.give(sibyl::init_reduce(sibyl::c_api, {sendbuf, recvbuf, count, datatype, op}, root,
                                        comm, info, handle.made()));
}

int SIBYL_Exscan_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                      MPI_Op op, MPI_Comm comm, MPI_Info info, SIBYL_Request* request) {
  if (request == nullptr) return no_request();
  Handle handle(request, comm);
  return handle.give(sibyl::init_exscan(sibyl::c_api, {sendbuf, recvbuf, count, datatype, op}, comm,
                                        info, handle.made()));
}

int SIBYL_Allreduce_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                         MPI_Op op, MPI_Comm comm, MPI_Info info, SIBYL_Request* request) {
  if (request == nullptr) return no_request();
  Handle handle(request, comm);
  return handle.give(sibyl::init_allreduce(sibyl::c_api, {sendbuf, recvbuf, count, datatype, op},
                                           comm, info, handle.made()));
}

int SIBYL_Bcast_init(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm,
                     MPI_Info info, SIBYL_Request* request) {
  if (request == nullptr) return no_request();
  Handle handle(request, comm);
  return handle.give(
      sibyl::init_bcast(sibyl::c_api, {buffer, count, datatype}, root, comm, info, handle.made()));
}

int SIBYL_Allgather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                         int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                         SIBYL_Request* request) {
  if (request == nullptr) return no_request();
  Handle handle(request, comm);
  return handle.give(sibyl::init_exchange(
      sibyl::c_api,
      {Collective::allgather, sibyl::equal_blocks(sendbuf, sendcount, sendtype),
       sibyl::equal_blocks(recvbuf, recvcount, recvtype)},
      comm, info, handle.made()));
}

int SIBYL_Allgatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                          const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                          MPI_Comm comm, MPI_Info info, SIBYL_Request* request) {
  if (request == nullptr) return no_request();
  Handle handle(request, comm);
  return handle.give(sibyl::init_exchange(
      sibyl::c_api,
      {Collective::allgatherv, sibyl::equal_blocks(sendbuf, sendcount, sendtype),
       sibyl::irregular_blocks(recvbuf, recvcounts, displs, recvtype)},
      comm, info, handle.made()));
}

int SIBYL_Alltoall_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                        int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                        SIBYL_Request* request) {
  if (request == nullptr) return no_request();
  Handle handle(request, comm);
  return handle.give(
      sibyl::init_exchange(sibyl::c_api,
                           {Collective::alltoall, sibyl::equal_blocks(sendbuf, sendcount, sendtype),
                            sibyl::equal_blocks(recvbuf, recvcount, recvtype)},
                           comm, info, handle.made()));
}

#if MPI_VERSION >= 4
int SIBYL_Gather_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                        void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                        MPI_Comm comm, MPI_Info info, SIBYL_Request* request) {
  if (request == nullptr) return no_request();
  Handle handle(request, comm);
  return handle.give(sibyl::init_blocks(
      sibyl::large_c_api, Collective::gather,
      {{recvbuf, recvcount, recvtype}, {const_cast<void*>(sendbuf), sendcount, sendtype}, root},
      comm, info, handle.made()));
}

int SIBYL_Scatter_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                         void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                         MPI_Comm comm, MPI_Info info, SIBYL_Request* request) {
  if (request == nullptr) return no_request();
  Handle handle(request, comm);
  return handle.give(sibyl::init_blocks(
      sibyl::large_c_api, Collective::scatter,
      {{const_cast<void*>(sendbuf), sendcount, sendtype}, {recvbuf, recvcount, recvtype}, root},
      comm, info, handle.made()));
}

int SIBYL_Gatherv_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                         void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                         MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                         SIBYL_Request* request) {
  if (request == nullptr) return no_request();
  Handle handle(request, comm);
  return handle.give(sibyl::init_irregular(
      sibyl::large_c_api, Collective::gatherv, {recvbuf, recvcounts, displs, recvtype},
      {const_cast<void*>(sendbuf), sendcount, sendtype}, root, comm, info, handle.made()));
}

int SIBYL_Scatterv_init_c(const void* sendbuf, const MPI_Count sendcounts[],
                          const MPI_Aint displs[], MPI_Datatype sendtype, void* recvbuf,
                          MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                          MPI_Info info, SIBYL_Request* request) {
  if (request == nullptr) return no_request();
  Handle handle(request, comm);
  return handle.give(
      sibyl::init_irregular(sibyl::large_c_api, Collective::scatterv,
                            {const_cast<void*>(sendbuf), sendcounts, displs, sendtype},
                            {recvbuf, recvcount, recvtype}, root, comm, info, handle.made()));
}

int SIBYL_Reduce_init_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                        MPI_Op op, int root, MPI_Comm comm, MPI_Info info, SIBYL_Request* request) {
  if (request == nullptr) return no_request();
  Handle handle(request, comm);
  return handle.give(sibyl::init_reduce(sibyl::large_c_api, {sendbuf, recvbuf, count, datatype, op},
                                        root, comm, info, handle.made()));
}

int SIBYL_Exscan_init_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                        MPI_Op op, MPI_Comm comm, MPI_Info info, SIBYL_Request* request) {
  if (request == nullptr) return no_request();
  Handle handle(request, comm);
  return handle.give(sibyl::init_exscan(sibyl::large_c_api, {sendbuf, recvbuf, count, datatype, op},
                                        comm, info, handle.made()));
}

int SIBYL_Allreduce_init_c(const void* sendbuf, void* recvbuf, MPI_Count count,
                           MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                           SIBYL_Request* request) {
  if (request == nullptr) return no_request();
  Handle handle(request, comm);
  return handle.give(sibyl::init_allreduce(
      sibyl::large_c_api, {sendbuf, recvbuf, count, datatype, op}, comm, info, handle.made()));
}

int SIBYL_Bcast_init_c(void* buffer, MPI_Count count, MPI_Datatype datatype, int root,
                       MPI_Comm comm, MPI_Info info, SIBYL_Request* request) {
  if (request == nullptr) return no_request();
  Handle handle(request, comm);
  return handle.give(sibyl::init_bcast(sibyl::large_c_api, {buffer, count, datatype}, root, comm,
                                       info, handle.made()));
}

int SIBYL_Allgather_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                           void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                           MPI_Info info, SIBYL_Request* request) {
  if (request == nullptr) return no_request();
  Handle handle(request, comm);
  return handle.give(sibyl::init_exchange(
      sibyl::large_c_api,
      {Collective::allgather, sibyl::equal_blocks(sendbuf, sendcount, sendtype),
       sibyl::equal_blocks(recvbuf, recvcount, recvtype)},
      comm, info, handle.made()));
}

int SIBYL_Allgatherv_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                            void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                            MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                            SIBYL_Request* request) {
  if (request == nullptr) return no_request();
  Handle handle(request, comm);
  return handle.give(sibyl::init_exchange(
      sibyl::large_c_api,
      {Collective::allgatherv, sibyl::equal_blocks(sendbuf, sendcount, sendtype),
       sibyl::irregular_blocks(recvbuf, recvcounts, displs, recvtype)},
      comm, info, handle.made()));
}

int SIBYL_Alltoall_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                          void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                          MPI_Info info, SIBYL_Request* request) {
  if (request == nullptr) return no_request();
  Handle handle(request, comm);
  return handle.give(
      sibyl::init_exchange(sibyl::large_c_api,
                           {Collective::alltoall, sibyl::equal_blocks(sendbuf, sendcount, sendtype),
                            sibyl::equal_blocks(recvbuf, recvcount, recvtype)},
                           comm, info, handle.made()));
}
#endif

int SIBYL_Start(SIBYL_Request* request) {
  PersistentRequest* found = behind(request);
  return found == nullptr ? no_request() : found->start();
}

int SIBYL_Edge(SIBYL_Request* request, double fraction) {
  PersistentRequest* found = behind(request);
  return found == nullptr ? no_request() : found->edge(fraction);
}

int SIBYL_Arrive(SIBYL_Request* request) {
  PersistentRequest* found = behind(request);
  return found == nullptr ? no_request() : found->arrive();
}

int SIBYL_Test(SIBYL_Request* request, int* flag) {
  PersistentRequest* found = behind(request);
  if (found != nullptr) return found->test(flag);
  *flag = 1;
  return MPI_SUCCESS;
}

int SIBYL_Wait(SIBYL_Request* request) {
  PersistentRequest* found = behind(request);
  return found == nullptr ? MPI_SUCCESS : found->wait();
}

int SIBYL_Request_free(SIBYL_Request* request) {
  PersistentRequest* found = behind(request);
  if (found == nullptr) return no_request();
  const int error = found->check_free();
  if (error != MPI_SUCCESS) return error;
  const std::unique_ptr<PersistentRequest> owned(found);
  *request = SIBYL_REQUEST_NULL;
  return MPI_SUCCESS;
}

}  // extern "C"
