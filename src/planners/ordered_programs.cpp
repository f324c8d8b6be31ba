// Appends the steps of a tree to a program; see ordered_programs.hpp.
#include "planners/ordered_programs.hpp"

#include <algorithm>
#include <ranges>

#include "planners/headers.hpp"

namespace sibyl {
namespace {

// Where the blocks of a rank's cube lie: at the root at their ranks, elsewhere in scratch, those
// that the tree carries one after the other in the order of places.
class Places {
 public:
  Places(const PlanRequest& request, const TreeBlocks& blocks, const OrderedNode& node, Rank rank,
         Buffer at_root)
      : blocks_(blocks),
        order_(blocks.order()),
        buffer_(rank == request.root ? at_root : Buffer::scratch) {
    if (buffer_ != Buffer::scratch) return;
    for (Rank place = node.first; place < node.first + node.count; ++place) {
      slot_.push_back(units_);
      if (blocks.carries(order_.rank_at(place))) ++units_;
    }
    first_ = node.first;
  }
  Unit scratch_units() const { return units_; }
  Slice of(ProgramBuilder& build, Rank first, Rank count) {
    ranges_.clear();
    for (Rank place = first; place < first + count; ++place) {
      const Rank rank = order_.rank_at(place);
      if (!blocks_.carries(rank)) continue;
      const Unit unit = buffer_ == Buffer::scratch ? slot_[static_cast<std::size_t>(place - first_)]
                                                   : static_cast<Unit>(rank);
      ranges_.push_back({unit, 1});
    }
    return build.slice(buffer_, ranges_);
  }

 private:
  const TreeBlocks& blocks_;
  NodeOrder order_;
  Buffer buffer_;
  Rank first_ = 0;
  Unit units_ = 0;
  std::vector<Unit> slot_;
  std::vector<Range> ranges_;
};

// Numbers the rounds in which messages move from 0 on: some trees leave an iteration out.
void number_rounds(Plan& plan) {
  std::vector<std::uint32_t> used;
  for (const Program& program : plan.programs) {
    for (const Step& step : program.steps) {
      if (step.kind == StepKind::send) used.push_back(step.round);
    }
  }
  std::ranges::sort(used);
  used.erase(std::ranges::unique(used).begin(), used.end());
  for (Program& program : plan.programs) {
    for (Step& step : program.steps) {
      step.round =
          static_cast<std::uint32_t>(std::ranges::lower_bound(used, step.round) - used.begin());
    }
  }
  plan.header.rounds = static_cast<std::uint32_t>(used.size());
}

Slice own_block(const TreeBlocks& blocks, Buffer buffer, Rank rank) {
  return blocks.carries(rank) ? ProgramBuilder::slice(buffer, static_cast<Unit>(rank))
                              : ProgramBuilder::nothing();
}

// Sizes are told, and so is from where on a message is worth it.
bool may_be_in_parts(const PlanRequest& request, const TreeBlocks& blocks) {
  return !blocks.sizes().empty() && request.direct_from != ~std::uint64_t{0};
}

PartRule part_rule(const PlanRequest& request, const NodeOrder& order) {
  return {request.direct_from, JoinOrder(order).within()};
}

}  // namespace

RequestOrder::RequestOrder(const PlanRequest& request)
    : ranks_(request.ranks), per_node_(request.ranks_per_node) {
  if (!request.nodes.empty()) table_.emplace(request.nodes);
}

TreeBlocks::TreeBlocks(const PlanRequest& request) : order_(request), sizes_(request.sizes.size()) {
  const NodeOrder order = this->order();
  for (std::size_t i = 0; i < sizes_.size(); ++i) {
    const auto rank = static_cast<Rank>(i);
    const bool direct = rank != request.root && request.sizes[i] >= request.direct_from;
    if (direct) direct_.push_back(rank);
    sizes_[static_cast<std::size_t>(order.place_of(rank))] = direct ? 0 : request.sizes[i];
  }
}

bool TreeBlocks::carries(Rank rank) const { return !std::ranges::binary_search(direct_, rank); }

OrderedNode ordered_node(const PlanRequest& request, const TreeBlocks& blocks, Rank rank) {
  const NodeOrder order = blocks.order();
  const Rank place = order.place_of(rank);
  const Rank root = order.place_of(request.root);
  return blocks.sizes().empty() ? ordered_node_of_equal_blocks(place, root, order)
                                : ordered_node(place, blocks.sizes(), root, order);
}

std::uint32_t tree_rounds(const PlanRequest& request) {
  return JoinOrder(RequestOrder(request).get()).iterations();
}

GatherMessages gather_messages(const PlanRequest& request, const TreeBlocks& blocks) {
  if (!may_be_in_parts(request, blocks)) return {};
  const NodeOrder order = blocks.order();
  const auto nodes = ordered_nodes(blocks.sizes(), order.place_of(request.root), order);
  return {order.ranks(),
          [&](Rank place) -> const OrderedNode& { return nodes[static_cast<std::size_t>(place)]; },
          part_rule(request, order)};
}

void append_gather(const PlanRequest& request, const TreeBlocks& blocks, const OrderedNode& node,
                   const GatherMessages& messages, Rank rank, std::uint32_t round,
                   Program& program) {
  ProgramBuilder build(program);
  const NodeOrder order = blocks.order();
  const bool is_root = rank == request.root;
  const Rank parent = is_root ? no_rank : order.rank_at(node.parent);
  if (is_root) program.in_place = request.in_place;
  if (!is_root && node.children.empty()) {
    build.send(parent, own_block(blocks, Buffer::send, rank), round + messages.round(node.round));
    return;
  }
  Places places(request, blocks, node, rank, Buffer::receive);
  program.scratch_units = places.scratch_units();
  std::uint32_t last = round;
  for (const OrderedChild& child : node.children) {
    const JoinOrder::Cube whole{child.first, child.first + child.count};
    std::uint32_t next = round + messages.round(child.round);
    for (const JoinOrder::Cube& cube : messages.of(child.rank, whole)) {
      last = next++;
      build.receive(order.rank_at(child.rank), places.of(build, cube.first, cube.size()), last);
    }
  }
  if (!program.in_place && blocks.carries(rank)) {
    build.copy(places.of(build, order.place_of(rank), 1), own_block(blocks, Buffer::send, rank),
               last);
  }
  if (is_root) return;
  const JoinOrder::Cube whole{node.first, node.first + node.count};
  std::uint32_t next = round + messages.round(node.round);
  for (const JoinOrder::Cube& cube : messages.of(order.place_of(rank), whole)) {
    build.send(parent, places.of(build, cube.first, cube.size()), next++);
  }
}

void append_scatter(const PlanRequest& request, const TreeBlocks& blocks, const OrderedNode& node,
                    Rank rank, std::uint32_t round, std::uint32_t rounds, Program& program) {
  ProgramBuilder build(program);
  const auto round_of = [&](std::uint32_t iteration) { return round + rounds - 1 - iteration; };
  const NodeOrder order = blocks.order();
  const bool is_root = rank == request.root;
  const Rank parent = is_root ? no_rank : order.rank_at(node.parent);
  if (is_root) program.in_place = request.in_place;
  if (!is_root && node.children.empty()) {
    build.receive(parent, own_block(blocks, Buffer::receive, rank), round_of(node.round));
    return;
  }
  Places places(request, blocks, node, rank, Buffer::send);
  program.scratch_units = places.scratch_units();
  std::uint32_t last = round;
  if (!is_root) {
    last = round_of(node.round);
    build.receive(parent, places.of(build, node.first, node.count), last);
  }
  for (const OrderedChild& child : std::views::reverse(node.children)) {
    last = round_of(child.round);
    build.send(order.rank_at(child.rank), places.of(build, child.first, child.count), last);
  }
  if (!program.in_place && blocks.carries(rank)) {
    build.copy(own_block(blocks, Buffer::receive, rank), places.of(build, order.place_of(rank), 1),
               last);
  }
}

void append_direct(const PlanRequest& request, const TreeBlocks& blocks, Rank rank,
                   std::uint32_t round, Collective collective, Program& program) {
  ProgramBuilder build(program);
  const bool up = gathers(collective);
  const Buffer buffer = up == (rank == request.root) ? Buffer::receive : Buffer::send;
  for (const Rank owner : blocks.direct()) {
    const std::uint32_t own_round = round++;
    if (rank != owner && rank != request.root) continue;
    const Rank peer = rank == owner ? request.root : owner;
    const Slice block = ProgramBuilder::slice(buffer, static_cast<Unit>(owner));
    if (buffer == Buffer::receive) {
      build.receive(peer, block, own_round);
    } else {
      build.send(peer, block, own_round);
    }
  }
}

Plan plan_along(Collective collective, const PlanRequest& request,
                std::span<const OrderedNode> nodes) {
  const TreeBlocks blocks(request);
  // A star's messages leave the root in rounds of their own, which begin after the tree's.
  std::uint32_t rounds = tree_rounds(request);
  for (const OrderedNode& node : nodes) {
    for (const OrderedChild& child : node.children) rounds = std::max(rounds, child.round + 1);
  }
  const bool up = gathers(collective);
  GatherMessages messages;
  if (up && may_be_in_parts(request, blocks)) {
    const NodeOrder order = blocks.order();
    messages = {order.ranks(),
                [&](Rank place) -> const OrderedNode& {
                  return nodes[static_cast<std::size_t>(order.rank_at(place))];
                },
                part_rule(request, order)};
    rounds = messages.round(rounds);
  }
  Plan plan;
  plan.header = plain_header(collective, "ordered-tree", request, 0);
  plan.header.tag_span = messages.most() + 1;
  plan.programs.resize(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto rank = static_cast<Rank>(i);
    Program& program = plan.programs[i];
    if (up) {
      append_gather(request, blocks, nodes[i], messages, rank, 0, program);
    } else {
      append_scatter(request, blocks, nodes[i], rank, 0, rounds, program);
    }
    append_direct(request, blocks, rank, rounds, collective, program);
  }
  number_rounds(plan);
  return plan;
}

}  // namespace sibyl
