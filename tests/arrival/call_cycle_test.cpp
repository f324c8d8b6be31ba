// Whose turn it is among the lines that a program makes equal calls from: found where they repeat,
// and never said where they do not.
#include "arrival/call_cycle.hpp"

#include <gtest/gtest.h>

#include <string_view>

namespace sibyl {
namespace {

// Notes the calls that a text stands for, over and over, from a number on: a digit is the line of a
// call of kind 0, a letter a call of another kind, a dot one that nobody noted.
std::int64_t note(CallCycle& cycle, std::string_view loop, int times, std::int64_t call = 0) {
  for (int i = 0; i < times; ++i) {
    for (const char what : loop) {
      ++call;
      if (what == '.') continue;
      const bool is_line = what >= '0' && what <= '9';
      cycle.note(call, is_line ? 0 : 1, is_line ? what - '0' : 1);
    }
  }
  return call;
}

// What is foretold of the next calls is what the loop goes on with.
void expect_foretold(const CallCycle& cycle, std::string_view loop, std::int64_t call) {
  const CallTurns turns = cycle.turns(0, call);
  ASSERT_GT(turns.period, 0) << loop;
  for (std::size_t i = 0; i < 3 * loop.size(); ++i) {
    const char what = loop[i % loop.size()];
    if (what < '0' || what > '9') continue;
    EXPECT_EQ(turns.line_of(call + 1 + static_cast<std::int64_t>(i)), what - '0') << loop << i;
  }
}

TEST(CallCycle, ForetellsTheLinesOfLoops) {
  for (const std::string_view loop :
       {"12", "1112", "1a2", "12341", "aaa1b2", "11121112111211121112111211121113", "1.2"}) {
    CallCycle cycle;
    expect_foretold(cycle, loop, note(cycle, loop, 8));
  }
}

TEST(CallCycle, BelievesThePeriodOfLate) {
  CallCycle cycle;
  const std::int64_t before = note(cycle, "112", 5);
  expect_foretold(cycle, "21", note(cycle, "21", 6, before));
}

TEST(CallCycle, SaysNothingWithoutAPeriod) {
  CallCycle cycle;
  // By the digits of a number that has no period.
  const std::int64_t call = note(cycle,
                                 "12211211221121121221212112121221122122112112212122112112122122112"
                                 "1221221121121221121122122112122",
                                 1);
  EXPECT_EQ(cycle.turns(0, call), CallTurns{});
  EXPECT_EQ(cycle.turns(0, call).line_of(call + 1), 0);
}

TEST(CallCycle, SaysNothingBeforeItHasSeenEnough) {
  CallCycle cycle;
  EXPECT_EQ(cycle.turns(0, note(cycle, "12", 3)), CallTurns{});
}

TEST(CallCycle, ALineThatIsNotKnownIsNoLine) {
  CallCycle cycle;
  const std::int64_t call = note(cycle, "102", 8);
  const CallTurns turns = cycle.turns(0, call);
  EXPECT_EQ(turns.period, 3);
  EXPECT_EQ(turns.line_of(call + 2), 0);
}

}  // namespace
}  // namespace sibyl
