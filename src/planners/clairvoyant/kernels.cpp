// Chooses the kernels that fit the processor.
#include "planners/clairvoyant/kernels.hpp"

#include <array>
#include <atomic>

namespace sibyl::clairvoyant {

namespace plain {
extern const Kernels table;
}
#if defined(__x86_64__)
namespace avx2 {
extern const Kernels table;
}
namespace avx512 {
extern const Kernels table;
}
#endif

namespace {

struct Supported {
  std::array<Kernels, 3> list;
  std::size_t count = 0;
};

Supported find_supported() {
  Supported found;
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool bits = __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
  if (bits && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq")) {
    found.list[found.count++] = avx512::table;
  }
  if (bits && __builtin_cpu_supports("avx2")) found.list[found.count++] = avx2::table;
#endif
  found.list[found.count++] = plain::table;
  return found;
}

const Supported& supported() {
  static const Supported found = find_supported();
  return found;
}

std::atomic<const Kernels*> chosen{nullptr};

}  // namespace

std::span<const Kernels> supported_kernels() {
  return std::span(supported().list).first(supported().count);
}

void use_kernels(const Kernels& kernels) { chosen = &kernels; }

const Kernels& kernels() {
  const Kernels* kernels = chosen;
  return kernels != nullptr ? *kernels : supported().list.front();
}

}  // namespace sibyl::clairvoyant
