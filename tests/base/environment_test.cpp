// Values of the environment, wrong ones among them, and the page that documents them.
#include "base/environment.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "support/page_of_docs.hpp"

namespace sibyl {
namespace {

std::map<std::string, std::string> values;

const char* lookup(const char* name) {
  const auto found = values.find(name);
  return found == values.end() ? nullptr : found->second.c_str();
}

Environment read(std::map<std::string, std::string> given) {
  values = std::move(given);
  return read_environment(&lookup);
}

TEST(Environment, HasDefaultsForWhatIsNotSetOrEmpty) {
  for (const Environment& environment :
       {read({}), read({{"SIBYL_EXSCAN", ""}, {"SIBYL_COMMUNICATORS", ""}})}) {
    EXPECT_EQ(environment.algorithm[0], "auto");
    EXPECT_EQ(environment.algorithm[2], "auto");
    EXPECT_EQ(environment.first_segment, 1024U);
    EXPECT_EQ(environment.communicators, 256U);
    EXPECT_EQ(environment.reproducible, 0U);
    EXPECT_EQ(environment.report, "");
    EXPECT_EQ(environment.problem, "");
  }
}

TEST(Environment, TakesWhatIsSet) {
  const Environment environment = read({{"SIBYL_EXSCAN", "hybrid"},
                                        {"SIBYL_SCAN", "native"},
                                        {"SIBYL_GATHER", "linear"},
                                        {"SIBYL_SCATTER", "binomial"},
                                        {"SIBYL_FIRST_SEGMENT", "1073741824"},
                                        {"SIBYL_COMMUNICATORS", "0"},
                                        {"SIBYL_REPRODUCIBLE", "1"},
                                        {"SIBYL_TABLE", "a file"},
                                        {"SIBYL_REPORT", "a directory"}});
  EXPECT_EQ(environment.table, "a file");
  EXPECT_EQ(environment.algorithm[0], "hybrid");
  EXPECT_EQ(environment.algorithm[1], "native");
  EXPECT_EQ(environment.algorithm[2], "linear");
  EXPECT_EQ(environment.algorithm[3], "binomial");
  EXPECT_EQ(environment.first_segment, 1073741824U);
  EXPECT_EQ(environment.communicators, 0U);
  EXPECT_EQ(environment.reproducible, 1U);
  EXPECT_EQ(environment.report, "a directory");
  EXPECT_EQ(environment.problem, "");
}

TEST(Environment, SaysWhichNumberIsWrongAndKeepsItsDefault) {
  for (const char* wrong : {"x", "-1", "1.5", "12x", " 1", "99999999999999999999", "1000001"}) {
    const Environment environment = read({{"SIBYL_COMMUNICATORS", wrong}});
    EXPECT_EQ(environment.communicators, 256U) << wrong;
    EXPECT_NE(environment.problem.find(std::string("SIBYL_COMMUNICATORS=") + wrong),
              std::string::npos)
        << environment.problem;
    EXPECT_NE(environment.problem.find("0 to 1000000"), std::string::npos) << environment.problem;
  }
}

TEST(Environment, HasAWindowWhereItPaysUnlessItSaysHowLarge) {
  for (const auto& [given, bytes] : std::map<std::string, std::uint32_t>{
           {"", window_where_it_pays}, {"auto", window_where_it_pays}, {"0", 0}, {"4096", 4096}}) {
    const Environment environment = read({{"SIBYL_NODE_WINDOW", given}});
    EXPECT_EQ(environment.node_window, bytes) << given;
    EXPECT_EQ(environment.problem, "");
  }
  const Environment environment = read({{"SIBYL_NODE_WINDOW", "large"}});
  EXPECT_NE(environment.problem.find("SIBYL_NODE_WINDOW=large: not auto, nor a whole number"),
            std::string::npos)
      << environment.problem;
}

TEST(Environment, IsReproducibleOrNot) {
  for (const char* wrong : {"2", "yes", "true"}) {
    const Environment environment = read({{"SIBYL_REPRODUCIBLE", wrong}});
    EXPECT_EQ(environment.reproducible, 0U);
    EXPECT_NE(environment.problem.find("from 0 to 1"), std::string::npos) << environment.problem;
  }
}

TEST(Environment, DocumentsTheDefaultsThatHold) {
  std::map<std::string, std::string> standards;
  for (const EnvironmentVariable& variable : environment_variables()) {
    standards[std::string(variable.name)] = std::string(variable.standard);
    EXPECT_FALSE(variable.meaning.empty());
  }
  const Environment nothing = read({});
  const Environment standard = read(standards);
  EXPECT_EQ(standard.problem, "");
  EXPECT_TRUE(standard == nothing);
}

// SIBYL_UPDATE_DOCS=1 rewrites the page.
TEST(Environment, PageIsWhatTheCodeSays) {
  test::expect_page("reference/environment.md", environment_markdown());
}

}  // namespace
}  // namespace sibyl
