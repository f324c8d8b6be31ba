// The lockstep engine: a program round by round, with blocking calls.
//
// Used where a round has at most one send and one receive, and the messages are so small that
// posting ahead gains nothing. Free of deadlock: both ends of a message are in the same round, and
// a send does not block before the receive of its round wherever the dependencies allow, so by
// induction over the rounds every message of a round finds its partner.
//
// Receives block, and sends are what is waited for: an MPI may raise what a wait finds, too little
// room for a message among it, elsewhere than on the private communicator (expected.hpp).
#include "executor/program/engines.hpp"
#include "executor/program/lockstep_window.hpp"

namespace sibyl {
namespace {

int after_receive(const Prepared& prepared, const Frame& frame, StepIndex index) {
  if (prepared.program.steps[index].kind == StepKind::receive_combine) {
    return frame.combine_staged(index, 0);
  }
  return frame.scatter_message(index);
}

int count_of(const Piece& piece) { return static_cast<int>(piece.count); }  // it is small here

// The send that was started before a receive, which is over with it: also where that one is of a
// message without data, which nobody sends.
int finish_send(MPI_Request& posted) {
  return posted == MPI_REQUEST_NULL ? MPI_SUCCESS : PMPI_Wait(&posted, MPI_STATUS_IGNORE);
}

Piece incoming(const Prepared& prepared, const Frame& frame, StepIndex index) {
  return prepared.program.steps[index].kind == StepKind::receive_combine ? frame.staged(index, 0)
                                                                         : frame.message(index);
}

}  // namespace

int receive_by_mpi(const Prepared& prepared, const CollectiveCall& call, const Frame& frame,
                   StepIndex index) {
  const Piece piece = incoming(prepared, frame, index);
  return PMPI_Recv(piece.address, count_of(piece), piece.type, prepared.program.steps[index].peer,
                   frame.tag_of(index), call.comm, MPI_STATUS_IGNORE);
}

int run_lockstep(const Prepared& prepared, const CollectiveCall& call, const Frame& frame) {
  FirstError error;
  MPI_Request posted = MPI_REQUEST_NULL;
  LockstepWindow window(prepared, call, frame, posted, error);
  const auto finish_sends = [&] {
    error.add(finish_send(posted));
    window.finish_send();
  };
  for (const LockstepOperation& operation : prepared.lockstep) {
    const StepIndex index = operation.step;
    const Step& step = prepared.program.steps[index];
    if (step.peer != no_rank && !frame.is_sent(index)) {
      if (operation.kind == LockstepOperation::Kind::receive) finish_sends();
      continue;
    }
    const bool by_window = step.peer != no_rank && window.carries(step);
    const int tag = frame.tag_of(index);
    switch (operation.kind) {
      case LockstepOperation::Kind::local:
        error.add(frame.run_local(index));
        break;
      case LockstepOperation::Kind::send: {
        error.add(frame.gather_message(index));
        if (by_window) {
          window.post_send(index);
          window.finish_send();
          break;
        }
        const Piece piece = frame.message(index);
        error.add(PMPI_Send(piece.address, count_of(piece), piece.type, step.peer, tag, call.comm));
        break;
      }
      case LockstepOperation::Kind::post_send: {
        error.add(frame.gather_message(index));
        if (by_window) {
          window.post_send(index);
          break;
        }
        const Piece piece = frame.message(index);
        error.add(PMPI_Isend(piece.address, count_of(piece), piece.type, step.peer, tag, call.comm,
                             &posted));
        break;
      }
      case LockstepOperation::Kind::receive: {
        bool waits = true;  // to be combined or taken apart
        if (by_window) {
          waits = window.receive(index);
        } else {
          window.move_until_there(step.peer, tag);
          const int received = receive_by_mpi(prepared, call, frame, index);
          error.add(received);
          waits = received == MPI_SUCCESS;
        }
        finish_sends();  // which may be of what is combined with
        if (waits) error.add(after_receive(prepared, frame, index));
        break;
      }
    }
  }
  return error.code();
}

}  // namespace sibyl
