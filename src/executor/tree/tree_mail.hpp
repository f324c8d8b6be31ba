// The messages of one call along a tree: to and from ranks of its node by the node's window, where
// the call has one, all others by MPI.
//
// Along the tree, and while it is built, all messages between ranks of a node go by the window.
// Nobody knows what such a message holds, or whom it comes from, before it is there: who awaits one
// looks into the window and asks MPI. Of direct blocks, whose two ends know each other, the sender
// decides, as in a program (program/window_messages.hpp).
//
// Who waits for one message moves all others that are under way.
//
// Thread safety: none; a call has its own.
#pragma once

#include <cstddef>

#include "executor/program/engines.hpp"
#include "executor/tree/irregular.hpp"

namespace sibyl {

class TreeMail final : private WindowUser {
 public:
  // What goes wrong with what is sent, and with blocks, is added to `error`.
  TreeMail(const IrregularCall& call, IrregularRoom& room, FirstError& error);
  // Waits for what was posted, also where memory has run out in the middle of a call: the caller
  // has the buffers back then.
  ~TreeMail() { finish(); }
  TreeMail(const TreeMail&) = delete;
  TreeMail& operator=(const TreeMail&) = delete;

  bool goes_by_window(Rank peer) const { return window_ != nullptr && window_->reaches(peer); }
  // A message of any rank may come by MPI.
  bool may_come_by_mpi() const { return window_ == nullptr || !window_->reaches_all(); }

  // These do not wait: what is sent must stay until wait() for the message's number, or finish().
  // By MPI.
  std::size_t post(const void* data, MPI_Count count, MPI_Datatype type, Rank to, int tag);
  std::size_t post_bytes(const char* data, std::size_t bytes, Rank to, int tag);
  void post_block(const char* data, MPI_Count count, const DatatypeInfo& type, Rank to);
  void wait(std::size_t message);
  // For a request of MPI's, while what waits for room in the window moves.
  void wait_for_mpi(MPI_Request& request);
  // For all that was posted, and all blocks.
  void finish();
  // These wait for the only message, lest a request be made for it. Of counts that fit into an int;
  // the first by MPI.
  void send(const void* data, int count, MPI_Datatype type, Rank to, int tag);
  void send_bytes(const char* data, std::size_t bytes, Rank to, int tag);

  // Waits for a message of any rank, or looks for one once; its source and its bytes. `by_mpi`: it
  // may come that way. Return an error code.
  int await(int tag, bool by_mpi, Rank& from, std::size_t& bytes);
  int look(int tag, bool by_mpi, bool& there, Rank& from, std::size_t& bytes);
  // Takes one whose sender and size are known. Returns an error code.
  int take(Rank from, int tag, std::size_t bytes, char* to);
  // One of the tree, by the window, to the places in `room.spread`, which are as long together.
  int take_spread(Rank from, std::size_t bytes);

  // A direct block, by MPI: waits for it. Where none fits, that is an error, and it is taken all
  // the same.
  void receive_block(Rank from, char* to, MPI_Count count, const DatatypeInfo& type);
  // One that nobody expects is taken out of the way, so that its sender can go on.
  void forget_block(Rank from);
  // Of a rank that the window reaches: the block comes while others are waited for.
  void expect_block(Rank from, char* to, MPI_Count count, const DatatypeInfo& type);
  // It does not come.
  void withdraw_block(Rank from);
  // Waits for those that are expected, by the window or by MPI.
  void finish_blocks();
  // A rank whose expected block turns out to come by MPI, each once; no_rank: none.
  Rank next_block_by_mpi();
  // Some are still to come, or to be asked for.
  bool expects_blocks() const { return room_.expected_in_window != 0; }
  // Moves what can be moved, or pauses; false where nothing can be any more. `tests_mpi`: the
  // caller looks at MPI's messages in between.
  bool move(bool tests_mpi);

 private:
  using Incoming = IrregularRoom::Incoming;

  void window_sent(std::uint32_t key) override { room_.in_window[key] = 0; }
  void window_brings(const WindowPiece& piece) override;
  void window_names(std::uint32_t key) override { room_.incoming[key].state = Incoming::by_mpi; }

  int tag_of(int tag) const { return call_.tag_base + tag; }
  std::size_t post_in_window(WindowSend message);
  template <class Ask>
  void move_held_up_until(Ask ask);
  const Incoming* next_named_block();
  std::uint32_t add_incoming(const Incoming& message, int tag);
  int await_last_incoming();
  void spread(const WindowPiece& piece);
  int give_up();

  const IrregularCall& call_;
  IrregularRoom& room_;
  FirstError& error_;
  NodeWindow* window_;
  bool posted_by_mpi_ = false;  // which moves only in MPI's calls
};

}  // namespace sibyl
