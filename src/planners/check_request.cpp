// Whether an algorithm can plan what it is asked for: one line that says what is wrong and how to
// mend it. What only one algorithm minds stands beside that algorithm.
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "planners/nodes.hpp"
#include "sibyl/planners.hpp"

namespace sibyl {
namespace {

std::string full_name(const Algorithm& algorithm) {
  return std::string(name_of(algorithm.collective)) + " " + std::string(algorithm.name);
}

// Requires a valid number of ranks and a valid root.
std::string check_order(const PlanRequest& request) {
  const auto ranks = static_cast<std::size_t>(request.ranks);
  const std::string all = std::to_string(request.ranks);
  if (request.order.size() != ranks && request.order.size() + 1 != ranks) {
    return "the order has " + std::to_string(request.order.size()) +
           " entries; name all ranks 0 to " + std::to_string(request.ranks - 1) +
           " once, with or without root " + std::to_string(request.root);
  }
  std::vector<bool> named(ranks, false);
  for (const Rank rank : request.order) {
    if (rank < 0 || rank >= request.ranks) {
      return "the order names rank " + std::to_string(rank) + "; there are " + all +
             " ranks, 0 to " + std::to_string(request.ranks - 1);
    }
    if (named[static_cast<std::size_t>(rank)]) {
      return "the order names rank " + std::to_string(rank) + " twice; name every rank once";
    }
    named[static_cast<std::size_t>(rank)] = true;
  }
  for (Rank rank = 0; rank < request.ranks; ++rank) {
    if (rank != request.root && !named[static_cast<std::size_t>(rank)]) {
      return "the order leaves out rank " + std::to_string(rank) +
             "; only the root may be left out";
    }
  }
  return {};
}

// Requires a valid number of ranks.
std::string check_nodes(const Algorithm& algorithm, const PlanRequest& request) {
  if (request.lanes != 1 && !algorithm.lanes) {
    return full_name(algorithm) + " has one lane between nodes; leave lanes at 1";
  }
  if (request.lanes < 1 || request.lanes > static_cast<std::uint32_t>(request.ranks)) {
    return "there are " + std::to_string(request.lanes) + " lanes; ask for 1 to " +
           std::to_string(request.ranks) + ", one per rank of a node at most";
  }
  if (request.nodes.empty()) return {};
  if (!algorithm.any_placement && !algorithm.uneven_nodes) {
    return full_name(algorithm) + " takes nodes of consecutive ranks only; leave out nodes";
  }
  if (request.ranks_per_node != 1) return "ranks per node and nodes are both given; leave out one";
  if (request.nodes.size() != static_cast<std::size_t>(request.ranks)) {
    return "there are nodes for " + std::to_string(request.nodes.size()) + " of " +
           std::to_string(request.ranks) + " ranks; name the node of each";
  }
  for (const Rank node : request.nodes) {
    if (node < 0 || node >= request.ranks) {
      return "a rank is on node " + std::to_string(node) + "; number the nodes 0 to " +
             std::to_string(request.ranks - 1);
    }
  }
  if (!algorithm.any_placement && largest_run(request.nodes) == 0) {
    return full_name(algorithm) +
           " takes nodes of consecutive ranks only, numbered from 0 in rank order";
  }
  return {};
}

}  // namespace

std::string check_request(const Algorithm& algorithm, const PlanRequest& request) {
  if (request.ranks < 1) {
    return "there are " + std::to_string(request.ranks) + " ranks; ask for at least 1";
  }
  if (!has_root(algorithm.collective) && request.root != 0) {
    return std::string(name_of(algorithm.collective)) + " has no root; leave it at 0";
  }
  if (request.root < 0 || request.root >= request.ranks) {
    return "the root is " + std::to_string(request.root) + "; choose one of the ranks 0 to " +
           std::to_string(request.ranks - 1);
  }
  if (!request.order.empty()) {
    if (algorithm.order == OrderUse::none) {
      return full_name(algorithm) + " takes no order; leave it out";
    }
    if (std::string wrong = check_order(request); !wrong.empty()) return wrong;
  }
  if (request.background && !algorithm.background) {
    return full_name(algorithm) + " has no steps for the background; ask without it";
  }
  if (request.in_place && !algorithm.in_place) {
    const bool never =
        algorithm.collective == Collective::bcast || algorithm.collective == Collective::barrier;
    return never ? full_name(algorithm) + " has no two buffers; ask without in-place"
                 : full_name(algorithm) + " cannot work in place; give it a send buffer";
  }
  if (request.ranks_per_node < 1) {
    return "there are " + std::to_string(request.ranks_per_node) +
           " ranks per node; ask for at least 1";
  }
  if (request.ranks_per_node != 1 && !algorithm.nodes) {
    return full_name(algorithm) + " does not plan for nodes; leave ranks per node at 1";
  }
  if (std::string wrong = check_nodes(algorithm, request); !wrong.empty()) return wrong;
  if (request.operator_rounds != 0 && !algorithm.operator_rounds) {
    return full_name(algorithm) + " has no operator rounds; leave them at 0";
  }
  if (!request.sizes.empty()) {
    if (!algorithm.sizes) return full_name(algorithm) + " has blocks of one size; leave sizes out";
    // In an all-to-all every rank has a row of its own.
    const bool rows = exchanges_all(algorithm.collective);
    const auto ranks = static_cast<std::size_t>(request.ranks);
    if (request.sizes.size() != (rows ? ranks * ranks : ranks)) {
      return "there are " + std::to_string(request.sizes.size()) + " sizes for " +
             std::to_string(request.ranks) + " ranks; give one per rank" +
             (rows ? " and rank that it sends to" : "");
    }
    std::uint64_t sum = 0;
    for (const std::uint64_t size : request.sizes) {
      if (size > std::numeric_limits<std::uint64_t>::max() - sum) {
        return "the sizes of the blocks add up to more than 2^64 - 1; make them smaller";
      }
      sum += size;
    }
  }
  if (!algorithm.arrivals && !request.arrivals.empty()) {
    return full_name(algorithm) + " does not plan for arrival times; leave out arrivals";
  }
  if (!algorithm.segments && request.segments != 1) {
    return full_name(algorithm) + " does not cut the vector; leave out segments";
  }
  return algorithm.check == nullptr ? std::string() : algorithm.check(request);
}

}  // namespace sibyl
