// The table of measured collectives; see operation.hpp.
#include "bench/operation.hpp"

#include <array>

namespace sibyl::bench {
namespace {

constexpr std::array<OperationTraits, 18> table{{
    {Operation::exscan, "exscan", true, false, false, Collective::exscan},
    {Operation::scan, "scan", true, false, false, Collective::scan},
    {Operation::gather, "gather", false, true, false, Collective::gather},
    {Operation::scatter, "scatter", false, true, false, Collective::scatter},
    {Operation::reduce, "reduce", true, true, false, Collective::reduce},
    {Operation::gatherv, "gatherv", false, true, true, Collective::gatherv},
    {Operation::scatterv, "scatterv", false, true, true, Collective::scatterv},
    {Operation::allreduce, "allreduce", true, false, false, Collective::allreduce},
    {Operation::bcast, "bcast", false, true, false, Collective::bcast},
    {Operation::reduce_scatter, "reduce_scatter", true, false, true, Collective::reduce_scatter},
    {Operation::reduce_scatter_block, "reduce_scatter_block", true, false, false,
     Collective::reduce_scatter_block},
    {Operation::allgather, "allgather", false, false, false, Collective::allgather},
    {Operation::allgatherv, "allgatherv", false, false, true, Collective::allgatherv},
    {Operation::alltoall, "alltoall", false, false, false, Collective::alltoall},
    {Operation::alltoallv, "alltoallv", false, false, true, Collective::alltoallv},
    {Operation::barrier, "barrier", false, false, false, Collective::barrier},
    {Operation::padded_gather, "padded-gather", false, true, false, std::nullopt},
    {Operation::padded_scatter, "padded-scatter", false, true, false, std::nullopt},
}};

}  // namespace

std::span<const OperationTraits> operations() { return table; }

const OperationTraits& traits(Operation operation) {
  return table[static_cast<std::size_t>(operation)];
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
