// One case for each collective; see collective_call.hpp.
#include "bench/collective_call.hpp"

#include "bench/compositions.hpp"
#include "sibyl/sibyl.h"

namespace sibyl::bench {
std::function<int()> collective_call(Data& data, MPI_Comm comm, bool sibyl) {
  const void* send = data.send.data();
  void* receive = data.receive.data();
  const int* counts = data.sent.counts.data();
  const int* places = data.sent.displacements.data();
  const int* counts_in = data.received.counts.data();
  const int* places_in = data.received.displacements.data();
  const int count = data.count;
  const int root = data.problem.root;
  MPI_Datatype type = data.op.type();
  MPI_Op op = data.op.op();
  switch (data.problem.operation) {
    case Operation::exscan:
    case Operation::scan: {
      const bool inclusive = data.problem.operation == Operation::scan;
      const auto function = sibyl ? (inclusive ? &SIBYL_Scan : &SIBYL_Exscan)
                                  : (inclusive ? &PMPI_Scan : &PMPI_Exscan);
      return [=] { return function(send, receive, count, type, op, comm); };
    }
    case Operation::gather:
    case Operation::scatter: {
      const bool gather = data.problem.operation == Operation::gather;
      const auto function = sibyl ? (gather ? &SIBYL_Gather : &SIBYL_Scatter)
                                  : (gather ? &PMPI_Gather : &PMPI_Scatter);
      return [=] { return function(send, count, type, receive, count, type, root, comm); };
    }
    case Operation::reduce: {
      const auto function = sibyl ? &SIBYL_Reduce : &PMPI_Reduce;
      return [=] { return function(send, receive, count, type, op, root, comm); };
    }
    case Operation::gatherv: {
      const auto function = sibyl ? &SIBYL_Gatherv : &PMPI_Gatherv;
      return [=] { return function(send, count, type, receive, counts, places, type, root, comm); };
    }
    case Operation::scatterv: {
      const auto function = sibyl ? &SIBYL_Scatterv : &PMPI_Scatterv;
      return [=] { return function(send, counts, places, type, receive, count, type, root, comm); };
    }
    case Operation::allreduce: {
      const auto function = sibyl ? &SIBYL_Allreduce : &PMPI_Allreduce;
      return [=] { return function(send, receive, count, type, op, comm); };
    }
    case Operation::bcast: {
      const auto function = sibyl ? &SIBYL_Bcast : &PMPI_Bcast;
      // The root's data are not copied: its buffer is the one that it fills.
      void* buffer = data.is_root() ? data.send.data() : receive;
      return [=] { return function(buffer, count, type, root, comm); };
    }
    case Operation::reduce_scatter: {
      const auto function = sibyl ? &SIBYL_Reduce_scatter : &PMPI_Reduce_scatter;
      return [=] { return function(send, receive, counts, type, op, comm); };
    }
    case Operation::reduce_scatter_block: {
      const auto function = sibyl ? &SIBYL_Reduce_scatter_block : &PMPI_Reduce_scatter_block;
      return [=] { return function(send, receive, count, type, op, comm); };
    }
    case Operation::allgather:
    case Operation::alltoall: {
      const bool gathers = data.problem.operation == Operation::allgather;
      const auto function = sibyl ? (gathers ? &SIBYL_Allgather : &SIBYL_Alltoall)
                                  : (gathers ? &PMPI_Allgather : &PMPI_Alltoall);
      return [=] { return function(send, count, type, receive, count, type, comm); };
    }
    case Operation::allgatherv: {
      const auto function = sibyl ? &SIBYL_Allgatherv : &PMPI_Allgatherv;
      return [=] { return function(send, count, type, receive, counts, places, type, comm); };
    }
    case Operation::alltoallv: {
      const auto function = sibyl ? &SIBYL_Alltoallv : &PMPI_Alltoallv;
      return [=] {
        return function(send, counts, places, type, receive, counts_in, places_in, type, comm);
      };
    }
    case Operation::barrier: {
      const auto function = sibyl ? &SIBYL_Barrier : &PMPI_Barrier;
      return [=] { return function(comm); };
    }
    default:
      return composition(data, comm);
  }
}

}  // namespace sibyl::bench
