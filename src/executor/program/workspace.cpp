// Growing aligned memory; see workspace.hpp.
#include "executor/program/workspace.hpp"

#include <new>

namespace sibyl {
namespace {

constexpr std::align_val_t alignment{64};  // a cache line

void give_back(char* memory) { ::operator delete(memory, alignment); }

}  // namespace

Area::~Area() { give_back(memory_); }

void Area::release() {
  give_back(memory_);
  memory_ = nullptr;
  size_ = 0;
}

char* Area::reserve(std::size_t bytes) {
  if (bytes <= size_ && memory_ != nullptr) return memory_;
  release();
  memory_ = static_cast<char*>(::operator new(bytes, alignment, std::nothrow));
  if (memory_ != nullptr) size_ = bytes;
  return memory_;
}

}  // namespace sibyl
