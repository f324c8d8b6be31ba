// The collectives that the benchmark measures: those that Sibyl serves, those that it is to be
// compared with before it does, and those that a performance guideline sets them against, among
// them two compositions of calls that are timed as one operation.
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
  allgather,
  bcast,
  allreduce,
  padded_gather,   // an allreduce of one number, the largest block, and a gather of such blocks
  padded_scatter,  // a broadcast of that number, which the root knows, and a scatter
};

struct OperationTraits {
  Operation operation;
  std::string_view name;
  bool combines;   // has an operator
  bool rooted;     // has a root
  bool irregular;  // takes a count per rank
  // What Sibyl serves it as; its algorithms are the rows of the table. Nothing: the MPI library's
  // own only. An operation that Sibyl learns to serve gets its collective here, and its function
  // in contenders.cpp.
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
inline bool scans(Operation operation) {
  return operation == Operation::exscan || operation == Operation::scan;
}

}  // namespace sibyl::bench
