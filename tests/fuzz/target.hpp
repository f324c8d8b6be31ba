// A fuzz target: one reader, and what must hold whatever it reads.
//
// Each file *_fuzz.cpp defines run(). With clang (scripts/fuzz) libFuzzer calls it with inputs that
// it makes; in the other builds run_corpus.cpp calls it with the files of tests/fuzz/corpus.
#pragma once

#include <cstdlib>
#include <string_view>

namespace sibyl::fuzz {

void run(std::string_view input);

inline void require(bool holds) {
  if (!holds) std::abort();
}

inline bool is_one_line(std::string_view text) { return text.find('\n') == std::string_view::npos; }

}  // namespace sibyl::fuzz
