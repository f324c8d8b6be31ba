// Compares the groups of communicators; see membership.hpp.
#include "communicator/membership.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>

namespace sibyl {
namespace {

class Group {
 public:
  explicit Group(MPI_Comm comm) {
    if (PMPI_Comm_group(comm, &group_) != MPI_SUCCESS) group_ = MPI_GROUP_NULL;
  }
  ~Group() {
    if (is_known()) PMPI_Group_free(&group_);
  }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  bool is_known() const { return group_ != MPI_GROUP_NULL; }
  MPI_Group get() const { return group_; }

 private:
  MPI_Group group_ = MPI_GROUP_NULL;
};

// Calls `take`, which says whether to go on, with the ranks of `comm` as ranks of `other`, some at
// a time: so it needs no memory, which one rank alone may lack. Whether all have been taken.
template <class Take>
bool translate(MPI_Comm comm, MPI_Comm other, Take take) {
  constexpr int at_a_time = 256;
  std::array<int, at_a_time> own{};
  std::array<int, at_a_time> translated{};
  int size = 0;
  if (PMPI_Comm_size(comm, &size) != MPI_SUCCESS) return false;
  const Group from(comm);
  const Group to(other);
  for (int first = 0; first < size; first += at_a_time) {
    const int count = std::min(at_a_time, size - first);
    std::iota(own.begin(), own.end(), first);
    translated.fill(MPI_UNDEFINED);
    if (from.is_known() && to.is_known()) {
      PMPI_Group_translate_ranks(from.get(), count, own.data(), to.get(), translated.data());
    }
    if (!take(std::span(translated).first(static_cast<std::size_t>(count)))) return false;
  }
  return true;
}

}  // namespace

std::vector<int> ranks_in_other(MPI_Comm comm, MPI_Comm other) {
  std::vector<int> ranks;
  translate(comm, other, [&](std::span<const int> some) {
    ranks.insert(ranks.end(), some.begin(), some.end());
    return true;
  });
  return ranks;
}

bool holds_all_of(MPI_Comm whole, MPI_Comm part) {
  return translate(part, whole, [](std::span<const int> some) {
    return std::ranges::find(some, MPI_UNDEFINED) == some.end();
  });
}

}  // namespace sibyl
