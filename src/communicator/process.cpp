// The process's state and its end; see process.hpp.
#include "communicator/process.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <new>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "base/output_file.hpp"
#include "communicator/communicator_state.hpp"
#include "communicator/deferred_release.hpp"
#include "communicator/settled_calls.hpp"
#include "device/owner.hpp"

namespace sibyl {
namespace {

// Attribute keys: made once for each life of MPI, never freed (MPI_Finalize does).
std::atomic<int> process_key = MPI_KEYVAL_INVALID;
std::atomic<int> state_key = MPI_KEYVAL_INVALID;
std::atomic<bool> ends_are_told = false;  // forget_keys is called at the end of sessions

// The right to make keys and processes. No lock, since calls into MPI are made under it: in such a
// call a simulated rank gives way to others, and one that blocked then would stop them all.
std::atomic_flag making = ATOMIC_FLAG_INIT;

class Maker {
 public:
  Maker() {
    while (making.test_and_set(std::memory_order_acquire)) {
      std::this_thread::yield();
      PMPI_Wtime();  // gives way to other simulated ranks
    }
  }
  ~Maker() { making.clear(std::memory_order_release); }
  Maker(const Maker&) = delete;
  Maker& operator=(const Maker&) = delete;
};

struct Keys {
  int of_states = MPI_KEYVAL_INVALID;
  int of_process = MPI_KEYVAL_INVALID;

  bool make(MPI_Comm_delete_attr_function* end_of_state,
            MPI_Comm_delete_attr_function* end_of_process) {
    return PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_of_state, &of_states, nullptr) ==
               MPI_SUCCESS &&
           PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_of_process, &of_process, nullptr) ==
               MPI_SUCCESS;
  }
  void use() const {
    state_key = of_states;
    process_key = of_process;
  }
};

#ifdef SMPI_H
// nullptr when this simulated rank has none yet.
Process* made_before() {
  void* value = nullptr;
  int found = 0;
  if (process_key == MPI_KEYVAL_INVALID ||
      PMPI_Comm_get_attr(MPI_COMM_SELF, process_key, &value, &found) != MPI_SUCCESS) {
    return nullptr;
  }
  return found != 0 ? static_cast<Process*>(value) : nullptr;
}
void keep(Process*) {}
#else
std::atomic<Process*> the_process = nullptr;
Process* made_before() { return the_process.load(std::memory_order_acquire); }
void keep(Process* process) { the_process.store(process, std::memory_order_release); }
#endif

#ifndef SMPI_H
// At the end of the program, where nobody has told of the end of the last session: MPI cannot be
// called any more, so all but the report stays as it is. A process that it has forked has it too.
pid_t exits_here = 0;
void write_at_exit() {
  const Process* const left = the_process.exchange(nullptr);
  if (left != nullptr && getpid() == exits_here) left->write_files();
}
#endif

std::string library_version() {
  std::string text(MPI_MAX_LIBRARY_VERSION_STRING, '\0');
  int length = 0;
  if (PMPI_Get_library_version(text.data(), &length) != MPI_SUCCESS) return "unknown";
  text.resize(static_cast<std::size_t>(std::max(length, 0)));
  text.resize(std::min(text.size(), text.find_first_of(std::string_view(",\n\0", 3))));
  std::replace(text.begin(), text.end(), '\t', ' ');
  return text;
}

// MPI gives less than what the thread needs. SMPI has no thread.
[[maybe_unused]] std::string_view too_low(int level) {
  switch (level) {
    case MPI_THREAD_SERIALIZED:
      return "MPI was initialised with MPI_THREAD_SERIALIZED, not MPI_THREAD_MULTIPLE";
    case MPI_THREAD_FUNNELED:
      return "MPI was initialised with MPI_THREAD_FUNNELED, not MPI_THREAD_MULTIPLE";
    default:
      return "MPI was initialised with MPI_THREAD_SINGLE, not MPI_THREAD_MULTIPLE";
  }
}

// A file that cannot be written must not end a program: `sibyl run` says that it is missing. The
// process's state may have begun several times, with sessions, and has a file each.
void write_file(const std::string& directory, const std::string& kind, int rank, int turn,
                const std::string& text) {
  const std::string name = directory + "/" + kind + "-" + std::to_string(rank) + "-" +
                           std::to_string(::getpid()) +
                           (turn == 0 ? "" : "-" + std::to_string(turn)) + ".json";
  static_cast<void>(write_output_file(name, text));
}

}  // namespace

Process::Process(Environment environment)
    : environment_(std::move(environment)), deferred_release_(std::make_unique<DeferredRelease>()) {
  problem_ = settings_from(environment_, settings_);
  times_calls_ = reports() || records();
  library_ = native_library_of(library_version());
  device::ask(environment_.device != "off");
}

Process::~Process() = default;

bool Process::has_world() {
  int initialised = 0;
  int finalised = 0;
  return PMPI_Initialized(&initialised) == MPI_SUCCESS && initialised != 0 &&
         PMPI_Finalized(&finalised) == MPI_SUCCESS && finalised == 0;
}

Process* Process::known() { return made_before(); }

Process* Process::get() try {
  if (Process* known = made_before(); known != nullptr && known->is_settled()) return known;
  const Maker maker;
  if (Process* known = made_before()) {
    if (known->is_settled()) return known;
    Keys keys;
    if (!known->has_states() && keys.make(&CommunicatorState::on_delete, &Process::finalize)) {
      const std::lock_guard<std::mutex> lock(known->mutex_);
      if (known->attached_.empty()) keys.use();
    }
    if (has_world()) known->end_with_world();
    return known;
  }
  if (process_key == MPI_KEYVAL_INVALID) {
    Keys keys;
    if (!keys.make(&CommunicatorState::on_delete, &Process::finalize)) return nullptr;
    keys.use();
  }
  auto process = std::make_unique<Process>(read_environment(process_variable));
  if (has_world()) {
    if (!process->end_with_world()) return nullptr;
  } else {
#ifndef SMPI_H
    static const bool registered = std::atexit(&write_at_exit) == 0;
    if (!registered) return nullptr;
    exits_here = getpid();
#endif
  }
  keep(process.get());
  return process.release();
} catch (const std::bad_alloc&) {
  return nullptr;
}

bool Process::has_states() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return !attached_.empty();
}

// Without a world keys are those of this life of MPI where they are in use, or where its end would
// have been told.
bool Process::is_settled() const {
  if (ends_with_world_) return true;
  const bool has_keys = has_states() || (ends_are_told && process_key != MPI_KEYVAL_INVALID);
  return has_keys && !has_world();
}

void Process::look_for_world() {
  const Process* const known = made_before();
  if (known != nullptr && !known->is_settled()) get();
}

bool Process::end_with_world() {
  if (ends_with_world_) return true;
  if (PMPI_Comm_set_attr(MPI_COMM_SELF, process_key, this) != MPI_SUCCESS) return false;
  ends_with_world_ = true;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  PMPI_Comm_size(MPI_COMM_WORLD, &size_);
  return true;
}

int Process::communicator_key() { return state_key; }

void Process::expect_sessions_end() {
  const Process* const process = known();
  if (!has_world() && (process == nullptr || !process->has_states())) forget_keys();
  ends_are_told = true;
}

void Process::forget_keys() {
  SettledCalls::forget_all();  // nor do handles
  state_key = MPI_KEYVAL_INVALID;
  process_key = MPI_KEYVAL_INVALID;
  ends_are_told = false;
}

// Without a world nobody can be asked.
bool Process::has_threads() {
#ifdef SMPI_H
  return false;
#else
  int level = MPI_THREAD_SINGLE;
  return !has_world() || PMPI_Query_thread(&level) != MPI_SUCCESS || level == MPI_THREAD_MULTIPLE;
#endif
}

bool Process::may_have_thread() {
#ifdef SMPI_H
  return false;  // simulated time passes only where the simulator looks
#else
  int level = MPI_THREAD_SINGLE;
  if (!has_world() || PMPI_Query_thread(&level) != MPI_SUCCESS) level = MPI_THREAD_SINGLE;
  if (environment_.thread != 0 && level == MPI_THREAD_MULTIPLE) return true;
  const std::lock_guard<std::mutex> lock(mutex_);
  thread_state_ = environment_.thread == 0 ? "SIBYL_THREAD is 0" : too_low(level);
  return false;
#endif
}

ProgressThread* Process::progress_thread() {
  if (!may_have_thread()) return nullptr;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (thread_ == nullptr) {
    try {
      thread_ = std::make_unique<ProgressThread>();
      thread_state_ = "runs";
    } catch (const std::system_error&) {
      thread_state_ = "the system gave none";
    }
  }
  return thread_.get();
}

void Process::withdraw(BackgroundWork& work) {
  ProgressThread* thread = nullptr;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    thread = thread_.get();
  }
  if (thread != nullptr) thread->withdraw(work);
}

void Process::write_files() const {
  if (!times_calls_) return;
#ifdef SMPI_H
  constexpr int turn = 0;  // its ranks share a process
#else
  static std::atomic<int> turns = 0;
  const int turn = turns++;
#endif
  const std::string mpi = library_version();
  if (reports()) {
    write_file(environment_.report, "rank", rank_, turn,
               report_.to_json(mpi, rank_, size_, thread_state_));
  }
  if (records()) {
    write_file(environment_.record, "arrivals", rank_, turn, recording_.to_json(mpi, rank_, size_));
  }
}

// Everything of this MPI's is taken down, while it can still be called.
void Process::end() {
  thread_.reset();
  requests.end_all();
  deferred_release_->end();
  if (MPI_Comm self = own_self_.exchange(MPI_COMM_NULL); self != MPI_COMM_NULL) {
    PMPI_Comm_free(&self);
  }
  while (true) {
    MPI_Comm comm = MPI_COMM_NULL;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (attached_.empty()) break;
      comm = attached_.front().comm;
      attached_.erase(attached_.begin());
    }
    PMPI_Comm_delete_attr(comm, state_key);
  }
  write_files();
}

int Process::finalize(MPI_Comm, int, [[maybe_unused]] void* value, void*) try {
#ifdef SMPI_H
  const std::unique_ptr<Process> process(static_cast<Process*>(value));
#else
  // MPICH keeps MPI_COMM_SELF until the last session ends, and with it the process's one: that may
  // have ended by then (end_without_world).
  const std::unique_ptr<Process> process(the_process.exchange(nullptr));
  if (process == nullptr) return MPI_SUCCESS;
#endif
  process->end();
#ifndef SMPI_H
  forget_keys();  // where nobody tells of the end
#endif
  return MPI_SUCCESS;
} catch (const std::bad_alloc&) {
  return MPI_SUCCESS;  // without a report
}

#ifdef SMPI_H
void Process::end_without_world() {}
#else
// The program has freed its sessions' communicators by now, and their states with them. Those of a
// world that was finalised before may be there still, and their communicators out of reach: they
// are reported, and left to the MPI library.
void Process::end_without_world() try {
  Process* const process = the_process.exchange(nullptr);
  if (process == nullptr) return;
  process->thread_.reset();
  process->requests.end_all();
  process->deferred_release_->end();
  for (const Attached& one : process->attached_) {
    one.state->report_governed();
    process->report_.merge(one.state->report, one.state->size());
    process->recording_.take(std::move(one.state->recording));
  }
  process->write_files();
  // Else the deletion of their states will look for it.
  if (process->attached_.empty()) const std::unique_ptr<Process> ended(process);
} catch (const std::bad_alloc&) {
  return;  // without a report
}
#endif

}  // namespace sibyl
