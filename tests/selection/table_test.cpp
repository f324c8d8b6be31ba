// Selection tables: what they say is found, what is wrong in them is told by line.
#include "selection/table.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>

#include "sibyl/planners.hpp"

namespace sibyl {
namespace {

std::string_view chosen(const SelectionTable& table, Collective collective, Rank ranks,
                        std::uint64_t bytes) {
  const std::int32_t row = table.find(collective, ranks, bytes);
  if (row == choose_automatically) return "auto";
  if (row == serve_natively) return "native";
  return algorithms(collective)[static_cast<std::size_t>(row)].name;
}

TEST(SelectionTable, DecidesByCollectiveRanksAndBytesAndTheFirstRuleWins) {
  SelectionTable table;
  const std::string text =
      "# measured\n"
      "sibyl-selection 1\n"
      "\n"
      "gather   6-11  0-2047  binomial   # small\n"
      "gather   6-11  2048-   native\n"
      "gather\t8\t*\tlinear\r\n"
      "gatherv  2-100 *       ordered-tree\n"
      "barrier  2     *       native\n"
      "exscan   5     8-8     1-doubling";
  ASSERT_EQ(read_table(text, "table", table), "");
  EXPECT_EQ(table.count, 6U);
  EXPECT_EQ(chosen(table, Collective::gather, 6, 0), "binomial");
  EXPECT_EQ(chosen(table, Collective::gather, 11, 2047), "binomial");
  EXPECT_EQ(chosen(table, Collective::gather, 8, 2048), "native");
  EXPECT_EQ(chosen(table, Collective::gather, 8, std::numeric_limits<std::uint64_t>::max()),
            "native");
  EXPECT_EQ(chosen(table, Collective::gather, 5, 8), "auto");
  EXPECT_EQ(chosen(table, Collective::gather, 12, 8), "auto");
  EXPECT_EQ(chosen(table, Collective::scatter, 8, 8), "auto");
  EXPECT_EQ(chosen(table, Collective::gatherv, 100, 12345), "ordered-tree");
  EXPECT_EQ(chosen(table, Collective::barrier, 2, 0), "native");
  EXPECT_EQ(chosen(table, Collective::exscan, 5, 8), "1-doubling");
  EXPECT_EQ(chosen(table, Collective::exscan, 5, 9), "auto");
  EXPECT_EQ(chosen(SelectionTable{}, Collective::exscan, 5, 9), "auto");
}

TEST(SelectionTable, IsToldByLineWhatIsWrongAndThenHasNoRule) {
  const std::pair<const char*, const char*> wrongs[] = {
      {"", "sibyl-selection 1"},
      {"gather 1-2 * native", "t:1: a selection table begins"},
      {"sibyl-selection 2\n", "t:1: a selection table begins"},
      {"sibyl-selection 1\ngather 1-2 native\n", "t:2: a rule is"},
      {"sibyl-selection 1\n\nalltoallw 1-2 * native\n", "t:3: no collective alltoallw"},
      {"sibyl-selection 1\ngather 2-1 * native\n", "t:2: ranks are"},
      {"sibyl-selection 1\ngather 2- * native\n", "t:2: ranks are"},
      {"sibyl-selection 1\ngather -2 * native\n", "t:2: ranks are"},
      {"sibyl-selection 1\ngather 2 8-4 native\n", "t:2: bytes are"},
      {"sibyl-selection 1\ngather 2 8K native\n", "t:2: bytes are"},
      {"sibyl-selection 1\ngather 2 99999999999999999999- native\n", "t:2: bytes are"},
      {"sibyl-selection 1\ngatherv 2 0-8 native\n", "t:2: gatherv has no size that all ranks know"},
      {"sibyl-selection 1\nscatterv 2 8 native\n", "t:2: scatterv has no size"},
      {"sibyl-selection 1\nalltoallv 2 0-8 native\n", "t:2: alltoallv has no size"},
      {"sibyl-selection 1\nbarrier 2 0- native\n", "t:2: barrier has no size"},
      {"sibyl-selection 1\ngather 2 * hybrid\n", "t:2: gather has no algorithm hybrid"},
  };
  for (const auto& [text, part] : wrongs) {
    SelectionTable table;
    const std::string problem = read_table(text, "t", table);
    EXPECT_NE(problem.find(part), std::string::npos) << problem;
    EXPECT_EQ(problem.find('\n'), std::string::npos) << "one line";
    EXPECT_EQ(table.count, 0U);
  }
}

TEST(SelectionTable, HasRoomForSixtyFourRules) {
  std::string text = "sibyl-selection 1\n";
  for (int i = 0; i < 64; ++i) text += "scan " + std::to_string(i + 1) + " * native\n";
  SelectionTable table;
  EXPECT_EQ(read_table(text, "t", table), "");
  EXPECT_EQ(chosen(table, Collective::scan, 64, 1), "native");
  EXPECT_NE(read_table(text + "scan 65 * native\n", "t", table).find("t:66: more than 64"),
            std::string::npos);
}

}  // namespace
}  // namespace sibyl
