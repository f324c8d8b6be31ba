// What the ranks of a persistent collective agree on when it is made: that all may have it, the
// algorithm, and the tags. Rank 0's info keys hold:
//   sibyl_algorithm     auto, native, or a name from the table of algorithms
//   sibyl_order         arrival (the default) or rank
//   sibyl_background    true (the default) or false
//   sibyl_outstanding   transfers that the root of a linear algorithm has under way, 0: no limit;
//                       what SIBYL_OUTSTANDING does, for this request
//   sibyl_govern        true (the default) or false: what SIBYL_GOVERN does, for this request
//   sibyl_reproducible  false (the default) or true: what SIBYL_REPRODUCIBLE does, for this request
#pragma once

#include <mpi.h>

#include <cstdint>

#include "collectives/persistent/request.hpp"

namespace sibyl {

// What this rank knows of its arguments before the agreement.
struct PersistentOffer {
  int wrong = MPI_SUCCESS;    // class of what is wrong with them
  std::uint64_t bytes = 0;    // of a block or vector; the same on all ranks
  std::uint64_t largest = 0;  // as in Situation
  OperatorUse use = OperatorUse::none;
  bool commutes = true;
  bool eligible = true;  // by arguments that are the same on all ranks
  bool dense = true;     // this rank's types have no gaps
};

// Collective over a communicator that Sibyl serves. Fills in all of `call` but what comes from the
// arguments; returns MPI_SUCCESS, or a class that is to be raised, on all ranks or on none.
int agree_on_persistent(CommunicatorState& state, MPI_Info info, const PersistentOffer& offer,
                        PersistentCall& call);

}  // namespace sibyl
