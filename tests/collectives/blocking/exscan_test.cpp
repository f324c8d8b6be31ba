// SIBYL_Exscan against the MPI library's own collective and against the definition.
#include "collectives/blocking/scan_cases.hpp"

namespace sibyl::test {
namespace {

TEST(Exscan, EqualsNativeForEveryPredefinedOperatorAndType) {
  equals_native_for_predefined(Collective::exscan);
}

TEST(Exscan, EqualsNativeForEveryAlgorithmAroundTheSizesWhereEnginesChange) {
  equals_native_for_sizes(Collective::exscan);
}

TEST(Exscan, CombinesInRankOrderInEveryLayoutOfTheDatatype) {
  keeps_operand_order(Collective::exscan);
}

TEST(Exscan, KeepsCallsApartThatFollowEachOtherAtOnce) {
  survives_a_mix_of_calls(Collective::exscan);
}

}  // namespace
}  // namespace sibyl::test
