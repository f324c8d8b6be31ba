// Blocking messages by the window; see lockstep_window.hpp.
#include "executor/program/lockstep_window.hpp"

namespace sibyl {

LockstepWindow::LockstepWindow(const Prepared& prepared, const CollectiveCall& call,
                               const Frame& frame, FirstError& error)
    : prepared_(prepared),
      call_(call),
      frame_(frame),
      error_(error),
      window_(call.window),
      messages_(prepared, call, frame) {
  if (window_ != nullptr) window_->begin(2);
}

bool LockstepWindow::move(bool tests_mpi) {
  int error = MPI_SUCCESS;
  if (window_->is_broken()) {
    error = MPI_ERR_OTHER;
  } else if (!window_->progress(*this)) {
    const bool posted = by_mpi_ != MPI_REQUEST_NULL;  // which moves only in MPI's calls
    int done = 0;
    if (posted) error = PMPI_Test(&by_mpi_, &done, MPI_STATUS_IGNORE);
    if (error == MPI_SUCCESS) error = window_->pause(tests_mpi || posted);
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

bool LockstepWindow::receive(StepIndex index, bool may_combine) {
  receiving_ = true;
  may_combine_ = may_combine;
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
  const bool sends = sending_ || by_mpi_ != MPI_REQUEST_NULL;
  const int result = messages_.take(piece, 0, may_combine_ && !sends);
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
