// Persistent gather and scatter on nodes of several ranks, in the order of arrival and in the
// background. The nodes are pretended.
#include <unistd.h>

#include <string>

#include "collectives/persistent/cases.hpp"

namespace sibyl::test {
namespace {

TEST(PersistentTwoLevel, MovesAllBlocksWhoeverIsLate) {
  const int size = size_of();
  for (const Rank per_node : {2, 3, size}) {
    const Duplicate comm;
    CommunicatorState* state = CommunicatorState::get(comm.get());
    ASSERT_TRUE(state->serves(comm.get(), true));
    state->set_placement({.ranks_per_node = per_node});
    for (const Collective collective : {Collective::gather, Collective::scatter}) {
      for (const bool background : {false, true}) {
        SCOPED_TRACE(std::to_string(per_node) + " ranks a node, " +
                     std::string(name_of(collective)));
        const int root = (size - 1) / 2;
        PersistentTrial trial({collective, "two-level", true, background, root, 300}, comm.get());
        for (std::uint64_t k = 0; k < 5; ++k) {
          trial.start(k);
          if ((rank_in() + static_cast<int>(k)) % 3 != 0) trial.edge(0.5);
          if (rank_in() == static_cast<int>(k) % size) usleep(2000);
          trial.arrive();
          trial.wait();
          trial.check();
        }
      }
    }
  }
}

}  // namespace
}  // namespace sibyl::test
