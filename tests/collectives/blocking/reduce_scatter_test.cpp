// Where the result of a reduce-scatter lies, for what the random cases do not draw
// (reference_reductions.cpp): a user's operator there takes its elements where its pointers say.
#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "collectives/harness.hpp"

namespace sibyl::test {
namespace {

MPI_Aint place_of_vector = 0;

void add_at_place(void* in, void* inout, int* count, MPI_Datatype*) {
  const auto at = [](void* base) {
    return reinterpret_cast<int*>(reinterpret_cast<MPI_Aint>(base) + place_of_vector);
  };
  for (int i = 0; i < *count; ++i) at(inout)[i] += at(in)[i];
}

// MPI_BOTTOM is a null pointer, and no sign that there is no buffer.
TEST(ReduceScatter, PutsItsResultInAVectorOfAbsoluteAddresses) {
  const int size = size_of();
  std::vector<int> counts(static_cast<std::size_t>(size));
  for (int rank = 0; rank < size; ++rank) counts[static_cast<std::size_t>(rank)] = rank % 3 + 1;
  const auto self = static_cast<std::size_t>(rank_in());
  const int all = std::accumulate(counts.begin(), counts.end(), 0);
  const int begin = std::accumulate(counts.begin(), counts.begin() + rank_in(), 0);
  std::vector<int> vector(static_cast<std::size_t>(all));
  MPI_Get_address(vector.data(), &place_of_vector);
  MPI_Datatype one = MPI_DATATYPE_NULL;
  MPI_Type_create_hindexed_block(1, 1, &place_of_vector, MPI_INT, &one);
  MPI_Type_commit(&one);
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(add_at_place, 1, &op);
  for (const Algorithm* algorithm : rows_and_auto(Collective::reduce_scatter)) {
    SCOPED_TRACE(name_or_auto(algorithm));
    Served served(Collective::reduce_scatter, algorithm);
    std::iota(vector.begin(), vector.end(), 100 * rank_in());
    ASSERT_EQ(SIBYL_Reduce_scatter(MPI_IN_PLACE, MPI_BOTTOM, counts.data(), one, op, served.get()),
              MPI_SUCCESS);
    for (int i = 0; i < counts[self]; ++i) {
      const int expected = 100 * size * (size - 1) / 2 + size * (begin + i);
      EXPECT_EQ(vector[static_cast<std::size_t>(i)], expected) << i;
    }
  }
  MPI_Op_free(&op);
  MPI_Type_free(&one);
}

}  // namespace
}  // namespace sibyl::test
