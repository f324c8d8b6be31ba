// FNV-1a: a hash that is the same on all ranks, whatever library or build they run.
#pragma once

#include <cstdint>
#include <string_view>

namespace sibyl {

// Of `text`, continuing a hash of what stands before it.
constexpr std::uint64_t fnv1a(std::string_view text, std::uint64_t hash = 0xcbf29ce484222325ULL) {
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3ULL;
  }
  return hash;
}

}  // namespace sibyl
