// Types of every making can be looked at, and elements be copied however many they are and wherever
// they lie.
#include "executor/datatype.hpp"

#include <array>
#include <atomic>
#include <cstdlib>
#include <limits>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

#include "support/mpi_test.hpp"
#include "support/sanitized.hpp"

namespace sibyl::test {
namespace {

#if MPI_VERSION >= 4
TEST(Datatype, OfALargeCountIsKnownAndNotDense) {
  MPI_Datatype vector = MPI_DATATYPE_NULL;
  MPI_Datatype run = MPI_DATATYPE_NULL;
  MPI_Type_vector_c(5, 1, 2, MPI_INT, &vector);
  MPI_Type_contiguous_c(3, MPI_INT, &run);
  for (const MPI_Datatype type : {vector, run}) {
    DatatypeInfo info;
    ASSERT_EQ(inspect(type, info), MPI_SUCCESS);
    EXPECT_FALSE(info.named);
    EXPECT_FALSE(info.dense);
    EXPECT_EQ(info.size, type == vector ? 20U : 12U);
  }
  MPI_Type_free(&vector);
  MPI_Type_free(&run);
}
#endif

TEST(Datatype, IsDenseWhereItHasNoGaps) {
  MPI_Datatype run = MPI_DATATYPE_NULL;
  MPI_Datatype vector = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(3, MPI_INT, &run);
  MPI_Type_vector(5, 1, 2, MPI_INT, &vector);
  DatatypeInfo info;
  ASSERT_EQ(inspect(run, info), MPI_SUCCESS);
  EXPECT_TRUE(info.dense);
  ASSERT_EQ(inspect(vector, info), MPI_SUCCESS);
  EXPECT_FALSE(info.dense);
  MPI_Type_free(&run);
  MPI_Type_free(&vector);
}

int raised_for_kinds = 0;
void count_for_kinds(MPI_Comm*, int*, ...) { ++raised_for_kinds; }

// What MPI_Type_create_f90_real and its like give is predefined, but not named.
TEST(Datatype, MadeOfAFortranKindIsKnownAndLeavesTheKindAlone) {
  const std::array<MPI_Comm, 2> raising{MPI_COMM_WORLD, MPI_COMM_SELF};
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(&count_for_kinds, &handler);
  for (const MPI_Comm comm : raising) MPI_Comm_set_errhandler(comm, handler);
  std::vector<MPI_Datatype> kinds(3, MPI_DATATYPE_NULL);
  const bool made = MPI_Type_create_f90_real(15, MPI_UNDEFINED, &kinds[0]) == MPI_SUCCESS &&
                    MPI_Type_create_f90_complex(15, MPI_UNDEFINED, &kinds[1]) == MPI_SUCCESS &&
                    MPI_Type_create_f90_integer(8, &kinds[2]) == MPI_SUCCESS;
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
  kinds.push_back(MPI_DATATYPE_NULL);
  MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT, &kinds.back());
  if (kinds.back() == MPI_DATATYPE_NULL) kinds.pop_back();
#endif
  raised_for_kinds = 0;
  for (const MPI_Datatype kind : kinds) {
    if (!made) break;
    int size = 0;
    ASSERT_EQ(MPI_Type_size(kind, &size), MPI_SUCCESS);
    MPI_Datatype run = MPI_DATATYPE_NULL;
    MPI_Datatype copy = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(3, kind, &run);
    MPI_Type_dup(kind, &copy);
    for (int look = 0; look < 5; ++look) {
      DatatypeInfo info;
      ASSERT_EQ(inspect(run, info), MPI_SUCCESS);
      EXPECT_EQ(info.size, 3U * static_cast<unsigned>(size));
      ASSERT_EQ(inspect(copy, info), MPI_SUCCESS);
      EXPECT_EQ(info.size, static_cast<unsigned>(size));
    }
    MPI_Type_free(&run);
    MPI_Type_free(&copy);
    int after = 0;
    EXPECT_EQ(MPI_Type_size(kind, &after), MPI_SUCCESS);
    EXPECT_EQ(after, size);
  }
  EXPECT_EQ(raised_for_kinds, 0);
  for (const MPI_Comm comm : raising) MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
  MPI_Errhandler_free(&handler);
  if (!made) GTEST_SKIP() << "an MPI without Fortran";
}

// Elements are runs of `width` bytes with a gap behind each.
class Runs {
 public:
  Runs(int width, int gap) {
    MPI_Datatype run = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(width, MPI_BYTE, &run);
    MPI_Type_create_resized(run, 0, width + gap, &type_);
    MPI_Type_commit(&type_);
    MPI_Type_free(&run);
    EXPECT_EQ(inspect(type_, info_), MPI_SUCCESS);
  }
  ~Runs() { MPI_Type_free(&type_); }
  Runs(const Runs&) = delete;
  Runs& operator=(const Runs&) = delete;
  const DatatypeInfo& info() const { return info_; }
  MPI_Datatype type() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  DatatypeInfo info_;
};

// By pack and unpack, in two threads at once, each from and to places of its own that its type
// says: MPI_BOTTOM is their address.
TEST(Datatype, AtAbsoluteAddressesIsCopiedByAnyThreads) {
  if (thread_level() < MPI_THREAD_MULTIPLE) GTEST_SKIP() << "needs MPI_THREAD_MULTIPLE";
  constexpr int turns = sanitized ? 10000 : 60000;
  const Duplicate comm;
  if (rank_in() != 0) return;
  std::atomic<int> wrong = 0;
  std::atomic<int> ready = 0;
  const auto copy = [&](int own) {
    std::array<int, 3> values{};
    std::array<MPI_Aint, 2> places{};
    MPI_Get_address(&values[0], &places[0]);
    MPI_Get_address(&values[2], &places[1]);
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_create_hindexed_block(2, 1, places.data(), MPI_INT, &type);
    MPI_Type_commit(&type);
    DatatypeInfo info;
    if (inspect(type, info) != MPI_SUCCESS) ++wrong;
    ++ready;
    while (ready != 2) std::this_thread::yield();
    for (int i = 0; i < turns; ++i) {
      values = {own + 2 * i, -1, own + 2 * i};
      std::array<int, 2> packed{};
      if (pack(MPI_BOTTOM, 1, info, reinterpret_cast<char*>(packed.data()), comm.get()) !=
              MPI_SUCCESS ||
          packed != std::array<int, 2>{own + 2 * i, own + 2 * i}) {
        ++wrong;
      }
      packed = {own, own - 2 * i};
      if (unpack(reinterpret_cast<const char*>(packed.data()), MPI_BOTTOM, 1, info, comm.get()) !=
              MPI_SUCCESS ||
          values != std::array<int, 3>{own, -1, own - 2 * i}) {
        ++wrong;
      }
    }
    MPI_Type_free(&type);
  };
  std::thread other(copy, 1);
  copy(0);
  other.join();
  EXPECT_EQ(wrong, 0) << "of " << 4 * turns;
}

// By calls that count few bytes, and elements of more than they count.
TEST(Datatype, IsPackedAndUnpackedInPieces) {
  constexpr int width = 5;
  constexpr int gap = 2;
  constexpr std::size_t count = 23;
  const Duplicate comm;
  const Runs runs(width, gap);
  std::vector<char> values(count * (width + gap));
  std::iota(values.begin(), values.end(), '\0');
  for (const std::size_t most : {4U, 5U, 9U, 10U, 37U, 114U, 115U, 1000U}) {
    SCOPED_TRACE(most);
    std::vector<char> packed(count * width);
    ASSERT_EQ(pack(values.data(), count, runs.info(), packed.data(), comm.get(), most),
              MPI_SUCCESS);
    std::vector<char> back(values.size(), -1);
    ASSERT_EQ(unpack(packed.data(), back.data(), count, runs.info(), comm.get(), most),
              MPI_SUCCESS);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::size_t element = i / (width + gap);
      const std::size_t within = i % (width + gap);
      ASSERT_EQ(back[i], within < width ? values[i] : -1) << "byte " << i;
      if (within < width) {
        ASSERT_EQ(packed[element * width + within], values[i]);
      }
    }
  }
}

// Takes up to 5 GiB: one rank, where SIBYL_TEST_LONG is set.
TEST(Datatype, OfMoreThan2To31BytesIsPackedAndUnpacked) {
  if (std::getenv("SIBYL_TEST_LONG") == nullptr) GTEST_SKIP() << "a long test";
  if (rank_in() != 0) return;
  constexpr int width = 1 << 20;
  constexpr int gap = 64;
  constexpr int count = 2049;
  const Runs runs(width, gap);
  MPI_Datatype all = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(count, runs.type(), &all);
  MPI_Type_commit(&all);
  DatatypeInfo whole;
  ASSERT_EQ(inspect(all, whole), MPI_SUCCESS);
  ASSERT_FALSE(whole.dense);
  const auto zeros = [](std::size_t bytes) {
    return std::unique_ptr<char, decltype(&std::free)>(static_cast<char*>(std::calloc(bytes, 1)),
                                                       &std::free);
  };
  const auto values = zeros(count * (std::size_t{width} + gap));
  const auto packed = zeros(count * std::size_t{width});
  ASSERT_TRUE(values != nullptr && packed != nullptr);
  const auto last = [&](int element) {
    return (static_cast<std::size_t>(element) + 1) * (std::size_t{width} + gap) - gap - 1;
  };
  const Duplicate comm;
  for (const bool one_element : {false, true}) {
    SCOPED_TRACE(one_element);
    const DatatypeInfo& type = one_element ? whole : runs.info();
    const MPI_Count elements = one_element ? 1 : count;
    for (const int element : {0, 1, 2047, 2048}) {
      values.get()[last(element)] = static_cast<char>(element % 100 + 1);
    }
    ASSERT_EQ(pack(values.get(), elements, type, packed.get(), comm.get()), MPI_SUCCESS);
    for (const int element : {0, 1, 2047, 2048}) {
      const std::size_t at = (static_cast<std::size_t>(element) + 1) * width - 1;
      ASSERT_EQ(packed.get()[at], element % 100 + 1);
      packed.get()[at] = static_cast<char>(element % 50 + 7);
    }
    ASSERT_EQ(unpack(packed.get(), values.get(), elements, type, comm.get()), MPI_SUCCESS);
    for (const int element : {0, 1, 2047, 2048}) {
      ASSERT_EQ(values.get()[last(element)], element % 50 + 7);
      ASSERT_EQ(values.get()[last(element) + 1], 0) << "the gap behind it";
    }
  }
  MPI_Type_free(&all);
}

}  // namespace
}  // namespace sibyl::test
