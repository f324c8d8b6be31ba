// The parts of scans on two levels; see node_prefixes.hpp.
#include "planners/node_prefixes.hpp"

#include <algorithm>
#include <bit>

#include "planners/ceil_log2.hpp"
#include "planners/exscan/doubling_family.hpp"

namespace sibyl {

NodePlace::NodePlace(const PlanRequest& request, Rank rank)
    : order_(request),
      node_(order_.get().node_of(rank)),
      first_(order_.get().begin(node_)),
      size_(order_.get().begin(node_ + 1) - first_),
      index_(rank - first_) {}

bool NodePlace::passes_on() const {
  return relative() + (1U << std::bit_width(relative())) < static_cast<std::uint32_t>(size_);
}

std::vector<Rank> NodePlace::leaders() const {
  std::vector<Rank> found;
  found.reserve(static_cast<std::size_t>(nodes()));
  for (Rank node = 0; node < nodes(); ++node) found.push_back(order_.get().begin(node + 1) - 1);
  return found;
}

void append_prefix_of_node(ProgramBuilder& build, const NodePlace& place, std::uint32_t first_round,
                           const Slice& prefix, const Slice& below, bool is_empty) {
  const Rank last = place.first() + place.size() - 1;
  const std::uint32_t relative = place.relative();
  const auto size = static_cast<std::uint32_t>(place.size());
  auto step = static_cast<std::uint32_t>(std::bit_width(relative));
  if (relative > 0) {
    const auto peer = static_cast<Rank>(last - static_cast<Rank>(relative - (1U << (step - 1))));
    const std::uint32_t round = first_round + step - 1;
    if (is_empty) {  // the first rank of a node, which has nobody to send to
      build.receive(peer, prefix, round);
      return;
    }
    if (!place.passes_on()) {
      build.receive_combine(peer, prefix, round);
      return;
    }
    build.receive(peer, below, round);
  }
  for (; relative + (1U << step) < size; ++step) {
    build.send(static_cast<Rank>(last - static_cast<Rank>(relative + (1U << step))), below,
               first_round + step);
  }
  build.combine(prefix, below, first_round + std::max(step, 1U) - 1);
}

std::uint32_t operator_rounds_of_nodes(Rank nodes) {
  return exscan::operator_rounds_of(exscan::Member::one_two_three_doubling, nodes);
}

std::uint32_t scan_rounds_of_nodes(Rank nodes) {
  return exscan::rounds(nodes, operator_rounds_of_nodes(nodes));
}

bool append_scan_of_nodes(ProgramBuilder& build, const NodePlace& place, std::uint32_t first_round,
                          const Slice& value, const Slice& below, const Slice& joined) {
  const std::vector<Rank> leaders = place.leaders();
  exscan::DoublingGroup between;
  between.size = place.nodes();
  between.index = place.node();
  between.members = leaders;
  between.operator_rounds = operator_rounds_of_nodes(place.nodes());
  between.first_round = first_round;
  between.value = value;
  between.prefix = below;
  between.joined = joined;
  return append_doubling(build, between);
}

std::uint32_t broadcast_rounds(const PlanRequest& request) {
  const RequestOrder order(request);
  const NodeOrder nodes = order.get();
  Rank widest = 1;
  for (Rank node = 1; node < nodes.nodes(); ++node) {
    widest = std::max(widest, nodes.begin(node + 1) - nodes.begin(node));
  }
  return ceil_log2(static_cast<std::uint64_t>(widest));
}

}  // namespace sibyl
