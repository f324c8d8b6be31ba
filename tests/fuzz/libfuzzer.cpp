// Hands libFuzzer's inputs to a target; see target.hpp.
#include <cstddef>
#include <cstdint>

#include "fuzz/target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  sibyl::fuzz::run({reinterpret_cast<const char*>(data), size});
  return 0;
}
