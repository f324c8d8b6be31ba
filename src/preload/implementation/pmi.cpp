// Speaks PMI 1 with Hydra; see pmi.hpp.
#include "preload/implementation/pmi.hpp"

#include <mpi.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

namespace sibyl::preload {
namespace {

// A launcher that does not answer would not start the program either.
constexpr int patience = 20000;  // milliseconds
constexpr std::size_t longest_answer = 4096;

// -1: not a number.
int number_in_environment(const char* name) {
  const char* text = std::getenv(name);
  int value = -1;
  if (text == nullptr) return -1;
  const char* end = text + std::strlen(text);
  const auto read = std::from_chars(text, end, value);
  return read.ec == std::errc() && read.ptr == end ? value : -1;
}

bool is_mpich() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING + 1> text{};
  int length = 0;
  return PMPI_Get_library_version(text.data(), &length) == MPI_SUCCESS &&
         std::string_view(text.data()).starts_with("MPICH Version");
}

class Launcher {
 public:
  Launcher() : rank_(number_in_environment("PMI_RANK")), ranks_(number_in_environment("PMI_SIZE")) {
    const bool hydra = number_in_environment("HYDI_CONTROL_FD") >= 0;
    if (!hydra || rank_ < 0 || ranks_ < 1 || ranks_ > most_ranks_asked || !is_mpich()) return;
    descriptor_ = number_in_environment("PMI_FD");
    if (!succeeds("cmd=init pmi_version=1 pmi_subversion=1") || !ask("cmd=get_my_kvsname")) return;
    name_ = value_of("kvsname");
  }

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  bool knows_names() const { return !name_.empty(); }
  void put_mark() { ask("cmd=put kvsname=" + name_ + " key=" + key(rank_) + " value=1"); }
  bool has_mark(int rank) { return succeeds("cmd=get kvsname=" + name_ + " key=" + key(rank)); }

 private:
  static std::string key(int rank) { return "sibyl-preload-" + std::to_string(rank); }

  // Sends a line and reads the one that answers, not a byte more: what follows is the MPI
  // library's. Without an answer nothing more is asked.
  bool ask(std::string line) {
    line += '\n';
    answer_.clear();
    if (descriptor_ < 0 || !send(line)) return give_up();
    while (answer_.empty() || answer_.back() != '\n') {
      pollfd ready{descriptor_, POLLIN, 0};
      char byte = 0;
      const int polled = poll(&ready, 1, patience);
      if (polled < 0 && errno == EINTR) continue;
      if (polled != 1 || read(descriptor_, &byte, 1) != 1) return give_up();
      answer_ += byte;
      if (answer_.size() > longest_answer) return give_up();
    }
    return true;
  }

  bool send(std::string_view line) {
    while (!line.empty()) {
      const ssize_t sent = write(descriptor_, line.data(), line.size());
      if (sent < 0 && errno == EINTR) continue;
      if (sent <= 0) return false;
      line.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  bool give_up() {
    descriptor_ = -1;
    name_.clear();
    return false;
  }

  bool succeeds(const std::string& line) { return ask(line) && value_of("rc") == "0"; }

  std::string value_of(std::string_view what) const {
    const std::string start = " " + std::string(what) + "=";
    const std::size_t at = answer_.find(start);
    if (at == std::string::npos) return {};
    const std::size_t first = at + start.size();
    return answer_.substr(first, answer_.find_first_of(" \n", first) - first);
  }

  int rank_;
  int ranks_;
  int descriptor_ = -1;
  std::string name_;  // of the key-value space
  std::string answer_;
};

}  // namespace

void mark_by_pmi() try {
  Launcher launcher;
  if (launcher.knows_names()) launcher.put_mark();
} catch (const std::bad_alloc&) {
  return;  // without a mark the others leave this rank alone
}

bool all_marked_by_pmi() try {
  Launcher launcher;
  if (!launcher.knows_names()) return true;
  // Where no rank has one, as in a program whose tools took its MPI_Init, nobody marks here.
  const bool marked = launcher.has_mark(launcher.rank());
  for (int rank = 0; rank < launcher.ranks(); ++rank) {
    if (rank != launcher.rank() && launcher.has_mark(rank) != marked) return false;
  }
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

}  // namespace sibyl::preload
