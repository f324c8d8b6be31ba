// The tree shapes against their definitions, taken literally and by brute force.
#include "planners/tree_shapes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "planners/ceil_log2.hpp"

namespace sibyl {
namespace {

constexpr Rank most_places = 70;

// The definitions of parent and subtree, with no arithmetic shared with the code under test.
Rank defined_parent(TreeShape shape, Rank place) {
  Rank bit = 1;
  if (shape == TreeShape::contiguous) {
    while ((place & bit) == 0) bit *= 2;
  } else {
    while (bit * 2 <= place) bit *= 2;
  }
  return place - bit;
}

std::set<Rank> defined_subtree(TreeShape shape, Rank top, Rank places) {
  std::set<Rank> subtree;
  for (Rank place = 0; place < places; ++place) {
    Rank ancestor = place;
    while (ancestor != top && ancestor != 0) ancestor = defined_parent(shape, ancestor);
    if (ancestor == top) subtree.insert(place);
  }
  return subtree;
}

class TreeShapes : public testing::TestWithParam<TreeShape> {};

TEST_P(TreeShapes, ParentIsThePlaceWithoutTheBitThatTheShapeNames) {
  for (Rank places = 1; places <= most_places; ++places) {
    EXPECT_EQ(tree_node(GetParam(), 0, places).parent, no_rank);
    for (Rank place = 1; place < places; ++place) {
      EXPECT_EQ(tree_node(GetParam(), place, places).parent, defined_parent(GetParam(), place));
    }
  }
}

TEST_P(TreeShapes, ChildrenAreThePlacesThatHaveThisOneAsParent) {
  for (Rank places = 1; places <= most_places; ++places) {
    for (Rank place = 0; place < places; ++place) {
      const TreeNode node = tree_node(GetParam(), place, places);
      std::set<Rank> children;
      for (const TreeChild& child : node.children()) children.insert(child.place);
      std::set<Rank> expected;
      for (Rank other = 1; other < places; ++other) {
        if (defined_parent(GetParam(), other) == place) expected.insert(other);
      }
      EXPECT_EQ(children, expected);
      EXPECT_EQ(children.size(), node.child_count);
    }
  }
}

TEST_P(TreeShapes, BothEndsOfAnEdgeGiveItTheSameStepAndSize) {
  for (Rank places = 1; places <= most_places; ++places) {
    for (Rank place = 0; place < places; ++place) {
      const TreeNode node = tree_node(GetParam(), place, places);
      for (const TreeChild& child : node.children()) {
        const TreeNode below = tree_node(GetParam(), child.place, places);
        EXPECT_EQ(below.step, child.step);
        EXPECT_EQ(below.size, child.size);
        EXPECT_LT(child.step, tree_steps(places));
      }
    }
  }
}

TEST_P(TreeShapes, AParentIsReachedBeforeItsChildrenAndServesOneAStep) {
  for (Rank places = 1; places <= most_places; ++places) {
    for (Rank place = 0; place < places; ++place) {
      const TreeNode node = tree_node(GetParam(), place, places);
      std::int64_t previous = place == 0 ? -1 : std::int64_t{node.step};
      for (const TreeChild& child : node.children()) {
        EXPECT_GT(child.step, previous);
        previous = child.step;
      }
    }
  }
}

TEST_P(TreeShapes, EverySubtreeIsOneRunOfItsParentsMessage) {
  for (Rank places = 1; places <= most_places; ++places) {
    for (Rank place = 0; place < places; ++place) {
      const std::vector<Rank> order = message_order(GetParam(), place, places);
      const std::set<Rank> subtree = defined_subtree(GetParam(), place, places);
      EXPECT_EQ(std::set<Rank>(order.begin(), order.end()), subtree);
      EXPECT_EQ(order.size(), subtree.size());
      EXPECT_EQ(order.front(), place);
      const TreeNode node = tree_node(GetParam(), place, places);
      for (const TreeChild& child : node.children()) {
        const std::vector<Rank> below = message_order(GetParam(), child.place, places);
        ASSERT_LE(static_cast<std::size_t>(child.offset) + below.size(), order.size());
        EXPECT_TRUE(std::equal(below.begin(), below.end(), order.begin() + child.offset));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Both, TreeShapes,
                         testing::Values(TreeShape::contiguous, TreeShape::arrival),
                         [](const auto& shape) {
                           return shape.param == TreeShape::contiguous ? "contiguous" : "arrival";
                         });

TEST(ContiguousTree, MessageOrderIsTheOrderOfThePlaces) {
  for (Rank places = 1; places <= most_places; ++places) {
    for (Rank place = 0; place < places; ++place) {
      const std::vector<Rank> order = message_order(TreeShape::contiguous, place, places);
      for (std::size_t i = 0; i < order.size(); ++i) {
        EXPECT_EQ(order[i], place + static_cast<Rank>(i));
      }
    }
  }
}

TEST(ArrivalTree, SubtreeIsThePlacesCongruentModuloTwiceTheHighestBit) {
  for (Rank places = 2; places <= most_places; ++places) {
    for (Rank place = 1; place < places; ++place) {
      Rank modulus = 2;
      while (modulus <= place) modulus *= 2;
      std::vector<Rank> congruent;
      for (Rank other = place; other < places; other += modulus) congruent.push_back(other);
      std::vector<Rank> order = message_order(TreeShape::arrival, place, places);
      std::sort(order.begin(), order.end());
      EXPECT_EQ(order, congruent);
    }
  }
}

TEST(ArrivalTree, StepOfAPlaceIsTheNumberOfItsHighestBit) {
  for (Rank place = 1; place < 64; ++place) {
    std::uint32_t highest = 0;
    while ((place >> (highest + 1)) != 0) ++highest;
    EXPECT_EQ(tree_node(TreeShape::arrival, place, 64).step, highest);
  }
}

TEST(TreeShapesAtTheLimit, TheLargestNumberOfPlacesDoesNotOverflow) {
  constexpr Rank all = 2147483647;
  for (const TreeShape shape : {TreeShape::contiguous, TreeShape::arrival}) {
    EXPECT_EQ(tree_node(shape, 0, all).size, all);
    EXPECT_EQ(tree_node(shape, 0, all).child_count, 31U);
    EXPECT_EQ(tree_node(shape, all - 1, all).size, 1);
  }
}

TEST(CeilLog2, IsTheSmallestExponentThatReaches) {
  for (std::uint64_t n = 1; n < 5000; ++n) {
    std::uint32_t k = 0;
    for (std::uint64_t power = 1; power < n; power *= 2) ++k;
    EXPECT_EQ(ceil_log2(n), k);
  }
}

}  // namespace
}  // namespace sibyl
