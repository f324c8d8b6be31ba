// Whatever a text holds, it stands in JSON as one string and reads back.
#include "base/json_text.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace sibyl {
namespace {

TEST(JsonText, ReadsBackAllOfAscii) {
  std::string all;
  for (int c = 0; c < 128; ++c) all += static_cast<char>(c);
  EXPECT_EQ(nlohmann::json::parse(json_quoted(all)).get<std::string>(), all);
  EXPECT_EQ(json_quoted("a \"b\" \\"), R"("a \"b\" \\")");
  EXPECT_EQ(json_quoted(""), R"("")");
}

TEST(JsonText, ReplacesBytesThatMayBeNoText) {
  EXPECT_EQ(json_quoted("MPI \xff\xfe"), R"("MPI ??")");
}

TEST(JsonText, NumbersReadBackAsTheyWere) {
  EXPECT_EQ(json_number(0.25), "0.25");
  for (const double number : {0.0, 1.0, -0.1, 1.25e-7, 3e-3, 1.0 / 3, 1e300}) {
    EXPECT_EQ(nlohmann::json::parse(json_number(number)).get<double>(), number);
  }
}

}  // namespace
}  // namespace sibyl
