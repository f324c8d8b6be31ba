// The process's state and its end; see process.hpp.
#include "communicator/process.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <string_view>
#include <utility>

#include "communicator/communicator_state.hpp"

namespace sibyl {
namespace {

// Attribute keys: made once, never freed (MPI_Finalize does).
std::mutex key_mutex;
int process_key = MPI_KEYVAL_INVALID;
std::atomic<int> state_key = MPI_KEYVAL_INVALID;

std::string library_version() {
  std::string text(MPI_MAX_LIBRARY_VERSION_STRING, '\0');
  int length = 0;
  if (PMPI_Get_library_version(text.data(), &length) != MPI_SUCCESS) return "unknown";
  text.resize(static_cast<std::size_t>(std::max(length, 0)));
  text.resize(std::min(text.size(), text.find_first_of(std::string_view(",\n\0", 3))));
  std::replace(text.begin(), text.end(), '\t', ' ');
  return text;
}

// A file that cannot be written must not end a program: `sibyl run` says that it is missing.
void write_file(const std::string& directory, const std::string& kind, int rank,
                const std::string& text) {
  const std::string name = directory + "/" + kind + "-" + std::to_string(rank) + "-" +
                           std::to_string(::getpid()) + ".json";
  if (std::FILE* file = std::fopen((name + ".part").c_str(), "w")) {
    const bool whole = std::fwrite(text.data(), 1, text.size(), file) == text.size();
    if (std::fclose(file) == 0 && whole) std::rename((name + ".part").c_str(), name.c_str());
  }
}

}  // namespace

Process::Process(Environment environment) : environment_(std::move(environment)) {
  problem_ = settings_from(environment_, settings_);
  times_calls_ = reports() || records();
}

Process* Process::get() try {
  const std::lock_guard<std::mutex> lock(key_mutex);
  if (process_key == MPI_KEYVAL_INVALID) {
    int of_states = MPI_KEYVAL_INVALID;
    int of_process = MPI_KEYVAL_INVALID;
    if (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &CommunicatorState::on_delete, &of_states,
                                nullptr) != MPI_SUCCESS ||
        PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &Process::finalize, &of_process, nullptr) !=
            MPI_SUCCESS) {
      return nullptr;
    }
    state_key = of_states;
    process_key = of_process;
  }
  void* value = nullptr;
  int found = 0;
  if (PMPI_Comm_get_attr(MPI_COMM_SELF, process_key, &value, &found) != MPI_SUCCESS) {
    return nullptr;
  }
  if (found != 0) return static_cast<Process*>(value);
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

std::int64_t Process::next_tag_start() {
  const std::lock_guard<std::mutex> lock(mutex_);
  // Multiples of the golden ratio spread evenly, whatever they are taken modulo.
  return static_cast<std::int64_t>(++tag_starts_ * 0x9E3779B97F4A7C15ULL >> 2);
}

void Process::write_files() const {
  if (!times_calls_) return;
  int rank = 0;
  int size = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  const std::string mpi = library_version();
  if (reports()) write_file(environment_.report, "rank", rank, report_.to_json(mpi, rank, size));
  if (records()) {
    write_file(environment_.record, "arrivals", rank, recording_.to_json(mpi, rank, size));
  }
}

int Process::finalize(MPI_Comm, int, void* value, void*) {
  const std::unique_ptr<Process> process(static_cast<Process*>(value));
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
}

}  // namespace sibyl
