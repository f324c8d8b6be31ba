// What belongs to the process as MPI sees it, not to one communicator: the environment, the report,
// the states that live.
//
// There is one while MPI can be called, which may be more than once: from MPI_Init to MPI_Finalize,
// and while a session is open. Where there is a world it ends by an attribute of MPI_COMM_SELF,
// whose delete callback runs in MPI_Finalize: the states of communicators that the program did not
// free (the world's among them) are taken down there, and the report is written. The preload makes
// it within MPI_Init, so that this attribute is the first one and goes last, after all callbacks of
// the user's, who may still call collectives there. Without a world it ends with the last session
// (hooks.hpp), or, where nobody tells of sessions, with the process or with the world that comes
// then.
// With SMPI, where simulated ranks share a process, it is found by that attribute; elsewhere it is
// a global, since a program that has only sessions has no MPI_COMM_SELF.
// No lock is held over a call into MPI.
//
// Thread safety: every function may be called from any thread.
#pragma once

#include <mpi.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/environment.hpp"
#include "communicator/active_requests.hpp"
#include "planners/nodes.hpp"
#include "selection/choose_reduce.hpp"
#include "selection/native_library.hpp"
#include "selection/settings.hpp"
#include "telemetry/recording.hpp"
#include "telemetry/report.hpp"

namespace sibyl {

class CommunicatorState;
class DeferredRelease;

class Process {
 public:
  // The process's one; made at the first call. nullptr when MPI refuses (then all goes native).
  static Process* get();
  // The same where it has been made already, else nullptr.
  static Process* known();
  // The last session is about to end, and there is no world: so does the process's one, if there is
  // one, while MPI can still be called.
  static void end_without_world();
  // Nothing of MPI is initialised any more: attribute keys of before mean nothing.
  static void forget_keys();
  // The first session has begun, and forget_keys() will be called when the last one has ended.
  // Without a world keys that no communicator uses are of before.
  static void expect_sessions_end();
  // get() hands in what it reads from the process's environment; tests hand in what they like.
  explicit Process(Environment environment);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  // Key of the attribute that carries a communicator's state.
  static int communicator_key();
  // Whether there is a world, with MPI_COMM_SELF: MPI_Init has been called, and MPI_Finalize not.
  static bool has_world();
  // The process's world has appeared: it ends with that.
  bool end_with_world();
  // Before a communicator is looked at. Where nobody has told of MPI_Init and of sessions, one that
  // was made in a session finds its world here, and new attribute keys where no communicator has a
  // state: the old ones may be of an MPI that was finalised with the session.
  static void look_for_world();

  const Environment& environment() const { return environment_; }
  const Settings& settings() const { return settings_; }
  // Empty, or what is wrong with the environment.
  const std::string& problem() const { return problem_; }
  bool reports() const { return !environment_.report.empty(); }
  bool records() const { return !environment_.record.empty(); }
  // Calls are timed: for the report, or for the record.
  bool times_calls() const { return times_calls_; }

  // The world was set up: all its ranks have these settings, share a node or not, and its window
  // with a processor each or not.
  void note_world(const Settings& settings, bool one_node, bool by_window);
  // Whether the library serves this collective on every communicator of ranks of the world.
  bool leaves_native(Collective collective) const {
    return left_native_[static_cast<std::size_t>(collective)];
  }
  // Whether it would but for a window that nobody asked for.
  bool waits_for_window(Collective collective) const {
    return waits_for_window_[static_cast<std::size_t>(collective)];
  }
  // Room for a window that nobody asked for: false where those of this process are together as
  // large as they may be.
  bool take_for_window(std::uint32_t bytes) {
    if (bytes_of_windows_.fetch_add(bytes) + bytes <= most_for_windows) return true;
    bytes_of_windows_ -= bytes;
    return false;
  }
  void give_back_for_window(std::uint32_t bytes) { bytes_of_windows_ -= bytes; }
  // The MPI library in use.
  NativeLibrary library() const { return library_; }

  // A communicator's state begins and ends.
  void enter(MPI_Comm comm, CommunicatorState* state);
  void retract(MPI_Comm comm);  // it did not begin
  // Whether a communicator has this state.
  static bool has(const CommunicatorState* state);
  // Of what may end after its communicator.
  void add_to_report(const CommunicatorReport& report, int communicator_size);
  void leave(MPI_Comm comm, const CommunicatorReport& report, int communicator_size,
             CommunicatorRecording recording);
  // A call of a collective that Sibyl does not serve, for the report.
  void count_native(std::string_view collective, int communicator_size,
                    std::chrono::nanoseconds took);
  std::uint64_t ordinal_of(const std::vector<int>& group);
  RecordingRoom& recording_room() { return recording_.room(); }

  // A communicator of this rank alone that returns errors, made at the first call; MPI_COMM_NULL
  // where there can be none.
  MPI_Comm own_self() {
    const MPI_Comm made = own_self_.load(std::memory_order_acquire);
    return made != MPI_COMM_NULL ? made : make_own_self();
  }

  // Private communicators: takes one of the budget, or says that none is left.
  bool take_private();
  void give_back_private();
  std::uint32_t privates_in_use() const;
  // Where the budget, or the MPI library's room for communicators, is at its end. Both look at
  // communicators all of whose ranks are ranks of `comm` too, so that all who have one are in the
  // same call.
  // The one whose private communicator has been used least recently, the world's apart; 0 where
  // there is none.
  std::uint64_t least_recently_used_within(MPI_Comm comm) const;
  // Gives back the private communicators of all, and makes no more: the program needs the room.
  void give_back_all_within(MPI_Comm comm);
  // The state of this number that was agreed on; nullptr where this rank has none.
  CommunicatorState* state_of(std::uint64_t id) const;
  // Counts served calls, to tell which communicator was used before which.
  std::uint64_t tick() {
    const std::uint64_t now = ticks_.load(std::memory_order_relaxed) + 1;
    ticks_.store(now, std::memory_order_relaxed);  // two threads may share one; that is no matter
    return now;
  }
  // Ranks of the world on this node, once it has been set up with a window; 0 before.
  std::atomic<std::int64_t> ranks_here = 0;
  // How many communicators the program has, as far as the hooks have seen.
  std::atomic<std::int64_t> live_communicators = 0;
  // What was measured on a communicator of so many ranks that lie so on nodes, and all of which
  // combine or not; nothing is known at first.
  Costs known_costs(int ranks, const Placement& placement, bool combines) const;
  void keep_costs(int ranks, const Placement& placement, bool combines, const Costs& costs);
  // Whether there may be a thread in the background: not where the MPI gives less than
  // MPI_THREAD_MULTIPLE, or the environment forbids it. The report then says so.
  bool may_have_thread();
  // The thread, made at the first call; nullptr where there may be none or the system has none
  // left.
  ProgressThread* progress_thread();
  // Returns when the thread, if there is one still, is not and will not be at this work.
  void withdraw(BackgroundWork& work);
  // More than one thread of the program may be in MPI.
  static bool has_threads();
  ActiveRequests requests;
  DeferredRelease& deferred_release() { return *deferred_release_; }

  // The report and the record, where they are wanted.
  void write_files() const;

  // A number, large and different at every call, for the first tag of a private communicator.
  std::int64_t next_tag_start();
  // A number that no other process gives out, and this one once; never 0.
  std::uint64_t next_id();

 private:
  struct Attached {
    MPI_Comm comm;
    CommunicatorState* state;
  };
  MPI_Comm make_own_self();
  static int finalize(MPI_Comm self, int key, void* value, void* extra);
  void end();
  bool has_states() const;
  // There is nothing that look_for_world() might find.
  bool is_settled() const;
  // Those within `comm` that have a private communicator.
  std::vector<CommunicatorState*> served_within(MPI_Comm comm) const;

  Environment environment_;
  Settings settings_;
  std::string problem_;
  bool times_calls_ = false;
  mutable std::mutex mutex_;
  std::vector<Attached> attached_;  // communicators with a state, oldest first
  std::atomic<MPI_Comm> own_self_ = MPI_COMM_NULL;
  enum class Making : std::uint8_t { not_tried, under_way, over };
  std::atomic<Making> own_self_made_ = Making::not_tried;
  std::atomic<bool> ends_with_world_ = false;
  int rank_ = 0;  // of the world; without one, of the largest communicator that had a state
  int size_ = 0;
  std::array<bool, collective_count> left_native_{};
  std::array<bool, collective_count> waits_for_window_{};
  static constexpr std::uint64_t most_for_windows = std::uint64_t{256} << 20;
  std::atomic<std::uint64_t> bytes_of_windows_ = 0;
  NativeLibrary library_ = NativeLibrary::other;
  std::atomic<std::uint64_t> ticks_ = 0;
  std::uint32_t privates_ = 0;
  bool no_more_privates_ = false;
  std::uint64_t tag_starts_ = 0;
  std::uint64_t ids_ = 0;
  std::map<std::tuple<int, Rank, Rank, bool>, Costs> costs_;
  std::unique_ptr<ProgressThread> thread_;
  std::string_view thread_state_ = "not asked for";
  std::unique_ptr<DeferredRelease> deferred_release_;
  ProcessReport report_;
  ProcessRecording recording_;
};

}  // namespace sibyl
