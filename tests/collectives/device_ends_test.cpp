// Where buffers in device memory come to their end: memory that is freed and becomes the host's,
// contexts, copies that find no room, types whose bytes are not told apart from gaps.
#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include "collectives/device_numbers.hpp"
#include "executor/host_copies.hpp"

namespace sibyl::test {
namespace {

// What was freed on the device may come to lie on the host.
TEST(DeviceMemory, ThatHasBecomeTheHostsIsAskedForAgain) {
  SIBYL_TRACE_SEED();
  Served served(Collective::gather, find_algorithm(Collective::gather, "binomial"));
  const int rank = rank_in();
  const int size = size_of();
  DeviceNumbers own(device_block, true);
  std::vector<int> all(static_cast<std::size_t>(device_block * size));
  const auto gather = [&](int turn) {
    ASSERT_EQ(class_of(SIBYL_Gather(own.address(), device_block, MPI_INT, all.data(), device_block,
                                    MPI_INT, 0, served.get())),
              MPI_SUCCESS);
    for (int r = 0; r < size && rank == 0; ++r) {
      EXPECT_EQ(all[static_cast<std::size_t>(r * device_block)], value_of(r, 0, turn));
    }
  };
  own.set(filled(device_block, value_of(rank, 0, 0)));
  gather(0);  // from now on it is known whose this is
  device_stub().to_host(own.address(), device_block * sizeof(int), 1);
  std::fill_n(own.address(), device_block, value_of(rank, 0, 1));
  gather(1);
  gather(1);
  device_stub().to_host(own.address(), device_block * sizeof(int), 0);
  own.set(filled(device_block, value_of(rank, 0, 2)));
  gather(2);
}

// A program that ends its primary context must not find it kept.
TEST(DeviceMemory, OfAPoolKeepsNoContext) {
  SIBYL_TRACE_SEED();
  Served served(Collective::allreduce, find_algorithm(Collective::allreduce, "ring"));
  const DeviceStub& stub = device_stub();
  const bool is_cuda = stub.pool != nullptr;
  const int size = size_of();
  DeviceNumbers vector(device_block, true);
  if (is_cuda) stub.pool(1);
  const long before = is_cuda ? stub.retains() : 0;
  for (int turn = 0; turn < 3; ++turn) {
    vector.set(filled(device_block, turn));
    ASSERT_EQ(SIBYL_Allreduce(MPI_IN_PLACE, vector.address(), device_block, MPI_INT, MPI_SUM,
                              served.get()),
              MPI_SUCCESS);
    EXPECT_EQ(vector.get(), filled(device_block, size * turn));
    if (is_cuda) {
      EXPECT_EQ(stub.retained(), 0);
    }
  }
  if (!is_cuda) return;
  stub.pool(0);
  if (size > 1) {
    EXPECT_GT(stub.retains(), before);
  }
}

// Elements far apart, so that a copy of them finds no room at the one rank that needs it.
TEST(DeviceMemory, WithoutRoomForACopyAtOneRankIsRefusedAtAll) {
  SIBYL_TRACE_SEED();
  const Duplicate comm;
  const int rank = rank_in();
  const int alone = size_of() - 1;
  MPI_Comm_set_errhandler(comm.get(), MPI_ERRORS_RETURN);
  DeviceNumbers vector(2, rank == alone);
  MPI_Datatype far_apart = MPI_DATATYPE_NULL;
  MPI_Type_create_hvector(2, 1, MPI_Aint{1} << 46, MPI_INT, &far_apart);
  MPI_Type_commit(&far_apart);
  for (const char* algorithm : {"auto", "native"}) {
    const AlgorithmInfo info(algorithm);
    SIBYL_Request request = SIBYL_REQUEST_NULL;
    const int error =
        SIBYL_Bcast_init(vector.address(), rank == alone ? 1 : 2,
                         rank == alone ? far_apart : MPI_INT, 0, comm.get(), info.handle, &request);
    EXPECT_EQ(class_of(error), rank == alone ? MPI_ERR_NO_MEM : MPI_ERR_OTHER) << algorithm;
    EXPECT_EQ(request, SIBYL_REQUEST_NULL);
  }
  MPI_Type_free(&far_apart);
  // Nothing is left that a next request would meet.
  SIBYL_Request request = SIBYL_REQUEST_NULL;
  DeviceNumbers right(2);
  ASSERT_EQ(SIBYL_Bcast_init(right.address(), 2, MPI_INT, 0, comm.get(), MPI_INFO_NULL, &request),
            MPI_SUCCESS);
  run_turns(
      request,
      [&](int turn) {
        if (rank == 0) right.set({turn, turn});
      },
      [&](int turn) { EXPECT_EQ(right.get(), (std::vector<int>{turn, turn})); });
}

// The others have opened what they tell the root when they arrive by, and the root has not.
TEST(DeviceMemory, WithoutRoomAtTheRootLeavesNothingForTheNextRequest) {
  SIBYL_TRACE_SEED();
  const Duplicate comm;
  const int rank = rank_in();
  const int size = size_of();
  if (size < 2) GTEST_SKIP() << "needs two ranks";
  MPI_Comm_set_errhandler(comm.get(), MPI_ERRORS_RETURN);
  MPI_Datatype far_apart = MPI_DATATYPE_NULL;
  MPI_Type_create_hvector(2, 1, MPI_Aint{1} << 40, MPI_INT, &far_apart);
  MPI_Type_commit(&far_apart);
  const AlgorithmInfo linear("linear");
  std::vector<int> two(2);
  DeviceNumbers all(2, rank == 0);
  SIBYL_Request request = SIBYL_REQUEST_NULL;
  const int error = SIBYL_Gather_init(two.data(), 2, MPI_INT, all.address(), 1, far_apart, 0,
                                      comm.get(), linear.handle, &request);
  EXPECT_EQ(class_of(error), rank == 0 ? MPI_ERR_NO_MEM : MPI_ERR_OTHER);
  MPI_Type_free(&far_apart);
  const AlgorithmInfo clairvoyant("clairvoyant");
  std::vector<int> own(device_block);
  std::vector<int> sum(device_block);
  ASSERT_EQ(SIBYL_Reduce_init(own.data(), sum.data(), device_block, MPI_INT, MPI_SUM, 0, comm.get(),
                              clairvoyant.handle, &request),
            MPI_SUCCESS);
  run_turns(
      request, [&](int turn) { std::fill(own.begin(), own.end(), turn); },
      [&](int turn) {
        if (rank == 0) {
          EXPECT_EQ(sum, filled(device_block, size * turn));
        }
      });
}

// Where a type is mostly gaps its bytes are not told apart, and a copy is brought with the gaps:
// only before anything is received.
TEST(DeviceMemory, ThatIsMostlyGapsLosesNothingThatComesEarly) {
  SIBYL_TRACE_SEED();
  const std::size_t small_span = HostCopies::small_span;
  HostCopies::small_span = 0;
  const Duplicate comm;
  const int rank = rank_in();
  const int size = size_of();
  constexpr int apart = 100;
  MPI_Datatype sparse = MPI_DATATYPE_NULL;
  MPI_Type_vector(4, 1, apart, MPI_INT, &sparse);
  MPI_Type_commit(&sparse);
  const auto extent = static_cast<std::size_t>(3 * apart + 1);
  DeviceNumbers send(4, false);
  DeviceNumbers receive(extent * static_cast<std::size_t>(size), true);
  const AlgorithmInfo info("auto");
  SIBYL_Request request = SIBYL_REQUEST_NULL;
  ASSERT_EQ(SIBYL_Allgather_init(send.address(), 4, MPI_INT, receive.address(), 1, sparse,
                                 comm.get(), info.handle, &request),
            MPI_SUCCESS);
  run_turns(
      request,
      [&](int turn) {
        send.set(filled(4, value_of(rank, 0, turn)));
        // All others' blocks have come before this rank arrives.
        if (rank == turn % size) std::this_thread::sleep_for(std::chrono::milliseconds(30));
      },
      [&](int turn) {
        const std::vector<int> now = receive.get();
        for (int r = 0; r < size; ++r) {
          const std::size_t begin = static_cast<std::size_t>(r) * extent;
          for (std::size_t i = 0; i < 4; ++i) {
            EXPECT_EQ(now[begin + i * apart], value_of(r, 0, turn)) << "of rank " << r;
          }
          EXPECT_EQ(now[begin + 1], -1) << "a gap was written to";
        }
      });
  MPI_Type_free(&sparse);
  HostCopies::small_span = small_span;
}

}  // namespace
}  // namespace sibyl::test
