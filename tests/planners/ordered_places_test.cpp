// Ordered trees where the ranks of a node are no run: proved by the verifier for ranks dealt out in
// turn and for any placement, that one message leaves a node, and the construction that ends in the
// same tree.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "planners/irregular_sizes.hpp"
#include "planners/ordered_programs.hpp"
#include "schedule/verify.hpp"
#include "support/sanitized.hpp"

namespace sibyl {
namespace {

constexpr Collective collectives[] = {Collective::gather, Collective::scatter, Collective::gatherv,
                                      Collective::scatterv};

std::vector<Rank> dealt_out(Rank ranks, Rank nodes) {
  std::vector<Rank> node_of;
  for (Rank rank = 0; rank < ranks; ++rank) node_of.push_back(rank % nodes);
  return node_of;
}

// Messages between ranks of different nodes, which either all come in or all go out.
void expect_one_message_a_node(const Plan& plan, const std::vector<Rank>& node_of, Rank root) {
  std::vector<int> messages(node_of.size(), 0);
  for (std::size_t rank = 0; rank < plan.programs.size(); ++rank) {
    for (const Step& step : plan.programs[rank].steps) {
      if (step.kind != StepKind::send) continue;
      const Rank from = node_of[rank];
      const Rank to = node_of[static_cast<std::size_t>(step.peer)];
      if (from == to) continue;
      ++messages[static_cast<std::size_t>(gathers(plan.header.collective) ? from : to)];
    }
  }
  for (const Rank node : node_of) {
    const int expected = node == node_of[static_cast<std::size_t>(root)] ? 0 : 1;
    ASSERT_EQ(messages[static_cast<std::size_t>(node)], expected) << "node " << node;
  }
}

void prove(Verifier& verifier, const PlanRequest& request, const std::vector<Rank>& node_of,
           const std::string& what) {
  for (const Collective collective : collectives) {
    const Algorithm& algorithm = *find_algorithm(collective, "ordered-tree");
    PlanRequest asked = request;
    if (!algorithm.sizes) asked.sizes = {};
    ASSERT_EQ(check_request(algorithm, asked), "");
    const Plan plan = make_plan(algorithm, asked);
    const VerifyResult result = verifier.verify(plan);
    ASSERT_TRUE(result.ok) << name_of(collective) << ", " << request.ranks << " ranks, root "
                           << request.root << ", " << what << ": " << result.problem;
    if (asked.sizes.empty()) expect_one_message_a_node(plan, node_of, request.root);
  }
}

TEST(OrderedPlaces, AreProvedForRanksDealtOutInTurn) {
  Verifier verifier;
  for (Rank ranks = 1; ranks <= (sanitized ? 40 : 200); ranks += ranks < 40 ? 1 : 13) {
    for (const Rank nodes : {1, 2, 3, 5, 8, ranks / 2, ranks}) {
      if (nodes < 1 || nodes > ranks) continue;
      const std::vector<Rank> node_of = dealt_out(ranks, nodes);
      for (const Rank root : {0, ranks / 2, ranks - 1}) {
        prove(verifier, {.ranks = ranks, .root = root, .nodes = node_of}, node_of, "dealt out");
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(OrderedPlaces, AreProvedWhereverRanksLie) {
  std::mt19937_64 random(20171124);
  Verifier verifier;
  const auto drawn = [&](Rank from, Rank to) {
    return std::uniform_int_distribution<Rank>(from, to)(random);
  };
  for (int draw = 0; draw < (sanitized ? 60 : 600); ++draw) {
    const Rank ranks = drawn(1, draw % 10 == 0 ? 150 : 40);
    const Rank nodes = drawn(1, ranks);
    std::vector<Rank> node_of(static_cast<std::size_t>(ranks));
    for (Rank& node : node_of) node = drawn(0, nodes - 1);
    const std::vector<Sizes> sizes = problems(ranks, 100, static_cast<std::uint32_t>(draw));
    PlanRequest request{
        .ranks = ranks, .root = drawn(0, ranks - 1), .in_place = draw % 3 == 0, .nodes = node_of};
    if (draw % 4 != 0) request.sizes = sizes[static_cast<std::size_t>(draw) % sizes.size()];
    if (draw % 4 == 1) request.direct_from = 80;
    prove(verifier, request, node_of, "draw " + std::to_string(draw));
    if (HasFatalFailure()) return;
  }
}

TEST(OrderedPlaces, OfConsecutiveRanksMakeTheTreesOfRanks) {
  for (Rank ranks = 1; ranks <= 60; ++ranks) {
    for (Rank per_node = 1; per_node <= ranks; ++per_node) {
      std::vector<Rank> node_of;
      for (Rank rank = 0; rank < ranks; ++rank) node_of.push_back(rank / per_node);
      const NodeTable table(node_of);
      const JoinOrder places{NodeOrder(table)};
      const JoinOrder runs(ranks, per_node);
      ASSERT_EQ(places.iterations(), runs.iterations());
      for (std::uint32_t iteration = 0; iteration <= runs.iterations(); ++iteration) {
        for (Rank rank = 0; rank < ranks; ++rank) {
          ASSERT_EQ(places.cube(rank, iteration).first, runs.cube(rank, iteration).first);
          ASSERT_EQ(places.cube(rank, iteration).end, runs.cube(rank, iteration).end);
        }
      }
    }
  }
}

// Whoever gets the message of a cube works out the rest of the tree from the cube's sizes alone.
TEST(OrderedPlaces, ACubesTreeIsThatOfTheWholeWithin) {
  std::mt19937_64 random(4);
  for (int draw = 0; draw < 200; ++draw) {
    const auto ranks = static_cast<Rank>(2 + random() % 50);
    std::vector<Rank> node_of(static_cast<std::size_t>(ranks));
    for (Rank& node : node_of) node = static_cast<Rank>(random() % 7 % node_of.size());
    const NodeTable table(node_of);
    const NodeOrder order(table);
    const Sizes sizes = problems(ranks, 50, static_cast<std::uint32_t>(draw))[6];
    const auto root = static_cast<Rank>(random() % node_of.size());
    for (Rank place = 0; place < ranks; ++place) {
      const OrderedNode whole = ordered_node(place, sizes, root, order);
      if (place == root) continue;
      const auto of_cube = std::span(sizes).subspan(static_cast<std::size_t>(whole.first),
                                                    static_cast<std::size_t>(whole.count));
      const OrderedNode within = ordered_node_in_cube(
          place, {whole.first, whole.first + whole.count}, of_cube, no_rank, order);
      ASSERT_EQ(within.parent, no_rank);
      ASSERT_EQ(within.children.size(), whole.children.size());
      for (std::size_t k = 0; k < whole.children.size(); ++k) {
        ASSERT_EQ(within.children[k].rank, whole.children[k].rank);
        ASSERT_EQ(within.children[k].first, whole.children[k].first);
        ASSERT_EQ(within.children[k].total, whole.children[k].total);
      }
    }
  }
}

}  // namespace
}  // namespace sibyl
