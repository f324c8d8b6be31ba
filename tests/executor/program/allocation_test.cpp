// After the first call of a kind a small call allocates nothing: every allocation of this program's
// own code is counted. (The MPI library's are its own affair.)
#include <atomic>
#include <cstdlib>
#include <memory>
#include <new>
#include <numeric>
#include <vector>

#include "communicator/communicator_state.hpp"
#include "communicator/deferred_release.hpp"
#include "sibyl/sibyl.h"
#include "support/mpi_test.hpp"

// Sanitizers bring their own operator new.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SIBYL_COUNTS_ALLOCATIONS 0
#else
#define SIBYL_COUNTS_ALLOCATIONS 1
#endif

namespace {
std::atomic<long> allocations{0};
std::atomic<long> refused{0};  // the allocation of this number fails; 0: none
}  // namespace

#if SIBYL_COUNTS_ALLOCATIONS
// GCC sees aligned_alloc meet free across what it inlines, and not that they belong together.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
void* operator new(std::size_t bytes) {
  if (++allocations == refused) throw std::bad_alloc();
  if (void* memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  if (++allocations == refused) return nullptr;
  const auto unit = static_cast<std::size_t>(alignment);
  return std::aligned_alloc(unit, (bytes + unit) / unit * unit);
}
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
#endif

namespace sibyl::test {
namespace {

class Allocation : public testing::Test {
 protected:
  static constexpr int count = 4;
  std::vector<int> send_ = std::vector<int>(64 * count, 1);
  std::vector<int> receive_ = std::vector<int>(64 * count, 0);
  std::vector<int> ones_ = std::vector<int>(64, 1);  // of blocks of any sizes
  std::vector<int> places_ = std::vector<int>(64);

  void expect_none(MPI_Datatype type, int elements) {
    const Duplicate comm;
    const int size = size_of();
    std::iota(places_.begin(), places_.end(), 0);
    const auto calls = [&] {
      SIBYL_Exscan(send_.data(), receive_.data(), count, MPI_INT, MPI_SUM, comm.get());
      SIBYL_Scan(send_.data(), receive_.data(), count, MPI_INT, MPI_SUM, comm.get());
      for (const int root : {0, size - 1}) {
        SIBYL_Gather(send_.data(), elements, type, receive_.data(), elements, type, root,
                     comm.get());
        SIBYL_Scatter(send_.data(), elements, type, receive_.data(), elements, type, root,
                      comm.get());
        SIBYL_Bcast(receive_.data(), elements, type, root, comm.get());
      }
      SIBYL_Allreduce(send_.data(), receive_.data(), count, MPI_INT, MPI_SUM, comm.get());
      SIBYL_Reduce_scatter(send_.data(), receive_.data(), ones_.data(), MPI_INT, MPI_SUM,
                           comm.get());
      SIBYL_Reduce_scatter_block(send_.data(), receive_.data(), 1, MPI_INT, MPI_SUM, comm.get());
      SIBYL_Allgather(send_.data(), elements, type, receive_.data(), elements, type, comm.get());
      SIBYL_Allgatherv(send_.data(), 1, type, receive_.data(), ones_.data(), places_.data(), type,
                       comm.get());
      SIBYL_Alltoall(send_.data(), elements, type, receive_.data(), elements, type, comm.get());
      SIBYL_Alltoallv(send_.data(), ones_.data(), places_.data(), type, receive_.data(),
                      ones_.data(), places_.data(), type, comm.get());
      SIBYL_Barrier(comm.get());
    };
    CommunicatorState* state = CommunicatorState::get(comm.get());
    ASSERT_TRUE(state->serves(comm.get(), true));
    for (std::size_t row = 0; row < 8; ++row) {
      Settings settings;
      for (std::size_t c = 0; c < collective_count; ++c) {
        const auto rows = algorithms(static_cast<Collective>(c)).size();
        settings.algorithm[c] = static_cast<std::int32_t>(row % rows);
      }
      state->replace_settings(settings);
      calls();
      const long before = allocations;
      for (int i = 0; i < (size > 5 ? 2 : 20); ++i) calls();
      EXPECT_EQ(allocations - before, 0) << "algorithms " << row;
    }
  }
};

TEST_F(Allocation, NoneForSmallCallsOfPredefinedTypes) {
  if (!SIBYL_COUNTS_ALLOCATIONS) GTEST_SKIP() << "a sanitizer counts for itself";
  const long before = allocations;
  ::operator delete(::operator new(1));  // the compiler may leave out `delete new int`
  ASSERT_GT(allocations, before) << "the count works";
  expect_none(MPI_INT, count);
}

TEST_F(Allocation, NoneForSmallCallsOfContiguousTypes) {
  if (!SIBYL_COUNTS_ALLOCATIONS) GTEST_SKIP() << "a sanitizer counts for itself";
  MPI_Datatype pair = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  expect_none(pair, count / 2);
  MPI_Type_free(&pair);
}

TEST_F(Allocation, NoneForSmallCallsOfTypesWithGaps) {
  if (!SIBYL_COUNTS_ALLOCATIONS) GTEST_SKIP() << "a sanitizer counts for itself";
  MPI_Datatype gapped = MPI_DATATYPE_NULL;
  MPI_Type_vector(2, 1, 2, MPI_INT, &gapped);
  MPI_Type_commit(&gapped);
  expect_none(gapped, 1);
  MPI_Type_free(&gapped);
}

// A rank that lacked memory in an iteration, which all others have begun, would leave them waiting.
TEST(AllocationFailure, IterationsOfRequestsNeedNothingThatInitHasNotTaken) {
  if (!SIBYL_COUNTS_ALLOCATIONS) GTEST_SKIP() << "a sanitizer counts for itself";
  const Duplicate comm;
  const int size = size_of();
  static constexpr int bytes = 1 << 14;
  const std::size_t all = static_cast<std::size_t>(bytes) * static_cast<std::size_t>(size);
  std::vector<char> send(all);
  std::vector<char> receive(all);
  const auto iterate = [&](const char* what, auto init) {
    SIBYL_Request request = SIBYL_REQUEST_NULL;
    ASSERT_EQ(init(&request), MPI_SUCCESS) << what;
    const long before = allocations;
    EXPECT_EQ(SIBYL_Start(&request), MPI_SUCCESS);
    EXPECT_EQ(SIBYL_Arrive(&request), MPI_SUCCESS);
    EXPECT_EQ(SIBYL_Wait(&request), MPI_SUCCESS);
    EXPECT_EQ(allocations - before, 0) << what;
    EXPECT_EQ(SIBYL_Request_free(&request), MPI_SUCCESS);
  };
  iterate("alltoall in place", [&](SIBYL_Request* request) {
    return SIBYL_Alltoall_init(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, receive.data(), bytes, MPI_BYTE,
                               comm.get(), MPI_INFO_NULL, request);
  });
  iterate("allreduce", [&](SIBYL_Request* request) {
    return SIBYL_Allreduce_init(send.data(), receive.data(), bytes, MPI_BYTE, MPI_BOR, comm.get(),
                                MPI_INFO_NULL, request);
  });
  iterate("gather", [&](SIBYL_Request* request) {
    return SIBYL_Gather_init(send.data(), bytes, MPI_BYTE, receive.data(), bytes, MPI_BYTE,
                             size - 1, comm.get(), MPI_INFO_NULL, request);
  });
}

// Whatever cannot be allocated on the way to a communicator's state: there is none then, or a whole
// one, and the next attempt finds or makes a whole one.
TEST(AllocationFailure, LeavesNoHalfMadeState) {
  if (!SIBYL_COUNTS_ALLOCATIONS) GTEST_SKIP() << "a sanitizer allocates for itself";
  std::vector<std::unique_ptr<Duplicate>> comms;  // alive together: lists of them must grow
  for (int attempt = 0; attempt < 24; ++attempt) comms.push_back(std::make_unique<Duplicate>());
  int failures = 0;
  for (int attempt = 0; attempt < 24; ++attempt) {
    const MPI_Comm comm = comms[static_cast<std::size_t>(attempt)]->get();
    refused = allocations + 1 + attempt % 3;
    const CommunicatorState* state = CommunicatorState::get(comm);
    refused = 0;
    if (state == nullptr) ++failures;
    const int one = 1;
    int sum = 0;
    ASSERT_EQ(SIBYL_Scan(&one, &sum, 1, MPI_INT, MPI_SUM, comm), MPI_SUCCESS);
    EXPECT_EQ(sum, rank_in() + 1);
  }
  EXPECT_GT(failures, 8) << "no allocation on the way was refused";
}

// A rank that has no memory when a communicator is set up says so: all ranks stay with the library.
TEST(AllocationFailure, AtOneRankLeavesACommunicatorToTheLibraryAtAll) {
  if (!SIBYL_COUNTS_ALLOCATIONS) GTEST_SKIP() << "a sanitizer allocates for itself";
  const Duplicate comm;
  CommunicatorState* const state = CommunicatorState::get(comm.get());
  ASSERT_NE(state, nullptr);
  const long last = allocations + 1;
  refused = rank_in() == size_of() - 1 ? last : 0;
  for (int call = 0; call < 3; ++call) {
    const int one = 1;
    int sum = 0;
    EXPECT_EQ(SIBYL_Scan(&one, &sum, 1, MPI_INT, MPI_SUM, comm.get()), MPI_SUCCESS);
    EXPECT_EQ(sum, rank_in() + 1);
    refused = 0;
  }
  EXPECT_EQ(state->private_comm(), MPI_COMM_NULL);
}

// How many duplicates of a type there are beside the first.
int count_copy(MPI_Datatype, int, void* extra, void*, void*, int* kept) {
  ++*static_cast<int*>(extra);
  *kept = 1;
  return MPI_SUCCESS;
}
int count_end(MPI_Datatype, int, void*, void* extra) {
  --*static_cast<int*>(extra);
  return MPI_SUCCESS;
}

// Whatever cannot be allocated at one rank while a persistent request is made: no rank has one
// then, and neither types nor tags are kept.
TEST(AllocationFailure, LeavesNothingOfAPersistentRequest) {
  if (!SIBYL_COUNTS_ALLOCATIONS) GTEST_SKIP() << "a sanitizer allocates for itself";
  int copies = 0;
  int key = MPI_KEYVAL_INVALID;
  MPI_Type_create_keyval(&count_copy, &count_end, &key, &copies);
  MPI_Datatype pair = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  MPI_Type_set_attr(pair, key, nullptr);
  const Duplicate comm;
  CommunicatorState* state = CommunicatorState::get(comm.get());
  ASSERT_TRUE(state->serves(comm.get(), true));
  // Made once, and done without where there is no memory for it.
  static_cast<void>(state->process().progress_thread());
  std::vector<int> own(2, rank_in());
  std::vector<int> all(2 * static_cast<std::size_t>(size_of()));
  int failures = 0;
  bool reached_the_end = false;
  for (int attempt = 1; attempt <= 100 && !reached_the_end; ++attempt) {
    SCOPED_TRACE(attempt);
    const long last = allocations + attempt;
    refused = rank_in() == 0 ? last : 0;
    SIBYL_Request request = SIBYL_REQUEST_NULL;
    const int error = SIBYL_Gather_init(own.data(), 1, pair, all.data(), 1, pair, 0, comm.get(),
                                        MPI_INFO_NULL, &request);
    refused = 0;
    int made = error == MPI_SUCCESS ? 1 : 0;
    EXPECT_EQ(made != 0, request != SIBYL_REQUEST_NULL);
    MPI_Bcast(&made, 1, MPI_INT, 0, comm.get());
    ASSERT_EQ(made != 0, error == MPI_SUCCESS) << "ranks differ";
    failures += 1 - made;
    int passed = allocations < last ? 1 : 0;
    MPI_Bcast(&passed, 1, MPI_INT, 0, comm.get());
    reached_the_end = passed != 0;
    if (made != 0) SIBYL_Request_free(&request);
    MPI_Barrier(comm.get());  // all farewells have been sent
    state->process().deferred_release().end();
    EXPECT_EQ(copies, 0);
    EXPECT_EQ(state->shared_private()->tags.used(), TagBlocks::Map{});
    ASSERT_FALSE(testing::Test::HasFailure());
  }
  EXPECT_TRUE(reached_the_end);
  EXPECT_GT(failures, 4) << "hardly any allocation was refused";
  MPI_Type_free(&pair);
  MPI_Type_free_keyval(&key);
}

}  // namespace
}  // namespace sibyl::test
