// The iterative model of sibyl/pat.h: results whoever is late, whatever is reported and whatever
// the turns call; misuse; what is kept and given up.
#include "sibyl/pat.h"

#include <unistd.h>

#include <array>
#include <memory>
#include <numeric>

#include "collectives/harness.hpp"
#include "collectives/pat/pat.hpp"

namespace sibyl::test {
namespace {

using BlocksFunction = int (*)(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, int,
                               MPI_Comm);
using ReductionFunction = int (*)(const void*, void*, int, MPI_Datatype, MPI_Op, int, MPI_Comm);

constexpr std::array<BlocksFunction, 7> gather_functions{
    PAT_Gather_LIN,  PAT_Gather_LS,  PAT_Gather_SLS, PAT_Gather_BSLS,
    PAT_Gather_BNOM, PAT_Gather_SBN, PAT_Gather_BSBN};
constexpr std::array<BlocksFunction, 6> scatter_functions{PAT_Scatter_LIN,  PAT_Scatter_SLN,
                                                          PAT_Scatter_BSLN, PAT_Scatter_BNOM,
                                                          PAT_Scatter_SBN,  PAT_Scatter_BSBN};
constexpr std::array<ReductionFunction, 5> reduce_functions{
    PAT_Reduce_BNOM, PAT_Reduce_RAB, PAT_Reduce_RXK, PAT_Reduce_RING, PAT_Reduce_CLV};

// Between PAT_Init and PAT_Finalize.
class PatModel : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(PAT_Init(), MPI_SUCCESS); }
  void TearDown() override { EXPECT_EQ(PAT_Finalize(), MPI_SUCCESS); }

  // Each rank is late as it likes, and may say so.
  void compute(bool reports) {
    EXPECT_EQ(PAT_ProcessingStart(), MPI_SUCCESS);
    usleep(static_cast<useconds_t>(pick(own_, 300)));
    if (reports) {
      EXPECT_EQ(PAT_Edge(0.5), MPI_SUCCESS);
    }
    usleep(static_cast<useconds_t>(pick(own_, 300)));
    EXPECT_EQ(PAT_ProcessingEnd(), MPI_SUCCESS);
  }

  Duplicate comm_;
  int rank_ = rank_in();
  int size_ = size_of();
  Random own_{run_seed() + 17 + 7919 * static_cast<std::uint64_t>(rank_ + 1)};
};

// Ranks see their blocks through types of their own; vectors are new in every turn.
void gather(BlocksFunction function, int value, int count, int root, bool in_place, MPI_Comm comm) {
  const int rank = rank_in(comm);
  const int size = size_of(comm);
  MPI_Datatype spaced = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(MPI_INT, 0, 3 * sizeof(int), &spaced);
  MPI_Type_commit(&spaced);
  const int stride = rank % 2 == 0 ? 1 : 3;
  const auto elements = static_cast<std::size_t>(count);
  std::vector<int> mine(elements * static_cast<std::size_t>(stride) + 1, -5);
  for (std::size_t i = 0; i < elements; ++i) {
    mine[i * static_cast<std::size_t>(stride)] = value + rank;
  }
  std::vector<int> all(rank == root ? elements * static_cast<std::size_t>(size) + 1 : 0, -5);
  const bool here = in_place && rank == root;
  if (here) {
    std::fill_n(all.begin() + std::ptrdiff_t{root} * count, count, value + rank);
  }
  EXPECT_EQ(function(here ? MPI_IN_PLACE : static_cast<const void*>(mine.data()), count,
                     stride == 1 ? MPI_INT : spaced, all.data(), count, MPI_INT, root, comm),
            MPI_SUCCESS);
  MPI_Type_free(&spaced);
  if (rank != root) return;
  for (std::size_t i = 0; i + 1 < all.size(); ++i) {
    ASSERT_EQ(all[i], value + static_cast<int>(i / elements)) << "element " << i;
  }
  EXPECT_EQ(all.back(), -5);
}

void scatter(BlocksFunction function, int value, int count, int root, bool in_place,
             MPI_Comm comm) {
  const int rank = rank_in(comm);
  const auto elements = static_cast<std::size_t>(count);
  std::vector<int> all(rank == root ? elements * static_cast<std::size_t>(size_of(comm)) : 0);
  std::iota(all.begin(), all.end(), value);
  std::vector<int> mine(elements + 1, -5);
  const bool here = in_place && rank == root;
  EXPECT_EQ(function(all.data(), count, MPI_INT, here ? MPI_IN_PLACE : mine.data(), count, MPI_INT,
                     root, comm),
            MPI_SUCCESS);
  for (std::size_t i = 0; i < elements; ++i) {
    ASSERT_EQ(mine[i], here ? -5 : value + rank * count + static_cast<int>(i)) << "element " << i;
  }
  EXPECT_EQ(mine.back(), -5);
}

void reduce(ReductionFunction function, int value, int count, int root, bool in_place,
            MPI_Comm comm, MPI_Op op = MPI_SUM) {
  const int rank = rank_in(comm);
  const int size = size_of(comm);
  const bool here = in_place && rank == root;
  std::vector<int> mine(static_cast<std::size_t>(count), value + rank);
  std::vector<int> total(static_cast<std::size_t>(count), here ? value + rank : -5);
  EXPECT_EQ(function(here ? MPI_IN_PLACE : static_cast<const void*>(mine.data()), total.data(),
                     count, MPI_INT, op, root, comm),
            MPI_SUCCESS);
  const int expected = size * value + size * (size - 1) / 2;
  for (const int element : total) ASSERT_EQ(element, rank == root ? expected : -5);
}

TEST_F(PatModel, EveryFunctionGivesTheResultOfItsCollectiveInEveryTurn) {
  SIBYL_TRACE_SEED();
  const int root = size_ - 1;
  const int turns = cases(8) + 1;
  for (const BlocksFunction function : gather_functions) {
    ASSERT_EQ(PAT_UseAlg(function), MPI_SUCCESS);
    for (int turn = 0; turn < turns; ++turn) {
      compute(turn != 2);
      gather(function, 100 * turn, 130, root, turn % 2 == 1, comm_.get());
    }
  }
  for (const BlocksFunction function : scatter_functions) {
    ASSERT_EQ(PAT_UseAlg(function), MPI_SUCCESS);
    for (int turn = 0; turn < turns; ++turn) {
      compute(turn != 2);
      scatter(function, 100 * turn, 130, root, turn % 2 == 1, comm_.get());
    }
  }
  for (const ReductionFunction function : reduce_functions) {
    ASSERT_EQ(PAT_UseAlg(function), MPI_SUCCESS);
    for (int turn = 0; turn < turns; ++turn) {
      compute(turn != 2);
      reduce(function, 100 * turn, 130, root, turn % 2 == 1, comm_.get());
    }
  }
}

TEST_F(PatModel, ATurnMayCallSomethingElseThanTheLast) {
  SIBYL_TRACE_SEED();
  Random random(run_seed() + 3);
  ASSERT_EQ(PAT_UseAlg(PAT_Gather_BSLS), MPI_SUCCESS);
  for (int turn = 0; turn < cases(60); ++turn) {
    compute(pick(random, 3) != 0);
    const int count = 1 + static_cast<int>(pick(random, 3)) * 700;
    const int root = static_cast<int>(pick(random, static_cast<std::uint64_t>(size_)));
    switch (pick(random, 4)) {
      case 0:
        scatter(PAT_Scatter_BSBN, turn, count, root, false, comm_.get());
        break;
      case 1:
        reduce(PAT_Reduce_CLV, turn, count, root, false, comm_.get());
        break;
      default:
        gather(PAT_Gather_BSLS, turn, count, root, false, comm_.get());
    }
    ASSERT_FALSE(testing::Test::HasFailure());
  }
}

TEST_F(PatModel, ATurnStartsWhatTheLastOneHasCalledByTheFunctionInUse) {
  ASSERT_EQ(PAT_UseAlg(PAT_Gather_BSLS), MPI_SUCCESS);
  const PatRequest* first = nullptr;
  for (int turn = 0; turn < 4; ++turn) {
    ASSERT_EQ(PAT_UseAlg(turn == 2 ? PAT_Gather_BSBN : PAT_Gather_BSLS), MPI_SUCCESS);
    EXPECT_EQ(PAT_ProcessingStart(), MPI_SUCCESS);
    const PatRequest* started = Pat::get()->current();
    EXPECT_EQ(started != nullptr, turn == 1 || turn == 3) << turn;
    if (turn == 1) first = started;
    if (turn == 3) {
      EXPECT_EQ(started, first);
    }
    EXPECT_TRUE(started == nullptr || started->started());
    EXPECT_EQ(PAT_ProcessingEnd(), MPI_SUCCESS);
    gather(PAT_Gather_BSLS, turn, 30, 0, false, comm_.get());
    EXPECT_TRUE(started == nullptr || !started->started()) << "it was what was called";
  }
}

TEST_F(PatModel, MoreCombinationsThanAreKeptAreServedAndBoundAnew) {
  ASSERT_EQ(PAT_UseAlg(PAT_Gather_SBN), MPI_SUCCESS);
  for (int turn = 0; turn < 2; ++turn) {
    for (int count = 0; count < 11; ++count) {
      compute(true);
      gather(PAT_Gather_SBN, turn, count, 0, false, comm_.get());
    }
  }
}

TEST_F(PatModel, ACommunicatorMayBeFreedAndAnotherHaveItsHandle) {
  ASSERT_EQ(PAT_UseAlg(PAT_Scatter_BSLIN), MPI_SUCCESS);
  for (int turn = 0; turn < 4; ++turn) {
    const Duplicate comm;
    for (int k = 0; k < 3; ++k) {
      compute(true);
      scatter(PAT_Scatter_BSLIN, k, 40, 0, false, comm.get());
    }
    compute(true);  // started, and never called
  }
}

TEST_F(PatModel, OperatorsOfTheProgramAreAppliedInEveryTurn) {
  for (int turn = 0; turn < 3; ++turn) {
    MPI_Op op = MPI_OP_NULL;
    MPI_Op_create(
        [](void* in, void* inout, int* length, MPI_Datatype*) {
          for (int i = 0; i < *length; ++i) static_cast<int*>(inout)[i] += static_cast<int*>(in)[i];
        },
        1, &op);
    compute(true);
    reduce(PAT_Reduce_BNOM, turn, 20, 0, false, comm_.get(), op);
    MPI_Op_free(&op);
  }
}

TEST_F(PatModel, MisuseIsAnErrorAndLosesNothing) {
  const WorldReturnsErrors returned;
  EXPECT_EQ(class_of(PAT_Init()), MPI_ERR_OTHER);
  EXPECT_EQ(class_of(PAT_UseAlg(PAT_Init)), MPI_ERR_ARG);
  ASSERT_EQ(PAT_UseAlg(PAT_Gather_BSLS), MPI_SUCCESS);
  for (int turn = 0; turn < 3; ++turn) {
    EXPECT_EQ(class_of(PAT_Edge(0.5)), MPI_ERR_OTHER);
    EXPECT_EQ(class_of(PAT_ProcessingEnd()), MPI_ERR_OTHER);
    EXPECT_EQ(PAT_ProcessingStart(), MPI_SUCCESS);
    EXPECT_EQ(class_of(PAT_ProcessingStart()), MPI_ERR_OTHER);
    for (const double wrong : {0.0, 1.0, 50.0, -1.0}) {
      EXPECT_EQ(class_of(PAT_Edge(wrong)), MPI_ERR_ARG);
    }
    EXPECT_EQ(PAT_Edge(0.5), MPI_SUCCESS);
    EXPECT_EQ(class_of(PAT_Edge(0.6)), MPI_ERR_OTHER);
    int one = 1;
    EXPECT_EQ(class_of(PAT_Gather_BSLS(&one, 1, MPI_INT, nullptr, 1, MPI_INT, 0, comm_.get())),
              MPI_ERR_OTHER);
    EXPECT_EQ(PAT_ProcessingEnd(), MPI_SUCCESS);
    EXPECT_EQ(class_of(PAT_Gather_BSLS(&one, 1, MPI_INT, nullptr, 1, MPI_INT, size_, comm_.get())),
              MPI_ERR_ROOT);
    EXPECT_EQ(class_of(PAT_Gather_BSLS(&one, 1, MPI_INT, nullptr, 1, MPI_INT, 0, MPI_COMM_NULL)),
              MPI_ERR_COMM);
    EXPECT_EQ(class_of(PAT_Gather_BSLS(&one, -1, MPI_INT, &one, -1, MPI_INT, 0, comm_.get())),
              MPI_ERR_COUNT);
    EXPECT_EQ(class_of(PAT_Reduce_BNOM(&one, &one, 1, MPI_INT, MPI_OP_NULL, 0, comm_.get())),
              MPI_ERR_OP);
    EXPECT_EQ(class_of(PAT_Gather_BSLS(MPI_IN_PLACE, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, 0,
                                       comm_.get())),
              MPI_ERR_BUFFER);
    const auto in_place_at = [&](int root) {
      return class_of(PAT_Reduce_BNOM(MPI_IN_PLACE, root == rank_ ? MPI_IN_PLACE : &one, 1, MPI_INT,
                                      MPI_SUM, root, comm_.get()));
    };
    EXPECT_EQ(in_place_at(0), MPI_ERR_BUFFER) << "both at the root, or not at the root";
    gather(PAT_Gather_BSLS, turn, 50, 0, false, comm_.get());
  }
}

// A type of absolute addresses is packed by a message of the rank to itself.
TEST_F(PatModel, NothingGoesOverTheProgramsCommunicator) {
  int anything = -1;
  MPI_Request open = MPI_REQUEST_NULL;
  MPI_Irecv(&anything, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm_.get(), &open);
  const int value = 7 * rank_ + 1;
  MPI_Aint address = 0;
  MPI_Get_address(&value, &address);
  const int length = 1;
  MPI_Datatype absolute = MPI_DATATYPE_NULL;
  MPI_Type_create_hindexed(1, &length, &address, MPI_INT, &absolute);
  MPI_Type_commit(&absolute);
  std::vector<int> all(static_cast<std::size_t>(size_), -1);
  EXPECT_EQ(PAT_Gather_LIN(MPI_BOTTOM, 1, absolute, all.data(), 1, MPI_INT, 0, comm_.get()),
            MPI_SUCCESS);
  for (int r = 0; rank_ == 0 && r < size_; ++r) {
    EXPECT_EQ(all[static_cast<std::size_t>(r)], 7 * r + 1);
  }
  MPI_Type_free(&absolute);
  const int word = 4711;
  MPI_Send(&word, 1, MPI_INT, rank_, 3, comm_.get());
  MPI_Wait(&open, MPI_STATUS_IGNORE);
  EXPECT_EQ(anything, word);
}

TEST(Pat, NothingWorksOutsideInitAndFinalize) {
  const WorldReturnsErrors returned;
  EXPECT_EQ(class_of(PAT_Finalize()), MPI_ERR_OTHER);
  EXPECT_EQ(class_of(PAT_UseAlg(PAT_Gather_LIN)), MPI_ERR_OTHER);
  EXPECT_EQ(class_of(PAT_ProcessingStart()), MPI_ERR_OTHER);
  EXPECT_EQ(class_of(PAT_Edge(0.5)), MPI_ERR_OTHER);
  EXPECT_EQ(class_of(PAT_ProcessingEnd()), MPI_ERR_OTHER);
  int one = 1;
  EXPECT_EQ(class_of(PAT_Gather_LIN(&one, 1, MPI_INT, nullptr, 1, MPI_INT, 0, MPI_COMM_WORLD)),
            MPI_ERR_OTHER);
}

}  // namespace
}  // namespace sibyl::test
