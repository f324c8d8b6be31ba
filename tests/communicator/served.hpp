// Whether Sibyl serves a communicator.
#pragma once

#include "communicator/communicator_state.hpp"

namespace sibyl::test {

inline bool served(MPI_Comm comm) {
  return CommunicatorState::get(comm)->private_comm() != MPI_COMM_NULL;
}

}  // namespace sibyl::test
