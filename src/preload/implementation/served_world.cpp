// Asks PMIx or PMI for the marks of all ranks; see served_world.hpp.
//
// PMIx is reached as the MPI library has loaded it, and what is needed of its interface is declared
// here: it has been the same since PMIx 2, and Open MPI 4 and 5 use 3 to 5. PMI is spoken with the
// process manager by pmi.hpp.
#include "preload/implementation/served_world.hpp"

#include <dlfcn.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "preload/implementation/pmi.hpp"

namespace sibyl::preload {
namespace {

struct PmixProcess {
  char name_space[256];
  std::uint32_t rank;
};
struct PmixValue {
  std::uint16_t type;
  union {
    bool flag;
    int seconds;
    std::uint32_t number;
    char* text;
    std::uint64_t room[3];
  };
};
struct PmixInfo {
  char key[512];
  std::uint32_t flags;
  PmixValue value;
};
using PmixGet = int(const PmixProcess*, const char*, const PmixInfo*, std::size_t, PmixValue**);

constexpr std::uint16_t type_bool = 1;
constexpr std::uint16_t type_string = 3;
constexpr std::uint16_t type_int = 6;
constexpr std::uint16_t type_uint32 = 14;
constexpr std::uint32_t any_rank = UINT32_MAX - 1;
constexpr const char* mark = "sibyl.preload";

// Whether PMIx has the value, of this type; `how` says where it looks.
bool ask(PmixGet* get, const PmixProcess& process, const char* key, const PmixInfo& how,
         std::uint16_t type, PmixValue& value) {
  PmixValue* found = nullptr;
  if (get(&process, key, &how, 1, &found) != 0 || found == nullptr) return false;
  const bool right = found->type == type;
  value = *found;
  std::free(found);  // a text is memory of its own, which goes to the caller with the value
  return right;
}

// What is known on this host, without waiting for what may never come.
bool find(PmixGet* get, const PmixProcess& process, const char* key, std::uint16_t type,
          PmixValue& value) {
  PmixInfo at_once{};
  std::strcpy(at_once.key, "pmix.immediate");
  at_once.value.type = type_bool;
  at_once.value.flag = true;
  return ask(get, process, key, at_once, type, value);
}

// The ranks of this host, of which all is known here that they have published: "0,1,4". Empty where
// PMIx does not say.
std::string ranks_here(PmixGet* get, const PmixProcess& job) {
  PmixValue value{};
  if (!find(get, job, "pmix.lpeers", type_string, value) || value.text == nullptr) return {};
  std::string ranks = value.text;
  std::free(value.text);
  return ranks;
}

bool lists(const std::string& ranks, std::uint32_t rank) {
  return ("," + ranks + ",").find("," + std::to_string(rank) + ",") != std::string::npos;
}

// Open MPI 5 leaves what ranks have published where they are until somebody asks for it. It comes
// within milliseconds; a rank without the mark answers nothing, and is waited for.
bool fetch_mark(PmixGet* get, const PmixProcess& process) {
  constexpr int patience = 10;
  PmixInfo within{};
  std::strcpy(within.key, "pmix.timeout");
  within.value.type = type_int;
  within.value.seconds = patience;
  PmixValue value{};
  return ask(get, process, mark, within, type_bool, value);
}

bool all_marked_by_pmix() {
  const char* name_space = std::getenv("PMIX_NAMESPACE");
  const char* rank = std::getenv("PMIX_RANK");
  void* library = dlopen("libpmix.so.2", RTLD_NOLOAD | RTLD_LAZY);
  if (name_space == nullptr || rank == nullptr || library == nullptr) return true;
  auto* const get = reinterpret_cast<PmixGet*>(dlsym(library, "PMIx_Get"));
  PmixProcess process{};
  if (get == nullptr || std::strlen(name_space) >= sizeof process.name_space) return true;
  std::strcpy(process.name_space, name_space);
  PmixValue value{};
  process.rank = static_cast<std::uint32_t>(std::strtoul(rank, nullptr, 10));
  if (!find(get, process, mark, type_bool, value)) return true;  // nobody marks here
  process.rank = any_rank;
  if (!find(get, process, "pmix.job.size", type_uint32, value)) return true;
  const std::uint32_t ranks = value.number;
  if (ranks > static_cast<std::uint32_t>(most_ranks_asked)) return true;
  const std::string here = ranks_here(get, process);
  for (process.rank = 0; process.rank < ranks; ++process.rank) {
    if (find(get, process, mark, type_bool, value)) continue;
    if (lists(here, process.rank) || !fetch_mark(get, process)) return false;
  }
  return true;
}

enum Answer : int { not_asked, all_may_be, some_are_not };
std::atomic<int> answer = not_asked;

}  // namespace

[[gnu::hot]] bool whole_world_may_be_served() {
  int known = answer.load(std::memory_order_relaxed);
  if (known == not_asked) [[unlikely]] {
    known = all_marked_by_pmix() && all_marked_by_pmi() ? all_may_be : some_are_not;
    answer.store(known, std::memory_order_relaxed);
  }
  return known == all_may_be;
}

}  // namespace sibyl::preload

namespace sibyl::hooks {

void mark_this_rank() { preload::mark_by_pmi(); }

}  // namespace sibyl::hooks
