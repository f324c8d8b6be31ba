// The one table of algorithms, and what holds for all of them: finding a row, planning all ranks.
#include <algorithm>
#include <array>
#include <cstddef>

#include "planners/exscan/doubling_family.hpp"
#include "planners/exscan/recursive_doubling.hpp"
#include "planners/exscan/two_level.hpp"
#include "planners/gather/gather.hpp"
#include "planners/gatherv/gatherv.hpp"
#include "planners/reduce/binomial.hpp"
#include "planners/reduce/clairvoyant.hpp"
#include "planners/reduce/parts.hpp"
#include "planners/reduce/rabenseifner.hpp"
#include "planners/reduce/radix_k.hpp"
#include "planners/reduce/ring.hpp"
#include "planners/scan/doubling.hpp"
#include "planners/scatter/scatter.hpp"
#include "planners/scatterv/scatterv.hpp"
#include "sibyl/planners.hpp"

namespace sibyl {
namespace {

using exscan::Member;

constexpr std::string_view scan_paper =
    "J. L. Traeff, Communication Round and Computation Efficient Exclusive Prefix-Sums Algorithms "
    "(for MPI_Exscan), 2025, algorithm 1 and theorem 1";
constexpr std::string_view linear_paper =
    "J. Proficz, Process arrival pattern aware algorithms for acceleration of scatter and gather "
    "operations, 2020, section 3";
constexpr std::string_view binomial_gather_paper =
    "J. Proficz, Process arrival pattern aware algorithms for acceleration of scatter and gather "
    "operations, 2020, section 4, figures 11 and 12";

constexpr std::string_view ordered_tree_paper =
    "J. L. Traeff, Practical, Linear-time, Fully Distributed Algorithms for Irregular Gather and "
    "Scatter, 2017, lemmas 2.1 and 2.2";

constexpr std::string_view irregular_paper =
    "J. L. Traeff, Practical, Linear-time, Fully Distributed Algorithms for Irregular Gather and "
    "Scatter, 2017, lemmas 2.1 to 2.3 and theorem 2.4";

constexpr std::string_view reduce_rivals =
    "J. Proficz, K. M. Ocetkiewicz, Improving Clairvoyant: reduction algorithm resilient to "
    "imbalanced process arrival patterns, 2020, section 6, where it is compared with";

// m is the size of the vector in scans and reduce, of one block in gather and scatter.
constexpr std::array table{
    Algorithm{.collective = Collective::exscan,
              .name = "1-doubling",
              .published = "1-doubling",
              .idea =
                  "After one shift by a rank, every round doubles the ranks that a prefix covers; "
                  "one application of the operator a round.",
              .cost = "(1 + ceil(log2(p-1))) (alpha + beta m)",
              .source = scan_paper,
              .order = OrderUse::none,
              .background = false,
              .commutative_only = false,
              .in_place = true,
              .operator_rounds = true,
              .describe = exscan::describe<Member::one_doubling>,
              .plan = exscan::plan<Member::one_doubling>},
    Algorithm{.collective = Collective::exscan,
              .name = "123-doubling",
              .published = "123-doubling",
              .idea =
                  "Shifts by 1, 2 and 3 before doubling save a round for one more application of "
                  "the operator at most.",
              .cost = "ceil(log2(p-1) + log2(4/3)) (alpha + beta m)",
              .source = scan_paper,
              .order = OrderUse::none,
              .background = false,
              .commutative_only = false,
              .in_place = true,
              .operator_rounds = true,
              .describe = exscan::describe<Member::one_two_three_doubling>,
              .plan = exscan::plan<Member::one_two_three_doubling>},
    Algorithm{
        .collective = Collective::exscan,
        .name = "two-op-doubling",
        .published = "two-(+) doubling",
        .idea = "Every rank sends its prefix with its own value in every round: the fewest rounds, "
                "two applications of the operator a round.",
        .cost = "ceil(log2 p) (alpha + beta m)",
        .source = scan_paper,
        .order = OrderUse::none,
        .background = false,
        .commutative_only = false,
        .in_place = true,
        .operator_rounds = true,
        .describe = exscan::describe<Member::two_op_doubling>,
        .plan = exscan::plan<Member::two_op_doubling>},
    Algorithm{
        .collective = Collective::exscan,
        .name = "hybrid",
        .published = "round-optimal hybrid",
        .idea = "Ranks send their prefix with their own value in just as many rounds as the fewest "
                "rounds in all ask for, and their prefix alone afterwards.",
        .cost = "ceil(log2 p) (alpha + beta m)",
        .source = "arXiv 2604.25667, 2026, the follow-up of the paper on 123-doubling",
        .order = OrderUse::none,
        .background = false,
        .commutative_only = false,
        .in_place = true,
        .operator_rounds = true,
        .describe = exscan::describe<Member::hybrid>,
        .plan = exscan::plan<Member::hybrid>},
    Algorithm{
        .collective = Collective::exscan,
        .name = "recursive-doubling",
        .published = "recursive doubling",
        .idea = "Halves of aligned blocks exchange their totals, and blocks double: two "
                "applications of the operator a round, but the first rounds stay within nodes.",
        .cost = "ceil(log2 p) (alpha + beta m)",
        .source = "R. Thakur, R. Rabenseifner, W. Gropp, Optimization of Collective Communication "
                  "Operations in MPICH, 2005, section 4",
        .order = OrderUse::none,
        .background = false,
        .commutative_only = false,
        .in_place = true,
        .describe = exscan::describe_recursive_doubling,
        .plan = exscan::plan_recursive_doubling},
    Algorithm{
        .collective = Collective::exscan,
        .name = "two-level",
        .published = "hierarchical",
        .idea = "Nodes scan within themselves, their last ranks scan the totals and broadcast what "
                "they get: a vector leaves a node once a round, not once per rank.",
        .cost = "k ranks in n nodes: (2 ceil(log2 k) + ceil(log2 n)) (alpha + beta m), of which "
                "ceil(log2 n) between nodes",
        .source = "J. L. Traeff, A. Rougier, MPI Collectives and Datatypes for Hierarchical "
                  "All-to-all Communication, 2014 (the decomposition)",
        .order = OrderUse::none,
        .background = false,
        .commutative_only = false,
        .in_place = true,
        .nodes = true,
        .describe = exscan::describe_two_level,
        .plan = exscan::plan_two_level},
    Algorithm{.collective = Collective::scan,
              .name = "doubling",
              .published = "doubling",
              .idea = "Every round doubles the ranks that a sum covers.",
              .cost = "ceil(log2 p) (alpha + beta m)",
              .source = "W. D. Hillis, G. L. Steele, Data Parallel Algorithms, CACM 29(12), 1986",
              .order = OrderUse::none,
              .background = false,
              .commutative_only = false,
              .in_place = true,
              .describe = scan::describe_doubling,
              .plan = scan::plan_doubling},
    Algorithm{
        .collective = Collective::gather,
        .name = "linear",
        .published = "LIN",
        .idea = "The root receives one block after the other, in rank order or in the order given.",
        .cost = "(p-1) (alpha + beta m)",
        .source = linear_paper,
        .order = OrderUse::root_only,
        .background = false,
        .commutative_only = false,
        .in_place = true,
        .describe = gather::describe_linear,
        .plan = gather::plan_linear},
    Algorithm{
        .collective = Collective::gather,
        .name = "linear-synchronised",
        .published = "LS, SLS, BSLS",
        .idea =
            "The root asks one rank after the other for its block, which comes in two segments, "
            "and asks the next when the first segment is there.",
        .cost = "(p-1) (2 alpha + beta m) + alpha",
        .source = "J. Proficz, Process arrival pattern aware algorithms for acceleration of "
                  "scatter and gather operations, 2020, section 4, figures 9 and 10",
        .order = OrderUse::root_only,
        .background = true,
        .commutative_only = false,
        .in_place = true,
        .describe = gather::describe_linear_synchronised,
        .plan = gather::plan_linear_synchronised},
    Algorithm{.collective = Collective::gather,
              .name = "binomial",
              .published = "BNOM, SBN, BSBN",
              .idea =
                  "Every rank collects its subtree and sends it on in one message; given an order, "
                  "the ranks at its front sit next to the root and send last.",
              .cost = "ceil(log2 p) alpha + (p-1) beta m",
              .source = binomial_gather_paper,
              .order = OrderUse::all_ranks,
              .background = true,
              .commutative_only = false,
              .in_place = true,
              .describe = gather::describe_binomial,
              .plan = gather::plan_binomial},
    Algorithm{.collective = Collective::gather,
              .name = "ordered-tree",
              .published = "TUW_Gatherv (its tree)",
              .idea =
                  "Neighbouring cubes of ranks join, and blocks move as consecutive ranges in rank "
                  "order, whichever rank is the root.",
              .cost = "ceil(log2 p) alpha + (p-1) beta m",
              .source = ordered_tree_paper,
              .order = OrderUse::none,
              .background = false,
              .commutative_only = false,
              .in_place = true,
              .nodes = true,
              .describe = gather::describe_ordered_tree,
              .plan = gather::plan_ordered_tree},
    Algorithm{
        .collective = Collective::scatter,
        .name = "linear",
        .published = "LIN, SLIN (SLN), BSLIN (BSLN)",
        .idea = "The root sends one block after the other, in rank order or in the order given.",
        .cost = "(p-1) (alpha + beta m)",
        .source = "J. Proficz, Process arrival pattern aware algorithms for acceleration of "
                  "scatter and gather operations, 2020, section 4, figures 5 and 6",
        .order = OrderUse::root_only,
        .background = true,
        .commutative_only = false,
        .in_place = true,
        .describe = scatter::describe_linear,
        .plan = scatter::plan_linear},
    Algorithm{.collective = Collective::scatter,
              .name = "binomial",
              .published = "BNOM, SBN, BSBN",
              .idea =
                  "Every rank receives its subtree in one message and sends its children theirs; "
                  "given an order, the ranks at its front receive first.",
              .cost = "ceil(log2 p) alpha + (p-1) beta m",
              .source = "J. Proficz, Process arrival pattern aware algorithms for acceleration of "
                        "scatter and gather operations, 2020, section 4, figures 7 and 8",
              .order = OrderUse::all_ranks,
              .background = true,
              .commutative_only = false,
              .in_place = true,
              .describe = scatter::describe_binomial,
              .plan = scatter::plan_binomial},
    Algorithm{
        .collective = Collective::scatter,
        .name = "ordered-tree",
        .published = "TUW_Scatterv (its tree)",
        .idea =
            "The tree of the ordered gather downwards: blocks move as consecutive ranges in rank "
            "order, whichever rank is the root.",
        .cost = "ceil(log2 p) alpha + (p-1) beta m",
        .source = ordered_tree_paper,
        .order = OrderUse::none,
        .background = false,
        .commutative_only = false,
        .in_place = true,
        .nodes = true,
        .describe = scatter::describe_ordered_tree,
        .plan = scatter::plan_ordered_tree},
    Algorithm{.collective = Collective::gatherv,
              .name = "linear",
              .published = "LIN",
              .idea = "The root receives one block after the other, in rank order or in the order "
                      "given.",
              .cost = "(p-1) alpha + beta (sum of all m_i but the root's)",
              .source = linear_paper,
              .order = OrderUse::root_only,
              .background = false,
              .commutative_only = false,
              .in_place = true,
              .sizes = true,
              .describe = gatherv::describe_linear,
              .plan = gather::plan_linear},
    Algorithm{
        .collective = Collective::gatherv,
        .name = "ordered-tree",
        .published = "TUW_Gatherv",
        .idea = "Ranks build a tree by telling each other how much they hold; blocks move along it "
                "as consecutive ranges in rank order, large ones straight to the root.",
        .cost = "d = ceil(log2 p): (2d-1) alpha to build the tree, d alpha + beta (sum of all m_i "
                "but the root's) to use it",
        .source = irregular_paper,
        .order = OrderUse::none,
        .background = false,
        .commutative_only = false,
        .in_place = true,
        .nodes = true,
        .sizes = true,
        .describe = gatherv::describe_ordered_tree,
        .plan = gatherv::plan_ordered_tree},
    Algorithm{.collective = Collective::scatterv,
              .name = "linear",
              .published = "LIN, SLIN (SLN), BSLIN (BSLN)",
              .idea = "The root sends one block after the other, in rank order or in the order "
                      "given.",
              .cost = "(p-1) alpha + beta (sum of all m_i but the root's)",
              .source = "J. Proficz, Process arrival pattern aware algorithms for acceleration of "
                        "scatter and gather operations, 2020, section 4, figures 5 and 6",
              .order = OrderUse::root_only,
              .background = true,
              .commutative_only = false,
              .in_place = true,
              .sizes = true,
              .describe = scatterv::describe_linear,
              .plan = scatter::plan_linear},
    Algorithm{.collective = Collective::scatterv,
              .name = "ordered-tree",
              .published = "TUW_Scatterv",
              .idea =
                  "The root works out the tree and its messages say how large the blocks are, so "
                  "that nothing is built beforehand; large blocks come straight from the root.",
              .cost = "ceil(log2 p) alpha + beta (sum of all m_i but the root's)",
              .source = irregular_paper,
              .order = OrderUse::none,
              .background = false,
              .commutative_only = false,
              .in_place = true,
              .nodes = true,
              .sizes = true,
              .describe = scatterv::describe_ordered_tree,
              .plan = scatterv::plan_ordered_tree},
    Algorithm{.collective = Collective::reduce,
              .name = "binomial",
              .published = "BNOM",
              .idea =
                  "Neighbouring blocks of ranks join in pairs, and one sends the other its sum, "
                  "whichever rank is the root.",
              .cost = "ceil(log2 p) (alpha + beta m)",
              .source = reduce_rivals,
              .order = OrderUse::none,
              .background = false,
              .commutative_only = false,
              .in_place = true,
              .describe = reduce::describe_binomial,
              .plan = reduce::plan_binomial},
    Algorithm{.collective = Collective::reduce,
              .name = "rabenseifner",
              .published = "RAB",
              .idea = "Pairs of ranks exchange halves of the vector and each adds up one, then "
                      "quarters with the next pair, and so on; the parts are gathered.",
              .cost = "2 log2 p alpha + 2 (p-1)/p beta m; alpha + beta m more where p is no power "
                      "of two",
              .source = "R. Rabenseifner, Optimization of Collective Reduction Operations, 2004",
              .order = OrderUse::none,
              .background = false,
              .commutative_only = false,
              .in_place = true,
              .describe = reduce::describe_rabenseifner,
              .plan = reduce::plan_rabenseifner,
              .check = reduce::check_part_per_rank},
    Algorithm{.collective = Collective::reduce,
              .name = "radix-k",
              .published = "RXK",
              .idea = "Groups of k ranks send each other their shares of the vector directly, k "
                      "dividing p and changing from phase to phase; the parts are gathered.",
              .cost = "p = k1 k2 ...: 2 (sum of k_i - 1) alpha + 2 (p-1)/p beta m",
              .source = "T. Peterka, D. Goodell, R. Ross, H.-W. Shen, R. Thakur, A Configurable "
                        "Algorithm for Parallel Image-Compositing Applications, 2009",
              .order = OrderUse::none,
              .background = false,
              .commutative_only = false,
              .in_place = true,
              .describe = reduce::describe_radix_k,
              .plan = reduce::plan_radix_k,
              .check = reduce::check_part_per_rank},
    Algorithm{.collective = Collective::reduce,
              .name = "ring",
              .published = "RING, bucket",
              .idea =
                  "The sums of p parts go around a ring at the same time and take up an operand "
                  "at every rank; each rank sends the root the part that ends with it.",
              .cost = "2 (p-1) (alpha + beta m/p)",
              .source = reduce_rivals,
              .order = OrderUse::none,
              .background = false,
              .commutative_only = true,
              .in_place = true,
              .describe = reduce::describe_ring,
              .plan = reduce::plan_ring,
              .check = reduce::check_part_per_rank},
    Algorithm{
        .collective = Collective::reduce,
        .name = "clairvoyant",
        .published = "Clairvoyant, CLV",
        .idea = "All ranks work out the same schedule from the arrival pattern: in every round, "
                "each one that is there takes a segment that another one there can send, and what "
                "is left when the last one arrives is little.",
        .cost = "after the last arrival about (N + ceil(log2 p)) (alpha + beta m/N) in N segments",
        .source = "J. Proficz, K. M. Ocetkiewicz, Improving Clairvoyant: reduction algorithm "
                  "resilient to imbalanced process arrival patterns, 2020, listings 2 and 8",
        .order = OrderUse::none,
        .background = false,
        .commutative_only = true,
        .in_place = true,
        .arrivals = true,
        .describe = reduce::describe_clairvoyant,
        .plan = reduce::plan_clairvoyant,
        .plan_all = reduce::plan_all_clairvoyant,
        .plan_one = reduce::plan_one_clairvoyant,
        .check = reduce::check_clairvoyant},
};

}  // namespace

std::span<const Algorithm> algorithms() { return table; }

std::span<const Algorithm> algorithms(Collective collective) {
  const auto [first, last] =
      std::ranges::equal_range(table, collective, {}, &Algorithm::collective);
  return {first, last};
}

const Algorithm* find_algorithm(Collective collective, std::string_view name) {
  for (const Algorithm& algorithm : algorithms(collective)) {
    if (algorithm.name == name) return &algorithm;
  }
  return nullptr;
}

Plan make_plan(const Algorithm& algorithm, const PlanRequest& request) {
  Plan plan;
  plan.programs.resize(static_cast<std::size_t>(request.ranks));
  plan.header = plan_all_ranks(algorithm, request, plan.programs);
  return plan;
}

PlanHeader plan_all_ranks(const Algorithm& algorithm, const PlanRequest& request,
                          std::span<Program> programs) {
  if (algorithm.plan_all != nullptr) return algorithm.plan_all(request, programs);
  // Planners of collectives with a root apply in_place to the root alone.
  for (Rank rank = 0; rank < request.ranks; ++rank) {
    algorithm.plan(request, rank, programs[static_cast<std::size_t>(rank)]);
  }
  return algorithm.describe(request);
}

PlanHeader plan_one_rank(const Algorithm& algorithm, const PlanRequest& request, Rank rank,
                         Program& program) {
  if (algorithm.plan_one != nullptr) return algorithm.plan_one(request, rank, program);
  algorithm.plan(request, rank, program);
  return algorithm.describe(request);
}

}  // namespace sibyl
