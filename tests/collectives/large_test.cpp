// Calls whose bytes pass 2^31. They take up to 8 GiB and some seconds, so they wait for
// SIBYL_TEST_LONG=1 and two ranks.
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>

#include "collectives/harness.hpp"

namespace sibyl::test {
namespace {

constexpr std::int64_t limit = std::int64_t{1} << 31;

std::int64_t available_bytes() {
  std::ifstream file("/proc/meminfo");
  std::string name;
  std::int64_t kilobytes = 0;
  std::string unit;
  while (file >> name >> kilobytes >> unit) {
    if (name == "MemAvailable:") return kilobytes * 1024;
  }
  return 0;
}

// Zeros that take no memory until they are touched.
class Words {
 public:
  explicit Words(std::int64_t count)
      : words_(static_cast<std::int64_t*>(std::calloc(static_cast<std::size_t>(count), 8))) {}
  std::int64_t* data() { return words_.get(); }
  std::int64_t& operator[](std::int64_t i) { return words_.get()[i]; }

 private:
  struct Free {
    void operator()(std::int64_t* words) const { std::free(words); }
  };
  std::unique_ptr<std::int64_t, Free> words_;
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
};

TEST_F(Large, ExscanOfMoreThan2To31Bytes) {
  const std::int64_t count = limit / 8 + 1000;
  const Algorithm* row = find_algorithm(Collective::exscan, "123-doubling");
  Served served(Collective::exscan, row);
  Words send(count);
  Words receive(count);
  ASSERT_NE(send.data(), nullptr);
  ASSERT_NE(receive.data(), nullptr);
  const std::int64_t places[] = {0, 1, count / 2, limit / 8 - 1, limit / 8, count - 1};
  for (const std::int64_t i : places) send[i] = 5 * i + 1 + rank_in();
  ASSERT_EQ(SIBYL_Exscan(send.data(), receive.data(), static_cast<int>(count), MPI_INT64_T, MPI_SUM,
                         served.get()),
            MPI_SUCCESS);
  EXPECT_EQ(served.served_by(), row);
  for (const std::int64_t i : places) {
    EXPECT_EQ(receive[i], rank_in() == 0 ? 0 : 5 * i + 1) << "element " << i;
  }
}

TEST_F(Large, GatherAndScatterOfMoreThan2To31BytesInAll) {
  const std::int64_t count = limit / 16 + 1000;  // per block; two of them
  const int rank = rank_in();
  for (const Collective collective : {Collective::gather, Collective::scatter}) {
    Served served(collective, nullptr);
    Words all(rank == 1 ? 2 * count : 1);
    Words own(count);
    ASSERT_NE(all.data(), nullptr);
    ASSERT_NE(own.data(), nullptr);
    const std::int64_t places[] = {0, 1, count / 2, count - 1};
    if (collective == Collective::gather) {
      for (const std::int64_t i : places) own[i] = 9 * i + 1 + rank;
      ASSERT_EQ(SIBYL_Gather(own.data(), static_cast<int>(count), MPI_INT64_T, all.data(),
                             static_cast<int>(count), MPI_INT64_T, 1, served.get()),
                MPI_SUCCESS);
      for (const std::int64_t i : places) {
        for (int r = 0; rank == 1 && r < 2; ++r) {
          EXPECT_EQ(all[r * count + i], 9 * i + 1 + r) << "block " << r << ", element " << i;
        }
      }
    } else {
      for (const std::int64_t i : places) {
        for (int r = 0; rank == 1 && r < 2; ++r) all[r * count + i] = 9 * i + 1 + r;
      }
      ASSERT_EQ(SIBYL_Scatter(all.data(), static_cast<int>(count), MPI_INT64_T, own.data(),
                              static_cast<int>(count), MPI_INT64_T, 1, served.get()),
                MPI_SUCCESS);
      for (const std::int64_t i : places) EXPECT_EQ(own[i], 9 * i + 1 + rank) << "element " << i;
    }
    ASSERT_NE(served.served_by(), nullptr) << "blocks of a message each need no native call";
    EXPECT_EQ(served.served_by()->name, "linear");
  }
}

}  // namespace
}  // namespace sibyl::test
