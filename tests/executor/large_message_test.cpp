// Types that stand for more elements than an int counts, tried with small pieces.
#include "executor/large_message.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace sibyl::test {
namespace {

TEST(LargeMessage, IsAsManyElementsSideBySide) {
  for (const int count : {8, 11, 3, 40}) {
    MPI_Datatype made = MPI_DATATYPE_NULL;
    ASSERT_EQ(make_type_of_many(count, MPI_INT, made, 4), MPI_SUCCESS);
    int size = 0;
    MPI_Type_size(made, &size);
    EXPECT_EQ(size, 4 * count);
    std::vector<int> sent(static_cast<std::size_t>(count));
    std::iota(sent.begin(), sent.end(), 1);
    std::vector<int> received(sent.size() + 1, -1);
    MPI_Sendrecv(sent.data(), 1, made, 0, 0, received.data(), count, MPI_INT, 0, 0, MPI_COMM_SELF,
                 MPI_STATUS_IGNORE);
    EXPECT_EQ(received.back(), -1);
    received.pop_back();
    EXPECT_EQ(received, sent);
    MPI_Type_free(&made);
  }
}

}  // namespace
}  // namespace sibyl::test
