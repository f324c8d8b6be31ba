// Lets the process's state begin and end with MPI; see hooks.hpp.
#include "collectives/hooks.hpp"

#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <new>

#include "communicator/communicator_state.hpp"
#include "communicator/settled_calls.hpp"

namespace sibyl::hooks {
namespace {

// Sessions of this program that are open.
std::atomic<int> sessions = 0;

void count_communicators(int change) {
  Process* const process = Process::known();
  if (process == nullptr) return;
  // Not all that are freed were counted when they were made.
  std::int64_t before = process->live_communicators;
  while (!process->live_communicators.compare_exchange_weak(
      before, std::max<std::int64_t>(before + change, 0))) {
  }
}

}  // namespace

// The world is set up here, where all its ranks come and none has yet made a call of which another
// does not know: what a rank does alone later on, a refused call say, cannot make it miss the
// others.
void after_init() try {
  Process* const process = Process::get();
  if (process == nullptr || !process->end_with_world()) return;
  const Environment& asked = process->environment();
  const std::uint32_t from = asked.serve_from.value_or(1);
  if (from == 0 || (from != 1 && asked.reproducible == 0)) return;
  CommunicatorState* const world = CommunicatorState::get(MPI_COMM_WORLD);
  if (world != nullptr) world->set_up_now(MPI_COMM_WORLD);
} catch (const std::bad_alloc&) {
  return;  // calls find no state, and go to the MPI library
}

void after_finalize() {
  if (sessions == 0) Process::forget_keys();
}

void after_session_init() {
  if (++sessions == 1) Process::expect_sessions_end();
}

void before_session_finalize() {
  if (sessions == 1 && !Process::has_world()) Process::end_without_world();
}

void after_session_finalize() {
  if (--sessions == 0 && !Process::has_world()) Process::forget_keys();
}

void after_error_handler() { SettledCalls::forget_all(); }

int before_creation(MPI_Comm comm) try {
  int raised = MPI_SUCCESS;
  if (comm == MPI_COMM_NULL || !Process::has_world()) return raised;
  CommunicatorState* const state = CommunicatorState::get(comm, raised);
  if (state != nullptr && !state->between_groups()) state->make_room_for_another(comm);
  return raised;
} catch (const std::bad_alloc&) {
  return MPI_SUCCESS;  // the MPI library will say what it lacks
}

void after_creation(MPI_Comm comm, bool is_member) {
  if (is_member) count_communicators(1);
  if (comm == MPI_COMM_NULL || !Process::has_world()) return;
  if (CommunicatorState* const state = CommunicatorState::get(comm)) state->count_creation();
}
void after_freeing() { count_communicators(-1); }

}  // namespace sibyl::hooks
