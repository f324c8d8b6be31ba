// Growing aligned memory; see workspace.hpp.
#include "executor/workspace.hpp"

#include <cstdlib>

namespace sibyl {
namespace {

constexpr std::size_t alignment = 64;  // a cache line

}  // namespace

Workspace::~Workspace() { std::free(memory_); }

char* Workspace::reserve(std::size_t bytes) {
  if (bytes <= size_ && memory_ != nullptr) return memory_;
  std::free(memory_);
  size_ = 0;
  const std::size_t rounded = (bytes + alignment) / alignment * alignment;
  memory_ = static_cast<char*>(std::aligned_alloc(alignment, rounded));
  if (memory_ != nullptr) size_ = rounded;
  return memory_;
}

}  // namespace sibyl
