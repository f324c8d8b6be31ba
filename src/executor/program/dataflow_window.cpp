// The messages of a run that go by the node's window; see dataflow.hpp.
#include <algorithm>

#include "executor/program/dataflow.hpp"

namespace sibyl {

// Both are ready: what they send is what lies there now.
bool Dataflow::sends_alike(StepIndex one, StepIndex other) const {
  const Step& second = step(other);
  if (second.kind != StepKind::send || !window_->reaches(second.peer) ||
      second.slice.buffer != step(one).slice.buffer ||
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
  if (!in_window || now.kind != StepKind::send || now.slice.range.count == 0 ||
      !frame_.is_sent(index) || in_window_.goes_by_mpi(index)) {
    post_message(index);
    return 1;
  }
  const auto begin = work_.ready.begin() + static_cast<std::ptrdiff_t>(first);
  auto end = begin + 1;
  for (auto other = end; other != work_.ready.end(); ++other) {
    if (sends_alike(index, *other)) std::rotate(end++, other, other + 1);
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
