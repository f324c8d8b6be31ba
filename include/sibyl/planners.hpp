/// @file
/// Planners and the one table of algorithms.
///
/// A planner is a pure function from (what is asked for, rank) to that rank's program. Everything
/// that a person or a check wants to know about an algorithm - restrictions, what it needs to know,
/// rounds, source - stands in its row of the table; `sibyl algorithms`, the documentation and the
/// tests are generated from the table.
///
/// Thread safety: the table is constant; planners keep no state.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "sibyl/clairvoyant.hpp"
#include "sibyl/schedule.hpp"

namespace sibyl {

/// @defgroup planners Planners
/// @{

/// What is asked of a planner. Everything here but `in_place` must be equal on all ranks (`order`
/// only where the algorithm needs it at all ranks, see OrderUse).
struct PlanRequest {
  Rank ranks = 1;
  Rank root = 0;
  /// The ranks other than the root in the order in which they are served (linear) or placed
  /// (binomial, place 1 first). Empty: rank order, with the tree that is usual for it. A
  /// permutation of all ranks is accepted too: the root is skipped wherever it stands.
  std::span<const Rank> order = {};
  bool background = false;  ///< open the gates that the algorithm can open (BSLIN, BSBN, BSLS)
  bool in_place = false;    ///< MPI_IN_PLACE at the rank that is planned
  /// Linear algorithms only: how many transfers the root may have under way at a time. 1 is what
  /// the papers call linear; more keep the link busy when the next rank in the order is late.
  /// Shifted all-to-alls: how many sends every rank may.
  std::uint32_t outstanding = 1;
  /// Part of the scan family only: rounds in which W (+) V is sent; 0 takes the algorithm's own.
  std::uint32_t operator_rounds = 0;
  /// How the machine lies: nodes hold this many consecutive ranks, the last node perhaps fewer.
  /// Used by algorithms for nodes; 1 where nothing is known.
  Rank ranks_per_node = 1;
  /// The same for ranks that lie anyhow: the number of each rank's node, below the number of ranks;
  /// empty: as ranks_per_node says. For Algorithm::any_placement, and for uneven_nodes where each
  /// node holds consecutive ranks.
  std::span<const Rank> nodes = {};
  /// How many ranks of every node send and receive between nodes, each a part of the vector or of
  /// every block (Algorithm::lanes).
  std::uint32_t lanes = 1;
  /// Collectives with blocks of different sizes only: the sizes, one per rank, in any unit that all
  /// share; in alltoallv one per pair, the row of rank 0 first. Empty: all alike. In gatherv and
  /// scatterv only the root knows them in a call; the others learn what they need.
  std::span<const std::uint64_t> sizes = {};
  /// Blocks of at least this size travel direct, in a message between their rank and the root.
  std::uint64_t direct_from = ~std::uint64_t{0};
  /// Trees that ranks build by messages where sizes differ: it is there from an earlier call.
  bool constructed = false;
  std::uint32_t segments = 1;  ///< parts that the vector is cut into (Algorithm::segments)
  /// Algorithms that plan for arrival times only (Algorithm::arrivals); see sibyl/clairvoyant.hpp.
  std::span<const double> arrivals = {};  ///< seconds, one per rank; empty: all at once
  double round_time = 1;                  ///< seconds that a round of one segment takes
  bool in_order = false;                  ///< ranks send strictly in the order of the schedule
  ClairvoyantGenerator generator = ClairvoyantGenerator::fast;
  RootOrder root_order = RootOrder::first;
  /// For plan_one_rank: the schedule of all ranks, where it was made before of what stands above.
  const ClairvoyantSchedule* schedule = nullptr;
};

enum class OrderUse : std::uint8_t {
  none,       ///< the algorithm takes no order
  root_only,  ///< only the root's program depends on the order
  all_ranks,  ///< every rank must hold the same order
};

struct Algorithm {
  Collective collective = Collective::exscan;
  std::string_view name;       ///< in commands, settings and JSON
  std::string_view published;  ///< the names in the papers
  std::string_view idea;       ///< one sentence
  std::string_view cost;       ///< in alpha (startup latency) and beta (time per unit), p ranks
  std::string_view source;     ///< paper, section, listing
  OrderUse order = OrderUse::none;
  bool background = false;        ///< has gates that can be opened
  bool commutative_only = false;  ///< not eligible for operators that do not commute; all others
                                  ///< keep the operands in the order of the ranks
  bool linear = false;            ///< every block goes in one message between its rank and the root
  bool chain = false;             ///< segments go from rank to rank, not through trees
  bool in_place = true;           ///< has a program for MPI_IN_PLACE
  bool operator_rounds = false;   ///< PlanRequest::operator_rounds may be asked for
  bool nodes = false;             ///< plans for PlanRequest::ranks_per_node
  /// Plans for PlanRequest::nodes where each holds consecutive ranks, in the order of the nodes'
  /// numbers.
  bool uneven_nodes = false;
  bool any_placement = false;  ///< plans for PlanRequest::nodes, too
  bool lanes = false;          ///< has PlanRequest::lanes between nodes
  bool sizes = false;          ///< plans for PlanRequest::sizes
  bool segments = false;       ///< cuts the vector into PlanRequest::segments parts
  bool arrivals = false;       ///< plans for PlanRequest::arrivals, in rounds
  PlanHeader (*describe)(const PlanRequest& request) = nullptr;
  /// Replaces `program` by the program of `rank`, keeping its storage.
  void (*plan)(const PlanRequest& request, Rank rank, Program& program) = nullptr;
  /// Where the programs of all ranks are made together for less: the header and all of them.
  PlanHeader (*plan_all)(const PlanRequest& request, std::span<Program> programs) = nullptr;
  /// Where the header takes as long as a program: the header and the program of `rank` at once.
  PlanHeader (*plan_one)(const PlanRequest& request, Rank rank, Program& program) = nullptr;
  /// What only this algorithm can say about a request: empty, or what is wrong with it.
  std::string (*check)(const PlanRequest& request) = nullptr;
};

/// All algorithms, ordered by collective.
std::span<const Algorithm> algorithms();
/// The rows of one collective; their order is the order of the table.
std::span<const Algorithm> algorithms(Collective collective);
/// nullptr when the collective has no algorithm of that name.
const Algorithm* find_algorithm(Collective collective, std::string_view name);
/// The first linear one of a collective that moves blocks.
const Algorithm* find_linear(Collective collective);

/// Empty when the request can be planned; else one line that says what is wrong with it.
std::string check_request(const Algorithm& algorithm, const PlanRequest& request);

/// The programs of all ranks. The request must have passed check_request. `in_place` of the request
/// holds for every rank (collectives without a root) or for the root (collectives with one).
Plan make_plan(const Algorithm& algorithm, const PlanRequest& request);
/// The same into programs that are there: one per rank, whose storage is kept. Returns the header.
PlanHeader plan_all_ranks(const Algorithm& algorithm, const PlanRequest& request,
                          std::span<Program> programs);
/// The program of one rank, into storage that is kept. Returns the header.
PlanHeader plan_one_rank(const Algorithm& algorithm, const PlanRequest& request, Rank rank,
                         Program& program);

/// @}

}  // namespace sibyl
