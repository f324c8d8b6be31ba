// Chooses the algorithm of one call from what is certain to be equal on all its ranks.
#pragma once

#include <algorithm>
#include <cstdint>

#include "selection/native_library.hpp"
#include "selection/settings.hpp"
#include "sibyl/planners.hpp"

namespace sibyl {

enum class OperatorUse : std::uint8_t {
  none,        // the collective applies no operator
  predefined,  // cheap: about the cost of reading the operands
  user,        // of unknown cost: taken to be expensive
};

// What messages cost on one kind of communicator while all its ranks communicate, and what an
// operator does, in seconds. The same on all ranks of a communicator.
struct Costs {
  double alpha = 0;     // latency of a message
  double overhead = 0;  // what a message adds to a stream of several under way
  double beta = 0;      // per byte in such a stream; 0: nothing is known
  double gamma = 0;     // per byte that a predefined operator combines
  // FIFO links: each carries one message after the other, in the order in which they are sent; else
  // the messages that are under way at a time share it.
  bool fifo_links = false;
  // What one more message costs a rank that receives one from each of many while these do nothing
  // else, or sends one to each; 0: nothing is known.
  double gathered = 0;
  double scattered = 0;
  // Where ranks share nodes, what a rank needs per byte that another rank of its node sends it, and
  // that it combines: one alone on its node, and while all of them do so, which share the node's
  // memory and processors. And overhead and beta, which hold while one rank of a node sends to
  // another node, while all of them do.
  double fold = 0;
  double fold_together = 0;
  double overhead_together = 0;
  double beta_together = 0;
  bool known() const { return beta > 0; }
};

// How many blocks of the size that is chosen by a call has: of vectors, and of blocks of any sizes,
// all is in one.
Rank blocks_of_a_call(Collective collective, Rank ranks);

struct Situation {
  Collective collective = Collective::exscan;
  Rank ranks = 1;
  std::uint64_t bytes = 0;  // packed bytes of the vector, or of one block
  // Of the largest block, where blocks of any sizes, `bytes` in all, are known to all ranks; 0: all
  // are alike.
  std::uint64_t largest = 0;
  OperatorUse operator_use = OperatorUse::none;
  bool commutes = true;     // the operator; only reduce has algorithms that ask for it
  Rank ranks_per_node = 1;  // as in PlanRequest
  Rank nodes = 0;           // how many, where ranks lie anyhow; 0: as ranks_per_node says
  // Of nodes that lie anyhow, the ranks of the largest where each holds consecutive ones; else 0.
  Rank largest_run = 0;
  // All share one node and its window, and have a processor each.
  bool by_window = false;
  // Not a persistent request, which receives early, and moves in the background.
  bool blocking = true;
  // All share one node, which is known to have fewer processors for them.
  bool crowded = false;
  // Where nobody asked for the window: beside what it has to pay.
  NativeLibrary library = NativeLibrary::other;
  double spread = 0;  // seconds from the first agreed arrival to the last
  double lead = 0;    // seconds from the last but one to the last; of nodes, between nodes
  Costs costs;

  Rank node_count() const {
    return nodes != 0 ? nodes : (ranks + ranks_per_node - 1) / ranks_per_node;
  }
  // Of the largest node, as far as a plan for consecutive ranks knows of nodes.
  Rank consecutive() const {
    return largest_run != 0 ? largest_run : (ranks_per_node < ranks ? ranks_per_node : ranks);
  }
  // How many nodes such a plan has.
  Rank nodes_of_consecutive() const {
    return largest_run != 0 ? nodes : (ranks + ranks_per_node - 1) / ranks_per_node;
  }
  // Each on a node of its own.
  bool between_single_ranks() const { return ranks > 1 && node_count() == ranks; }
  // On several nodes, of which some hold several ranks.
  bool shares_nodes() const { return node_count() > 1 && node_count() < ranks; }
  // Of the nodes, each as if it were one rank: the block of a node is the blocks of its ranks, of
  // as many as nodes have on average.
  Situation of_nodes() const {
    Situation over = *this;
    over.ranks = node_count();
    over.ranks_per_node = 1;
    over.nodes = 0;
    over.largest_run = 0;
    over.by_window = false;
    if (collective == Collective::allgather) {
      over.bytes =
          bytes * static_cast<std::uint64_t>(ranks) / static_cast<std::uint64_t>(over.ranks);
    }
    return over;
  }
};

// How an algorithm that cuts vectors into segments is to run.
struct SegmentPlan {
  std::uint32_t segments = 1;
  double round_time = 1;  // seconds that a round of one segment takes
  double whole_time = 0;  // seconds of the collective when all ranks are there
  bool in_order = false;  // as in PlanRequest
  bool together = false;  // planned as if all ranks came at once, whatever the pattern
  // Nobody asked for it by name, in settings or a table: it goes by arrivals where one is far later
  // than all others alone.
  bool for_one = false;
  std::uint32_t lanes = 1;  // as in PlanRequest; each has so many segments

  // Of a vector, or of blocks, of so many elements: every segment of a lane has one.
  SegmentPlan of_elements(std::uint64_t elements) const {
    SegmentPlan plan = *this;
    plan.lanes = static_cast<std::uint32_t>(
        std::clamp<std::uint64_t>(lanes, 1, std::max<std::uint64_t>(elements, 1)));
    plan.segments =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(segments, elements / plan.lanes));
    return plan;
  }
};

// Calls of so many bytes may send messages of the governor's; shorter ones are hardly ever looked
// at.
inline constexpr std::uint64_t governed_from = 4096;

// nullptr: the MPI library's own collective. Cost: a few dozen integer operations.
const Algorithm* choose(const Settings& settings, const Situation& situation);

// Whether the MPI library serves every call of this collective where all ranks share a node;
// `by_window` as in Situation.
bool is_left_native_on_one_node(const Settings& settings, Collective collective, bool by_window);

// Whether gatherv or scatterv along the tree, with `direct` blocks beside it, takes less time than
// the linear algorithm with `blocks`; neither counts the root's own.
bool tree_saves(const Situation& situation, Rank blocks, Rank direct);

// Whether the root of a scatterv along the tree reaches the other nodes sooner by a message to each
// than by messages that are passed on.
bool star_saves(const Situation& situation);

// What the settings ask for, or else the table: the number of a row, serve_natively or
// choose_automatically.
std::int32_t wanted_algorithm(const Settings& settings, const Situation& situation);

// Whether the choice for this call looks at costs: they are worth measuring, once. Of irregular
// blocks only between nodes, where start-ups over one network are worth a tree and over another are
// not.
bool wants_costs(const Settings& settings, const Situation& situation);

// As the settings say, or else as the model takes it to be the fastest; one segment where the
// algorithm does not cut vectors. Cost: some hundred floating-point operations.
SegmentPlan segments_for(const Settings& settings, const Algorithm& algorithm,
                         const Situation& situation);

}  // namespace sibyl
