// SIBYL_Gatherv whose large subtrees are sent in several messages: that they are, that every block
// comes to its place, and that long ones of them do.
#include "planners/gather_parts.hpp"

#include <algorithm>

#include "collectives/blocking/irregular_blocks.hpp"

namespace sibyl::test {
namespace {

class GatherPartsOverMpi : public IrregularBlocksOverMpi {
 protected:
  // Equal blocks of so many elements, from just above which on blocks would go direct.
  void gather(Served& served, int elements, const Layout& layout, int root) {
    int bytes = 0;
    MPI_Type_size(layout.type, &bytes);
    bytes *= elements;
    settings(served, find_algorithm(Collective::gatherv, "ordered-tree"),
             static_cast<std::uint32_t>(bytes) + 1, 1);
    ScatteredBlocks blocks;
    for (int rank = 0; rank < size_of(); ++rank) {
      blocks.counts.push_back(elements);
      blocks.places.push_back(rank * elements);
    }
    blocks.elements = size_of() * elements;
    check(blocks, layout, layout, root, false, run_seed() + 7, served.get());
    expect_messages(served, static_cast<std::uint64_t>(bytes), root);
  }

  // What this rank has sent its parent without waiting for it.
  void expect_messages(Served& served, std::uint64_t bytes, int root) {
    if (rank_in() == root) return;
    const NodeOrder order = served.state().programs.node_order();
    const std::vector<std::uint64_t> sizes(static_cast<std::size_t>(size_of()), bytes);
    const auto nodes = ordered_nodes(sizes, order.place_of(root), order);
    const Rank place = order.place_of(rank_in());
    const OrderedNode& node = nodes[static_cast<std::size_t>(place)];
    const GatherMessages messages(
        size_of(),
        [&](Rank at) -> const OrderedNode& { return nodes[static_cast<std::size_t>(at)]; },
        {bytes + 1, JoinOrder(order).within()});
    const std::size_t sent = messages.of(place, {node.first, node.first + node.count}).size();
    EXPECT_EQ(served.state().irregular_room.requests.size(), sent == 1 ? 0 : sent);
  }
};

TEST_P(GatherPartsOverMpi, BringEveryBlockToItsPlace) {
  SIBYL_TRACE_SEED();
  Random random(run_seed() + 22);
  const Layouts layouts;
  Served served(GetParam(), nullptr);
  served.state().set_placement({.ranks_per_node = 1});
  // From 1000 elements on a message of two blocks is longer than what the root copies. Of one
  // layout the elements of the root's buffer overlap from 32768 on.
  for (const int elements : {1, 20, 1000, 32768 / std::max(size_of(), 11)}) {
    for (const int root : {0, size_of() / 2, size_of() - 1}) {
      SCOPED_TRACE(std::to_string(elements) + " elements, root " + std::to_string(root));
      gather(served, elements, pick(random, 2) == 0 ? layouts.all().front() : layouts.any(random),
             root);
      if (HasFatalFailure()) return;
    }
  }
}

// On eight ranks, of which the fifth has a block and its neighbour's before the other two come.
TEST_P(GatherPartsOverMpi, AreSeveral) {
  if (size_of() < 8) return;
  const Layouts layouts;
  Served served(GetParam(), nullptr);
  served.state().set_placement({.ranks_per_node = 1});
  gather(served, 100, layouts.all().front(), 0);
  if (rank_in() == 4) {
    EXPECT_EQ(served.state().irregular_room.requests.size(), 2U);
  }
}

INSTANTIATE_TEST_SUITE_P(Blocking, GatherPartsOverMpi, testing::Values(Collective::gatherv),
                         [](const auto& info) { return std::string(name_of(info.param)); });

}  // namespace
}  // namespace sibyl::test
