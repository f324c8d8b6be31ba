// The messages of a run that go by the node's window; see dataflow.hpp.
#include <algorithm>

#include "executor/program/dataflow.hpp"

namespace sibyl {

// Both are ready sends: what they send is what lies there now.
bool Dataflow::sends_alike(StepIndex one, StepIndex other) const {
  const Step& second = step(other);
  if (!window_->reaches(second.peer) || second.slice.buffer != step(one).slice.buffer ||
      second.slice.range != step(one).slice.range) {
    return false;
  }
  const Piece a = frame_.message(one);
  const Piece b = frame_.message(other);
  return a.address == b.address && a.count == b.count && a.type == b.type;
}

// Posts the ready step at `first`, and with it those that send the same data by the window. Returns
// how many they are; they stand there one after the other then.
std::size_t Dataflow::post_ready(std::size_t first) {
  const StepIndex index = work_.ready[first];
  const Step& now = step(index);
  const bool in_window = window_ != nullptr && now.peer != no_rank && window_->reaches(now.peer);
  if (!in_window || window_->is_broken() || prepared_.sends_alike[index] == 0 ||
      now.slice.range.count == 0 || !frame_.is_sent(index) || in_window_.goes_by_mpi(index)) {
    post_message(index);
    return 1;
  }
  const auto begin = work_.ready.begin() + static_cast<std::ptrdiff_t>(first);
  auto end = begin + 1;
  for (auto other = end; other != work_.ready.end(); ++other) {
    if (prepared_.sends_alike[*other] == 0 || !sends_alike(index, *other)) continue;
    std::rotate(end++, other, other + 1);
  }
  const auto count = static_cast<std::size_t>(end - begin);
  if (count == 1) {
    post_message(index);
    return 1;
  }
  work_.fan_out.clear();
  for (auto at = begin; at != end; ++at) {
    ++sending_;
    work_.fan_out.push_back(in_window_.sent(*at));
  }
  window_->send(work_.fan_out, *this);
  return count;
}

void Dataflow::post_in_window(StepIndex index) {
  if (window_->is_broken()) {
    finish_message(index, MPI_ERR_OTHER);
  } else if (step(index).kind != StepKind::send) {
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
  lose_window();
  return true;
}

// What goes by the window comes to its end no more. What goes to other nodes by MPI does, lest
// their ranks wait for ever.
void Dataflow::lose_window() {
  std::vector<StepIndex>& lost = work_.batch;
  lost.clear();
  for (std::uint32_t key = 0; window_->abandon_one(key);) lost.push_back(key);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < work_.requests.size(); ++i) {
    const StepIndex index = work_.request_step[i];
    if (step(index).kind == StepKind::send && window_->reaches(step(index).peer)) {
      PMPI_Request_free(&work_.requests[i]);  // the receiver may never hear of it
      lost.push_back(index);
      continue;
    }
    work_.requests[kept] = work_.requests[i];
    work_.request_step[kept++] = index;
  }
  work_.requests.resize(kept);
  work_.request_step.resize(kept);
  for (const StepIndex index : lost) finish_message(index, MPI_ERR_OTHER);
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
