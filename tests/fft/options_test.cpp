// The command line of sibyl-fft.
#include "fft/options.hpp"

#include <gtest/gtest.h>

namespace sibyl::fft {
namespace {

Options parse(std::vector<std::string> words) {
  words.insert(words.begin(), "sibyl-fft");
  std::vector<char*> arguments;
  arguments.reserve(words.size());
  for (std::string& word : words) arguments.push_back(word.data());
  return parse_options(static_cast<int>(arguments.size()), arguments.data());
}

TEST(Options, AreReadWithAndWithoutEquals) {
  const Options options =
      parse({"a.wav", "--size", "1024", "--iterations=7", "--gather", "native,BSLS@24", "--threads",
             "2", "--plot", "s.png", "--compute", "43.5"});
  EXPECT_EQ(options.problem, "");
  EXPECT_EQ(options.recording, "a.wav");
  EXPECT_EQ(options.size, 1024U);
  EXPECT_EQ(options.iterations, 7);
  EXPECT_EQ(options.gathers, (std::vector<std::string>{"native", "BSLS@24"}));
  EXPECT_EQ(options.threads, 2);
  EXPECT_EQ(options.plot, "s.png");
  EXPECT_DOUBLE_EQ(options.compute, 43.5e-3);
}

TEST(Options, SayWhatIsWrongInOneLine) {
  const std::vector<std::vector<std::string>> wrong{
      {},
      {"a.wav", "b.wav"},
      {"a.wav", "--size", "1000"},
      {"a.wav", "--size", "-4"},
      {"a.wav", "--size"},
      {"a.wav", "--iterations", "0"},
      {"a.wav", "--compute", "-1"},
      {"a.wav", "--compute", "inf"},
      {"a.wav", "--gather", "LSS"},
      {"a.wav", "--gather", ""},
      {"a.wav", "--gather", "BSLS@"},
      {"a.wav", "--gather", "BSLS@-1"},
      {"a.wav", "--gather", "BSLS@2x"},
      {"a.wav", "--gather", "LSS@2"},
      {"a.wav", "--gather", "native@2"},
      {"a.wav", "--gather", "BLS@2"},
      {"a.wav", "--plot", "s.gif"},
      {"a.wav", "--color", "red"},
  };
  for (const std::vector<std::string>& words : wrong) {
    const std::string problem = parse(words).problem;
    EXPECT_NE(problem, "") << testing::PrintToString(words);
    EXPECT_EQ(problem.find('\n'), std::string::npos) << problem;
  }
}

TEST(Options, RefuseRanksThatAreNoPowerOfTwoOrTooMany) {
  const Options options = parse({"a.wav", "--size", "16"});
  for (const std::size_t ranks : {1, 2, 4}) EXPECT_EQ(problem_on(options, ranks, false), "");
  for (const std::size_t ranks : {3, 6, 7, 8, 16}) EXPECT_NE(problem_on(options, ranks, false), "");
}

TEST(Options, RefuseToTellOthersTimesWhereClocksDiffer) {
  const Options options = parse({"a.wav", "--gather", "SLS,shuffled:SLS"});
  ASSERT_EQ(options.problem, "");
  EXPECT_EQ(problem_on(options, 4, true), "");
  EXPECT_NE(problem_on(options, 4, false).find("--gather shuffled:SLS"), std::string::npos);
}

}  // namespace
}  // namespace sibyl::fft
