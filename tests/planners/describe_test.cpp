// Holds docs/algorithms.md against the table of algorithms that it is written from.
#include "planners/describe.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "sibyl/planners.hpp"

namespace sibyl {
namespace {

constexpr const char* page = SIBYL_SOURCE_DIR "/docs/algorithms.md";

TEST(AlgorithmsPage, NamesEveryAlgorithmWithItsRestrictionsAndSource) {
  const std::string text = algorithms_markdown();
  for (const Algorithm& algorithm : algorithms()) {
    const std::string title = "### " + std::string(name_of(algorithm.collective)) + " `" +
                              std::string(algorithm.name) + "`";
    const std::size_t section = text.find(title);
    ASSERT_NE(section, std::string::npos) << title;
    const std::string body = text.substr(section, text.find("\n#", section + 1) - section);
    for (const std::string_view part :
         {algorithm.published, algorithm.idea, algorithm.cost, algorithm.source}) {
      EXPECT_NE(body.find(part), std::string::npos) << title << ": " << part;
    }
    EXPECT_NE(body.find(algorithm.background ? "| Background | yes |" : "| Background | no |"),
              std::string::npos)
        << title;
    EXPECT_EQ(body.find("| Order | no |") != std::string::npos, algorithm.order == OrderUse::none)
        << title;
  }
}

TEST(AlgorithmsPage, OfTheDocumentationIsWhatTheTableSays) {
  const std::string expected = algorithms_markdown();
  if (std::getenv("SIBYL_UPDATE_DOCS") != nullptr) std::ofstream(page) << expected;
  std::ifstream file(page);
  ASSERT_TRUE(file) << "cannot read " << page;
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_TRUE(text == expected)
      << page << " is out of date: run this test once with SIBYL_UPDATE_DOCS=1 and commit it";
}

}  // namespace
}  // namespace sibyl
