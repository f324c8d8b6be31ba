// How much memory gatherv and scatterv hold for messages: inner ranks that of their subtree, the
// root a constant amount whatever its blocks, and none of them what an earlier call needed.
#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>

#include "collectives/harness.hpp"

namespace sibyl::test {
namespace {

// The problems of the paper: elements of each rank with b on average.
std::vector<int> problem(int number, int ranks, int b, Random& random) {
  std::vector<int> counts;
  for (int i = 0; i < ranks; ++i) {
    const int large = pick(random, 5) == 0 ? 5 * b : 1;
    const int any = static_cast<int>(pick(random, 2 * static_cast<std::uint64_t>(b))) + 1;
    const std::array<int, 6> choice{b,
                                    any,
                                    large,
                                    2 * b * (ranks - i) / ranks + 1,
                                    i % 2 == 0 ? b + b / 2 : b - b / 2,
                                    i == 0 || i + 1 == ranks ? b : 0};
    counts.push_back(choice[static_cast<std::size_t>(number)]);
  }
  return counts;
}
constexpr int problems = 6;

// Smaller messages are put together by copying (executor/tree/tree_message.hpp).
constexpr std::size_t copied_up_to = 16384;
// Messages that a root which sends each rank its own has in memory at a time.
constexpr std::size_t flat_messages = 8;

class IrregularMemory : public testing::TestWithParam<Collective> {
 protected:
  bool up() const { return gathers(GetParam()); }

  void settings(Served& served, const char* algorithm, std::uint32_t direct_from) {
    Settings now = forced(GetParam(), find_algorithm(GetParam(), algorithm));
    now.direct_from = direct_from;
    now.construct_every = 1;
    served.state().replace_settings(now);
  }

  void call(const std::vector<int>& counts, int root, MPI_Comm comm) {
    std::vector<int> places(counts.size());
    std::exclusive_scan(counts.begin(), counts.end(), places.begin(), 0);
    const int total = places.back() + counts.back();
    const auto own = static_cast<std::size_t>(rank_in());
    std::vector<int> all(rank_in() == root ? static_cast<std::size_t>(total) : 0, 1);
    std::vector<int> mine(static_cast<std::size_t>(counts[own]), 1);
    ASSERT_EQ(up() ? SIBYL_Gatherv(mine.data(), counts[own], MPI_INT, all.data(), counts.data(),
                                   places.data(), MPI_INT, root, comm)
                   : SIBYL_Scatterv(all.data(), counts.data(), places.data(), MPI_INT, mine.data(),
                                    counts[own], MPI_INT, root, comm),
              MPI_SUCCESS);
  }

  // This rank's place in the tree of a call, with the bytes that go along it.
  OrderedNode node_of(const std::vector<int>& counts, int root, std::size_t direct_from,
                      Served& served) const {
    const NodeOrder order = served.state().programs.node_order();
    std::vector<std::uint64_t> sizes(counts.size());  // by place
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const std::size_t bytes = static_cast<std::size_t>(counts[i]) * sizeof(int);
      const bool along_the_tree = static_cast<int>(i) == root ? up() : bytes < direct_from;
      const auto place = static_cast<std::size_t>(order.place_of(static_cast<Rank>(i)));
      sizes[place] = along_the_tree ? bytes : 0;
    }
    return ordered_node(order.place_of(rank_in()), sizes, order.place_of(root), order);
  }

  // What messages say about themselves, in the tree and in the subtree's own.
  static std::size_t words_of(const OrderedNode& node) {
    const std::size_t ranks = static_cast<std::size_t>(node.count);
    return 4 * (2 * ranks + 3 * node.children.size() + 3);
  }

  std::size_t most(const OrderedNode& node, bool is_root, std::size_t direct_from) const {
    const std::size_t children = node.children.size();
    if (is_root) {
      const std::size_t message = std::min(copied_up_to, direct_from);
      return words_of(node) + (up() ? copied_up_to : flat_messages * message);
    }
    const std::size_t copies = up() ? copied_up_to : children * copied_up_to;
    return words_of(node) + node.total + std::min<std::size_t>(node.total, copies);
  }
};

TEST_P(IrregularMemory, IsThatOfTheSubtreeAndConstantAtTheRoot) {
  SIBYL_TRACE_SEED();
  Random random(run_seed() + 40);
  Served served(GetParam(), nullptr);
  for (int number = 0; number < problems; ++number) {
    for (const int b : {number % 2 == 0 ? 10 : 100, number % 2 == 0 ? 10000 : 1000}) {
      for (const std::uint32_t direct_from : {4096U, 1U << 30}) {
        const std::vector<int> counts = problem(number, size_of(), b, random);
        const int root = static_cast<int>(pick(random, static_cast<std::uint64_t>(size_of())));
        SCOPED_TRACE("problem " + std::to_string(number) + ", b = " + std::to_string(b) +
                     ", direct from " + std::to_string(direct_from) + ", root " +
                     std::to_string(root));
        served.state().irregular_room.make_parts(0);  // as on a new communicator
        served.state().irregular_room.packed.release();
        settings(served, "ordered-tree", direct_from);
        call(counts, root, served.get());
        const OrderedNode node = node_of(counts, root, direct_from, served);
        EXPECT_LE(served.state().irregular_room.scratch_bytes(),
                  most(node, rank_in() == root, direct_from));
      }
    }
  }
}

// Messages come in any order, which must not make their places grow.
TEST_P(IrregularMemory, DoesNotGrowFromCallToCall) {
  Random random(run_seed() + 43);
  Served served(GetParam(), nullptr);
  settings(served, "ordered-tree", 1U << 30);
  const std::vector<int> counts = problem(1, size_of(), 1000, random);
  for (int i = 0; i < 6; ++i) {
    call(counts, 0, served.get());
    const OrderedNode node = node_of(counts, 0, 1U << 30, served);
    EXPECT_LE(served.state().irregular_room.scratch_bytes(), most(node, rank_in() == 0, 1U << 30));
  }
}

TEST_P(IrregularMemory, OfALargeCallIsGivenBackByTheNextSmallOne) {
  Random random(run_seed() + 41);
  Served served(GetParam(), nullptr);
  settings(served, "ordered-tree", 1U << 30);
  const int root = size_of() / 2;
  call(problem(0, size_of(), 10000, random), root, served.get());
  const std::vector<int> small = problem(0, size_of(), 10, random);
  call(small, root, served.get());
  const OrderedNode node = node_of(small, root, 1U << 30, served);
  constexpr std::size_t kept_anyway = 4096;  // a message
  EXPECT_LE(served.state().irregular_room.scratch_bytes(),
            2 * (node.total * 2 + words_of(node)) + kept_anyway * (node.children.size() + 2));
}

TEST_P(IrregularMemory, IsNoneWhereBlocksGoStraightToTheirPlaces) {
  Random random(run_seed() + 42);
  Served served(GetParam(), nullptr);
  settings(served, "linear", 4096);
  for (const int b : {1, 1000, 100000}) {
    call(problem(1, size_of(), b, random), 0, served.get());
    EXPECT_EQ(served.state().irregular_room.scratch_bytes(), 0U);
    EXPECT_EQ(served.state().workspace.mirrors.size(), 0U);
    EXPECT_LE(served.state().workspace.frame.size(), 64U);
  }
}

INSTANTIATE_TEST_SUITE_P(BothWays, IrregularMemory,
                         testing::Values(Collective::gatherv, Collective::scatterv),
                         [](const auto& info) { return std::string(name_of(info.param)); });

}  // namespace
}  // namespace sibyl::test
