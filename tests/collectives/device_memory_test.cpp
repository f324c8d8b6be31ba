// Persistent collectives, the iterative model and faults, with buffers in the memory of a stub of a
// device, which faults when the host touches it. Every rank draws where its buffers lie. Blocking
// calls with any types: reference_random_test.cpp.
#include <vector>

#include "collectives/device_numbers.hpp"
#include "sibyl/pat.h"

namespace sibyl::test {
namespace {

// By a program, in the background or not, and by the library's own nonblocking collective.
class DevicePersistent : public testing::TestWithParam<std::pair<const char*, bool>> {
 protected:
  DevicePersistent()
      : info_(GetParam().first, GetParam().second), rank_(rank_in()), size_(size_of()) {}
  std::size_t all() const { return static_cast<std::size_t>(device_block * size_); }
  void expect_blocks(const DeviceNumbers& received, int turn, int to = 0) const {
    std::vector<int> wanted;
    for (int r = 0; r < size_; ++r) {
      const std::vector<int> part = filled(device_block, value_of(r, to, turn));
      wanted.insert(wanted.end(), part.begin(), part.end());
    }
    EXPECT_EQ(received.get(), wanted);
  }
  Duplicate comm_;
  AlgorithmInfo info_;
  int rank_;
  int size_;
};

TEST_P(DevicePersistent, Gather) {
  SIBYL_TRACE_SEED();
  const int root = size_ - 1;
  const bool in_place = rank_ == root && pick(device_draws(), 2) == 0;
  DeviceNumbers send(device_block);
  DeviceNumbers receive(all());
  SIBYL_Request request = SIBYL_REQUEST_NULL;
  ASSERT_EQ(SIBYL_Gather_init(in_place ? MPI_IN_PLACE : send.address(), device_block, MPI_INT,
                              receive.address(), device_block, MPI_INT, root, comm_.get(),
                              info_.handle, &request),
            MPI_SUCCESS);
  run_turns(
      request,
      [&](int turn) {
        const std::vector<int> own = filled(device_block, value_of(rank_, 0, turn));
        send.set(own);
        // No other block is the root's to write: it may have come already.
        if (in_place) receive.set(own, rank_ * device_block);
      },
      [&](int turn) {
        if (rank_ == root) expect_blocks(receive, turn);
      });
}

TEST_P(DevicePersistent, Scatter) {
  SIBYL_TRACE_SEED();
  DeviceNumbers send(all());
  DeviceNumbers receive(device_block);
  SIBYL_Request request = SIBYL_REQUEST_NULL;
  ASSERT_EQ(SIBYL_Scatter_init(send.address(), device_block, MPI_INT, receive.address(),
                               device_block, MPI_INT, 0, comm_.get(), info_.handle, &request),
            MPI_SUCCESS);
  run_turns(
      request,
      [&](int turn) {
        std::vector<int> blocks;
        for (int r = 0; r < size_; ++r)
          blocks.insert(blocks.end(), device_block, value_of(0, r, turn));
        send.set(blocks);
      },
      [&](int turn) { EXPECT_EQ(receive.get(), filled(device_block, value_of(0, rank_, turn))); });
}

TEST_P(DevicePersistent, GathervAndScatterv) {
  SIBYL_TRACE_SEED();
  const auto size = static_cast<std::size_t>(size_);
  std::vector<int> counts(size);
  std::vector<int> places(size);
  for (std::size_t r = 0; r < size; ++r) {
    counts[r] = static_cast<int>(r) * 100;
    places[r] = static_cast<int>((size - r - 1) * size) * 100;  // with gaps, from the end on
  }
  const auto own = static_cast<std::size_t>(counts[static_cast<std::size_t>(rank_)]);
  DeviceNumbers send(own);
  DeviceNumbers middle(size * size * 100);
  DeviceNumbers receive(own);
  SIBYL_Request up = SIBYL_REQUEST_NULL;
  SIBYL_Request down = SIBYL_REQUEST_NULL;
  ASSERT_EQ(
      SIBYL_Gatherv_init(send.address(), static_cast<int>(own), MPI_INT, middle.address(),
                         counts.data(), places.data(), MPI_INT, 0, comm_.get(), info_.handle, &up),
      MPI_SUCCESS);
  ASSERT_EQ(SIBYL_Scatterv_init(middle.address(), counts.data(), places.data(), MPI_INT,
                                receive.address(), static_cast<int>(own), MPI_INT, 0, comm_.get(),
                                info_.handle, &down),
            MPI_SUCCESS);
  run_turns(up, [&](int turn) { send.set(filled(own, value_of(rank_, 1, turn))); }, [](int) {});
  if (rank_ == 0) {
    const std::vector<int> gathered = middle.get();
    for (std::size_t r = 0; r < size; ++r) {
      const auto begin = gathered.begin() + places[r];
      const int wanted = value_of(static_cast<int>(r), 1, 4);
      EXPECT_EQ(std::vector<int>(begin, begin + counts[r]),
                filled(static_cast<std::size_t>(counts[r]), wanted));
      EXPECT_EQ(begin[counts[r]], -1) << "a gap was written to";
    }
  }
  run_turns(
      down, [](int) {}, [&](int) { EXPECT_EQ(receive.get(), filled(own, value_of(rank_, 1, 4))); });
}

TEST_P(DevicePersistent, ReduceAndAllreduce) {
  SIBYL_TRACE_SEED();
  const bool in_place = pick(device_draws(), 2) == 0;
  DeviceNumbers send(device_block);
  DeviceNumbers sum(device_block);
  DeviceNumbers at_root(device_block);
  SIBYL_Request to_all = SIBYL_REQUEST_NULL;
  SIBYL_Request to_one = SIBYL_REQUEST_NULL;
  ASSERT_EQ(
      SIBYL_Allreduce_init(in_place ? MPI_IN_PLACE : send.address(), sum.address(), device_block,
                           MPI_INT, MPI_SUM, comm_.get(), info_.handle, &to_all),
      MPI_SUCCESS);
  ASSERT_EQ(SIBYL_Reduce_init(send.address(), at_root.address(), device_block, MPI_INT, MPI_SUM, 0,
                              comm_.get(), info_.handle, &to_one),
            MPI_SUCCESS);
  const auto total = [&](int turn) {
    int of_all = 0;
    for (int r = 0; r < size_; ++r) of_all += value_of(r, 2, turn);
    return filled(device_block, of_all);
  };
  const auto put = [&](int turn) {
    send.set(filled(device_block, value_of(rank_, 2, turn)));
    if (in_place) sum.set(filled(device_block, value_of(rank_, 2, turn)));
  };
  run_turns(to_all, put, [&](int turn) { EXPECT_EQ(sum.get(), total(turn)); });
  run_turns(to_one, put, [&](int turn) {
    if (rank_ == 0) {
      EXPECT_EQ(at_root.get(), total(turn));
    }
  });
}

TEST_P(DevicePersistent, Exscan) {
  SIBYL_TRACE_SEED();
  DeviceNumbers send(device_block);
  DeviceNumbers sum(device_block);
  SIBYL_Request request = SIBYL_REQUEST_NULL;
  ASSERT_EQ(SIBYL_Exscan_init(send.address(), sum.address(), device_block, MPI_INT, MPI_SUM,
                              comm_.get(), info_.handle, &request),
            MPI_SUCCESS);
  run_turns(
      request, [&](int turn) { send.set(filled(device_block, value_of(rank_, 3, turn))); },
      [&](int turn) {
        int before = 0;
        for (int r = 0; r < rank_; ++r) before += value_of(r, 3, turn);
        EXPECT_EQ(sum.get(), filled(device_block, rank_ == 0 ? -1 : before));
      });
}

TEST_P(DevicePersistent, Bcast) {
  SIBYL_TRACE_SEED();
  DeviceNumbers vector(device_block);
  SIBYL_Request request = SIBYL_REQUEST_NULL;
  ASSERT_EQ(SIBYL_Bcast_init(vector.address(), device_block, MPI_INT, size_ - 1, comm_.get(),
                             info_.handle, &request),
            MPI_SUCCESS);
  run_turns(
      request,
      [&](int turn) {
        if (rank_ == size_ - 1) vector.set(filled(device_block, value_of(7, 7, turn)));
      },
      [&](int turn) { EXPECT_EQ(vector.get(), filled(device_block, value_of(7, 7, turn))); });
}

TEST_P(DevicePersistent, AllgatherAndAlltoall) {
  SIBYL_TRACE_SEED();
  const bool in_place = pick(device_draws(), 2) == 0;
  DeviceNumbers send(device_block);
  DeviceNumbers receive(all());
  DeviceNumbers rows(all());
  DeviceNumbers columns(all());
  // In place is at all ranks or at none.
  int everywhere = in_place ? 1 : 0;
  MPI_Bcast(&everywhere, 1, MPI_INT, 0, comm_.get());
  SIBYL_Request gather = SIBYL_REQUEST_NULL;
  SIBYL_Request exchange = SIBYL_REQUEST_NULL;
  ASSERT_EQ(SIBYL_Allgather_init(everywhere != 0 ? MPI_IN_PLACE : send.address(), device_block,
                                 MPI_INT, receive.address(), device_block, MPI_INT, comm_.get(),
                                 info_.handle, &gather),
            MPI_SUCCESS);
  ASSERT_EQ(SIBYL_Alltoall_init(rows.address(), device_block, MPI_INT, columns.address(),
                                device_block, MPI_INT, comm_.get(), info_.handle, &exchange),
            MPI_SUCCESS);
  run_turns(
      gather,
      [&](int turn) {
        const std::vector<int> own = filled(device_block, value_of(rank_, 0, turn));
        send.set(own);
        if (everywhere != 0) receive.set(own, rank_ * device_block);
      },
      [&](int turn) { expect_blocks(receive, turn); });
  run_turns(
      exchange,
      [&](int turn) {
        std::vector<int> blocks;
        for (int r = 0; r < size_; ++r)
          blocks.insert(blocks.end(), device_block, value_of(rank_, r, turn));
        rows.set(blocks);
      },
      [&](int turn) { expect_blocks(columns, turn, rank_); });
}

INSTANTIATE_TEST_SUITE_P(By, DevicePersistent,
                         testing::Values(std::pair{"auto", true}, std::pair{"auto", false},
                                         std::pair{"native", true}),
                         [](const auto& now) {
                           return std::string(now.param.first) +
                                  (now.param.second ? "_background" : "_foreground");
                         });

TEST(DeviceMemory, IsServedByTheIterativeModel) {
  SIBYL_TRACE_SEED();
  const Duplicate comm;
  const int rank = rank_in();
  const int size = size_of();
  DeviceNumbers own(device_block);
  DeviceNumbers all(static_cast<std::size_t>(device_block * size));
  DeviceNumbers sum(device_block);
  ASSERT_EQ(PAT_Init(), MPI_SUCCESS);
  ASSERT_EQ(PAT_UseAlg(PAT_Gather_BSLS), MPI_SUCCESS);
  for (int turn = 0; turn < 4; ++turn) {
    PAT_ProcessingStart();
    PAT_Edge(0.5);
    PAT_ProcessingEnd();
    own.set(filled(device_block, value_of(rank, 0, turn)));
    ASSERT_EQ(PAT_Gather_BSLS(own.address(), device_block, MPI_INT, all.address(), device_block,
                              MPI_INT, 0, comm.get()),
              MPI_SUCCESS);
    ASSERT_EQ(
        PAT_Reduce_RAB(own.address(), sum.address(), device_block, MPI_INT, MPI_SUM, 0, comm.get()),
        MPI_SUCCESS);
    own.set(filled(device_block, -1));
    ASSERT_EQ(PAT_Scatter_BNOM(all.address(), device_block, MPI_INT, own.address(), device_block,
                               MPI_INT, 0, comm.get()),
              MPI_SUCCESS);
    EXPECT_EQ(own.get(), filled(device_block, value_of(rank, 0, turn)));
    if (rank != 0) continue;
    int of_all = 0;
    for (int r = 0; r < size; ++r) of_all += value_of(r, 0, turn);
    EXPECT_EQ(sum.get(), filled(device_block, of_all));
  }
  EXPECT_EQ(PAT_Finalize(), MPI_SUCCESS);
}

// A rank whose copies fail has an error; the others are served all the same, and nobody waits.
TEST(DeviceMemory, ThatCannotBeCopiedIsAnErrorThatHoldsUpNobody) {
  SIBYL_TRACE_SEED();
  Served served(Collective::gather, find_algorithm(Collective::gather, "binomial"));
  const int rank = rank_in();
  const int size = size_of();
  const int broken = size - 1;
  DeviceNumbers own(device_block, true);
  DeviceNumbers all(static_cast<std::size_t>(device_block * size), true);
  own.set(filled(device_block, value_of(rank, 0, 0)));
  const auto gather = [&] {
    return class_of(SIBYL_Gather(own.address(), device_block, MPI_INT, all.address(), device_block,
                                 MPI_INT, 0, served.get()));
  };
  ASSERT_EQ(gather(), MPI_SUCCESS);
  if (rank == broken) device_stub().fail(0);
  EXPECT_EQ(gather(), rank == broken ? MPI_ERR_OTHER : MPI_SUCCESS);
  device_stub().fail(-1);
  EXPECT_EQ(gather(), MPI_SUCCESS);
  if (rank != 0) return;
  const std::vector<int> now = all.get();
  EXPECT_EQ(now[0], value_of(0, 0, 0));
  EXPECT_EQ(now.back(), value_of(size - 1, 0, 0));
}

// Another rank's host memory in the place of device memory must not change what the ranks do.
// As in programs that count from 1. Calls alike settle, and are then looked at less.
TEST(DeviceMemory, OfBlocksWhoseBufferBeginsBeforeIt) {
  SIBYL_TRACE_SEED();
  Served served(Collective::gatherv, find_algorithm(Collective::gatherv, "linear"));
  const int rank = rank_in();
  const auto size = static_cast<std::size_t>(size_of());
  constexpr std::size_t before = 5;
  const std::vector<int> counts(size, 2);
  std::vector<int> places(size);
  for (std::size_t r = 0; r < size; ++r) places[r] = static_cast<int>(before + 2 * r);
  DeviceNumbers all(2 * size, true);
  for (int turn = 0; turn < 8; ++turn) {
    const std::vector<int> own = filled(2, value_of(rank, 0, turn));
    ASSERT_EQ(SIBYL_Gatherv(own.data(), 2, MPI_INT, all.address() - before, counts.data(),
                            places.data(), MPI_INT, 0, served.get()),
              MPI_SUCCESS);
    if (rank != 0) continue;
    const std::vector<int> now = all.get();
    for (std::size_t i = 0; i < 2 * size; ++i) {
      ASSERT_EQ(now[i], value_of(static_cast<int>(i / 2), 0, turn));
    }
  }
}

TEST(DeviceMemory, OfOneRankAloneKeepsRanksInStep) {
  SIBYL_TRACE_SEED();
  Served served(Collective::allreduce, find_algorithm(Collective::allreduce, "ring"));
  const int rank = rank_in();
  const int size = size_of();
  for (int alone = 0; alone < size; ++alone) {
    DeviceNumbers vector(device_block, rank == alone);
    vector.set(filled(device_block, rank));
    ASSERT_EQ(SIBYL_Allreduce(MPI_IN_PLACE, vector.address(), device_block, MPI_INT, MPI_SUM,
                              served.get()),
              MPI_SUCCESS);
    EXPECT_EQ(vector.get(), filled(device_block, size * (size - 1) / 2));
  }
}

}  // namespace
}  // namespace sibyl::test
