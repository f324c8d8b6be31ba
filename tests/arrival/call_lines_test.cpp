// Lines are numbered as they come, and take turns only where there are several.
#include "arrival/call_lines.hpp"

#include <gtest/gtest.h>

namespace sibyl::test {
namespace {

TEST(CallLines, AreNumberedAsTheyAreSeen) {
  CallLines lines;
  EXPECT_EQ(lines.note(1, 700), 1);
  EXPECT_EQ(lines.note(2, 0), 0);
  EXPECT_EQ(lines.note(3, -5), 2);
  EXPECT_EQ(lines.note(4, 700), 1);
}

TEST(CallLines, BeyondTheMostAreNone) {
  CallLines lines;
  for (int i = 1; i <= most_call_lines; ++i) EXPECT_EQ(lines.note(i, 10 * i), i);
  EXPECT_EQ(lines.note(5, 50), 0);
  EXPECT_EQ(lines.note(6, 10), 1);
}

TEST(CallLines, TakeNoTurnsAlone) {
  CallLines lines;
  for (int call = 1; call <= 20; ++call) lines.note(call, 700);
  EXPECT_FALSE(lines.several());
  EXPECT_EQ(lines.turns(20).period, 0);
}

TEST(CallLines, TakeTurns) {
  CallLines lines;
  for (int call = 1; call <= 20; ++call) lines.note(call, call % 2 == 0 ? 700 : 900);
  const CallTurns turns = lines.turns(20);
  EXPECT_EQ(turns.period, 2);
  EXPECT_EQ(turns.line_of(21), 1);
  EXPECT_EQ(turns.line_of(22), 2);
}

}  // namespace
}  // namespace sibyl::test
