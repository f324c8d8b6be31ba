// Holds docs/reference/algorithms.md against the table of algorithms that it is written from.
#include "planners/describe.hpp"

#include <gtest/gtest.h>

#include <string>

#include "sibyl/planners.hpp"
#include "support/page_of_docs.hpp"

namespace sibyl {
namespace {

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
  test::expect_page("reference/algorithms.md", algorithms_markdown());
}

}  // namespace
}  // namespace sibyl
