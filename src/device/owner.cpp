// Finds device runtimes and asks them; see owner.hpp.
#include "device/owner.hpp"

#include <link.h>
#include <sys/auxv.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

#include "base/own_failure.hpp"

// The upper end of the main thread's stack, which glibc tells.
// NOLINTNEXTLINE(readability-identifier-naming): glibc's name
extern "C" void* __libc_stack_end __attribute__((weak));

namespace sibyl::device {
namespace {

struct Kind {
  std::string_view library;  // how the name of its file begins
  std::unique_ptr<Runtime> (*make)(void* library);
};
constexpr std::array<Kind, 3> kinds{{{"libcuda.so", make_cuda},
                                     {"libamdhip64.so", make_hip},
                                     {"libze_loader.so", make_level_zero}}};

// Never given back: their libraries stay loaded, and they are needed until the last call.
std::array<std::atomic<Runtime*>, kinds.size()> runtimes;
std::atomic<int> loaded = 0;
std::atomic<bool> asked = true;
// How many libraries the program had loaded, ever, when their names were looked at.
std::atomic<unsigned long long> looked_at = 0;

// Only the first library is shown to `count`: the number of all comes with it.
int count_libraries(dl_phdr_info* library, std::size_t, void* count) {
  *static_cast<unsigned long long*>(count) = library->dlpi_adds;
  return 1;
}

std::string_view file_of(const char* path) {
  const std::string_view whole = path == nullptr ? "" : path;
  return whole.substr(whole.rfind('/') + 1);
}

// The paths of runtimes, as the loader knows them; dlopen must not be called from within.
struct Found {
  std::array<std::array<char, 4096>, kinds.size()> paths{};
};
int find_runtimes(dl_phdr_info* library, std::size_t, void* found) {
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    auto& path = static_cast<Found*>(found)->paths[kind];
    const std::string_view whole = library->dlpi_name == nullptr ? "" : library->dlpi_name;
    if (!file_of(library->dlpi_name).starts_with(kinds[kind].library)) continue;
    if (path[0] == '\0' && whole.size() < path.size()) whole.copy(path.data(), whole.size());
  }
  return 0;
}

// No lock is held over dlopen, which a library's constructor may be in. Two threads may look at a
// time; the first one's runtime stays.
void look_for_runtimes(unsigned long long count) {
  Found found;
  ::dl_iterate_phdr(&find_runtimes, &found);
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    if (found.paths[kind][0] == '\0' || runtimes[kind].load() != nullptr) continue;
    void* const library = ::dlopen(found.paths[kind].data(), RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) continue;
    std::unique_ptr<Runtime> made = kinds[kind].make(library);
    Runtime* none = nullptr;
    if (made != nullptr && runtimes[kind].compare_exchange_strong(none, made.get())) {
      [[maybe_unused]] const Runtime* const kept = made.release();
      loaded.fetch_add(1, std::memory_order_release);
      host_memory.heap_end.store(0, std::memory_order_relaxed);
    } else {
      ::dlclose(library);
    }
  }
  looked_at.store(count, std::memory_order_release);
}

// The same with a look at the heap's end.
bool is_plainly_host(const void* address) {
  if (is_surely_host(address)) return true;
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  if (host_memory.program == 0 || at < host_memory.program) return false;
  const auto end = reinterpret_cast<std::uintptr_t>(::sbrk(0));
  const bool device = loaded.load(std::memory_order_relaxed) != 0;
  host_memory.heap_end.store(device ? 0 : end, std::memory_order_relaxed);
  return at < end;
}

// The allocations that this thread has met last.
struct Known {
  Range range;
  Runtime* owner = nullptr;
};
constexpr std::size_t most_known = 4;
thread_local std::array<Known, most_known> known;
thread_local std::size_t next_known = 0;

bool look() {
  if (!asked.load(std::memory_order_relaxed)) return false;
  unsigned long long count = 0;
  ::dl_iterate_phdr(&count_libraries, &count);
  if (count != looked_at.load(std::memory_order_acquire)) {
    guarded(
        [&] {
          look_for_runtimes(count);
          return true;
        },
        false);
  }
  return loaded.load(std::memory_order_acquire) != 0;
}

// What no runtime says is its own: the host's, or nobody's, as where memory is freed or a runtime
// has ended. The kernel copies it, and refuses where a plain access would be a fault.
bool copy_if_there(void* to, const void* from, const Rows& rows) noexcept {
  for (std::size_t row = 0; row < rows.rows; ++row) {
    std::size_t at = row * rows.pitch;
    const std::size_t end = at + rows.width;
    while (at < end) {
      const iovec target{static_cast<char*>(to) + at, end - at};
      const iovec source{static_cast<char*>(const_cast<void*>(from)) + at, end - at};
      ssize_t copied = process_vm_readv(getpid(), &target, 1, &source, 1, 0);
      if (copied <= 0 && errno == EFAULT) return false;
      if (copied <= 0) {  // some containers forbid the call
        std::memmove(target.iov_base, source.iov_base, target.iov_len);
        copied = static_cast<ssize_t>(target.iov_len);
      }
      at += static_cast<std::size_t>(copied);
    }
  }
  return true;
}

}  // namespace

HostMemory host_memory{.program = ::getauxval(AT_PHDR),
                       .stack_end = &__libc_stack_end == nullptr
                                        ? 0
                                        : reinterpret_cast<std::uintptr_t>(__libc_stack_end),
                       .heap_end = 0};

bool any_loaded() noexcept { return look(); }

void ask(bool whether) noexcept { asked.store(whether, std::memory_order_relaxed); }

[[gnu::hot]] Runtime* owner_of(const void* address) noexcept {
  if (is_plainly_host(address) || !look()) return nullptr;
  for (const Known& one : known) {
    if (one.range.holds(address)) return one.owner;
  }
  for (const auto& kind : runtimes) {
    Runtime* const runtime = kind.load(std::memory_order_acquire);
    Range range;
    if (runtime == nullptr) continue;
    if (!guarded([&] { return runtime->owns(address, range); }, false)) continue;
    known[next_known++ % most_known] = {range, runtime};
    return runtime;
  }
  return nullptr;
}

bool copy(Runtime*& owner, const void* place, void* to, const void* from,
          const Rows& rows) noexcept {
  // A runtime may make something at its first copy, for which there may be no memory.
  const auto copy_by = [&](Runtime& runtime) {
    return guarded([&] { return runtime.copy(to, from, rows); }, false);
  };
  if (owner != nullptr) {
    if (copy_by(*owner)) return true;
    known.fill({});
    Runtime* const now = owner_of(place);
    if (now == owner) return false;
    owner = now;
    if (now != nullptr) return copy_by(*now);
    return copy_if_there(to, from, rows);
  }
  for (std::size_t row = 0; row < rows.rows; ++row) {
    const std::size_t at = row * rows.pitch;
    std::memmove(static_cast<char*>(to) + at, static_cast<const char*>(from) + at, rows.width);
  }
  return true;
}

}  // namespace sibyl::device
