// Runs a target over files, and over what becomes of each when a byte is changed, left out or
// doubled, or its end is cut off: the smoke test where there is no fuzzer.
//
//   fuzz_<reader> FOLDER
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "fuzz/target.hpp"

namespace {

constexpr std::size_t places = 64;  // of a file that are changed, evenly spread

void run_around(const std::string& text) {
  sibyl::fuzz::run(text);
  const std::size_t step = text.size() / places + 1;
  for (std::size_t at = 0; at < text.size(); at += step) {
    sibyl::fuzz::run(text.substr(0, at));
    for (const char other : {'\0', '\n', '-', '9', '\x7f', '\xff'}) {
      std::string changed = text;
      changed[at] = other;
      sibyl::fuzz::run(changed);
    }
    std::string shorter = text;
    sibyl::fuzz::run(shorter.erase(at, 1));
    std::string longer = text;
    sibyl::fuzz::run(longer.insert(at, text.substr(at)));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) {
    std::ifstream file(entry.path(), std::ios::binary);
    run_around({std::istreambuf_iterator<char>(file), {}});
    ++files;
  }
  std::printf("%d files\n", files);
  return files > 0 ? 0 : 1;
}
