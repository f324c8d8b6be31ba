// SIBYL_Scatter by definition and beside the MPI library's own collective.
#include "collectives/blocking/block_cases.hpp"

namespace sibyl::test {
namespace {

TEST(Scatter, ServesEveryRootWithEveryAlgorithm) { serves_every_root(Collective::scatter); }

TEST(Scatter, MovesBetweenLayoutsWithMatchingSignatures) {
  moves_between_layouts(Collective::scatter);
}

TEST(Scatter, ReadsNoArgumentThatIsNotSignificant) {
  ignores_insignificant_arguments(Collective::scatter);
}

}  // namespace
}  // namespace sibyl::test
