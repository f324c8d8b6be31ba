// The dataflow engine: every step runs as soon as what it depends on is complete.
//
// Where the port window limits sends, the earliest that are ready go first, unless it asks for
// program order: one that waits for data holds up no other. The earliest that is not complete needs
// no place in the window, so that a program which comes to its end with one place and strictly in
// order does so here: others may fill the window while their receivers wait for that one. Receives
// are posted in program order where the window limits them; a receive_combine also needs a staging
// slot, taken in program order, and is complete when it has combined. Everything else is posted the
// moment it is released. Messages come before computation, and computation runs in program order: a
// peer waits for the one, nobody for the other.
//
// A run goes to its end in one call, or in pieces: started while the rank still computes, it
// performs what is gated `on_start`; everything else waits for arrive(). A closed gate is one more
// predecessor of its step, so a run in one call pays nothing for it.
//
// A run in pieces may be held: then each message also waits until its peer is admitted, so that
// whoever runs the program decides the order of its turns as it goes. That suits programs in which
// the messages with a peer stand together and no other window is at work.
//
// Messages between ranks of one node go by the call's window where it has one
// (window/node_window.hpp): what comes there is combined straight from the shared memory if its
// turn has come, and put into its staging slot if not. Sends of the same data that are ready at a
// time are one there. Where the window breaks what goes by it fails, and the run goes on.
//
// While a run in one call waits it calls the progress hook of the call, and looks in between.
//
// Thread safety: one caller at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "executor/faults.hpp"
#include "executor/program/engines.hpp"
#include "executor/program/piggyback_messages.hpp"
#include "executor/program/window_messages.hpp"

namespace sibyl {

class Dataflow final : private WindowUser {
 public:
  // All four must outlive the run, and the workspace serves no other meanwhile.
  Dataflow(const Prepared& prepared, const CollectiveCall& call, const Frame& frame,
           Workspace& workspace);
  // Left in the middle - an operator has thrown - nothing is written to any buffer any more.
  ~Dataflow();
  Dataflow(const Dataflow&) = delete;
  Dataflow& operator=(const Dataflow&) = delete;

  // The whole run. Returns MPI_SUCCESS or the first error.
  int run();

  // In pieces: start once, with `arrived` or followed by arrive(); then progress or finish.
  void start(bool arrived, bool held = false);
  void arrive();
  // Of a held run: the messages with this peer may go.
  void admit(Rank peer);
  // The first message with this peer, a receive, is complete.
  bool heard_from(Rank peer) const;
  // Takes what is complete and posts what that releases, without blocking. True at the end.
  bool progress();
  // Blocks to the end. The rank has arrived.
  void finish();

  bool ended() const { return open_ == 0; }
  std::size_t open() const { return open_; }  // steps that are not complete
  // Messages are under way: progress() may find something to do.
  bool waits() const { return waits_for_mpi() || waits_for_window(); }
  int error() const { return error_.code(); }
  // Cancels what is posted and ends the run, with an error if nothing else was wrong.
  void abandon(int error);

 private:
  static constexpr StepIndex gone = ~StepIndex{0};
  static constexpr std::uint8_t arrived_whole = 1;
  static constexpr std::uint8_t arrived_broken = 2;

  const Step& step(StepIndex index) const { return prepared_.program.steps[index]; }
  bool limits_sends() const { return port_.sends != 0; }
  bool receives_in_order(StepIndex index) const {
    return port_.receives != 0 || step(index).kind == StepKind::receive_combine;
  }
  bool waits_for_mpi() const { return !work_.requests.empty() || !work_.expected.empty(); }
  bool waits_for_window() const { return window_ != nullptr && window_->open() != 0; }
  void hold();
  void release_all();
  void release(StepIndex index);
  void complete(StepIndex index);
  void compute_later(StepIndex index);
  bool compute_one();
  void let_messages_move();
  void combine(StepIndex index);
  void post();
  bool post_sends_in_program_order();
  bool post_earliest_sends();
  bool may_send(StepIndex index);
  std::uint32_t& sending_to(StepIndex index) {
    return work_.sending_to[static_cast<std::size_t>(step(index).peer)];
  }
  void count(StepIndex index, int change);
  StepIndex earliest_send();
  bool post_receives_in_order();
  void post_message(StepIndex index);
  void post_send_by_mpi(StepIndex index);
  void post_receive_by_mpi(StepIndex index);
  Piece incoming(StepIndex index) const;
  void keep(StepIndex index, MPI_Request request, int posted);
  bool receive_what_is_there();
  void receive_only();
  void finish_message(StepIndex index, int result);
  void post_and_await();
  void await();
  void await_one();
  bool test();
  bool test_each();
  template <class Some>
  bool take(Some some);
  // dataflow_window.cpp
  void post_in_window(StepIndex index);
  std::size_t post_ready(std::size_t first);
  bool sends_alike(StepIndex one, StepIndex other) const;
  bool look_into_window();
  void lose_window();
  void await_with_window();
  void window_sent(std::uint32_t key) override;
  void window_brings(const WindowPiece& piece) override;
  void window_names(std::uint32_t key) override { post_receive_by_mpi(key); }

  const Prepared& prepared_;
  const CollectiveCall& call_;
  const Frame& frame_;
  Workspace& work_;
  PortWindow port_;  // of the program, or less where processes may die
  NodeWindow* window_;
  WindowMessages in_window_;
  PiggybackMessages piggybacks_;
  FaultWatch watch_;
  FirstError error_;
  int fault_ = MPI_SUCCESS;    // what messages fail with where a process has died
  std::size_t open_ = 0;       // steps that are not complete
  std::size_t next_send_ = 0;  // in order: to be posted; else not known to be complete
  std::size_t next_receive_ = 0;
  std::uint32_t sending_ = 0;
  std::uint32_t receiving_ = 0;
};

}  // namespace sibyl
