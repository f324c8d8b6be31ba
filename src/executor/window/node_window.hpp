// Messages between the ranks of one node through memory that they share.
//
// Every ordered pair of ranks has a first-in-first-out queue of slots. A sender copies a message
// into slots as they become free; a receiver takes it straight from them - it may combine from
// there - and frees them. A slot says by its turn whether it is full: 32 bytes of data and all that
// a receiver has to look at lie in one cache line.
//
// Data that go to several ranks alike are written once, into an outlet of the sender's, and the
// queues of their readers name it; it is free again when the last of them has taken it. Where one
// of them is late the others do not wait for it: what is left then goes to each by its own queue.
//
// Messages are matched as MPI does it, by sender and tag, in the order in which they were sent. One
// that nobody waits for yet stays where it is; only if it stands before one that is waited for it
// is kept elsewhere, so that no order in which two ranks send and receive can block them. The
// sender alone decides what goes this way: of other messages a slot tells the receiver that they
// come by MPI. Whoever does not know from whom a message comes, or how long it is, looks for its
// tag before it receives it.
//
// A rank that waits looks, for some tenths of a millisecond, where ranks are crowded some
// microseconds, and where the whole job has processors some dozens of milliseconds; then it lets
// others have the processor, then sleeps; who fills or frees a slot for a
// rank that sleeps wakes it. It sleeps briefly, and calls the MPI library in between: others may
// wait for messages that only its calls move.
//
// Thread safety: none. A rank is one user at a time of its side; a process may have several
// windows.
#pragma once

#include <mpi.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "executor/window/shared_memory.hpp"
#include "sibyl/schedule.hpp"

namespace sibyl {

struct WindowSend {
  Rank peer = no_rank;
  int tag = 0;
  std::uint32_t key = 0;  // the user's name for it
  const char* data = nullptr;
  std::size_t bytes = 0;
  std::size_t element = 1;  // bytes that are not torn apart where a slot has room for them
  bool by_mpi = false;      // nothing but the word that it comes by MPI
  std::size_t done = 0;
  // Of the first of several that have the same data: how many they are, itself included.
  std::size_t together = 1;
};

struct WindowReceive {
  Rank peer = no_rank;
  int tag = 0;
  std::uint32_t key = 0;
  bool whole = false;  // wanted in one piece
};

// What has come of a message; the last piece of an empty one is empty.
struct WindowPiece {
  std::uint32_t key;
  const char* data;
  std::size_t begin;  // within the message
  std::size_t bytes;
  std::size_t total;    // of the message
  std::uint32_t& note;  // the user's own, 0 at the message's begin
  bool is_first() const { return begin == 0; }
  bool is_last() const { return begin + bytes == total; }
};

// What a window tells its user, from within progress(); these post nothing in the window.
class WindowUser {
 public:
  virtual void window_sent(std::uint32_t key) = 0;
  virtual void window_brings(const WindowPiece& piece) = 0;
  virtual void window_names(std::uint32_t key) = 0;  // a receive: the message comes by MPI

 protected:
  ~WindowUser() = default;
};

class NodeWindow {
 public:
  // Collective over `ranks`, those of this node in ascending order: all get one, or none does
  // (nullptr) - where there is no memory, or `bytes` are too few for so many. Messages with `tag`
  // must be free for it. `crowded`: who waits takes a processor from others, and soon gives way.
  // `able`: whether this rank has room for one.
  static std::unique_ptr<NodeWindow> make(MPI_Comm comm, int tag, std::span<const Rank> ranks,
                                          std::size_t bytes, bool crowded, bool able = true);
  // What so many ranks need for messages of up to `message` bytes: more would gain nothing.
  static std::size_t bytes_for(std::size_t ranks, std::size_t message);
  ~NodeWindow();
  NodeWindow(const NodeWindow&) = delete;
  NodeWindow& operator=(const NodeWindow&) = delete;

  bool reaches(Rank peer) const { return index_[static_cast<std::size_t>(peer)] != unreached; }
  // All ranks of the communicator.
  bool reaches_all() const { return peers_.size() == index_.size(); }
  // Data of one slot.
  std::size_t slot_bytes() const { return slot_bytes_; }

  // A run begins, which posts so many messages at most; forgets what another one has left behind.
  void begin(std::size_t messages);
  // True where all of it is sent already; else progress() goes on with it, and says so.
  bool send(WindowSend message);
  // The same data to several ranks, alike but for peer, tag and key; says at once which of them are
  // sent already.
  void send(std::span<WindowSend> messages, WindowUser& user);
  void receive(const WindowReceive& message);
  // Looks for a message of any rank that nobody has asked for yet; its sender and its bytes. It
  // stays where it is until it is received. pause() looks for the same one.
  bool find(int tag, Rank& from, std::size_t& bytes);
  // Takes a receive back whose message does not come; false if there is none, or it has begun.
  bool withdraw(Rank peer, int tag);
  // Messages under way.
  std::size_t open() const { return open_; }
  // Of those, what is to be sent and waits for room.
  std::size_t held_up() const { return sends_.size(); }
  // Moves what can be moved; false where nothing could.
  bool progress(WindowUser& user);
  // Between two fruitless calls of progress(). `tests_mpi`: the caller also looks at requests of
  // MPI in between. Returns an error code of MPI's.
  int pause(bool tests_mpi);
  // The same where the caller has other things to do: does not wait, and always lets MPI get on.
  int pass(bool tests_mpi);
  // The messages under way are given up. Where one was half sent nobody can use the window any
  // more.
  void abandon();
  bool is_broken() const;
  // Of a broken one: gives up one message under way, until there is none (false). Its key.
  bool abandon_one(std::uint32_t& key);
  // For tests: slots that this rank has filled and taken ever, outlets that it has written,
  // messages that it keeps; how often it has slept and found a reader late, and how it waits.
  std::uint64_t slots_filled() const;
  std::uint64_t slots_taken() const;
  std::uint64_t outlets_written() const { return written_; }
  std::size_t messages_kept() const;
  std::uint64_t sleeps() const { return sleeps_; }
  std::uint64_t late_readers() const { return late_readers_; }
  bool is_crowded() const { return crowded_; }
  // Likewise: how long it sleeps at most.
  void sleep_for(std::chrono::nanoseconds limit) { longest_sleep_ = limit; }
  // From now on this rank sleeps later: nobody else of the job could use its processor.
  void look_for_long() { looks_for_long_ = true; }

 private:
  struct Head;
  struct Line;
  struct Queue;
  struct Slot;
  struct Outlet;
  struct Freed;
  // A message that came before one that is waited for, or that is wanted whole.
  struct Kept {
    int tag = 0;
    bool by_mpi = false;
    std::size_t bytes = 0;
    std::unique_ptr<char[]> data;
  };
  enum class Place : std::uint8_t { none, receiver, kept, nowhere };
  struct Peer {
    Rank rank = no_rank;
    Queue* out = nullptr;
    Queue* in = nullptr;
    char* outlets = nullptr;
    Line* line = nullptr;
    std::uint64_t sent = 0;        // slots
    std::uint64_t known_free = 0;  // slots that the peer is known to have taken
    std::uint64_t taken = 0;
    std::uint32_t sending = 0;  // messages that are waited for
    std::uint32_t receiving = 0;
    bool full = false;  // found so in this pass
    // Of each slot of `out`, of `in` and of each outlet, bytes whose pages this rank has.
    std::size_t out_pages = 0;
    std::size_t in_pages = 0;
    std::size_t outlet_pages = 0;
    // The message that comes in: where it goes, how much of it has come.
    Place place = Place::none;
    WindowReceive receive;
    std::size_t begin = 0;
    std::uint32_t note = 0;
    std::vector<Kept> kept;  // in the order in which they came
  };
  static constexpr std::uint16_t unreached = 0xffff;

  // Of rank `own` of `all` in `comm`, without memory yet.
  NodeWindow(MPI_Comm comm, Rank own, Rank all, std::span<const Rank> ranks, std::size_t slot_bytes,
             bool crowded);
  void lay_out(SharedMemory memory, std::size_t own, std::size_t ranks);
  Slot& slot(Queue& queue, std::uint64_t number) const;
  Peer& peer_of(Rank rank) { return peers_[index_[static_cast<std::size_t>(rank)]]; }
  bool has_room(Peer& peer);
  static void touch(char* first, std::size_t stride, std::size_t bytes, std::size_t& touched,
                    bool writes);
  void touch_slots(Queue* queue, std::size_t bytes, std::size_t& touched, bool writes);
  void touch_outlets(char* outlets, std::size_t bytes, std::size_t& touched, bool writes);
  std::size_t next_piece(const WindowSend& message) const;
  void fill(Peer& peer, const WindowSend& message, std::size_t bytes, std::uint32_t outlet);
  bool put(Peer& peer, WindowSend& message);
  bool must_wait(std::span<const WindowSend> messages);
  void hold_back_behind(std::span<const WindowSend> messages);
  bool put_all(WindowUser& user);
  // fan_out.cpp
  Outlet& outlet(char* outlets, std::size_t number) const;
  const char* data_of(const Peer& peer, const Slot& slot) const;
  bool has_room(std::span<const WindowSend> messages);
  bool next_outlet_is_free() const;
  bool can_put(std::span<const WindowSend> messages);
  bool put(std::span<WindowSend> messages);
  static void part(std::span<WindowSend> messages);
  bool part_all();
  int ask_mpi() const;
  bool take_from(Peer& peer, WindowUser& user);
  bool hand_over_kept(Peer& peer, WindowUser& user);
  void take(Peer& peer, const Slot& slot, WindowUser& user);
  void begin_message(Peer& peer, const Slot& slot);
  bool keep(Peer& peer, const Slot& slot);
  bool find_receive(const Peer& peer, int tag, std::size_t& at) const;
  bool is_full(const Peer& peer) const;
  bool is_looked_for(const Peer& peer, const Slot& slot) const;
  bool makes_way(const Peer& peer) const;
  bool has_room_to_keep(const Peer& peer) const;
  bool can_take(const Peer& peer) const;
  std::uint32_t looks_before_way() const;
  std::uint32_t looks_before_sleep() const;
  bool can_send();
  bool has_work();
  void wake(const Peer& peer) const;
  void sleep();
  void give_up();

  MPI_Comm comm_;
  SharedMemory memory_;
  Head* head_ = nullptr;
  Line* own_line_ = nullptr;
  std::size_t slot_bytes_ = 0;
  bool crowded_ = false;
  bool looks_for_long_ = false;
  char* outlets_ = nullptr;           // this rank's
  std::size_t outlet_pages_ = 0;      // as of a peer
  std::uint64_t written_ = 0;         // outlets, counted on
  bool reader_is_late_ = false;       // nothing has gone to several alike since
  std::uint64_t late_readers_ = 0;    // so many times one was found
  std::vector<std::uint16_t> index_;  // in peers_, by rank
  std::vector<Peer> peers_;
  std::vector<WindowSend> sends_;        // in the order in which they were posted
  std::vector<WindowReceive> receives_;  // likewise
  std::size_t open_ = 0;
  std::uint32_t idle_ = 0;  // fruitless looks in a row
  bool looks_ = false;      // for a message of any rank, with this tag
  int looked_for_ = 0;
  std::chrono::nanoseconds longest_sleep_{500'000};
  std::uint64_t sleeps_ = 0;
};

}  // namespace sibyl
