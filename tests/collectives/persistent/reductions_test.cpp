// Persistent sums of what no program can combine: the MPI library has them, as it has the calls
// that block.
#include <array>

#include "collectives/persistent/cases.hpp"
#include "collectives/persistent/request.hpp"

namespace sibyl::test {
namespace {

const Algorithm* algorithm_of(SIBYL_Request request) {
  return reinterpret_cast<PersistentRequest*>(request)->algorithm();
}

bool fits(const Algorithm& row) {
  return row.check == nullptr || row.check({.ranks = size_of()}).empty();
}

// Elements are two integers, with another element's first one in between.
void add_interleaved(void* in, void* inout, int* count, MPI_Datatype*) {
  const auto* from = static_cast<const int*>(in);
  auto* to = static_cast<int*>(inout);
  for (int i = 0; i < *count; ++i) {
    to[i] += from[i];
    to[i + 2] += from[i + 2];
  }
}

TEST(PersistentReductions, OfElementsThatReachIntoEachOtherAreTheLibrarys) {
  const Duplicate comm;
  MPI_Datatype pair = MPI_DATATYPE_NULL;
  MPI_Datatype interleaved = MPI_DATATYPE_NULL;
  MPI_Op op = MPI_OP_NULL;
  MPI_Type_vector(2, 1, 2, MPI_INT, &pair);
  MPI_Type_create_resized(pair, 0, sizeof(int), &interleaved);
  MPI_Type_commit(&interleaved);
  MPI_Op_create(&add_interleaved, 1, &op);
  const int size = size_of();
  for (const Algorithm& row : algorithms(Collective::allreduce)) {
    if (!fits(row)) continue;
    SCOPED_TRACE(row.name);
    const AlgorithmInfo wish(std::string(row.name).c_str());
    const int rank = rank_in();
    const std::array<int, 4> sent{rank + 1, 100 * rank, 7 - rank, 3};
    std::array<int, 4> sums{};
    SIBYL_Request request = SIBYL_REQUEST_NULL;
    ASSERT_EQ(SIBYL_Allreduce_init(sent.data(), sums.data(), 2, interleaved, op, comm.get(),
                                   wish.handle, &request),
              MPI_SUCCESS);
    EXPECT_EQ(algorithm_of(request), nullptr);
    EXPECT_EQ(SIBYL_Start(&request), MPI_SUCCESS);
    EXPECT_EQ(SIBYL_Arrive(&request), MPI_SUCCESS);
    EXPECT_EQ(SIBYL_Wait(&request), MPI_SUCCESS);
    const int ranks = size * (size - 1) / 2;
    EXPECT_EQ(sums, (std::array<int, 4>{ranks + size, 100 * ranks, 7 * size - ranks, 3 * size}));
    EXPECT_EQ(SIBYL_Request_free(&request), MPI_SUCCESS);
  }
  MPI_Op_free(&op);
  MPI_Type_free(&interleaved);
  MPI_Type_free(&pair);
}

// Predefined, though not named: predefined operators take them, but not their duplicates.
TEST(PersistentReductions, OfFortransKindsAreWhatTheLibrarySays) {
  const Duplicate comm;
  const WorldReturnsErrors returned;
  MPI_Datatype kind = MPI_DATATYPE_NULL;
  if (MPI_Type_create_f90_real(15, MPI_UNDEFINED, &kind) != MPI_SUCCESS) {
    GTEST_SKIP() << "without Fortran";
  }
  int size = 0;
  MPI_Type_size(kind, &size);
  ASSERT_EQ(size, static_cast<int>(sizeof(double)));
  const double own = rank_in() + 0.5;
  double expected = 0;
  const int by_library = MPI_Allreduce(&own, &expected, 1, kind, MPI_SUM, comm.get());
  for (const char* algorithm : {"native", "auto", "recursive-doubling"}) {
    SCOPED_TRACE(algorithm);
    const AlgorithmInfo wish(algorithm);
    double sum = 0;
    SIBYL_Request request = SIBYL_REQUEST_NULL;
    int error =
        SIBYL_Allreduce_init(&own, &sum, 1, kind, MPI_SUM, comm.get(), wish.handle, &request);
    if (error == MPI_SUCCESS) error = SIBYL_Start(&request);
    if (error == MPI_SUCCESS) error = SIBYL_Arrive(&request);
    if (error == MPI_SUCCESS) error = SIBYL_Wait(&request);
    EXPECT_EQ(error == MPI_SUCCESS, by_library == MPI_SUCCESS) << error;
    if (by_library == MPI_SUCCESS) {
      EXPECT_EQ(sum, expected);
    }
    if (request != SIBYL_REQUEST_NULL) SIBYL_Request_free(&request);
  }
}

#if MPI_VERSION >= 4
// None is started, so that the buffers need not be there.
TEST(PersistentReductions, OfMoreElementsThanAnIntCountsAreTheLibrarys) {
  const Duplicate comm;
  constexpr MPI_Count count = (MPI_Count{1} << 31) + 9;
  std::array<unsigned char, 2> ends{};
  for (const Collective collective :
       {Collective::exscan, Collective::reduce, Collective::allreduce}) {
    for (const Algorithm& row : algorithms(collective)) {
      if (!fits(row)) continue;
      SCOPED_TRACE(row.name);
      const AlgorithmInfo wish(std::string(row.name).c_str());
      SIBYL_Request request = SIBYL_REQUEST_NULL;
      const auto make = [&](auto init, auto... root) {
        return init(&ends[0], &ends[1], count, MPI_UNSIGNED_CHAR, MPI_SUM, root..., comm.get(),
                    wish.handle, &request);
      };
      ASSERT_EQ(collective == Collective::exscan   ? make(SIBYL_Exscan_init_c)
                : collective == Collective::reduce ? make(SIBYL_Reduce_init_c, 0)
                                                   : make(SIBYL_Allreduce_init_c),
                MPI_SUCCESS);
      EXPECT_EQ(algorithm_of(request), nullptr);
      EXPECT_EQ(SIBYL_Request_free(&request), MPI_SUCCESS);
    }
  }
}
#endif

}  // namespace
}  // namespace sibyl::test
