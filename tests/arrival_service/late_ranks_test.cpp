// Learning who is late from records: what ranks decide is the same everywhere, follows who is late
// and what it brings, and nobody is told anything where nobody is late.
#include "arrival_service/late_ranks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

namespace sibyl::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr Rank learning_ranks = 6;
constexpr std::uint64_t site_bytes = 1000;
constexpr double late_from = 0.01;

// All ranks of a communicator in one process, whose calls take as long as a test says.
class LearningRanks {
 public:
  LearningRanks() : LearningRanks({0, 0, 0, 0, 1, 1}) { of_nodes_ = false; }
  // That learn which nodes are late.
  explicit LearningRanks(const std::vector<Rank>& nodes) {
    for (Rank r = 0; r < learning_ranks; ++r) each_.emplace_back(r, nodes, clock_);
  }

  // One call: rank r comes `lateness(r)` after `now_`, and all leave together, `flat` after the
  // last arrival or, where they follow a view, `known`.
  void call(const std::function<milliseconds(Rank)>& lateness, milliseconds flat,
            milliseconds known, std::int64_t place = 0) {
    std::vector<LateRanks::Call> calls;
    LateRanks::Time last = now_;
    Piggyback all;
    for (Rank r = 0; r < learning_ranks; ++r) {
      const LateRanks::Time arrival = now_ + lateness(r);
      last = std::max(last, arrival);
      calls.push_back(
          each_[static_cast<std::size_t>(r)].enter(site_bytes, late_from, arrival, of_nodes_));
      if (calls.back().carries) all.merge(calls.back().record);
      EXPECT_EQ(calls.back().carries, calls.front().carries);
      EXPECT_EQ(calls.back().view == nullptr, calls.front().view == nullptr);
      EXPECT_EQ(calls.back().line, calls.front().line);
    }
    view = calls.front().view;
    if (calls.front().carries) all.place = place;  // as rank 0's own record says
    followed = calls.front().view != nullptr;
    carried = calls.front().carries;
    now_ = last + (followed ? known : flat);
    for (Rank r = 0; r < learning_ranks; ++r) {
      LateRanks::Call& own = calls[static_cast<std::size_t>(r)];
      if (own.carries) own.record = all;
      each_[static_cast<std::size_t>(r)].leave(own, now_);
    }
    now_ += milliseconds(5);
  }
  void call_late(Rank late, int times, milliseconds known = milliseconds(10),
                 std::int64_t place = 0) {
    for (int i = 0; i < times; ++i) {
      call([late](Rank r) { return milliseconds(r == late ? 30 : 0); }, milliseconds(20), known,
           place);
    }
  }
  // One call that the MPI library serves.
  void pass() {
    for (LateRanks& one : each_) one.pass(site_bytes);
  }
  // Whom the last call was planned for as the latest; nobody: -1.
  Rank planned_for() const { return view == nullptr ? -1 : view->order.back(); }

  // The view that is in force, the same at all ranks; milliseconds.
  std::vector<long> times() {
    const SharedView next = each_.front().known(site_bytes)->next_view();
    for (const LateRanks& one : each_) {
      const LateRanks::Site* site = one.known(site_bytes);
      const SharedView& own = site->next_view();
      EXPECT_EQ(own == nullptr, next == nullptr);
      if (next != nullptr && own != nullptr) {
        EXPECT_EQ(own->times, next->times);
      }
    }
    std::vector<long> rounded;
    if (next == nullptr) return rounded;
    for (const double time : next->times) rounded.push_back(std::lround(time * 1e3));
    return rounded;
  }

  bool followed = false;
  bool carried = false;
  SharedView view;  // by which the last call was planned

 private:
  bool of_nodes_ = true;
  CommonClock clock_;
  std::vector<LateRanks> each_;
  LateRanks::Time now_ = LateRanks::Time(nanoseconds(1'000'000'000));
};

TEST(LateRanks, FollowWhoIsLateAfterThreeRecords) {
  LearningRanks all;
  all.call_late(4, 2);
  EXPECT_TRUE(all.times().empty());
  all.call_late(4, 1);
  EXPECT_EQ(all.times(), (std::vector<long>{0, 0, 0, 0, 30, 0}));
  EXPECT_FALSE(all.followed);
  all.call_late(4, 1);
  EXPECT_TRUE(all.followed);
}

TEST(LateRanks, FollowAnotherOneSoonAfterItIsLate) {
  LearningRanks all;
  all.call_late(4, 6);
  all.call_late(1, 1);
  EXPECT_FALSE(all.times().empty());
  all.call_late(1, 1);
  EXPECT_TRUE(all.times().empty());
  all.call_late(1, 1);
  EXPECT_EQ(all.times(), (std::vector<long>{0, 30, 0, 0, 0, 0}));
}

TEST(LateRanks, AreSeveral) {
  LearningRanks all;
  for (int i = 0; i < 3; ++i) {
    all.call([](Rank r) { return milliseconds(r == 1   ? 20
                                              : r == 5 ? 40
                                                       : r); }, milliseconds(20),
             milliseconds(10));
  }
  EXPECT_EQ(all.times(), (std::vector<long>{0, 20, 0, 0, 0, 40}));
}

// A node is late whichever of its ranks comes last, and whichever of them is late at all.
TEST(LateRanks, AreThoseOfANodeTogether) {
  for (const auto& [nodes, expected] :
       {std::pair{std::vector<Rank>{0, 0, 1, 1, 2, 2}, std::vector<long>{0, 0, 31, 31, 0, 0}},
        std::pair{std::vector<Rank>{0, 1, 2, 2, 1, 0}, std::vector<long>{0, 0, 31, 31, 0, 0}},
        std::pair{std::vector<Rank>{0, 1, 1, 1, 0, 0}, std::vector<long>{0, 31, 31, 31, 0, 0}}}) {
    LearningRanks all(nodes);
    for (int i = 0; i < 6; ++i) {
      all.call(
          [i](Rank r) {
            if (r != 2 && r != 3) return milliseconds(0);
            return milliseconds(r == 2 + i % 2 ? 31 : i < 3 ? 0 : 15);
          },
          milliseconds(20), milliseconds(10));
    }
    EXPECT_EQ(all.times(), expected);
  }
}

// As many ranks as a record has places for are late on one node, and one is on another.
TEST(LateRanks, OfALargeNodeLeaveRoomForOthers) {
  LearningRanks all({0, 0, 0, 0, 0, 1});
  for (int i = 0; i < 3; ++i) {
    all.call([](Rank r) { return milliseconds(r == 5 ? 20 : 40 - r); }, milliseconds(20),
             milliseconds(10));
  }
  EXPECT_EQ(all.times(), (std::vector<long>{20, 20, 20, 20, 20, 0}));
}

TEST(LateRanks, AreNobodyWhereAllCome) {
  LearningRanks all;
  int carried = 0;
  for (int i = 0; i < 1000; ++i) {
    all.call([i](Rank r) { return milliseconds((i + r) % 9); }, milliseconds(20), milliseconds(10));
    carried += all.carried ? 1 : 0;
  }
  EXPECT_TRUE(all.times().empty());
  EXPECT_GT(carried, 10);
  EXPECT_LT(carried, 40);  // rarely
  all.call_late(2, 3 * 64);
  EXPECT_FALSE(all.times().empty());
}

TEST(LateRanks, AreNobodyWhereTheyChange) {
  LearningRanks all;
  for (int i = 0; i < 100; ++i) {
    all.call([i](Rank r) { return milliseconds(r == i % learning_ranks ? 30 : 0); },
             milliseconds(20), milliseconds(10));
    EXPECT_FALSE(all.followed);
  }
}

// Two lines in turns, with another late rank at each: none is late three times in a row.
TEST(LateRanks, OfTwoLinesAreToldApart) {
  LearningRanks all;
  for (int i = 0; i < 12; ++i) {
    all.call_late(1, 1, milliseconds(10), 1001);
    all.call_late(4, 1, milliseconds(10), 1002);
  }
  int known = 0;
  for (int i = 0; i < 40; ++i) {
    const bool first = i % 2 == 0;
    all.call_late(first ? 1 : 4, 1, milliseconds(10), first ? 1001 : 1002);
    if (all.followed) {
      EXPECT_EQ(all.planned_for(), first ? 1 : 4) << i;
      ++known;
    }
  }
  EXPECT_GT(known, 35);  // all but trials
}

TEST(LateRanks, OfALineWhereNobodyIsLateAreNobody) {
  LearningRanks all;
  for (int i = 0; i < 60; ++i) {
    const bool first = i % 3 == 0;
    all.call_late(first ? 2 : -1, 1, milliseconds(10), first ? 1 : 2);
    if (i > 20) {
      EXPECT_TRUE(all.planned_for() == (first ? 2 : -1) || (first && !all.followed)) << i;
    }
  }
}

// Lines take turns by the number of the call, and the library's calls are among them.
TEST(LateRanks, OfLinesAreRightBehindCallsOfTheLibrary) {
  LearningRanks all;
  int known = 0;
  for (int i = 0; i < 200; ++i) {
    const bool first = i % 2 == 0;
    if (i % 7 == 3) {
      all.pass();
      continue;
    }
    all.call_late(first ? 1 : 4, 1, milliseconds(10), first ? 1001 : 1002);
    if (i > 40 && all.followed) {
      EXPECT_EQ(all.planned_for(), first ? 1 : 4) << i;
      ++known;
    }
  }
  EXPECT_GT(known, 120);
}

// A program that leaves its loop is followed wrongly for a while, on all ranks alike, and then
// again rightly.
TEST(LateRanks, OfLinesAreFoundAgainWhereTurnsChange) {
  LearningRanks all;
  const auto turn = [&](bool first) {
    all.call_late(first ? 1 : 4, 1, milliseconds(10), first ? 1001 : 1002);
    return !all.followed || all.planned_for() == (first ? 1 : 4);
  };
  for (int i = 0; i < 40; ++i) turn(i % 2 == 0);
  turn(true);  // once more: all numbers are others from here on
  int right = 0;
  for (int i = 0; i < 60; ++i) {
    const bool was_right = turn(i % 3 == 0);
    right += i >= 20 && was_right && all.followed ? 1 : 0;
  }
  EXPECT_GT(right, 35);
}

// More lines than are told apart are one, and the others are not lost.
TEST(LateRanks, OfManyLinesAreNotMixedUp) {
  LearningRanks all;
  for (int i = 0; i < 240; ++i) {
    const int line = i % 6;
    all.call_late(line, 1, milliseconds(10), 1 + line);
    if (i > 60 && all.followed && line < most_call_lines) {
      EXPECT_EQ(all.planned_for(), line) << i;
    }
  }
}

// Two lines take turns, two more are seen, and then all calls come from a fifth.
TEST(LateRanks, OfALineBeyondThoseToldApartEndTheirTurns) {
  LearningRanks all;
  for (int i = 0; i < 40; ++i) {
    const bool first = i % 2 == 0;
    all.call_late(first ? 1 : 4, 1, milliseconds(10), first ? 1001 : 1002);
  }
  all.call_late(-1, 1, milliseconds(10), 1003);
  all.call_late(-1, 1, milliseconds(10), 1004);
  int right = 0;
  for (int i = 0; i < 40; ++i) {
    all.call_late(2, 1, milliseconds(10), 1005);
    right += i >= 20 && all.followed && all.planned_for() == 2 ? 1 : 0;
  }
  EXPECT_GT(right, 15);
}

// Of six lines the four that are told apart wait for nobody; of the others one is late.
TEST(LateRanks, OfLinesBeyondThoseToldApartAreLearntSoon) {
  LearningRanks all;
  int carried = 0;
  for (int i = 0; i < 600; ++i) {
    const int line = i % 6;
    all.call_late(line == 5 ? 2 : -1, 1, milliseconds(10), 1 + line);
    carried += i >= 300 && all.carried ? 1 : 0;
  }
  EXPECT_GT(carried, 250);
}

TEST(LateRanks, AreNotFollowedWhereThatDoesNotPay) {
  LearningRanks all;
  int followed = 0;
  for (int i = 0; i < 400; ++i) {
    all.call_late(3, 1, milliseconds(20));
    followed += all.followed ? 1 : 0;
  }
  EXPECT_GT(followed, 8);  // it is tried again
  EXPECT_LT(followed, 40);
}

TEST(LateRanks, HaveTrialsWhileTheyAreFollowed) {
  LearningRanks all;
  all.call_late(3, 4);
  int trials = 0;
  for (int i = 0; i < 640; ++i) {
    all.call_late(3, 1);
    trials += all.followed ? 0 : 1;
  }
  EXPECT_GT(trials, 8);
  EXPECT_LT(trials, 40);
}

TEST(LateRanks, KeepSitesApart) {
  CommonClock clock;
  LateRanks one(0, {0}, clock);
  const LateRanks::Time now(nanoseconds(1));
  for (std::uint64_t size = 0; size < LateRanks::most_sites; ++size) {
    EXPECT_NE(one.enter(size, late_from, now).site, nullptr);
  }
  EXPECT_EQ(one.enter(100, late_from, now).site, nullptr);
  EXPECT_FALSE(one.enter(100, late_from, now).carries);
  EXPECT_EQ(one.known(3)->made, 1);
  EXPECT_EQ(one.known(100), nullptr);
}

}  // namespace
}  // namespace sibyl::test
