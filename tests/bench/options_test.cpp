// The benchmark's command line.
#include "bench/options.hpp"

#include <gtest/gtest.h>

namespace sibyl::bench {
namespace {

Options parse(std::vector<std::string> words) {
  words.insert(words.begin(), "program");
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  return parse_options(static_cast<int>(arguments.size()), arguments.data());
}

TEST(BenchOptions, TakesValuesAfterASpaceOrAnEqualsSign) {
  const Options options = parse({"--counts", "1,20", "--collective=gather", "--batch-us", "2.5"});
  EXPECT_EQ(options.problem, "");
  EXPECT_EQ(options.counts, (std::vector<int>{1, 20}));
  EXPECT_EQ(options.operation, Operation::gather);
  EXPECT_EQ(options.mode, Mode::calls);
  EXPECT_DOUBLE_EQ(options.batch_seconds, 2.5e-6);
}

TEST(BenchOptions, ReadCellsWhosePatternMayHaveCommas) {
  const Options options =
      parse({"arrivals", "--collective", "gatherv", "--cell",
             "bytes=1024,delay=0.005,counts=spikes,pattern=a,b.txt", "--cell", "bytes=8"});
  EXPECT_EQ(options.problem, "");
  EXPECT_EQ(options.mode, Mode::arrivals);
  ASSERT_EQ(options.cells.size(), 2U);
  EXPECT_EQ(options.cells[0].bytes, 1024);
  EXPECT_DOUBLE_EQ(options.cells[0].max_delay, 0.005);
  EXPECT_EQ(options.cells[0].counts, CountShape::spikes);
  EXPECT_EQ(options.cells[0].pattern, "a,b.txt");
  EXPECT_EQ(options.cells[1].pattern, "flat");
  EXPECT_EQ(options.operators, (std::vector<std::string>{"sum"}));
}

TEST(BenchOptions, KnowTheLevelsOfThreads) {
  const Options options = parse({"thread", "--level", "single", "--iterations", "3"});
  EXPECT_EQ(options.problem, "");
  EXPECT_EQ(options.mode, Mode::thread);
  EXPECT_FALSE(options.threads);
  EXPECT_TRUE(parse({"thread"}).threads);
  EXPECT_NE(parse({"thread", "--level", "some"}).problem, "");
}

TEST(BenchOptions, ReadThePapersProblems) {
  const Options options = parse({"arrivals", "--cell", "block=100,counts=spikes,pattern=none"});
  EXPECT_EQ(options.problem, "");
  ASSERT_EQ(options.cells.size(), 1U);
  EXPECT_EQ(options.cells[0].block, 100);
  EXPECT_TRUE(options.cells[0].bare());
  EXPECT_FALSE(ArrivalCell{}.bare());
  EXPECT_NE(parse({"arrivals", "--cell", "block=1,bytes=4"}).problem, "");
}

TEST(BenchOptions, OfArrivalsWantACell) {
  EXPECT_NE(parse({"arrivals"}).problem, "");
  EXPECT_NE(parse({"arrivals", "--cell", "delay=1"}).problem, "");
  EXPECT_EQ(parse({"arrivals", "--collective", "barrier", "--cell", "delay=1"}).problem, "");
  EXPECT_NE(parse({"arrivals", "--collective", "barrier", "--cell", "bytes=1"}).problem, "");
  EXPECT_NE(parse({"arrivals", "--cell", "bytes=1,delays=1"}).problem, "");
  EXPECT_NE(parse({"departures"}).problem, "");
}

TEST(BenchOptions, AsListsTakeOneWord) {
  const Options options = parse({"--counts", "1,2", "arrivals", "--cell", "bytes=8", "--list"});
  EXPECT_EQ(options.problem, "");
  EXPECT_EQ(options.counts, (std::vector<int>{1, 2}));
  EXPECT_EQ(options.mode, Mode::arrivals);
  EXPECT_TRUE(options.list);
  EXPECT_NE(parse({"--help"}).help.find("--counts"), std::string::npos);
}

TEST(BenchOptions, NamesWhatItCannotUse) {
  for (const std::vector<std::string>& wrong : {std::vector<std::string>{"--counts", "1,x"},
                                                {"--counts", "0"},
                                                {"--repetitions", "0"},
                                                {"--collective", "alltoallw"},
                                                {"--unknown", "1"},
                                                {"--csv", "a.csv"},
                                                {"--batch-us", "nan"},
                                                {"--reference"}}) {
    const std::string problem = parse(wrong).problem;
    EXPECT_NE(problem.find(wrong.front()), std::string::npos) << problem;
    EXPECT_EQ(problem.find('\n'), std::string::npos) << problem;
  }
}

}  // namespace
}  // namespace sibyl::bench
