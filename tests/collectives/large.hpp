// What the tests of calls beyond 2^31 share. They take up to 9 GiB and some seconds, so they wait
// for SIBYL_TEST_LONG=1 and two ranks.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>

#include "collectives/harness.hpp"

namespace sibyl::test {

inline constexpr std::int64_t limit = std::int64_t{1} << 31;

// Zeros that take no memory until they are touched.
template <class Value>
class Zeros {
 public:
  explicit Zeros(std::int64_t count)
      : values_(static_cast<Value*>(std::calloc(static_cast<std::size_t>(count), sizeof(Value)))) {
    EXPECT_NE(values_, nullptr);
  }
  Value* data() { return values_.get(); }
  Value& operator[](std::int64_t i) { return values_.get()[i]; }

 private:
  struct Free {
    void operator()(Value* values) const { std::free(values); }
  };
  std::unique_ptr<Value, Free> values_;
};

class Large : public testing::Test {
 protected:
  void SetUp() override {
    if (!long_tests()) GTEST_SKIP() << "a long test";
    if (size_of() != 2) GTEST_SKIP() << "for two ranks";
    int enough = available_bytes() > std::int64_t{12} << 30 ? 1 : 0;
    MPI_Bcast(&enough, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (enough == 0) GTEST_SKIP() << "less than 12 GiB of memory";
  }

  // Gathers and scatters blocks of so many bytes by call(send, receive, root, comm, gathers), and
  // looks at some bytes of every block. From rank 0: MPICH 4.0 crashes in other scatters of its
  // own.
  template <class Call>
  void gather_and_scatter(std::int64_t block, Call call) {
    const int rank = rank_in();
    const std::int64_t places[] = {0, 1, block / 2, limit - 1, block - 1};
    const auto value = [](std::int64_t place, int owner) {
      return static_cast<unsigned char>(place % 7 + 10 * owner + 1);
    };
    for (const bool gathers : {true, false}) {
      SCOPED_TRACE(gathers ? "gather" : "scatter");
      const Served served(gathers ? Collective::gather : Collective::scatter, nullptr);
      Zeros<unsigned char> all(rank == 0 ? 2 * block : 1);
      Zeros<unsigned char> own(block);
      for (const std::int64_t i : places) {
        if (gathers) own[i] = value(i, rank);
        for (int r = 0; !gathers && rank == 0 && r < 2; ++r) all[r * block + i] = value(i, r);
      }
      void* send = gathers ? own.data() : all.data();
      void* receive = gathers ? all.data() : own.data();
      ASSERT_EQ(call(send, receive, 0, served.get(), gathers), MPI_SUCCESS);
      for (const std::int64_t i : places) {
        for (int r = 0; rank == 0 && r < 2; ++r) {
          ASSERT_EQ(all[r * block + i], value(i, r)) << "block " << r << ", byte " << i;
        }
        ASSERT_EQ(own[i], value(i, rank)) << "byte " << i;
      }
    }
  }

 private:
  static std::int64_t available_bytes() {
    std::ifstream file("/proc/meminfo");
    std::string name;
    std::int64_t kilobytes = 0;
    std::string unit;
    while (file >> name >> kilobytes >> unit) {
      if (name == "MemAvailable:") return kilobytes * 1024;
    }
    return 0;
  }
};

}  // namespace sibyl::test
