// Gather of blocks of any sizes over the ordered tree, built by messages.
//
// Idea: cubes of consecutive ranks tell each other how much they hold and join; of two gather roots
// the one whose gather takes less long will send. Then data moves along that tree as consecutive
// ranges in rank order. Blocks above a threshold go direct to the root, which knows all sizes as
// each rank knows its own: the tree would only move them several times.
//
// p no power of two: the last cube of an iteration may be smaller or have no neighbour.
// Commutativity: no operator.
// Cost: d = ceil(log2 p): at most (2d - 1) alpha for the construction, which calls that use the
// tree
//   again do without, and d alpha + beta (sum of m_i without the root's) for the data, where a
//   given root adds the penalty of lemma 2.2 at most; alpha more for each direct block.
// Source: J. L. Traeff, Practical, Linear-time, Fully Distributed Algorithms for Irregular Gather
//   and Scatter, EuroMPI 2017, lemmas 2.1 to 2.3, theorem 2.4. Direct blocks and the use of one
//   tree for several calls are not in the paper.
//
// The construction's messages stand in the plan as control steps. Without sizes there is none: all
// ranks work out the tree of equal blocks. How messages say what they carry:
// executor/tree/irregular.hpp.
#include "planners/gatherv/gatherv.hpp"
#include "planners/headers.hpp"
#include "planners/ordered_programs.hpp"

namespace sibyl::gatherv {
namespace {

// An iteration of the construction takes a round for the exchange and one for telling.
std::uint32_t construction_rounds(const PlanRequest& request) {
  const std::uint32_t iterations = tree_rounds(request);
  const bool none = request.sizes.empty() || request.constructed || iterations == 0;
  return none ? 0 : 2 * iterations;
}

// Lets all steps from `first` on wait for the steps in `earlier`.
void wait_for(std::span<const StepIndex> earlier, StepIndex first, Program& program) {
  for (StepIndex i = first; i < program.steps.size(); ++i) {
    program.steps[i].after = static_cast<std::uint32_t>(program.after.size());
    program.steps[i].after_size = static_cast<std::uint32_t>(earlier.size());
    program.after.insert(program.after.end(), earlier.begin(), earlier.end());
  }
}

// Each message of the construction waits for what the ones before it have told; so does what comes
// after: returns the steps of the last of them.
std::vector<StepIndex> append_construction(const PlanRequest& request, const TreeBlocks& blocks,
                                           Rank rank, Program& program) {
  using Kind = OrderedConstruction::Kind;
  ProgramBuilder build(program);
  const NodeOrder order = blocks.order();
  const JoinOrder joins(order);
  const Rank place = order.place_of(rank);
  const Rank root = order.place_of(request.root);
  OrderedConstruction machine(place, blocks.sizes()[static_cast<std::size_t>(place)], root, order);
  std::vector<StepIndex> last;
  while (machine.next().kind != Kind::done) {
    const OrderedConstruction::Next now = machine.next();
    const std::uint32_t round = 2 * now.iteration + (now.kind == Kind::exchange ? 0 : 1);
    const auto first = static_cast<StepIndex>(program.steps.size());
    const Rank peer = order.rank_at(now.peer);
    if (now.kind != Kind::hear) build.send(peer, ProgramBuilder::nothing(), round);
    if (now.kind != Kind::tell) build.receive(peer, ProgramBuilder::nothing(), round);
    wait_for(last, first, program);
    last.clear();
    for (StepIndex i = first; i < program.steps.size(); ++i) last.push_back(i);
    const bool brings = now.kind != Kind::tell;
    machine.complete(brings
                         ? ordered_cube(joins, now.neighbour, now.iteration, blocks.sizes(), root)
                         : OrderedCube{});
  }
  return last;
}

}  // namespace

PlanHeader describe_ordered_tree(const PlanRequest& request) {
  const TreeBlocks blocks(request);
  const auto direct = static_cast<std::uint32_t>(blocks.direct().size());
  const std::uint32_t construction = construction_rounds(request);
  const GatherMessages messages = gather_messages(request, blocks);
  PlanHeader header = plain_header(Collective::gatherv, "ordered-tree", request,
                                   construction + messages.round(tree_rounds(request)) + direct);
  // Data along the tree, a direct block; an exchange, and telling in all other iterations.
  header.tag_span = messages.most() + (direct != 0 ? 1 : 0);
  if (construction != 0) header.tag_span += tree_rounds(request);
  return header;
}

void plan_ordered_tree(const PlanRequest& request, Rank rank, Program& program) {
  program.clear();
  const TreeBlocks blocks(request);
  const std::uint32_t construction = construction_rounds(request);
  std::vector<StepIndex> constructed;
  if (construction != 0) constructed = append_construction(request, blocks, rank, program);
  const auto first = static_cast<StepIndex>(program.steps.size());
  const GatherMessages messages = gather_messages(request, blocks);
  append_gather(request, blocks, ordered_node(request, blocks, rank), messages, rank, construction,
                program);
  append_direct(request, blocks, rank, construction + messages.round(tree_rounds(request)),
                Collective::gatherv, program);
  wait_for(constructed, first, program);
}

}  // namespace sibyl::gatherv
