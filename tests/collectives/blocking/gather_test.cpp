// SIBYL_Gather by definition and beside the MPI library's own collective.
#include "collectives/blocking/block_cases.hpp"

namespace sibyl::test {
namespace {

TEST(Gather, ServesEveryRootWithEveryAlgorithm) { serves_every_root(Collective::gather); }

TEST(Gather, MovesBetweenLayoutsWithMatchingSignatures) {
  moves_between_layouts(Collective::gather);
}

TEST(Gather, ReadsNoArgumentThatIsNotSignificant) {
  ignores_insignificant_arguments(Collective::gather);
}

TEST(Gather, CutsBlocksAtAnyByte) { cuts_anywhere(Collective::gather); }

}  // namespace
}  // namespace sibyl::test
