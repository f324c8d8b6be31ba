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
  EXPECT_EQ(options.collective, Collective::gather);
  EXPECT_DOUBLE_EQ(options.batch_seconds, 2.5e-6);
}

TEST(BenchOptions, NamesWhatItCannotUse) {
  for (const std::vector<std::string>& wrong : {std::vector<std::string>{"--counts", "1,x"},
                                                {"--counts", "0"},
                                                {"--repetitions", "0"},
                                                {"--collective", "bcast"},
                                                {"--unknown", "1"},
                                                {"--csv"}}) {
    const std::string problem = parse(wrong).problem;
    EXPECT_NE(problem.find(wrong.front()), std::string::npos) << wrong.front();
  }
}

}  // namespace
}  // namespace sibyl::bench
