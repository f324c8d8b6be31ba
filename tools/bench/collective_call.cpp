// One case for each collective; see collective_call.hpp.
#include "bench/collective_call.hpp"

#include "bench/compositions.hpp"
#include "bench/preload.hpp"
#include "sibyl/sibyl.h"

namespace sibyl::bench {
namespace {

// Of the same arguments: the MPI library's function, Sibyl's, or the preload's of this name.
template <class Function>
Function* by_way(Way way, Function* native, Function* sibyl, const char* name) {
  if (way == Way::native) return native;
  void* const entry = way == Way::program ? preload_entry(name) : nullptr;
  return entry == nullptr ? sibyl : reinterpret_cast<Function*>(entry);
}

}  // namespace

#define FUNCTION(name) by_way(way, &PMPI_##name, &SIBYL_##name, "MPI_" #name)

std::function<int()> collective_call(Data& data, MPI_Comm comm, Way way) {
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
      const auto function = (inclusive ? FUNCTION(Scan) : FUNCTION(Exscan));
      return [=] { return function(send, receive, count, type, op, comm); };
    }
    case Operation::gather:
    case Operation::scatter: {
      const bool gather = data.problem.operation == Operation::gather;
      const auto function = (gather ? FUNCTION(Gather) : FUNCTION(Scatter));
      return [=] { return function(send, count, type, receive, count, type, root, comm); };
    }
    case Operation::reduce: {
      const auto function = FUNCTION(Reduce);
      return [=] { return function(send, receive, count, type, op, root, comm); };
    }
    case Operation::gatherv: {
      const auto function = FUNCTION(Gatherv);
      return [=] { return function(send, count, type, receive, counts, places, type, root, comm); };
    }
    case Operation::scatterv: {
      const auto function = FUNCTION(Scatterv);
      return [=] { return function(send, counts, places, type, receive, count, type, root, comm); };
    }
    case Operation::allreduce: {
      const auto function = FUNCTION(Allreduce);
      return [=] { return function(send, receive, count, type, op, comm); };
    }
    case Operation::bcast: {
      const auto function = FUNCTION(Bcast);
      // The root's data are not copied: its buffer is the one that it fills.
      void* buffer = data.is_root() ? data.send.data() : receive;
      return [=] { return function(buffer, count, type, root, comm); };
    }
    case Operation::reduce_scatter: {
      const auto function = FUNCTION(Reduce_scatter);
      return [=] { return function(send, receive, counts, type, op, comm); };
    }
    case Operation::reduce_scatter_block: {
      const auto function = FUNCTION(Reduce_scatter_block);
      return [=] { return function(send, receive, count, type, op, comm); };
    }
    case Operation::allgather:
    case Operation::alltoall: {
      const bool gathers = data.problem.operation == Operation::allgather;
      const auto function = (gathers ? FUNCTION(Allgather) : FUNCTION(Alltoall));
      return [=] { return function(send, count, type, receive, count, type, comm); };
    }
    case Operation::allgatherv: {
      const auto function = FUNCTION(Allgatherv);
      return [=] { return function(send, count, type, receive, counts, places, type, comm); };
    }
    case Operation::alltoallv: {
      const auto function = FUNCTION(Alltoallv);
      return [=] {
        return function(send, counts, places, type, receive, counts_in, places_in, type, comm);
      };
    }
    case Operation::barrier: {
      const auto function = FUNCTION(Barrier);
      return [=] { return function(comm); };
    }
    default:
      return composition(data, comm);
  }
}

#undef FUNCTION

}  // namespace sibyl::bench
