// Nodes of several ranks in simulated time: who shares a link, and what costs less inside.
#include <gtest/gtest.h>

#include <vector>

#include "sibyl/planners.hpp"
#include "sibyl/simulator.hpp"
#include "simulator/by_hand.hpp"

namespace sibyl {
namespace {

TEST(SimulatedNodes, RanksOfANodeShareItsLinkButNotItsLatency) {
  Plan plan = blocks_plan(4);
  message(plan, 0, 2);
  message(plan, 1, 3);
  SimulationOptions options = unit_network();
  options.network.ranks_per_node = 2;
  options.network.inside = {0.25, 0};
  EXPECT_EQ(simulate(plan, sized(6), options).run_time, 3 + 4);
  options.network.link_beta = 0.125;
  EXPECT_EQ(simulate(plan, sized(6), options).run_time, 0.75 + 4);
  options.network.shared_link = false;
  EXPECT_EQ(simulate(plan, sized(6), options).run_time, 4);
  Plan inside = blocks_plan(4);
  message(inside, 0, 1);
  EXPECT_EQ(simulate(inside, sized(6), options).run_time, 0.25);
}

TEST(SimulatedNodes, RanksShareALinkWhereverTheyLie) {
  Plan plan = blocks_plan(5);
  message(plan, 0, 1);  // node 2 to node 0
  message(plan, 2, 3);  // the same
  message(plan, 4, 2);  // within node 2
  SimulationOptions options = unit_network();
  options.network.nodes = {2, 0, 2, 0, 2};
  options.network.inside = {0.25, 0};
  const SimulationResult result = simulate(plan, sized(6), options);
  ASSERT_EQ(result.problem, "");
  EXPECT_EQ(result.exits, (std::vector<double>{4, 4, 3 + 4, 3 + 4, 0.25}));
  options.network.nodes = {4, 3, 2, 1, 0};  // a rank a node: nothing is shared
  EXPECT_EQ(simulate(plan, sized(6), options).run_time, 4);
}

TEST(SimulatedNodes, NodesOfEqualSizeInARowAreRanksPerNode) {
  const Algorithm& reduce = *find_algorithm(Collective::reduce, "binomial");
  const Plan plan = make_plan(reduce, {.ranks = 11});
  SimulationOptions options = unit_network();
  options.network.inside = {0.25, 0.125};
  for (const bool shared_link : {true, false}) {
    options.network.shared_link = shared_link;
    for (const Rank per_node : {1, 3, 4, 11}) {
      options.network.nodes.clear();
      options.network.ranks_per_node = per_node;
      const SimulationResult told = simulate(plan, sized(64), options);
      options.network.ranks_per_node = 1;
      for (Rank rank = 0; rank < 11; ++rank) options.network.nodes.push_back(rank / per_node);
      const SimulationResult named = simulate(plan, sized(64), options);
      ASSERT_EQ(named.problem, "");
      EXPECT_EQ(named.exits, told.exits) << per_node << " ranks a node";
    }
  }
}

TEST(SimulatedNodes, AreRefusedWhereTheyMakeNoSense) {
  Plan plan = blocks_plan(2);
  message(plan, 1, 0);
  SimulationOptions options = unit_network();
  options.network.ranks_per_node = 0;
  EXPECT_EQ(simulate(plan, sized(1), options).problem, "a node holds at least 1 rank");
  options.network.ranks_per_node = 2;
  options.network.nodes = {0, 0};
  EXPECT_NE(simulate(plan, sized(1), options).problem, "");
  options.network.ranks_per_node = 1;
  EXPECT_EQ(simulate(plan, sized(1), options).problem, "");
  for (const std::vector<Rank>& wrong : {std::vector<Rank>{0}, {0, 2}, {0, -1}}) {
    options.network.nodes = wrong;
    EXPECT_NE(simulate(plan, sized(1), options).problem, "");
  }
}

}  // namespace
}  // namespace sibyl
