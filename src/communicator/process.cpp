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
#include "communicator/left_behind.hpp"

namespace sibyl {
namespace {

// Attribute keys: made once, never freed (MPI_Finalize does).
std::atomic<int> process_key = MPI_KEYVAL_INVALID;
std::atomic<int> state_key = MPI_KEYVAL_INVALID;

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

bool make_keys(MPI_Comm_delete_attr_function* end_of_state,
               MPI_Comm_delete_attr_function* end_of_process) {
  if (process_key != MPI_KEYVAL_INVALID) return true;
  int of_states = MPI_KEYVAL_INVALID;
  int of_process = MPI_KEYVAL_INVALID;
  if (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_of_state, &of_states, nullptr) !=
          MPI_SUCCESS ||
      PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_of_process, &of_process, nullptr) !=
          MPI_SUCCESS) {
    return false;
  }
  state_key = of_states;
  process_key = of_process;
  return true;
}

// nullptr when this process has none yet.
Process* made_before() {
  void* value = nullptr;
  int found = 0;
  if (process_key == MPI_KEYVAL_INVALID ||
      PMPI_Comm_get_attr(MPI_COMM_SELF, process_key, &value, &found) != MPI_SUCCESS) {
    return nullptr;
  }
  return found != 0 ? static_cast<Process*>(value) : nullptr;
}

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

// A file that cannot be written must not end a program: `sibyl run` says that it is missing.
void write_file(const std::string& directory, const std::string& kind, int rank,
                const std::string& text) {
  const std::string name = directory + "/" + kind + "-" + std::to_string(rank) + "-" +
                           std::to_string(::getpid()) + ".json";
  static_cast<void>(write_output_file(name, text));
}

}  // namespace

Process::Process(Environment environment)
    : environment_(std::move(environment)), left_behind_(std::make_unique<LeftBehind>()) {
  problem_ = settings_from(environment_, settings_);
  times_calls_ = reports() || records();
}

Process::~Process() = default;

Process* Process::get() try {
  if (Process* known = made_before()) return known;
  const Maker maker;
  if (Process* known = made_before()) return known;
  if (!make_keys(&CommunicatorState::on_delete, &Process::finalize)) return nullptr;
  auto process = std::make_unique<Process>(
      read_environment([](const char* name) -> const char* { return std::getenv(name); }));
  if (PMPI_Comm_set_attr(MPI_COMM_SELF, process_key, process.get()) != MPI_SUCCESS) {
    return nullptr;
  }
  return process.release();
} catch (const std::bad_alloc&) {
  return nullptr;
}

int Process::communicator_key() { return state_key; }

void Process::enter(MPI_Comm comm) {
  const std::lock_guard<std::mutex> lock(mutex_);
  attached_.push_back(comm);
}

void Process::retract(MPI_Comm comm) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::erase(attached_, comm);
}

void Process::leave(MPI_Comm comm, const CommunicatorReport& report, int communicator_size,
                    CommunicatorRecording recording) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::erase(attached_, comm);
  if (reports()) report_.merge(report, communicator_size);
  if (!recording.group.empty()) recording_.take(std::move(recording));
}

std::uint64_t Process::ordinal_of(const std::vector<int>& group) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return recording_.ordinal_of(group);
}

bool Process::take_private() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (privates_ >= environment_.communicators) return false;
  ++privates_;
  return true;
}

void Process::give_back_private() {
  const std::lock_guard<std::mutex> lock(mutex_);
  --privates_;
}

std::uint32_t Process::privates_in_use() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return privates_;
}

Costs Process::known_costs(int ranks, Rank ranks_per_node) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = costs_.find({ranks, ranks_per_node});
  return found == costs_.end() ? Costs{} : found->second;
}

void Process::keep_costs(int ranks, Rank ranks_per_node, const Costs& costs) {
  const std::lock_guard<std::mutex> lock(mutex_);
  costs_[{ranks, ranks_per_node}] = costs;
}

std::int64_t Process::next_tag_start() {
  const std::lock_guard<std::mutex> lock(mutex_);
  // Multiples of the golden ratio spread evenly, whatever they are taken modulo.
  return static_cast<std::int64_t>(++tag_starts_ * 0x9E3779B97F4A7C15ULL >> 2);
}

bool Process::may_have_thread() {
#ifdef SMPI_H
  return false;  // simulated time passes only where the simulator looks
#else
  int level = MPI_THREAD_SINGLE;
  if (PMPI_Query_thread(&level) != MPI_SUCCESS) level = MPI_THREAD_SINGLE;
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
  int rank = 0;
  int size = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  const std::string mpi = library_version();
  if (reports())
    write_file(environment_.report, "rank", rank, report_.to_json(mpi, rank, size, thread_state_));
  if (records()) {
    write_file(environment_.record, "arrivals", rank, recording_.to_json(mpi, rank, size));
  }
}

int Process::finalize(MPI_Comm, int, void* value, void*) try {
  const std::unique_ptr<Process> process(static_cast<Process*>(value));
  process->thread_.reset();
  process->requests.end_all();
  process->left_behind_->end();
  while (true) {
    MPI_Comm comm = MPI_COMM_NULL;
    {
      const std::lock_guard<std::mutex> lock(process->mutex_);
      if (process->attached_.empty()) break;
      comm = process->attached_.front();
      process->attached_.erase(process->attached_.begin());
    }
    PMPI_Comm_delete_attr(comm, state_key);
  }
  process->write_files();
  return MPI_SUCCESS;
} catch (const std::bad_alloc&) {
  return MPI_SUCCESS;  // without a report
}

}  // namespace sibyl
