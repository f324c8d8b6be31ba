// What the irregular gather paper leaves open, simulated: subtrees that send direct once they hold
// so much (graceful degradation), trees for several ports, and reductions of sparse vectors along
// the trees. Each is held against the ordered tree that Sibyl runs; docs/how-to/irregular.md has
// the figures, which are printed by
//
//   SIBYL_PRINT=1 build/release/bin/test_simulator --gtest_filter='TreeVariants*'
#include "tree_variants.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "sibyl/schedule.hpp"
#include "sibyl/simulator.hpp"

namespace sibyl::tree_variants {
namespace {

// Seconds until the root has everything: each rank sends so many bytes once all its children's are
// there.
double took(const Tree& tree, const Sizes& bytes, const SimulationOptions& options) {
  Plan plan;
  plan.header.collective = Collective::gather;
  plan.header.algorithm = "by hand";
  plan.header.ranks = static_cast<Rank>(bytes.size());
  plan.header.partition = Partition::blocks;
  plan.header.rounds = 1 << 14;
  plan.programs.resize(bytes.size());
  const auto children = children_of(tree);
  for (std::size_t r = 0; r < bytes.size(); ++r) {
    ProgramBuilder build(plan.programs[r]);
    std::vector<StepIndex> came;
    for (const Rank child : children[r]) {
      came.push_back(build.receive(child,
                                   ProgramBuilder::slice(Buffer::receive, static_cast<Unit>(child)),
                                   tree.round[static_cast<std::size_t>(child)]));
    }
    if (tree.parent[r] == no_rank) continue;
    build.send(tree.parent[r], ProgramBuilder::slice(Buffer::send, static_cast<Unit>(r)),
               tree.round[r], Gate::on_arrival, came);
  }
  DataSizes sizes;
  sizes.block_bytes = bytes;
  const SimulationResult result = simulate(plan, sizes, options);
  EXPECT_EQ(result.problem, "");
  return result.run_time;
}

double gather_time(const Tree& tree, const Sizes& sizes, const SimulationOptions& options) {
  return took(tree, gathered(tree, sizes), options);
}

struct Machine {
  std::string name;
  Rank ranks;
  Rank per_node;
  SimulationOptions options;
};

Machine infiniband() {
  Machine machine{"35 nodes of 16 ranks, 1.9 us, 2.9 GB/s", 560, 16, {}};
  machine.options.network.hockney = {1.9e-6, 1 / 2.9e9};
  machine.options.network.inside = {0.5e-6, 1 / 4e9};
  machine.options.network.ranks_per_node = 16;
  return machine;
}

Machine ethernet() {
  Machine machine{"48 ranks, 25 us, 1 Gbit/s", 48, 1, {}};
  machine.options.network.hockney = {25e-6, 8e-9};
  return machine;
}

bool prints() { return std::getenv("SIBYL_PRINT") != nullptr; }

// One problem, the tree as it is, and how long that takes.
struct TreeCase {
  const Machine& machine;
  std::string problem;
  std::uint64_t block;
  const Sizes& sizes;
  const Tree& tree;
  double plain;

  void print(const char* what, const std::vector<double>& ratios) const {
    if (!prints()) return;
    std::printf("%s | %s | %s | %lu | %.1f us", what, machine.name.c_str(), problem.c_str(),
                static_cast<unsigned long>(block), 1e6 * plain);
    for (const double ratio : ratios) std::printf(" | %.2f", ratio);
    std::printf("\n");
  }
};

void each_case(const std::vector<Machine>& machines,
               const std::function<void(const TreeCase&)>& visit) {
  for (const Machine& machine : machines) {
    for (const std::string problem : problems) {
      for (const std::uint64_t block : {1, 10, 100, 1000}) {  // larger ones go direct
        const Sizes sizes = blocks_of(problem, machine.ranks, block);
        const Tree tree = ordered(sizes, machine.ranks / 2, machine.per_node);
        visit({machine, problem, block, sizes, tree, gather_time(tree, sizes, machine.options)});
      }
    }
  }
}

// A threshold that is worth anything to one problem costs others more: only subtrees of 256 KiB may
// go direct without harm, and then one problem of four gains, where the root lies among small
// blocks.
TEST(TreeVariants, SubtreesThatSendDirect) {
  each_case({infiniband(), ethernet()}, [](const TreeCase& now) {
    std::vector<double> ratios;
    for (const std::uint64_t from : {1UL << 12, 1UL << 14, 1UL << 16, 1UL << 18}) {
      const Tree other = degraded(now.tree, now.sizes, from);
      ratios.push_back(gather_time(other, now.sizes, now.machine.options) / now.plain);
    }
    now.print("subtrees from 4, 16, 64, 256 KiB direct", ratios);
    EXPECT_LT(ratios[3], 1.01) << now.machine.name << " " << now.problem << " " << now.block;
    if (now.block != 1000) return;
    if (now.problem == "same") {
      EXPECT_GT(ratios[0], 1.2);
    }
    if (now.machine.per_node > 1 && now.problem == "decreasing") {
      EXPECT_LT(ratios[3], 0.8);
    }
    if (now.machine.per_node > 1 && now.problem != "decreasing") {
      EXPECT_GT(ratios[3], 0.99);
    }
  });
}

// Three to sixteen cubes that join at once. With one port they take longer, but where gather trees
// mind the root anyway; where only an overhead of 0.4 of 1.9 us keeps a port, four at once take
// less for blocks of a few bytes, and nothing less for others.
TEST(TreeVariants, SeveralPorts) {
  Machine overlapped = infiniband();
  overlapped.name += ", latencies overlap";
  overlapped.options.network.kind = NetworkKind::loggp;
  overlapped.options.network.loggp = {1.1e-6, 0.4e-6, 0.4e-6, 1 / 2.9e9};
  each_case({infiniband(), ethernet(), overlapped}, [](const TreeCase& now) {
    std::vector<double> ratios;
    for (const int radix : {3, 4, 8, 16}) {
      const Tree other = joined_by(radix, now.sizes, now.tree.root);
      ratios.push_back(gather_time(other, now.sizes, now.machine.options) / now.plain);
    }
    now.print("3, 4, 8, 16 cubes at once", ratios);
    const bool one_port = now.machine.options.network.kind == NetworkKind::hockney;
    if (one_port && now.block <= 10) {
      EXPECT_GT(std::ranges::min(ratios), 1.05);
    }
    if (now.block >= 100 && now.problem == "same") {
      EXPECT_GT(std::ranges::min(ratios), 0.99);
    }
  });
}

// Ranks have sparse vectors: so many of 2^20 places, 8 bytes each with its index. What goes up is
// the union of what has come. The tree that minds how much each has beside the one that does not.
TEST(TreeVariants, SparseReductions) {
  const Machine machine = ethernet();
  for (const std::string problem : problems) {
    for (const bool shared : {false, true}) {  // all may lie anywhere, or near the first ones
      const SparseVectors have = sparse_vectors(problem, machine.ranks, shared);
      Sizes sizes;
      for (const auto& places : have) sizes.push_back(8 * places.size());
      const auto reduced = [&](const Tree& tree) {
        auto merged = have;
        Sizes bytes(sizes.size(), 0);
        for (const Rank rank : upwards(tree)) {
          const auto r = static_cast<std::size_t>(rank);
          bytes[r] = 8 * merged[r].size();
          if (tree.parent[r] == no_rank) continue;
          auto& into = merged[static_cast<std::size_t>(tree.parent[r])];
          std::vector<std::uint32_t> both;
          std::ranges::set_union(into, merged[r], std::back_inserter(both));
          into = both;
        }
        return took(tree, bytes, machine.options);
      };
      const Rank root = machine.ranks / 2;
      const double mindful = reduced(ordered(sizes, root, 1));
      const double oblivious = reduced(ordered(Sizes(sizes.size(), 1), root, 1));
      if (prints()) {
        std::printf("sparse reduce | %s | %s | %.2f ms | %.2f ms | %.2f\n", problem.c_str(),
                    shared ? "places shared" : "places apart", 1e3 * mindful, 1e3 * oblivious,
                    mindful / oblivious);
      }
      EXPECT_LT(mindful, 1.01 * oblivious) << problem << shared;
      if (problem == "spikes") {
        EXPECT_LT(mindful, 0.8 * oblivious);
      }
    }
  }
}

}  // namespace
}  // namespace sibyl::tree_variants
