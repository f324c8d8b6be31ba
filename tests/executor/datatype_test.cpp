// Types that `_c` functions have made can be looked at like others.
#include "executor/datatype.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace sibyl::test
