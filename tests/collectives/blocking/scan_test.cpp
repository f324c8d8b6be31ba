// SIBYL_Scan against the MPI library's own collective and against the definition.
#include "collectives/blocking/scan_cases.hpp"

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

}  // namespace
}  // namespace sibyl::test
