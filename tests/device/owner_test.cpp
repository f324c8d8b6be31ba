// Whose memory an address is, and copies, where there is no memory for what a runtime makes.
#include "device/owner.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "support/device_stub.hpp"

// Sanitizers bring their own operator new.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SIBYL_REFUSES_ALLOCATIONS 0
#else
#define SIBYL_REFUSES_ALLOCATIONS 1
#endif

namespace {
bool refuses = false;
}  // namespace

#if SIBYL_REFUSES_ALLOCATIONS
// GCC sees malloc meet delete across what it inlines.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
void* operator new(std::size_t bytes) {
  void* const memory = refuses ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
#endif

namespace sibyl::device {
namespace {

// Level Zero makes a command list at the first copy.
TEST(Owner, ACopyFailsWhereItsRuntimeFindsNoMemoryAndSucceedsLater) {
  if (!SIBYL_REFUSES_ALLOCATIONS) GTEST_SKIP() << "a sanitizer allocates for itself";
  const test::DeviceStub stub("libze_loader.so.1");
  const auto there = stub.allocate(sizeof(int));
  const int sent = 42;
  Runtime* owner = owner_of(there.get());
  ASSERT_NE(owner, nullptr);
  refuses = true;
  const bool copied = copy(owner, there.get(), there.get(), &sent, {.width = sizeof sent});
  refuses = false;
  EXPECT_FALSE(copied);
  ASSERT_NE(owner, nullptr);
  EXPECT_TRUE(copy(owner, there.get(), there.get(), &sent, {.width = sizeof sent}));
  int received = 0;
  stub.read(&received, there.get(), sizeof received);
  EXPECT_EQ(received, sent);
}

}  // namespace
}  // namespace sibyl::device
