// Level Zero (libze_loader.so.1).
//
// Memory is asked for by a context; one of Sibyl's own, of each driver, knows the memory of the
// program's. Copies go by a synchronous command list of the memory's device, made at the first one.
// Room is made before what is to be kept in it, so that nothing is lost where there is no memory.
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "device/runtime.hpp"

namespace sibyl::device {
namespace {

struct ContextDescription {
  int structure = 0xd;
  const void* next = nullptr;
  std::uint32_t flags = 0;
};
struct QueueDescription {
  int structure = 0xe;
  const void* next = nullptr;
  std::uint32_t ordinal = 0;
  std::uint32_t index = 0;
  std::uint32_t flags = 0;
  int mode = 1;  // synchronous
  int priority = 0;
};
struct Properties {
  int structure = 0x17;
  void* next = nullptr;
  int type = 0;
  std::uint64_t id = 0;
  std::uint64_t page = 0;
};

class LevelZero final : public Runtime {
 public:
  bool open(void* library) {
    return find(library, "zeDriverGet", drivers_) &&
           find(library, "zeContextCreate", make_context_) &&
           find(library, "zeMemGetAllocProperties", properties_) &&
           find(library, "zeMemGetAddressRange", range_) &&
           find(library, "zeCommandListCreateImmediate", make_list_) &&
           find(library, "zeCommandListAppendMemoryCopy", copy_);
  }

  bool owns(const void* address, Range& range) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    const Place place = place_of(address);
    if (place.device == nullptr) return false;
    void* begin = nullptr;
    std::size_t size = 0;
    range = {};
    if (range_(place.context, address, &begin, &size) == 0) {
      range.begin = static_cast<const char*>(begin);
      range.end = range.begin + size;
    }
    return true;
  }

  bool copy(void* to, const void* from, const Rows& rows) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    Place place = place_of(to);
    if (place.device == nullptr) place = place_of(from);
    void* const list = list_of(place);
    for (std::size_t row = 0; row < rows.rows && list != nullptr; ++row) {
      const std::size_t at = row * rows.pitch;
      if (copy_(list, static_cast<char*>(to) + at, static_cast<const char*>(from) + at, rows.width,
                nullptr, 0, nullptr) != 0) {
        return false;
      }
    }
    return list != nullptr;
  }

  // Each copy has been waited for.
  bool settle() override { return true; }

 private:
  struct Place {
    void* context = nullptr;
    void* device = nullptr;  // null: not on one
  };

  // Nothing is found before the program has called zeInit.
  void open_contexts() {
    std::uint32_t count = 0;
    if (drivers_(&count, nullptr) != 0 || count == 0) return;
    std::vector<void*> drivers(count);
    if (drivers_(&count, drivers.data()) != 0) return;
    contexts_.reserve(count);
    for (void* driver : drivers) {
      const ContextDescription plain;
      void* context = nullptr;
      if (make_context_(driver, &plain, &context) == 0) contexts_.push_back(context);
    }
  }

  Place place_of(const void* address) {
    if (contexts_.empty()) open_contexts();
    for (void* context : contexts_) {
      Properties found;
      void* device = nullptr;
      if (properties_(context, address, &found, &device) == 0 && found.type == on_device) {
        return {context, device};
      }
    }
    return {};
  }

  void* list_of(const Place& place) {
    if (place.device == nullptr) return nullptr;
    for (const auto& [device, list] : lists_) {
      if (device == place.device) return list;
    }
    lists_.reserve(lists_.size() + 1);
    const QueueDescription waits;
    void* list = nullptr;
    if (make_list_(place.context, place.device, &waits, &list) != 0) return nullptr;
    lists_.emplace_back(place.device, list);
    return list;
  }

  static constexpr int on_device = 2;  // ZE_MEMORY_TYPE_DEVICE

  std::mutex mutex_;
  std::vector<void*> contexts_;
  std::vector<std::pair<void*, void*>> lists_;  // by device
  int (*drivers_)(std::uint32_t*, void**) = nullptr;
  int (*make_context_)(void*, const ContextDescription*, void**) = nullptr;
  int (*properties_)(void*, const void*, Properties*, void**) = nullptr;
  int (*range_)(void*, const void*, void**, std::size_t*) = nullptr;
  int (*make_list_)(void*, void*, const QueueDescription*, void**) = nullptr;
  int (*copy_)(void*, void*, const void*, std::size_t, void*, std::uint32_t, void**) = nullptr;
};

}  // namespace

std::unique_ptr<Runtime> make_level_zero(void* library) {
  auto made = std::make_unique<LevelZero>();
  if (!made->open(library)) return nullptr;
  return made;
}

}  // namespace sibyl::device
