// What belongs to the process as MPI sees it (a rank of MPI_COMM_WORLD), not to one communicator:
// the environment, the report, the states that live.
//
// It hangs on an attribute of MPI_COMM_SELF, whose delete callback runs first in MPI_Finalize: the
// states of communicators that the program did not free (the world's among them) are taken down
// there, and the report is written. Nothing of this is a global, since simulated ranks share a
// process; the two attribute keys are, because they mean the same to all.
// No lock is held over a call into MPI.
//
// Thread safety: every function may be called from any thread.
#pragma once

#include <mpi.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/environment.hpp"
#include "communicator/active_requests.hpp"
#include "communicator/recording.hpp"
#include "communicator/report.hpp"
#include "selection/choose_reduce.hpp"
#include "selection/settings.hpp"

namespace sibyl {

class CommunicatorState;
class LeftBehind;

class Process {
 public:
  // The process's one; made at the first call. nullptr when MPI refuses (then all goes native).
  static Process* get();
  // get() hands in what it reads from the process's environment; tests hand in what they like.
  explicit Process(Environment environment);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  // Key of the attribute that carries a communicator's state.
  static int communicator_key();

  const Environment& environment() const { return environment_; }
  const Settings& settings() const { return settings_; }
  // Empty, or what is wrong with the environment.
  const std::string& problem() const { return problem_; }
  bool reports() const { return !environment_.report.empty(); }
  bool records() const { return !environment_.record.empty(); }
  // Calls are timed: for the report, or for the record.
  bool times_calls() const { return times_calls_; }

  // A communicator's state begins and ends.
  void enter(MPI_Comm comm);
  void retract(MPI_Comm comm);  // it did not begin
  void leave(MPI_Comm comm, const CommunicatorReport& report, int communicator_size,
             CommunicatorRecording recording);
  std::uint64_t ordinal_of(const std::vector<int>& group);
  RecordingRoom& recording_room() { return recording_.room(); }

  // Private communicators: takes one of the budget, or says that none is left.
  bool take_private();
  void give_back_private();
  std::uint32_t privates_in_use() const;
  // What was measured on a communicator of so many ranks that lie so on nodes; nothing is known at
  // first.
  Costs known_costs(int ranks, Rank ranks_per_node) const;
  void keep_costs(int ranks, Rank ranks_per_node, const Costs& costs);
  // Whether there may be a thread in the background: not where the MPI gives less than
  // MPI_THREAD_MULTIPLE, or the environment forbids it. The report then says so.
  bool may_have_thread();
  // The thread, made at the first call; nullptr where there may be none or the system has none
  // left.
  ProgressThread* progress_thread();
  // Returns when the thread, if there is one still, is not and will not be at this work.
  void withdraw(BackgroundWork& work);
  ActiveRequests requests;
  LeftBehind& left_behind() { return *left_behind_; }

  // A number, large and different at every call, for the first tag of a private communicator.
  std::int64_t next_tag_start();

 private:
  static int finalize(MPI_Comm self, int key, void* value, void* extra);
  void write_files() const;

  Environment environment_;
  Settings settings_;
  std::string problem_;
  bool times_calls_ = false;
  mutable std::mutex mutex_;
  std::vector<MPI_Comm> attached_;  // communicators with a state, oldest first
  std::uint32_t privates_ = 0;
  std::uint64_t tag_starts_ = 0;
  std::map<std::pair<int, Rank>, Costs> costs_;
  std::unique_ptr<ProgressThread> thread_;
  std::string_view thread_state_ = "not asked for";
  std::unique_ptr<LeftBehind> left_behind_;
  ProcessReport report_;
  ProcessRecording recording_;
};

}  // namespace sibyl
