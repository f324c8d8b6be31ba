// A stub of a device runtime (tests/device/), loaded as a program loads the real one.
#pragma once

#include <dlfcn.h>

#include <array>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>

namespace sibyl::test {

class DeviceStub {
 public:
  static constexpr std::array<const char*, 3> files{"libcuda.so.1", "libamdhip64.so.6",
                                                    "libze_loader.so.1"};

  explicit DeviceStub(const char* file) {
    // Beside the folder of the test's program.
    const auto stubs = std::filesystem::read_symlink("/proc/self/exe").parent_path() / ".." /
                       "device_stubs" / file;
    library_ = ::dlopen(stubs.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library_ == nullptr) throw std::runtime_error(::dlerror());
    find("stub_allocate", allocate_);
    find("stub_release", release_);
    find("stub_write", write);
    find("stub_read", read);
    find("stub_count", count);
    find("stub_fail", fail);
    find("stub_to_host", to_host);
    if (std::string(file).starts_with("libcuda")) {
      find("stub_pool", pool);
      find("stub_retained", retained);
      find("stub_retains", retains);
    }
  }

  std::shared_ptr<void> allocate(std::size_t bytes) const {
    void* const memory = allocate_(bytes);
    if (memory == nullptr) throw std::bad_alloc();
    return {memory, release_};
  }
  void (*write)(void* to, const void* from, std::size_t bytes) = nullptr;
  void (*read)(void* to, const void* from, std::size_t bytes) = nullptr;
  long (*count)() = nullptr;          // copies so far
  void (*fail)(long copy) = nullptr;  // from this copy on, 0 the next; -1: none
  // Addresses of an allocation become the host's, or the device's again.
  void (*to_host)(void* address, std::size_t bytes, int host) = nullptr;
  // Of CUDA's alone: memory of pools has no context of its own; how often the primary one is
  // retained, now and ever.
  void (*pool)(int whether) = nullptr;
  int (*retained)() = nullptr;
  long (*retains)() = nullptr;

 private:
  template <class Function>
  void find(const char* name, Function*& function) {
    function = reinterpret_cast<Function*>(::dlsym(library_, name));
    if (function == nullptr) throw std::runtime_error(name);
  }
  void* library_ = nullptr;
  void* (*allocate_)(std::size_t) = nullptr;
  void (*release_)(void*) = nullptr;
};

}  // namespace sibyl::test
