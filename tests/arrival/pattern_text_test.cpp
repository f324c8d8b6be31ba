// Pattern files and the short forms of commands: what is read, and how errors name their place.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "sibyl/arrival.hpp"

namespace sibyl {
namespace {

using Times = std::vector<double>;

std::string problem_of(std::string_view text, Rank ranks) {
  return read_pattern(text, ranks, "delays.txt").problem;
}

TEST(PatternText, OneTimeALineWithCommentsAndEmptyLines) {
  const PatternResult result =
      read_pattern("# seconds\n0\r\n\n 1.5e-3 # late\n+2\n0.1", 4, "delays.txt");
  EXPECT_EQ(result.problem, "");
  EXPECT_EQ(result.pattern.times, (Times{0, 1.5e-3, 2, 0.1}));
}

TEST(PatternText, WhatIsWrittenIsReadBackBitByBit) {
  for (const double maximum : {1.0, 1e-300, 1e300, 0.3}) {
    const ArrivalPattern pattern =
        make_pattern({PatternShape::uniform, 100, 0, maximum, 5}).pattern;
    const PatternResult back = read_pattern(write_pattern(pattern), 100, "pattern");
    EXPECT_EQ(back.problem, "");
    EXPECT_EQ(back.pattern.times, pattern.times);
  }
}

TEST(PatternText, ErrorsNameFileAndLine) {
  EXPECT_EQ(problem_of("0\nsoon\n", 2).rfind("delays.txt:2: 'soon' is not a number", 0), 0U);
  EXPECT_EQ(problem_of("nan\n", 1).rfind("delays.txt:1: 'nan' is not a number", 0), 0U);
  EXPECT_EQ(problem_of("0\n\ninf\n", 2).rfind("delays.txt:3: 'inf' is infinite", 0), 0U);
  EXPECT_EQ(problem_of("-1\n", 1).rfind("delays.txt:1: '-1' is negative", 0), 0U);
  EXPECT_EQ(problem_of("1 2\n", 2).rfind("delays.txt:1: '1 2' is not a number", 0), 0U);
  EXPECT_EQ(problem_of("1e999\n", 1).rfind("delays.txt:1: '1e999' does not fit", 0), 0U);
  EXPECT_EQ(problem_of("0,5\n", 1).rfind("delays.txt:1: '0,5' is not a number", 0), 0U);
}

TEST(PatternText, FewerOrMoreTimesThanRanksAreRefused) {
  EXPECT_EQ(problem_of("0\n1\n", 3).rfind("delays.txt: has 2 arrival times for 3 ranks", 0), 0U);
  EXPECT_EQ(problem_of("0\n1\n", 1).rfind("delays.txt: has 2 arrival times for 1 ranks", 0), 0U);
  EXPECT_EQ(problem_of("", 1).rfind("delays.txt: has 0 arrival times", 0), 0U);
  EXPECT_NE(problem_of("", 0), "");
}

TEST(PatternText, AFileIsReadLikeItsText) {
  const std::string path = testing::TempDir() + "sibyl_pattern_test.txt";
  std::FILE* file = std::fopen(path.c_str(), "w");
  ASSERT_NE(file, nullptr);
  std::fputs("0.25\n0.5\n", file);
  std::fclose(file);
  EXPECT_EQ(read_pattern_file(path, 2).pattern.times, (Times{0.25, 0.5}));
  EXPECT_EQ(pattern_from_text(path, 2, 0).pattern.times, (Times{0.25, 0.5}));
  EXPECT_EQ(read_pattern_file(path, 3).problem.rfind(path + ": has 2", 0), 0U);
  std::remove(path.c_str());
  EXPECT_NE(read_pattern_file(path, 2).problem.find("cannot read"), std::string::npos);
  EXPECT_NE(read_pattern_file(testing::TempDir(), 2).problem.find("cannot read"),
            std::string::npos);
}

TEST(PatternText, ShortFormsGiveTheirShapes) {
  EXPECT_EQ(pattern_from_text("flat", 3, 0).pattern.times, (Times{0, 0, 0}));
  EXPECT_EQ(pattern_from_text("skewed:2.5", 3, 0).pattern.times, (Times{0, 0, 2.5}));
  EXPECT_EQ(pattern_from_text("root-late:2.5", 3, 1).pattern.times, (Times{0, 2.5, 0}));
  EXPECT_EQ(pattern_from_text("fixed:2", 3, 0).pattern.times, (Times{0, 1, 2}));
  EXPECT_EQ(pattern_from_text("uniform:2.5:7", 9, 0).pattern.times,
            make_pattern({PatternShape::uniform, 9, 0, 2.5, 7}).pattern.times);
  EXPECT_EQ(pattern_from_text("normal:2.5", 9, 0).pattern.times,
            make_pattern({PatternShape::normal, 9, 0, 2.5, 0}).pattern.times);
}

TEST(PatternText, ShortFormsOfTheWrongFormAreRefused) {
  for (const char* text :
       {"flat:1", "skewed", "skewed:", "skewed:late", "skewed:1:2", "uniform:-1:3", "uniform:nan:3",
        "uniform:inf:3", "uniform:1:x", "uniform:1:-3", "uniform:1:2:3", "normal:1:0.5"}) {
    EXPECT_FALSE(pattern_from_text(text, 3, 0).ok()) << text;
  }
  EXPECT_FALSE(pattern_from_text("flat", 0, 0).ok());
  EXPECT_FALSE(pattern_from_text("flat", 3, 3).ok());
}

// For communicators of whatever size: a file of two times says nothing of three ranks.
TEST(PatternText, GivenArrivalsAreWithinWhatIsPlannedFor) {
  EXPECT_EQ(given_arrivals("skewed:1000000", 3).pattern.times, (Times{0, 0, 1e6}));
  const std::string path = testing::TempDir() + "sibyl_given_arrivals.txt";
  std::ofstream(path) << "5\n1000005\n";
  EXPECT_EQ(given_arrivals(path, 2).pattern.times, (Times{5, 1000005}));
  EXPECT_TRUE(given_arrivals(path, 3).ok());
  EXPECT_TRUE(given_arrivals(path, 3).pattern.times.empty());
  std::ofstream(path) << "0\n2500000\n";
  for (const Rank ranks : {1, 2, 3}) {
    for (const std::string& text :
         {path, std::string("skewed:1000001"), std::string("uniform:2e6:7")}) {
      EXPECT_NE(given_arrivals(text, ranks).problem.find("1000000 seconds apart"),
                std::string::npos)
          << text;
      EXPECT_EQ(check_given_arrivals(text), given_arrivals(text, ranks).problem);
    }
  }
  std::remove(path.c_str());
}

}  // namespace
}  // namespace sibyl
