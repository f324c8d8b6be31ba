// MPI_Comm_spawn and MPI_Comm_spawn_multiple under Open MPI; see spawn.hpp.
#include "preload/implementation/spawn.hpp"

#if SIBYL_PRELOAD_OPENMPI

#include <unistd.h>

#include <array>
#include <cstddef>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/own_failure.hpp"

namespace sibyl::preload {

std::atomic<void*> native_comm_spawn;
std::atomic<void*> native_comm_spawn_multiple;

namespace {

constexpr std::string_view preload = "LD_PRELOAD=";

// Open MPI 5 renames Open MPI 4's key and says so on the terminal; a program that uses the old name
// keeps it, since the two are one list.
const char* key_of(MPI_Info info) {
  int length = 0;
  int found = 0;
  const bool old = library_version < 5;
  if (!old && info != MPI_INFO_NULL &&
      PMPI_Info_get_valuelen(info, "env", &length, &found) != MPI_SUCCESS) {
    found = 0;
  }
  return old || found != 0 ? "env" : "PMIX_ENVAR";
}

std::string value_of(MPI_Info info, const char* key) {
  std::array<char, MPI_MAX_INFO_VAL + 1> value{};
  int found = 0;
  if (info == MPI_INFO_NULL ||
      PMPI_Info_get(info, key, MPI_MAX_INFO_VAL, value.data(), &found) != MPI_SUCCESS) {
    found = 0;
  }
  return found != 0 ? value.data() : "";
}

// The program's info with the preload's variables; the program's own where there is nothing to add.
class ChildInfo {
 public:
  explicit ChildInfo(MPI_Info own) : own_(own) {
    const char* key = key_of(own);
    const std::string value =
        guarded([&] { return value_for_children(value_of(own, key), environ); },
                std::string());  // the children are started without
    if (value.empty()) return;
    const int made = own == MPI_INFO_NULL ? PMPI_Info_create(&copy_) : PMPI_Info_dup(own, &copy_);
    if (made != MPI_SUCCESS) {
      copy_ = MPI_INFO_NULL;
    } else if (PMPI_Info_set(copy_, key, value.c_str()) != MPI_SUCCESS) {
      PMPI_Info_free(&copy_);
    }
  }
  ~ChildInfo() {
    if (copy_ != MPI_INFO_NULL) PMPI_Info_free(&copy_);
  }
  ChildInfo(const ChildInfo&) = delete;
  ChildInfo& operator=(const ChildInfo&) = delete;
  MPI_Info get() const { return copy_ != MPI_INFO_NULL ? copy_ : own_; }

 private:
  MPI_Info own_;
  MPI_Info copy_ = MPI_INFO_NULL;
};

// Elsewhere than at the root the info may be anything.
bool is_root(int root, MPI_Comm comm) {
  int rank = 0;
  return comm != MPI_COMM_NULL && PMPI_Comm_rank(comm, &rank) == MPI_SUCCESS && rank == root;
}

}  // namespace

std::string value_for_children(std::string own, const char* const* environment) {
  const auto is_ours = [](std::string_view line) {
    return line.starts_with(preload) && line.find("libsibyl-preload") != std::string_view::npos;
  };
  if (("\n" + own).find("\n" + std::string(preload)) != std::string::npos) return "";
  std::string value = std::move(own);
  const auto add = [&value](std::string_view line) {
    const bool fits = value.size() + 1 + line.size() < MPI_MAX_INFO_VAL;
    if (!fits || line.find('\n') != std::string_view::npos) return false;
    if (!value.empty()) value += '\n';
    value += line;
    return true;
  };
  bool added = false;
  for (const char* const* line = environment; *line != nullptr; ++line) {
    if (is_ours(*line)) added = add(*line);
  }
  if (!added) return "";
  for (const char* const* line = environment; *line != nullptr; ++line) {
    if (std::string_view(*line).starts_with("SIBYL_")) add(*line);
  }
  return value;
}

int c_comm_spawn(const char* command, char* argv[], int maxprocs, MPI_Info info, int root,
                 MPI_Comm comm, MPI_Comm* children, int codes[]) {
  auto* const native = reinterpret_cast<decltype(&c_comm_spawn)>(native_comm_spawn.load());
  const Entry entry;
  if (entry.nested() || !is_root(root, comm)) {
    return native(command, argv, maxprocs, info, root, comm, children, codes);
  }
  const ChildInfo with(info);
  return native(command, argv, maxprocs, with.get(), root, comm, children, codes);
}

int c_comm_spawn_multiple(int count, char* commands[], char** argvs[], const int maxprocs[],
                          const MPI_Info infos[], int root, MPI_Comm comm, MPI_Comm* children,
                          int codes[]) {
  auto* const native =
      reinterpret_cast<decltype(&c_comm_spawn_multiple)>(native_comm_spawn_multiple.load());
  const Entry entry;
  const bool ours = !entry.nested() && is_root(root, comm) && count > 0 && infos != nullptr;
  std::vector<std::unique_ptr<ChildInfo>> with;
  std::vector<MPI_Info> handed;
  try {
    for (int i = 0; ours && i < count; ++i) {
      handed.push_back(with.emplace_back(std::make_unique<ChildInfo>(infos[i]))->get());
    }
  } catch (const std::bad_alloc&) {
    handed.clear();
  }
  const bool all = ours && handed.size() == static_cast<std::size_t>(count);
  return native(count, commands, argvs, maxprocs, all ? handed.data() : infos, root, comm, children,
                codes);
}

}  // namespace sibyl::preload

#endif
