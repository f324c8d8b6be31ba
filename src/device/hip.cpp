// HIP (libamdhip64.so). Which number says that memory is the device's changed with version 6.
//
// Most of HIP's functions start it, and which devices it has is settled then. So HSA below it is
// asked first, which starts nothing: as long as that is not there, no memory is a device's.
#include <atomic>
#include <cstdint>

#include "device/runtime.hpp"

namespace sibyl::device {
namespace {

// hipPointerAttribute_t, with room for what newer versions may add.
struct Attributes {
  int type = 0;
  int device = 0;
  void* device_pointer = nullptr;
  void* host_pointer = nullptr;
  int managed = 0;
  unsigned flags = 0;
  void* room[8] = {};
};
constexpr int any_direction = 4;  // hipMemcpyDefault
constexpr int version_6 = 60000000;
constexpr int hsa_version_major = 0;  // HSA_SYSTEM_INFO_VERSION_MAJOR

class Hip final : public Runtime {
 public:
  bool open(void* library) {
    find(library, "hsa_system_get_info", below_);
    find(library, "hipMemcpy2D", copy_2d_);
    find(library, "hipMemGetAddressRange", range_);
    if (!find(library, "hipPointerGetAttributes", attributes_) ||
        !find(library, "hipMemcpy", memcpy_) ||
        !find(library, "hipStreamSynchronize", synchronize_) ||
        !find(library, "hipGetLastError", forget_error_) ||
        !find(library, "hipRuntimeGetVersion", version_)) {
      return false;
    }
    return true;
  }

  bool owns(const void* address, Range& range) override {
    std::uint64_t any = 0;
    if (below_ != nullptr && below_(hsa_version_major, &any) != 0) return false;
    const int on_device = number_on_device();
    if (on_device == 0) return false;
    Attributes found;
    if (attributes_(&found, address) != 0) {
      forget_error_();  // or the program would find it
      return false;
    }
    if (found.type != on_device || found.managed != 0) return false;
    void* begin = nullptr;
    std::size_t size = 0;
    range = {};
    if (range_ != nullptr && range_(&begin, &size, const_cast<void*>(address)) == 0) {
      range.begin = static_cast<const char*>(begin);
      range.end = range.begin + size;
    } else if (range_ != nullptr) {
      forget_error_();
    }
    return true;
  }

  bool copy(void* to, const void* from, const Rows& rows) override {
    if (rows.rows > 1 && copy_2d_ != nullptr &&
        copy_2d_(to, rows.pitch, from, rows.pitch, rows.width, rows.rows, any_direction) == 0) {
      return true;
    }
    if (rows.rows > 1 && copy_2d_ != nullptr) forget_error_();
    for (std::size_t row = 0; row < rows.rows; ++row) {
      const std::size_t at = row * rows.pitch;
      if (memcpy_(static_cast<char*>(to) + at, static_cast<const char*>(from) + at, rows.width,
                  any_direction) != 0) {
        forget_error_();
        return false;
      }
    }
    return true;
  }

  bool settle() override { return synchronize_(nullptr) == 0; }

 private:
  // By which hipPointerAttribute_t names the device; 0: not to be found out.
  int number_on_device() {
    if (const int known = on_device_.load(std::memory_order_relaxed); known != 0) return known;
    int number = 0;
    if (version_(&number) != 0) return 0;
    const int found = number >= version_6 ? 2 : 1;
    on_device_.store(found, std::memory_order_relaxed);
    return found;
  }

  int (*below_)(int, void*) = nullptr;
  int (*version_)(int*) = nullptr;
  int (*attributes_)(Attributes*, const void*) = nullptr;
  int (*memcpy_)(void*, const void*, std::size_t, int) = nullptr;
  int (*copy_2d_)(void*, std::size_t, const void*, std::size_t, std::size_t, std::size_t,
                  int) = nullptr;
  int (*range_)(void**, std::size_t*, void*) = nullptr;
  int (*synchronize_)(void*) = nullptr;
  int (*forget_error_)() = nullptr;
  std::atomic<int> on_device_ = 0;
};

}  // namespace

std::unique_ptr<Runtime> make_hip(void* library) {
  auto made = std::make_unique<Hip>();
  if (!made->open(library)) return nullptr;
  return made;
}

}  // namespace sibyl::device
