// The verifier over what really ran: after calls of MPI_Gatherv along a tree all ranks hand in the
// node that they followed, built by messages, perhaps calls ago and for other sizes; and the plan
// that these nodes make together is proved for the sizes of the call.
#include <vector>

#include "collectives/harness.hpp"
#include "planners/ordered_programs.hpp"
#include "schedule/verify.hpp"

namespace sibyl::test {
namespace {

using Words = std::vector<std::int64_t>;

Words words_of(const OrderedNode& node) {
  Words words{node.parent, node.round, node.first, node.count,
              static_cast<std::int64_t>(node.total)};
  for (const OrderedChild& child : node.children) {
    const Words more{child.rank, child.round, child.first, child.count,
                     static_cast<std::int64_t>(child.total)};
    words.insert(words.end(), more.begin(), more.end());
  }
  return words;
}

OrderedNode node_of(std::span<const std::int64_t> words) {
  const auto rank = [](std::int64_t word) { return static_cast<Rank>(word); };
  OrderedNode node{rank(words[0]), static_cast<std::uint32_t>(words[1]), rank(words[2]),
                   rank(words[3]), static_cast<std::uint64_t>(words[4]), {}};
  for (std::size_t i = 5; i < words.size(); i += 5) {
    node.children.push_back({rank(words[i]), static_cast<std::uint32_t>(words[i + 1]),
                             rank(words[i + 2]), rank(words[i + 3]),
                             static_cast<std::uint64_t>(words[i + 4])});
  }
  return node;
}

// The nodes of all ranks, at rank 0.
std::vector<OrderedNode> handed_in(const OrderedNode& own, MPI_Comm comm) {
  const Words mine = words_of(own);
  const auto ranks = static_cast<std::size_t>(size_of(comm));
  const int count = static_cast<int>(mine.size());
  std::vector<int> counts(ranks);
  std::vector<int> places(ranks);
  PMPI_Gather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, comm);
  int total = 0;
  for (std::size_t r = 0; r < ranks; ++r) {
    places[r] = total;
    total += counts[r];
  }
  Words all(static_cast<std::size_t>(total));
  PMPI_Gatherv(mine.data(), count, MPI_INT64_T, all.data(), counts.data(), places.data(),
               MPI_INT64_T, 0, comm);
  std::vector<OrderedNode> nodes;
  if (rank_in(comm) != 0) return nodes;
  for (std::size_t r = 0; r < ranks; ++r) {
    nodes.push_back(node_of(std::span(all).subspan(static_cast<std::size_t>(places[r]),
                                                   static_cast<std::size_t>(counts[r]))));
  }
  return nodes;
}

TEST(IrregularProof, WhatGathervRanAlongIsProvedForTheSizesOfTheCall) {
  SIBYL_TRACE_SEED();
  Random random(run_seed() + 2017);
  Served served(Collective::gatherv, nullptr);
  Settings now = forced(Collective::gatherv, find_algorithm(Collective::gatherv, "ordered-tree"));
  now.direct_from = 512;
  now.construct_every = 3;
  served.state().replace_settings(now);
  const int ranks = size_of();
  const int root = ranks / 2;
  const auto per_node = static_cast<Rank>(1 + pick(random, static_cast<std::uint64_t>(ranks)));
  served.state().set_placement({.ranks_per_node = per_node});
  std::vector<int> counts(static_cast<std::size_t>(ranks));
  std::vector<int> places(counts.size());
  int proved = 0;
  for (int call = 0; call < 12; ++call) {
    int total = 0;
    for (std::size_t r = 0; r < counts.size(); ++r) {
      counts[r] = pick(random, 3) == 0 ? 0 : static_cast<int>(pick(random, 1000));
      places[r] = total;
      total += counts[r];
    }
    const std::vector<char> send(
        static_cast<std::size_t>(counts[static_cast<std::size_t>(rank_in())]) + 1);
    std::vector<char> receive(static_cast<std::size_t>(total) + 1);
    ASSERT_EQ(
        SIBYL_Gatherv(send.data(), counts[static_cast<std::size_t>(rank_in())], MPI_BYTE,
                      receive.data(), counts.data(), places.data(), MPI_BYTE, root, served.get()),
        MPI_SUCCESS);
    const TreeCache::Entry* entry = served.state().gather_trees.last();
    ASSERT_NE(entry, nullptr);
    ASSERT_EQ(entry->root, root);
    const std::vector<OrderedNode> nodes = handed_in(entry->node, served.get());
    if (rank_in(served.get()) != 0) continue;
    const std::vector<std::uint64_t> sizes(counts.begin(), counts.end());
    PlanRequest request;
    request.ranks = ranks;
    request.root = root;
    request.sizes = sizes;
    request.direct_from = 512;
    request.ranks_per_node = per_node;
    const VerifyResult result = verify(plan_along(Collective::gatherv, request, nodes));
    EXPECT_TRUE(result.ok) << "call " << call << ": " << result.problem;
    ++proved;
  }
  if (rank_in(served.get()) == 0) {
    EXPECT_EQ(proved, 12);
  }
}

}  // namespace
}  // namespace sibyl::test
