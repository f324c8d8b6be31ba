// Blocking messages by the window; see lockstep_window.hpp.
#include "executor/program/lockstep_window.hpp"

namespace sibyl {

LockstepWindow::LockstepWindow(const Prepared& prepared, const CollectiveCall& call,
                               const Frame& frame, MPI_Request& posted, FirstError& error)
    : prepared_(prepared),
      call_(call),
      frame_(frame),
      posted_(posted),
      error_(error),
      window_(call.window),
      messages_(prepared, call, frame) {
  if (window_ != nullptr) window_->begin(2);
}

// Sends by MPI move only in its calls. True where some are under way.
bool LockstepWindow::test_sends() {
  bool any = false;
  for (MPI_Request* const sent : {&by_mpi_, &posted_}) {
    if (*sent == MPI_REQUEST_NULL) continue;
    any = true;
    int done = 0;
    error_.add(PMPI_Test(sent, &done, MPI_STATUS_IGNORE));
  }
  return any;
}

bool LockstepWindow::move(bool tests_mpi) {
  int error = MPI_SUCCESS;
  if (window_->is_broken()) {
    error = MPI_ERR_OTHER;
  } else if (!window_->progress(*this)) {
    const bool sends_by_mpi = test_sends();
    error = window_->pause(tests_mpi || sends_by_mpi);
  }
  if (error == MPI_SUCCESS) return true;
  error_.add(error);
  window_->abandon();
  sending_ = false;
  receiving_ = false;
  return false;
}

void LockstepWindow::post_send(StepIndex index) {
  sending_ = true;
  if (window_->send(messages_.sent(index))) window_sent(index);
}

// The receiver may come to a message that is named only once it has all of the others.
void LockstepWindow::wait_for_send() {
  while (sending_ && move(false)) {
  }
  if (by_mpi_ != MPI_REQUEST_NULL) error_.add(PMPI_Wait(&by_mpi_, MPI_STATUS_IGNORE));
}

bool LockstepWindow::receive(StepIndex index) {
  receiving_ = true;
  waits_ = false;
  window_->receive(messages_.received(index));
  while (receiving_ && move(false)) {
  }
  return waits_;
}

void LockstepWindow::move_while_absent(int peer, int tag) {
  while (sending_) {
    int there = 0;
    const int error = PMPI_Iprobe(peer, tag, call_.comm, &there, MPI_STATUS_IGNORE);
    error_.add(error);
    if (there != 0 || error != MPI_SUCCESS || !move(true)) return;
  }
}

void LockstepWindow::window_sent(std::uint32_t key) {
  sending_ = false;
  if (!messages_.goes_by_mpi(key)) return;
  const Piece piece = frame_.message(key);
  error_.add(PMPI_Isend(piece.address, static_cast<int>(piece.count), piece.type,
                        prepared_.program.steps[key].peer, frame_.tag_of(key), call_.comm,
                        &by_mpi_));
}

void LockstepWindow::window_brings(const WindowPiece& piece) {
  const bool sends = sending_ || by_mpi_ != MPI_REQUEST_NULL || posted_ != MPI_REQUEST_NULL;
  const int result = messages_.take(piece, 0, !sends);
  error_.add(result);
  if (!piece.is_last()) return;
  receiving_ = false;
  waits_ = result == MPI_SUCCESS &&
           WindowMessages::treatment(piece) != WindowMessages::Treatment::combined;
}

// Its sender has posted it, so this waits for nobody.
void LockstepWindow::window_names(std::uint32_t key) {
  receiving_ = false;
  const int received = receive_by_mpi(prepared_, call_, frame_, key);
  error_.add(received);
  waits_ = received == MPI_SUCCESS;
}

}  // namespace sibyl
