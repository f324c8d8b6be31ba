// Gather trees that the irregular gather paper leaves open, beside the ordered tree that Sibyl
// runs: subtrees that send direct once they hold so much (graceful degradation), and cubes of
// several ranks that join at once (for several ports). tree_variants.cpp runs them over MPI,
// tests/simulator/tree_variants_test.cpp in the simulator; docs/how-to/irregular.md has the
// figures.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "planners/node_order.hpp"
#include "planners/ordered_tree.hpp"
#include "sibyl/schedule.hpp"

namespace sibyl::tree_variants {

using Sizes = std::vector<std::uint64_t>;

// A gather tree: whom each rank sends to, and when.
struct Tree {
  Rank root = 0;
  std::vector<Rank> parent;
  std::vector<std::uint32_t> round;
};

// The children of each rank, in the order of their rounds.
inline std::vector<std::vector<Rank>> children_of(const Tree& tree) {
  std::vector<std::vector<Rank>> children(tree.parent.size());
  for (std::size_t r = 0; r < tree.parent.size(); ++r) {
    if (tree.parent[r] != no_rank) {
      children[static_cast<std::size_t>(tree.parent[r])].push_back(static_cast<Rank>(r));
    }
  }
  for (auto& list : children) {
    std::ranges::stable_sort(list, {},
                             [&](Rank r) { return tree.round[static_cast<std::size_t>(r)]; });
  }
  return children;
}

// Ranks with each child before its parent.
inline std::vector<Rank> upwards(const Tree& tree) {
  const auto children = children_of(tree);
  std::vector<Rank> order{tree.root};
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (const Rank child : children[static_cast<std::size_t>(order[i])]) order.push_back(child);
  }
  std::ranges::reverse(order);
  return order;
}

// What each rank sends where blocks are gathered.
inline Sizes gathered(const Tree& tree, const Sizes& sizes) {
  Sizes held = sizes;
  for (const Rank rank : upwards(tree)) {
    const auto r = static_cast<std::size_t>(rank);
    if (tree.parent[r] != no_rank) held[static_cast<std::size_t>(tree.parent[r])] += held[r];
  }
  return held;
}

inline Tree ordered(const Sizes& sizes, Rank root, Rank ranks_per_node) {
  const auto ranks = static_cast<Rank>(sizes.size());
  Tree tree{root, {}, {}};
  for (Rank rank = 0; rank < ranks; ++rank) {
    const OrderedNode node = ordered_node(rank, sizes, root, ranks_per_node);
    tree.parent.push_back(node.parent);
    tree.round.push_back(node.round);
  }
  return tree;
}

// Graceful degradation: who holds at least `from` bytes, his own and what came up to him, sends
// them to the root.
inline Tree degraded(Tree tree, const Sizes& sizes, std::uint64_t from) {
  Sizes held = sizes;
  std::uint32_t last = 0;
  for (const std::uint32_t round : tree.round) last = std::max(last, round + 1);
  for (const Rank rank : upwards(tree)) {
    const auto r = static_cast<std::size_t>(rank);
    if (tree.parent[r] == no_rank) continue;
    if (held[r] >= from && tree.parent[r] != tree.root) {
      tree.parent[r] = tree.root;
      tree.round[r] = last++;
    } else if (held[r] < from) {
      held[static_cast<std::size_t>(tree.parent[r])] += held[r];
    }
  }
  return tree;
}

// Cubes of `radix` neighbours join at once; of their gather roots the root stays, or the one whose
// gather takes longest.
inline Tree joined_by(int radix, const Sizes& sizes, Rank root) {
  struct Cube {
    Rank gather_root;
    std::uint64_t others;
    std::uint64_t own;
  };
  Tree tree{root, std::vector<Rank>(sizes.size(), no_rank),
            std::vector<std::uint32_t>(sizes.size())};
  std::vector<Cube> cubes;
  for (std::size_t r = 0; r < sizes.size(); ++r)
    cubes.push_back({static_cast<Rank>(r), 0, sizes[r]});
  for (std::uint32_t round = 0; cubes.size() > 1; ++round) {
    std::vector<Cube> next;
    for (std::size_t i = 0; i < cubes.size(); i += static_cast<std::size_t>(radix)) {
      const std::size_t end = std::min(cubes.size(), i + static_cast<std::size_t>(radix));
      std::size_t best = i;
      for (std::size_t j = i; j < end; ++j) {
        const bool stays = cubes[best].gather_root == root;
        if (cubes[j].gather_root == root || (!stays && cubes[j].others > cubes[best].others))
          best = j;
      }
      Cube cube = cubes[best];
      for (std::size_t j = i; j < end; ++j) {
        if (j == best) continue;
        const auto loser = static_cast<std::size_t>(cubes[j].gather_root);
        tree.parent[loser] = cube.gather_root;
        tree.round[loser] = round;
        cube.others += cubes[j].others + cubes[j].own;
      }
      next.push_back(cube);
    }
    cubes = next;
  }
  return tree;
}

inline constexpr std::array problems{"same", "random", "spikes", "decreasing"};

// In bytes; blocks of `block` integers on average, as the paper draws them.
inline Sizes blocks_of(const std::string& problem, Rank ranks, std::uint64_t block) {
  std::mt19937_64 draw(static_cast<std::uint64_t>(ranks) * 31 + block);
  Sizes sizes;
  for (Rank rank = 0; rank < ranks; ++rank) {
    const auto place = static_cast<std::uint64_t>(rank);
    const auto all = static_cast<std::uint64_t>(ranks);
    if (problem == "same") sizes.push_back(4 * block);
    if (problem == "random") sizes.push_back(4 * (1 + draw() % (2 * block)));
    if (problem == "spikes") sizes.push_back(4 * (draw() % 5 == 0 ? 5 * block : 1));
    if (problem == "decreasing") sizes.push_back(4 * (2 * block * (all - place) / all + 1));
  }
  return sizes;
}

// The places, in order, that each rank's sparse vector has: a thousand integers' worth of bytes a
// rank, anywhere in 2^20 or, `shared`, in the first 64th of them.
using SparseVectors = std::vector<std::vector<std::uint32_t>>;

inline SparseVectors sparse_vectors(const std::string& problem, Rank ranks, bool shared) {
  constexpr std::uint64_t places = 1 << 20;
  const std::uint64_t range = shared ? places / 64 : places;
  const Sizes counts = blocks_of(problem, ranks, 1000);
  std::mt19937_64 draw(7);
  SparseVectors have(counts.size());
  for (std::size_t r = 0; r < counts.size(); ++r) {
    for (std::uint64_t i = 0; i < counts[r] / 4; ++i) {
      have[r].push_back(static_cast<std::uint32_t>(draw() % range));
    }
    std::ranges::sort(have[r]);
    have[r].erase(std::ranges::unique(have[r]).begin(), have[r].end());
  }
  return have;
}

}  // namespace sibyl::tree_variants
