// The operations that the benchmark measures: the collectives that Sibyl serves, and what can stand
// in for one of them, by other collectives of the MPI library (compositions.hpp), timed as one
// operation, since a performance guideline sets it against the one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "sibyl/schedule.hpp"

namespace sibyl::bench {

enum class Operation : std::uint8_t {
  exscan,
  scan,
  gather,
  scatter,
  reduce,
  gatherv,
  scatterv,
  allreduce,
  bcast,
  reduce_scatter,
  reduce_scatter_block,
  allgather,
  allgatherv,
  alltoall,
  alltoallv,
  barrier,
  padded_gather,   // an allreduce of one number, the largest block, and a gather of such blocks
  padded_scatter,  // a broadcast of that number, which the root knows, and a scatter
  padded_alltoall,
  gather_bcast,  // X_Y: X, then Y
  gatherv_bcast,
  scatter_allgather,
  reduce_bcast,
  reduce_scatter_block_allgather,
  reduce_scatter_allgatherv,
  reduce_scatter_block_gather,
  reduce_scatter_gatherv,
  reduce_and_scatter,
  reduce_and_scatterv,
  allgather_by_allreduce,  // X_by_Y: Y does more than X has to
  bcast_by_allgatherv,
  reduce_scatter_block_by_allreduce,
};

struct OperationTraits {
  Operation operation;
  std::string_view name;
  // Whose data it has, and whose result it must give.
  Collective gives;
  // Of calls of the MPI library's, in place of that collective.
  bool composed = false;
  // Of the vector, as many elements as the ranks divide: what is missing is padded.
  bool whole_blocks = false;
};

std::span<const OperationTraits> operations();
const OperationTraits& traits(Operation operation);
// False when there is no operation of that name.
bool operation_from_name(std::string_view name, Operation& operation);

inline std::string_view name_of(Operation operation) { return traits(operation).name; }
inline Collective gives(Operation operation) { return traits(operation).gives; }
// What Sibyl serves it as, by the algorithms of its table; nothing: it serves no compositions.
inline std::optional<Collective> served(Operation operation) {
  if (traits(operation).composed) return std::nullopt;
  return gives(operation);
}

// What tells operations apart, by what they give, as sibyl/schedule.hpp has it of collectives.
inline bool gathers(Operation operation) { return sibyl::gathers(gives(operation)); }
inline bool scatters(Operation operation) { return sibyl::scatters(gives(operation)); }
// Every rank receives all blocks.
inline bool gathers_everywhere(Operation operation) {
  return sibyl::gathers_everywhere(gives(operation));
}
// Every rank has a block for every rank.
inline bool exchanges(Operation operation) { return exchanges_all(gives(operation)); }
// Every rank receives its block of the sum.
inline bool scatters_sums(Operation operation) { return sibyl::scatters_sums(gives(operation)); }
// Has an operator.
inline bool combines(Operation operation) { return sibyl::combines(gives(operation)); }
inline bool scans(Operation operation) {
  return operation == Operation::exscan || operation == Operation::scan;
}
// Takes a count per rank.
bool is_irregular(Operation operation);

}  // namespace sibyl::bench
