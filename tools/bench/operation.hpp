// The collectives that the benchmark measures: those that Sibyl serves, and two compositions of
// calls that are timed as one operation, since a performance guideline sets them against one.
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
};

struct OperationTraits {
  Operation operation;
  std::string_view name;
  bool combines;   // has an operator
  bool rooted;     // has a root
  bool irregular;  // takes a count per rank
  // What Sibyl serves it as; its algorithms are the rows of the table. Nothing: a composition of
  // the MPI library's own. An operation that is added gets its call in collective_call.cpp.
  std::optional<Collective> served;
};

std::span<const OperationTraits> operations();
const OperationTraits& traits(Operation operation);
// False when there is no operation of that name.
bool operation_from_name(std::string_view name, Operation& operation);

inline std::string_view name_of(Operation operation) { return traits(operation).name; }
// Blocks travel to the root, or away from it.
inline bool gathers(Operation operation) {
  return operation == Operation::gather || operation == Operation::gatherv ||
         operation == Operation::padded_gather;
}
inline bool scatters(Operation operation) {
  return operation == Operation::scatter || operation == Operation::scatterv ||
         operation == Operation::padded_scatter;
}
// Of those that Sibyl serves, as sibyl/schedule.hpp tells collectives apart.
inline bool is_served_and(Operation operation, bool (*kind)(Collective)) {
  const std::optional<Collective> served = traits(operation).served;
  return served.has_value() && kind(*served);
}
// Every rank receives all blocks.
inline bool gathers_everywhere(Operation operation) {
  return is_served_and(operation, sibyl::gathers_everywhere);
}
// Every rank has a block for every rank.
inline bool exchanges(Operation operation) { return is_served_and(operation, exchanges_all); }
// Every rank receives its block of the sum.
inline bool scatters_sums(Operation operation) {
  return is_served_and(operation, sibyl::scatters_sums);
}
inline bool scans(Operation operation) {
  return operation == Operation::exscan || operation == Operation::scan;
}

}  // namespace sibyl::bench
