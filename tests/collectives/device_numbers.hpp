// Buffers on the host or in the memory of a stub of a device, for tests of persistent collectives.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include "collectives/harness.hpp"
#include "support/device_stub.hpp"

namespace sibyl::test {

inline const DeviceStub& device_stub() {
  static const DeviceStub one(DeviceStub::files[static_cast<std::size_t>(rank_in()) % 3]);
  return one;
}

inline Random& device_draws() {
  static Random random(run_seed() + static_cast<std::uint64_t>(rank_in()));
  return random;
}

// Numbers on the host or on the device.
class DeviceNumbers {
 public:
  explicit DeviceNumbers(std::size_t count, bool on_device = pick(device_draws(), 3) != 0)
      : host_(count, -1) {
    if (on_device) device_ = device_stub().allocate(count * sizeof(int));
    set(host_);
  }
  int* address() { return device_ != nullptr ? static_cast<int*>(device_.get()) : host_.data(); }
  void set(const std::vector<int>& values, int first = 0) {
    if (device_ == nullptr) {
      std::copy(values.begin(), values.end(), host_.begin() + first);
    } else {
      device_stub().write(address() + first, values.data(), values.size() * sizeof(int));
    }
  }
  std::vector<int> get() const {
    std::vector<int> values = host_;
    if (device_ != nullptr) {
      device_stub().read(values.data(), device_.get(), values.size() * sizeof(int));
    }
    return values;
  }

 private:
  std::vector<int> host_;
  std::shared_ptr<void> device_;
};

constexpr int device_block = 700;  // elements

// Of rank `from` for rank `to` in iteration `turn`.
inline int value_of(int from, int to, int turn) { return (1 + from) * 1000 + to * 10 + turn; }
inline std::vector<int> filled(std::size_t count, int with) {
  return std::vector<int>(count, with);
}

inline void run_turns(SIBYL_Request request, const std::function<void(int)>& before,
                      const std::function<void(int)>& after) {
  for (int turn = 0; turn < 5; ++turn) {
    ASSERT_EQ(SIBYL_Start(&request), MPI_SUCCESS);
    before(turn);  // a send buffer is the program's until it arrives
    EXPECT_EQ(SIBYL_Edge(&request, 0.5), MPI_SUCCESS);
    EXPECT_EQ(SIBYL_Arrive(&request), MPI_SUCCESS);
    ASSERT_EQ(SIBYL_Wait(&request), MPI_SUCCESS);
    after(turn);
  }
  EXPECT_EQ(SIBYL_Request_free(&request), MPI_SUCCESS);
}

}  // namespace sibyl::test
