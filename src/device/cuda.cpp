// CUDA, by its driver (libcuda.so.1), which every program that uses CUDA has loaded, whatever its
// runtime library: unlike that one the driver makes no context for being asked.
//
// Copies go by the default stream, so that they come after what the program has given the device
// in streams that wait for that one. A copy from pageable memory may return before the device has
// it; so settle() waits.
#include "device/runtime.hpp"

namespace sibyl::device {
namespace {

using Address = unsigned long long;  // CUdeviceptr
// CUDA_MEMCPY2D.
struct Place2D {
  std::size_t x = 0;
  std::size_t y = 0;
  unsigned type = 4;  // CU_MEMORYTYPE_UNIFIED
  const void* host = nullptr;
  Address device = 0;
  void* array = nullptr;
  std::size_t pitch = 0;
};
struct Copy2D {
  Place2D from;
  Place2D to;
  std::size_t width = 0;
  std::size_t height = 0;
};

Address number(const void* address) { return reinterpret_cast<Address>(address); }

class Cuda final : public Runtime {
  enum Attribute : int {
    of_context = 1,
    of_memory_type = 2,
    of_managed = 8,
    of_device = 9,
    of_begin = 11,
    of_size = 12
  };
  static constexpr unsigned on_device = 2;  // CU_MEMORYTYPE_DEVICE

 public:
  bool open(void* library) {
    find(library, "cuMemcpy2DUnaligned_v2", copy_2d_);
    return find(library, "cuPointerGetAttribute", attribute_) &&
           find(library, "cuMemcpy", memcpy_) &&
           find(library, "cuStreamSynchronize", synchronize_) &&
           find(library, "cuCtxGetCurrent", current_) &&
           find(library, "cuCtxPushCurrent_v2", push_) &&
           find(library, "cuCtxPopCurrent_v2", pop_) &&
           find(library, "cuDevicePrimaryCtxRetain", retain_) &&
           (find(library, "cuDevicePrimaryCtxRelease_v2", release_) ||
            find(library, "cuDevicePrimaryCtxRelease", release_));
  }

  // Before cuInit, and of the program's plain memory, the driver says that this is no address of
  // its own.
  bool owns(const void* address, Range& range) override {
    unsigned type = 0;
    if (!ask(of_memory_type, address, type) || type != on_device) return false;
    unsigned managed = 0;
    if (ask(of_managed, address, managed) && managed != 0) return false;
    Address begin = 0;
    std::size_t size = 0;
    range = {};
    if (ask(of_begin, address, begin) && ask(of_size, address, size) && size != 0) {
      range.begin = reinterpret_cast<const char*>(begin);
      range.end = range.begin + size;
    }
    return true;
  }

  bool copy(void* to, const void* from, const Rows& rows) override {
    settle_in_ = where_of(to, from);
    const Context context(*this, settle_in_);
    if (rows.rows > 1 && copy_2d_ != nullptr) {
      Copy2D copy;
      copy.width = rows.width;
      copy.height = rows.rows;
      copy.from.device = number(from);
      copy.to.device = number(to);
      copy.from.pitch = copy.to.pitch = rows.pitch;
      if (copy_2d_(&copy) == 0) return true;
    }
    for (std::size_t row = 0; row < rows.rows; ++row) {
      const std::size_t at = row * rows.pitch;
      if (memcpy_(number(to) + at, number(from) + at, rows.width) != 0) return false;
    }
    return true;
  }

  bool settle() override {
    const Context context(*this, settle_in_);
    return synchronize_(nullptr) == 0;
  }

 private:
  template <class Value>
  bool ask(Attribute attribute, const void* address, Value& value) const {
    return attribute_(&value, attribute, number(address)) == 0;
  }

  // Where a thread copies that has no context of its own, as one of Python's may: in that of the
  // memory, or, of a pool's, which has none, in the primary one of its device.
  struct Where {
    void* context = nullptr;
    bool primary = false;
    int device = 0;
  };
  Where where_of(const void* to, const void* from) const {
    void* current = nullptr;
    if (current_(&current) == 0 && current != nullptr) return {};
    for (const void* address : {to, from}) {
      unsigned type = 0;
      if (!ask(of_memory_type, address, type) || type != on_device) continue;
      Where where;
      if (!ask(of_context, address, where.context)) where.context = nullptr;
      where.primary = where.context == nullptr && ask(of_device, address, where.device);
      return where;
    }
    return {};
  }

  // The primary context is kept no longer than this one is entered: it is the program's to end.
  class Context {
   public:
    Context(const Cuda& cuda, const Where& where) : cuda_(cuda), where_(where) {
      void* context = where.context;
      retained_ = where.primary && cuda_.retain_(&context, where.device) == 0;
      entered_ = context != nullptr && cuda_.push_(context) == 0;
    }
    ~Context() {
      void* left = nullptr;
      if (entered_) cuda_.pop_(&left);
      if (retained_) cuda_.release_(where_.device);
    }
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;

   private:
    const Cuda& cuda_;
    const Where where_;
    bool retained_ = false;
    bool entered_ = false;
  };

  int (*attribute_)(void*, int, Address) = nullptr;
  int (*memcpy_)(Address, Address, std::size_t) = nullptr;
  int (*copy_2d_)(const Copy2D*) = nullptr;
  int (*synchronize_)(void*) = nullptr;
  int (*current_)(void**) = nullptr;
  int (*push_)(void*) = nullptr;
  int (*pop_)(void**) = nullptr;
  int (*retain_)(void**, int) = nullptr;
  int (*release_)(int) = nullptr;
  // Where this thread has copied last.
  static thread_local Where settle_in_;
};

thread_local Cuda::Where Cuda::settle_in_;

}  // namespace

std::unique_ptr<Runtime> make_cuda(void* library) {
  auto made = std::make_unique<Cuda>();
  if (!made->open(library)) return nullptr;
  return made;
}

}  // namespace sibyl::device
