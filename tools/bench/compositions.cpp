// One function for each composition; see compositions.hpp.
//
// A call that fails ends the composition at its rank: the benchmark reports a wrong result, or the
// MPI library has ended the program.
#include "bench/compositions.hpp"

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "bench/block_counts.hpp"

namespace sibyl::bench {
namespace {

using Call = std::function<int()>;

// What most of them need of a cell.
struct Arguments {
  char* send;
  char* receive;
  int count;  // of this rank
  int rank;
  int ranks;
  int root;
  std::size_t element;  // bytes
  MPI_Datatype type;
  MPI_Op op;
  MPI_Comm comm;

  Arguments(Data& data, MPI_Comm of)
      : send(data.send.data()),
        receive(data.receive.data()),
        count(data.count),
        rank(data.rank),
        ranks(data.ranks),
        root(data.problem.root),
        element(data.op.element_bytes()),
        type(data.op.type()),
        op(data.op.op()),
        comm(of) {}

  bool is_root() const { return rank == root; }
  std::size_t bytes(int elements) const { return static_cast<std::size_t>(elements) * element; }
};

// A vector cut into a part for each rank, which differ by one element at most.
Blocks parts_of(const Arguments& of) {
  return Blocks(block_counts(CountShape::same, of.count, of.ranks, 0));
}

char* scratch_for(Data& data, int elements) {
  data.scratch.assign(static_cast<std::size_t>(elements) * data.op.element_bytes(), '\0');
  return data.scratch.data();
}

// Ranks hear how large the largest block is, then blocks of that size travel.
Call padded_gather(Data& data, const Arguments& a) {
  const int own = data.problem.unpadded[static_cast<std::size_t>(a.rank)];
  return [a, own] {
    int largest = 0;
    const int error = PMPI_Allreduce(&own, &largest, 1, MPI_INT, MPI_MAX, a.comm);
    if (error != MPI_SUCCESS) return error;
    return PMPI_Gather(a.send, largest, a.type, a.receive, largest, a.type, a.root, a.comm);
  };
}

// The root has the counts at hand; the others hear of the largest.
Call padded_scatter(const Arguments& a) {
  const int known = a.is_root() ? a.count : 0;
  return [a, known] {
    int largest = known;
    const int error = PMPI_Bcast(&largest, 1, MPI_INT, a.root, a.comm);
    if (error != MPI_SUCCESS) return error;
    return PMPI_Scatter(a.send, largest, a.type, a.receive, largest, a.type, a.root, a.comm);
  };
}

// A rank knows what it sends and receives, and not the largest block of all pairs.
Call padded_alltoall(Data& data, const Arguments& a) {
  const int own = data.problem.unpadded[static_cast<std::size_t>(a.rank)];
  return [a, own] {
    int largest = 0;
    const int error = PMPI_Allreduce(&own, &largest, 1, MPI_INT, MPI_MAX, a.comm);
    if (error != MPI_SUCCESS) return error;
    return PMPI_Alltoall(a.send, largest, a.type, a.receive, largest, a.type, a.comm);
  };
}

Call gather_bcast(const Arguments& a) {
  return [a] {
    const int error =
        PMPI_Gather(a.send, a.count, a.type, a.receive, a.count, a.type, a.root, a.comm);
    if (error != MPI_SUCCESS) return error;
    return PMPI_Bcast(a.receive, a.count * a.ranks, a.type, a.root, a.comm);
  };
}

Call gatherv_bcast(Data& data, const Arguments& a) {
  const Blocks& blocks = data.received;
  return [a, &blocks] {
    const int error = PMPI_Gatherv(a.send, a.count, a.type, a.receive, blocks.counts.data(),
                                   blocks.displacements.data(), a.type, a.root, a.comm);
    if (error != MPI_SUCCESS) return error;
    return PMPI_Bcast(a.receive, blocks.total(), a.type, a.root, a.comm);
  };
}

// A vector of all blocks, in which the others' are zero.
Call allgather_by_allreduce(Data& data, const Arguments& a) {
  char* all = scratch_for(data, a.count * a.ranks);
  char* own = all + a.bytes(a.count) * static_cast<std::size_t>(a.rank);
  const auto words = static_cast<int>(data.scratch.size() / sizeof(std::uint32_t));
  return [a, all, own, words] {
    std::memcpy(own, a.send, a.bytes(a.count));
    return PMPI_Allreduce(all, a.receive, words, MPI_UINT32_T, MPI_BOR, a.comm);
  };
}

// As in the collective, the buffer of the root is the one that it sends.
Call scatter_allgather(const Arguments& a) {
  char* buffer = a.is_root() ? a.send : a.receive;
  const int block = a.count / a.ranks;
  void* own =
      a.is_root() ? MPI_IN_PLACE : buffer + a.bytes(block) * static_cast<std::size_t>(a.rank);
  return [a, buffer, block, own] {
    const int error = PMPI_Scatter(buffer, block, a.type, own, block, a.type, a.root, a.comm);
    if (error != MPI_SUCCESS) return error;
    return PMPI_Allgather(MPI_IN_PLACE, 0, a.type, buffer, block, a.type, a.comm);
  };
}

// All blocks but the root's are empty.
Call bcast_by_allgatherv(const Arguments& a) {
  char* buffer = a.is_root() ? a.send : a.receive;
  std::vector<int> counts(static_cast<std::size_t>(a.ranks), 0);
  counts[static_cast<std::size_t>(a.root)] = a.count;
  return [a, buffer, blocks = Blocks(std::move(counts))] {
    return PMPI_Allgatherv(MPI_IN_PLACE, 0, a.type, buffer, blocks.counts.data(),
                           blocks.displacements.data(), a.type, a.comm);
  };
}

Call reduce_bcast(const Arguments& a) {
  return [a] {
    const int error = PMPI_Reduce(a.send, a.receive, a.count, a.type, a.op, a.root, a.comm);
    if (error != MPI_SUCCESS) return error;
    return PMPI_Bcast(a.receive, a.count, a.type, a.root, a.comm);
  };
}

// A rank's part of the sum comes to its place in the result; then the parts are gathered, at the
// root or everywhere.
Call reduce_scatter_block_gather(const Arguments& a, bool everywhere) {
  const int block = a.count / a.ranks;
  char* part = a.receive + a.bytes(block) * static_cast<std::size_t>(a.rank);
  const void* own = everywhere || a.is_root() ? MPI_IN_PLACE : part;
  return [a, everywhere, block, part, own] {
    const int error = PMPI_Reduce_scatter_block(a.send, part, block, a.type, a.op, a.comm);
    if (error != MPI_SUCCESS) return error;
    if (everywhere) return PMPI_Allgather(own, block, a.type, a.receive, block, a.type, a.comm);
    return PMPI_Gather(own, block, a.type, a.receive, block, a.type, a.root, a.comm);
  };
}

Call reduce_scatter_gatherv(const Arguments& a, bool everywhere) {
  const Blocks parts = parts_of(a);
  const auto at = static_cast<std::size_t>(a.rank);
  char* part = a.receive + a.bytes(parts.displacements[at]);
  const void* own = everywhere || a.is_root() ? MPI_IN_PLACE : part;
  return [a, everywhere, parts, part, own, count = parts.counts[at]] {
    const int* counts = parts.counts.data();
    const int* places = parts.displacements.data();
    const int error = PMPI_Reduce_scatter(a.send, part, counts, a.type, a.op, a.comm);
    if (error != MPI_SUCCESS) return error;
    if (everywhere) {
      return PMPI_Allgatherv(own, count, a.type, a.receive, counts, places, a.type, a.comm);
    }
    return PMPI_Gatherv(own, count, a.type, a.receive, counts, places, a.type, a.root, a.comm);
  };
}

Call reduce_and_scatter(Data& data, const Arguments& a) {
  const int all = data.sent.total();
  char* sum = scratch_for(data, a.is_root() ? all : 0);
  return [a, all, sum] {
    const int error = PMPI_Reduce(a.send, sum, all, a.type, a.op, a.root, a.comm);
    if (error != MPI_SUCCESS) return error;
    return PMPI_Scatter(sum, a.count, a.type, a.receive, a.count, a.type, a.root, a.comm);
  };
}

Call reduce_and_scatterv(Data& data, const Arguments& a) {
  const Blocks& blocks = data.sent;
  char* sum = scratch_for(data, a.is_root() ? blocks.total() : 0);
  return [a, &blocks, sum] {
    const int error = PMPI_Reduce(a.send, sum, blocks.total(), a.type, a.op, a.root, a.comm);
    if (error != MPI_SUCCESS) return error;
    return PMPI_Scatterv(sum, blocks.counts.data(), blocks.displacements.data(), a.type, a.receive,
                         a.count, a.type, a.root, a.comm);
  };
}

// The sum of all, of which each rank takes its block.
Call reduce_scatter_block_by_allreduce(Data& data, const Arguments& a) {
  const int all = data.sent.total();
  char* sum = scratch_for(data, all);
  const char* own = sum + a.bytes(data.sent.displacements[static_cast<std::size_t>(a.rank)]);
  return [a, all, sum, own] {
    const int error = PMPI_Allreduce(a.send, sum, all, a.type, a.op, a.comm);
    if (error == MPI_SUCCESS) std::memcpy(a.receive, own, a.bytes(a.count));
    return error;
  };
}

}  // namespace

std::function<int()> composition(Data& data, MPI_Comm comm) {
  const Arguments arguments(data, comm);
  switch (data.problem.operation) {
    case Operation::padded_gather:
      return padded_gather(data, arguments);
    case Operation::padded_scatter:
      return padded_scatter(arguments);
    case Operation::padded_alltoall:
      return padded_alltoall(data, arguments);
    case Operation::gather_bcast:
      return gather_bcast(arguments);
    case Operation::gatherv_bcast:
      return gatherv_bcast(data, arguments);
    case Operation::scatter_allgather:
      return scatter_allgather(arguments);
    case Operation::reduce_bcast:
      return reduce_bcast(arguments);
    case Operation::reduce_scatter_block_allgather:
    case Operation::reduce_scatter_block_gather:
      return reduce_scatter_block_gather(arguments,
                                         gives(data.problem.operation) == Collective::allreduce);
    case Operation::reduce_scatter_allgatherv:
    case Operation::reduce_scatter_gatherv:
      return reduce_scatter_gatherv(arguments,
                                    gives(data.problem.operation) == Collective::allreduce);
    case Operation::reduce_and_scatter:
      return reduce_and_scatter(data, arguments);
    case Operation::reduce_and_scatterv:
      return reduce_and_scatterv(data, arguments);
    case Operation::allgather_by_allreduce:
      return allgather_by_allreduce(data, arguments);
    case Operation::bcast_by_allgatherv:
      return bcast_by_allgatherv(arguments);
    case Operation::reduce_scatter_block_by_allreduce:
      return reduce_scatter_block_by_allreduce(data, arguments);
    default:
      return {};
  }
}

}  // namespace sibyl::bench
