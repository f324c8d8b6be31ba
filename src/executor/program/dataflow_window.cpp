// The messages of a run that go by the node's window; see dataflow.hpp.
#include "executor/program/dataflow.hpp"

namespace sibyl {

void Dataflow::post_in_window(StepIndex index) {
  if (step(index).kind != StepKind::send) {
    window_->receive(in_window_.received(index));
  } else if (window_->send(in_window_.sent(index))) {
    window_sent(index);
  }
}

void Dataflow::window_sent(std::uint32_t key) {
  if (in_window_.goes_by_mpi(key)) {
    post_send_by_mpi(key);
  } else {
    finish_message(key, MPI_SUCCESS);
  }
}

void Dataflow::window_brings(const WindowPiece& piece) {
  const StepIndex index = piece.key;
  const int result =
      in_window_.take(piece, work_.staging_slot[index], work_.combining_waits[index] == 0);
  if (!piece.is_last()) {
    error_.add(result);
  } else if (WindowMessages::treatment(piece) != WindowMessages::Treatment::combined) {
    finish_message(index, result);
  } else {
    error_.add(result);
    --receiving_;
    work_.arrived[index] = arrived_whole;
    work_.free_slots.push_back(work_.staging_slot[index]);
    complete(index);
  }
}

// Takes and sends what can be; true if that was anything, or the run has failed.
bool Dataflow::look_into_window() {
  if (!waits_for_window()) return false;
  if (!window_->is_broken()) return window_->progress(*this);
  abandon(MPI_ERR_OTHER);
  return true;
}

void Dataflow::await_with_window() {
  while (!test()) {
    const int error = window_->pause(waits_for_mpi());
    if (error == MPI_SUCCESS) continue;
    abandon(error);
    return;
  }
}

}  // namespace sibyl
