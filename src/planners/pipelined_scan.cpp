// The programs of pipelined_scan.hpp.
//
// Data of an exclusive scan: a rank adds L, the sum of its left subtree, to a copy of its own value
// in scratch; L, or the prefix that comes from above, arrives in the receive buffer. Rank 0 never
// names its receive buffer, except as in-place input. An inclusive scan adds up in the receive
// buffer. In both a right subtree's sum and a prefix that has to be passed on lie in scratch, each
// in a copy of the vector of its own; what of a copy no rank uses is never touched.
#include "planners/pipelined_scan.hpp"

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "planners/headers.hpp"
#include "planners/scan_tree.hpp"

namespace sibyl {
namespace {

// Sums that come in one after the other and are combined at once.
constexpr std::uint32_t scan_staging = 4;

// What a rank does with one segment, in this order where rounds are the same.
enum class Part : std::uint8_t {
  begin,
  left_sum,
  right_sum,
  up,
  prefix,
  left_prefix,
  right_prefix
};

struct Event {
  std::uint32_t round;
  Unit segment;
  Part part;
  friend auto operator<=>(const Event&, const Event&) = default;
};

class ScanProgram {
 public:
  ScanProgram(Collective collective, const PlanRequest& request, Program& program)
      : exclusive_(collective == Collective::exscan),
        in_place_(request.in_place),
        segments_(request.segments),
        program_(program),
        build_(program) {
    program.clear();
    program.in_place = in_place_;
  }

  // Segments go round the trees.
  void write(std::span<const ScanTreeNode> trees) {
    std::vector<Event> events;
    for (Unit segment = 0; segment < segments_; ++segment) {
      const ScanTreeNode& node = trees[segment % trees.size()];
      const bool alone = node.parent == no_rank && !gives(node) && node.left == no_rank;
      const auto add = [&](bool happens, std::uint32_t round, Part part) {
        if (happens) events.push_back({round + (alone ? 0 : segment), segment, part});
      };
      add(true, first_round(node), Part::begin);
      add(node.left != no_rank, node.left_up, Part::left_sum);
      add(node.right_sends, node.right_up, Part::right_sum);
      add(node.sends_up, node.up, Part::up);
      add(node.prefix_comes, node.down, Part::prefix);
      add(node.prefix_comes && node.left != no_rank, node.left_down, Part::left_prefix);
      add(node.right != no_rank, node.right_down, Part::right_prefix);
    }
    std::ranges::sort(events);
    for (const Event& event : events) {
      const ScanTreeNode& node = trees[event.segment % trees.size()];
      exclusive_ ? exclusive(event, node) : inclusive(event, node);
    }
  }

 private:
  // Copies of the vector in scratch.
  enum Copy : std::uint8_t { own_sum, right_sum, prefix };

  static std::uint32_t first_round(const ScanTreeNode& node) {
    std::uint32_t first = node.sends_up ? node.up : node.down;
    if (node.left != no_rank) first = std::min(first, node.left_up);
    if (node.right_sends) first = std::min(first, node.right_up);
    if (node.right != no_rank) first = std::min(first, node.right_down);
    return first;
  }

  static Slice result(Unit segment) { return ProgramBuilder::slice(Buffer::receive, segment); }
  Slice value(Unit segment) const {
    return ProgramBuilder::slice(in_place_ ? Buffer::receive : Buffer::send, segment);
  }
  Slice scratch(Copy copy, Unit segment) {
    program_.scratch_units = std::max(program_.scratch_units, (copy + 1U) * segments_);
    return ProgramBuilder::slice(Buffer::scratch, copy * segments_ + segment);
  }

  // Whether this rank's own value goes anywhere.
  static bool gives(const ScanTreeNode& node) { return node.sends_up || node.right != no_rank; }
  // Whether it has a place in scratch, to be added to or since in-place input is overwritten.
  bool keeps_copy(const ScanTreeNode& node) const {
    return gives(node) &&
           (node.left != no_rank || (node.prefix_comes && (in_place_ || node.right != no_rank)));
  }
  // The sum of the left subtree and this rank, as far as it is there.
  Slice sum(const ScanTreeNode& node, Unit segment) {
    return keeps_copy(node) ? scratch(own_sum, segment) : value(segment);
  }

  void exclusive(const Event& event, const ScanTreeNode& node) {
    const auto [round, segment, part] = event;
    const bool passes_prefix = node.prefix_comes && node.left != no_rank;
    const Slice from_above = passes_prefix ? scratch(prefix, segment) : result(segment);
    switch (part) {
      case Part::begin:
        if (keeps_copy(node)) build_.copy(scratch(own_sum, segment), value(segment), round);
        break;
      case Part::left_sum:
        build_.receive(node.left, result(segment), round);
        if (gives(node)) build_.combine(sum(node, segment), result(segment), round);
        break;
      case Part::right_sum:
        build_.receive(node.right, scratch(right_sum, segment), round);
        build_.combine(scratch(right_sum, segment), sum(node, segment), round);
        break;
      case Part::up:
        build_.send(node.parent,
                    node.right_sends ? scratch(right_sum, segment) : sum(node, segment), round);
        break;
      case Part::prefix:
        build_.receive(node.parent, from_above, round);
        if (node.right != no_rank) build_.combine(sum(node, segment), from_above, round);
        if (passes_prefix) build_.combine(result(segment), from_above, round);
        break;
      case Part::left_prefix:
        build_.send(node.left, from_above, round);
        break;
      case Part::right_prefix:
        build_.send(node.right, sum(node, segment), round);
        break;
    }
  }

  void inclusive(const Event& event, const ScanTreeNode& node) {
    const auto [round, segment, part] = event;
    const bool has_left = node.left != no_rank;
    switch (part) {
      case Part::begin:
        if (!in_place_) build_.copy(result(segment), value(segment), round);
        break;
      case Part::left_sum:
        build_.receive_combine(node.left, result(segment), round);
        break;
      case Part::right_sum:
        build_.receive(node.right, scratch(right_sum, segment), round);
        build_.combine(scratch(right_sum, segment), result(segment), round);
        break;
      case Part::up:
        if (node.right_sends) {
          build_.send(node.parent, scratch(right_sum, segment), round);
        } else {  // straight from the caller, so that what is added next need not wait for it
          build_.send(node.parent, has_left ? result(segment) : value(segment), round);
        }
        break;
      case Part::prefix:
        if (has_left) {
          build_.receive(node.parent, scratch(prefix, segment), round);
          build_.combine(result(segment), scratch(prefix, segment), round);
        } else {
          build_.receive_combine(node.parent, result(segment), round);
        }
        break;
      case Part::left_prefix:
        build_.send(node.left, scratch(prefix, segment), round);
        break;
      case Part::right_prefix:
        build_.send(node.right, result(segment), round);
        break;
    }
  }

  bool exclusive_;
  bool in_place_;
  Unit segments_;
  Program& program_;
  ProgramBuilder build_;
};

}  // namespace

std::string check_pipelined(const PlanRequest& request) {
  if (request.segments < 1) return "there are 0 segments; cut the vector into at least 1";
  constexpr std::uint32_t most = 1U << 20;  // a program has some ten steps a segment
  if (request.segments > most) {
    return std::to_string(request.segments) + " segments are more than a scan can use; ask for " +
           std::to_string(most) + " at most";
  }
  return {};
}

template <Collective collective, Pipeline pipeline>
PlanHeader describe_pipelined(const PlanRequest& request) {
  const bool chain = pipeline == Pipeline::chain;
  // The last segment of each tree is the last or the one before.
  const std::uint32_t segments = request.segments;
  const auto rounds = [&](ScanTree tree, std::uint32_t last_segment) {
    const std::uint32_t one = scan_tree_rounds(tree, request.ranks);
    return one == 0 ? 0 : one + last_segment;
  };
  const bool odd_ends = segments % 2 == 0;
  const std::uint32_t all =
      chain ? rounds(ScanTree::chain, segments - 1)
            : std::max(rounds(ScanTree::even, segments - (odd_ends ? 2 : 1)),
                       segments > 1 ? rounds(ScanTree::odd, segments - (odd_ends ? 1 : 2)) : 0);
  PlanHeader header = scan_header(collective, chain ? "pipelined-chain" : "two-tree", request, all);
  header.segments = request.segments;
  header.staging = scan_staging;
  header.tag_span = request.segments;
  header.one_ported = chain;
  return header;
}

template <Collective collective, Pipeline pipeline>
void plan_pipelined(const PlanRequest& request, Rank rank, Program& program) {
  ScanProgram writer(collective, request, program);
  if (pipeline == Pipeline::chain) {
    const std::array tree{scan_tree_node(ScanTree::chain, rank, request.ranks)};
    writer.write(tree);
  } else {
    const std::array trees{scan_tree_node(ScanTree::even, rank, request.ranks),
                           scan_tree_node(ScanTree::odd, rank, request.ranks)};
    writer.write(trees);
  }
}

template PlanHeader describe_pipelined<Collective::exscan, Pipeline::chain>(const PlanRequest&);
template PlanHeader describe_pipelined<Collective::exscan, Pipeline::two_tree>(const PlanRequest&);
template PlanHeader describe_pipelined<Collective::scan, Pipeline::chain>(const PlanRequest&);
template PlanHeader describe_pipelined<Collective::scan, Pipeline::two_tree>(const PlanRequest&);
template void plan_pipelined<Collective::exscan, Pipeline::chain>(const PlanRequest&, Rank,
                                                                  Program&);
template void plan_pipelined<Collective::exscan, Pipeline::two_tree>(const PlanRequest&, Rank,
                                                                     Program&);
template void plan_pipelined<Collective::scan, Pipeline::chain>(const PlanRequest&, Rank, Program&);
template void plan_pipelined<Collective::scan, Pipeline::two_tree>(const PlanRequest&, Rank,
                                                                   Program&);

}  // namespace sibyl
