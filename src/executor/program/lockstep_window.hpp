// The node's window in a lockstep run: one message in and one out at a time.
#pragma once

#include "executor/program/engines.hpp"
#include "executor/program/window_messages.hpp"

namespace sibyl {

class LockstepWindow final : private WindowUser {
 public:
  // Without a window in the call it has nothing to do. `posted`: the run's own send by MPI, which
  // is moved while it waits here.
  LockstepWindow(const Prepared& prepared, const CollectiveCall& call, const Frame& frame,
                 MPI_Request& posted, FirstError& error);

  bool carries(const Step& step) const { return window_ != nullptr && window_->reaches(step.peer); }
  // Starts a send, which finish_send() waits for.
  void post_send(StepIndex index);
  void finish_send() {
    if (window_ != nullptr) wait_for_send();
  }
  // Waits for the message. True if it is still to be combined or taken apart: it is combined as it
  // comes, unless the data are still being sent.
  bool receive(StepIndex index);
  // Before a call that blocks until this message comes by MPI: a send that waits for room in the
  // window goes on until then.
  void move_until_there(int peer, int tag) {
    if (sending_) move_while_absent(peer, tag);
  }

 private:
  void window_sent(std::uint32_t key) override;
  void window_brings(const WindowPiece& piece) override;
  void window_names(std::uint32_t key) override;
  void wait_for_send();
  void move_while_absent(int peer, int tag);
  bool test_sends();
  // False where the window cannot be used any more.
  bool move(bool tests_mpi);

  const Prepared& prepared_;
  const CollectiveCall& call_;
  const Frame& frame_;
  MPI_Request& posted_;
  FirstError& error_;
  NodeWindow* window_;
  WindowMessages messages_;
  MPI_Request by_mpi_ = MPI_REQUEST_NULL;  // of a send that the window has only named
  bool sending_ = false;
  bool receiving_ = false;
  bool waits_ = false;
};

}  // namespace sibyl
