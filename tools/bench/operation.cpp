// The table of measured collectives; see operation.hpp.
#include "bench/operation.hpp"

#include <array>

namespace sibyl::bench {
namespace {

constexpr std::array<OperationTraits, 32> table{{
    {Operation::exscan, "exscan", Collective::exscan},
    {Operation::scan, "scan", Collective::scan},
    {Operation::gather, "gather", Collective::gather},
    {Operation::scatter, "scatter", Collective::scatter},
    {Operation::reduce, "reduce", Collective::reduce},
    {Operation::gatherv, "gatherv", Collective::gatherv},
    {Operation::scatterv, "scatterv", Collective::scatterv},
    {Operation::allreduce, "allreduce", Collective::allreduce},
    {Operation::bcast, "bcast", Collective::bcast},
    {Operation::reduce_scatter, "reduce_scatter", Collective::reduce_scatter},
    {Operation::reduce_scatter_block, "reduce_scatter_block", Collective::reduce_scatter_block},
    {Operation::allgather, "allgather", Collective::allgather},
    {Operation::allgatherv, "allgatherv", Collective::allgatherv},
    {Operation::alltoall, "alltoall", Collective::alltoall},
    {Operation::alltoallv, "alltoallv", Collective::alltoallv},
    {Operation::barrier, "barrier", Collective::barrier},
    {Operation::padded_gather, "padded-gather", Collective::gather, true},
    {Operation::padded_scatter, "padded-scatter", Collective::scatter, true},
    {Operation::padded_alltoall, "padded-alltoall", Collective::alltoall, true},
    {Operation::gather_bcast, "gather+bcast", Collective::allgather, true},
    {Operation::gatherv_bcast, "gatherv+bcast", Collective::allgatherv, true},
    {Operation::scatter_allgather, "scatter+allgather", Collective::bcast, true, true},
    {Operation::reduce_bcast, "reduce+bcast", Collective::allreduce, true},
    {Operation::reduce_scatter_block_allgather, "reduce_scatter_block+allgather",
     Collective::allreduce, true, true},
    {Operation::reduce_scatter_allgatherv, "reduce_scatter+allgatherv", Collective::allreduce,
     true},
    {Operation::reduce_scatter_block_gather, "reduce_scatter_block+gather", Collective::reduce,
     true, true},
    {Operation::reduce_scatter_gatherv, "reduce_scatter+gatherv", Collective::reduce, true},
    {Operation::reduce_and_scatter, "reduce+scatter", Collective::reduce_scatter_block, true},
    {Operation::reduce_and_scatterv, "reduce+scatterv", Collective::reduce_scatter, true},
    {Operation::allgather_by_allreduce, "allgather-by-allreduce", Collective::allgather, true},
    {Operation::bcast_by_allgatherv, "bcast-by-allgatherv", Collective::bcast, true},
    {Operation::reduce_scatter_block_by_allreduce, "reduce_scatter_block-by-allreduce",
     Collective::reduce_scatter_block, true},
}};

// traits() looks an operation up by its number.
static_assert([] {
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (static_cast<std::size_t>(table[i].operation) != i) return false;
  }
  return true;
}());

}  // namespace

std::span<const OperationTraits> operations() { return table; }

const OperationTraits& traits(Operation operation) {
  return table[static_cast<std::size_t>(operation)];
}

bool is_irregular(Operation operation) {
  switch (gives(operation)) {
    case Collective::gatherv:
    case Collective::scatterv:
    case Collective::reduce_scatter:
    case Collective::allgatherv:
    case Collective::alltoallv:
      return true;
    default:
      return false;
  }
}

bool operation_from_name(std::string_view name, Operation& operation) {
  for (const OperationTraits& row : table) {
    if (row.name != name) continue;
    operation = row.operation;
    return true;
  }
  return false;
}

}  // namespace sibyl::bench
