// SIBYL_Scan against the MPI library's own collective and against the definition.
#include <algorithm>
#include <string>
#include <vector>

#include "collectives/blocking/scan_cases.hpp"
#include "executor/mpi_library.hpp"

namespace sibyl::test {
namespace {

TEST(Scan, EqualsNativeForEveryPredefinedOperatorAndType) {
  equals_native_for_predefined(Collective::scan);
}

TEST(Scan, EqualsNativeForEveryAlgorithmAroundTheSizesWhereEnginesChange) {
  equals_native_for_sizes(Collective::scan);
}

TEST(Scan, CombinesInRankOrderInEveryLayoutOfTheDatatype) { keeps_operand_order(Collective::scan); }

TEST(Scan, KeepsCallsApartThatFollowEachOtherAtOnce) { survives_a_mix_of_calls(Collective::scan); }

// Libraries that do not look at it combine in the buffer, as if it said MPI_IN_PLACE.
TEST(Scan, OfTheSameBufferTwiceIsInPlace) {
  if (mpi_library() == MpiLibrary::mpich) GTEST_SKIP() << "the library refuses it";
  const int rank = rank_in();
  for (const Algorithm& row : algorithms(Collective::scan)) {
    for (const int count : {3, 40000}) {
      SCOPED_TRACE(std::string(row.name) + ", " + std::to_string(count));
      Served served(Collective::scan, &row);
      for (int call = 0; call < 8; ++call) {
        const std::vector<int> own(static_cast<std::size_t>(count), rank + call);
        std::vector<int> sums = own;
        const bool twice = call % 3 != 2;
        ASSERT_EQ(SIBYL_Scan(twice ? sums.data() : own.data(), sums.data(), count, MPI_INT, MPI_SUM,
                             served.get()),
                  MPI_SUCCESS);
        const int sum = rank * (rank + 1) / 2 + call * (rank + 1);
        ASSERT_EQ(std::ranges::count(sums, sum), count);
      }
    }
  }
}

}  // namespace
}  // namespace sibyl::test
