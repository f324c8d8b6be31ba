// Pages of the documentation that the code writes. A source that includes this has to be told where
// the checkout lies (SIBYL_SOURCE_DIR, tests/CMakeLists.txt).
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace sibyl::test {

// Holds a page, named from docs/ on, against what is expected there; with SIBYL_UPDATE_DOCS=1 it is
// written first.
inline void expect_page(const std::string& name, const std::string& expected) {
  const std::string path = SIBYL_SOURCE_DIR "/docs/" + name;
  if (std::getenv("SIBYL_UPDATE_DOCS") != nullptr) std::ofstream(path) << expected;
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_TRUE(text == expected)
      << path << " is out of date: run this test once with SIBYL_UPDATE_DOCS=1 and commit it";
}

}  // namespace sibyl::test
