// The messages of a run: posted, awaited, taken; see dataflow.hpp.
#include "executor/messages.hpp"
#include "executor/program/dataflow.hpp"

namespace sibyl {

// One message more that is under way, or one less.
void Dataflow::count(StepIndex index, int change) {
  const bool is_send = step(index).kind == StepKind::send;
  const auto by = static_cast<std::uint32_t>(change);
  (is_send ? sending_ : receiving_) += by;
  if (is_send && !work_.sending_to.empty()) sending_to(index) += by;
}

void Dataflow::post_message(StepIndex index) {
  const Step& now = step(index);
  count(index, 1);
  if (!frame_.is_sent(index)) {
    finish_message(index, MPI_SUCCESS);
    return;
  }
  if (fault_ != MPI_SUCCESS) {
    finish_message(index, fault_);
    return;
  }
  if (now.kind == StepKind::send) error_.add(frame_.gather_message(index));
  if (window_ != nullptr && window_->reaches(now.peer)) {
    post_in_window(index);
  } else if (now.kind == StepKind::send) {
    post_send_by_mpi(index);
  } else {
    post_receive_by_mpi(index);
  }
}

void Dataflow::post_send_by_mpi(StepIndex index) {
  const CarryingPiece message(frame_.message(index), piggybacks_.outgoing(index),
                              piggybacks_.types());
  const Piece& piece = message.piece();
  error_.add(message.error());
  MPI_Request request = MPI_REQUEST_NULL;
  const int posted = post_send(piece.address, piece.count, piece.type, step(index).peer,
                               frame_.tag_of(index), call_.comm, &request, port_.until_taken);
  keep(index, request, posted);
}

void Dataflow::post_receive_by_mpi(StepIndex index) {
  const Rank peer = step(index).peer;
  if constexpr (!posts_receives_at_once) {
    work_.expected.add({index, peer, frame_.tag_of(index)});
    return;
  }
  const CarryingPiece message(incoming(index), piggybacks_.incoming(index), piggybacks_.types());
  const Piece& piece = message.piece();
  error_.add(message.error());
  MPI_Request request = MPI_REQUEST_NULL;
  const int posted = post_receive(piece.address, piece.count, piece.type, peer,
                                  frame_.tag_of(index), call_.comm, &request);
  keep(index, request, posted);
}

Piece Dataflow::incoming(StepIndex index) const {
  return step(index).kind == StepKind::receive_combine
             ? frame_.staged(index, work_.staging_slot[index])
             : frame_.message(index);
}

// A request that was posted, or the error where it was not.
void Dataflow::keep(StepIndex index, MPI_Request request, int posted) {
  if (posted != MPI_SUCCESS) {
    finish_message(index, posted);
    return;
  }
  work_.requests.push_back(request);
  work_.request_step.push_back(index);
}

// Posts the receives of expected messages that are there. True if one of them failed, or the run.
bool Dataflow::receive_what_is_there() {
  if (work_.expected.empty()) return false;
  work_.expected.begin_look();
  bool failed = false;
  while (true) {
    bool found = false;
    ExpectedMessage message;
    MPI_Count bytes = 0;
    const int error = work_.expected.find(call_.comm, found, message, bytes);
    if (error != MPI_SUCCESS) {
      abandon(error);
      return true;
    }
    if (!found) return failed;
    const CarryingPiece carrying(incoming(message.key), piggybacks_.incoming(message.key),
                                 piggybacks_.types());
    const Piece& piece = carrying.piece();
    error_.add(carrying.error());
    if (fits(bytes, piece.count, piece.type)) {
      MPI_Request request = MPI_REQUEST_NULL;
      const int posted = post_receive(piece.address, piece.count, piece.type, message.peer,
                                      message.tag, call_.comm, &request);
      keep(message.key, request, posted);
    } else {
      finish_message(message.key, receive(piece.address, piece.count, piece.type, message.peer,
                                          message.tag, call_.comm));
      failed = true;
    }
  }
}

// Nothing else is under way: whatever its size, it can be waited for.
void Dataflow::receive_only() {
  const ExpectedMessage message = work_.expected.take_only();
  const CarryingPiece carrying(incoming(message.key), piggybacks_.incoming(message.key),
                               piggybacks_.types());
  const Piece& piece = carrying.piece();
  error_.add(carrying.error());
  finish_message(message.key, receive(piece.address, piece.count, piece.type, message.peer,
                                      message.tag, call_.comm));
}

void Dataflow::finish_message(StepIndex index, int result) {
  error_.add(result);
  const StepKind kind = step(index).kind;
  count(index, -1);
  if (kind != StepKind::send && result == MPI_SUCCESS) piggybacks_.merge(index);
  if (kind != StepKind::receive_combine) work_.arrived[index] = arrived_whole;
  if (kind == StepKind::receive_combine) {
    work_.arrived[index] = result == MPI_SUCCESS ? arrived_whole : arrived_broken;
    if (work_.combining_waits[index] == 0) compute_later(index);
    return;
  }
  if (kind == StepKind::receive && result == MPI_SUCCESS) {
    error_.add(frame_.scatter_message(index));
  }
  complete(index);
}

// Waits for at least one message, and takes all that are complete.
void Dataflow::await() {
  while (call_.progress_hook != nullptr && call_.progress_hook->advance()) {
    if (test()) return;
  }
  if (survives_faults()) {
    while (!test()) watch_.pause();
    return;
  }
  if (waits_for_window()) {
    await_with_window();
    return;
  }
  if (!work_.expected.empty()) {
    if (work_.requests.empty() && work_.expected.size() == 1) {
      receive_only();
      return;
    }
    while (!test()) work_.expected.pause();
    return;
  }
  if (work_.requests.size() == 1) {
    await_one();
    return;
  }
  take([&](int active, int* count) {
    return PMPI_Waitsome(active, work_.requests.data(), count, work_.finished.data(),
                         work_.statuses.data());
  });
}

void Dataflow::await_one() {
  const StepIndex index = work_.request_step.front();
  const int result = PMPI_Wait(&work_.requests.front(), MPI_STATUS_IGNORE);
  work_.requests.clear();
  work_.request_step.clear();
  finish_message(index, result);
}

bool Dataflow::test() {
  if (survives_faults()) return test_each();
  const bool moved = look_into_window();
  const bool failed = receive_what_is_there() || moved;
  if (work_.requests.empty()) return failed;
  const bool taken = take([&](int active, int* count) {
    return PMPI_Testsome(active, work_.requests.data(), count, work_.finished.data(),
                         work_.statuses.data());
  });
  return taken || failed;
}

// Where processes may die: what fails is known of each request alone, and all of them come to their
// end, since the first failure revokes the communicator. Nothing is posted after it: each message
// to a dead process keeps one of the buffers that Open MPI has in shared memory, 512 at most, and a
// process without any sends nothing to the living either.
bool Dataflow::test_each() {
  std::vector<StepIndex>& batch = work_.batch;
  batch.clear();
  work_.statuses.clear();
  std::size_t kept = 0;
  for (std::size_t i = 0; i < work_.requests.size(); ++i) {
    int done = 0;
    MPI_Request& request = work_.requests[i];
    const int result = PMPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (result != MPI_SUCCESS) revoke_after_death(call_.comm, result);
    if (done == 0 && request != MPI_REQUEST_NULL) {
      work_.requests[kept] = request;
      work_.request_step[kept++] = work_.request_step[i];
      continue;
    }
    batch.push_back(work_.request_step[i]);
    work_.statuses.emplace_back().MPI_ERROR = result;
  }
  work_.requests.resize(kept);
  work_.request_step.resize(kept);
  for (std::size_t i = 0; i < batch.size(); ++i) {
    finish_message(batch[i], work_.statuses[i].MPI_ERROR);
  }
  return !batch.empty();
}

// Takes the messages that PMPI_Waitsome or PMPI_Testsome finds complete; false if there are none.
template <class Some>
bool Dataflow::take(Some some) {
  const auto active = static_cast<int>(work_.requests.size());
  work_.finished.resize(work_.requests.size());
  work_.statuses.resize(work_.requests.size());
  // Where none has failed the statuses' errors are not set.
  for (MPI_Status& status : work_.statuses) status.MPI_ERROR = MPI_SUCCESS;
  int count = 0;
  const int result = some(active, &count);
  // The MPI library cannot tell which message failed: nothing can be awaited any more.
  if (result != MPI_SUCCESS && result != MPI_ERR_IN_STATUS && count <= 0) {
    abandon(result);
    return true;
  }
  if (count <= 0) return false;
  // Steps first, since finishing one may post others behind those that stay.
  std::vector<StepIndex>& batch = work_.batch;
  batch.clear();
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(work_.finished[static_cast<std::size_t>(i)]);
    batch.push_back(work_.request_step[at]);
    work_.request_step[at] = gone;
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < work_.requests.size(); ++i) {
    if (work_.request_step[i] == gone) continue;
    if (result != MPI_SUCCESS && work_.requests[i] == MPI_REQUEST_NULL) {
      batch.push_back(work_.request_step[i]);
      continue;
    }
    work_.requests[kept] = work_.requests[i];
    work_.request_step[kept++] = work_.request_step[i];
  }
  work_.requests.resize(kept);
  work_.request_step.resize(kept);
  const auto reported = static_cast<std::size_t>(count);
  for (std::size_t i = 0; i < reported; ++i) finish_message(batch[i], work_.statuses[i].MPI_ERROR);
  // Where a message fails, Open MPI 4.1 lets go of others that are under way in objects of messages
  // that failed earlier, and does not say so: they still travel, and nobody can wait for them.
  for (std::size_t i = reported; i < batch.size(); ++i) {
    finish_message(batch[i], step(batch[i]).kind == StepKind::send ? MPI_SUCCESS : result);
  }
  return true;
}

void Dataflow::abandon(int error) {
  if (open_ != 0) error_.add(error);
  for (MPI_Request& request : work_.requests) {
    PMPI_Cancel(&request);
    PMPI_Request_free(&request);
  }
  work_.requests.clear();
  work_.request_step.clear();
  work_.expected.forget();
  if (window_ != nullptr) window_->abandon();
  work_.computable.clear();
  open_ = 0;
}

// Many MPI libraries move large messages only inside their calls: between the pieces of a long
// copy they are called, so that what is posted goes on meanwhile.
void Dataflow::let_messages_move() {
  if (work_.requests.empty()) return;
  int done = 0;
  PMPI_Request_get_status(work_.requests.front(), &done, MPI_STATUS_IGNORE);
}

}  // namespace sibyl
