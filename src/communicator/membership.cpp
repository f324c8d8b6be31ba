// Compares the groups of communicators; see membership.hpp.
#include "communicator/membership.hpp"

#include <algorithm>
#include <numeric>

namespace sibyl {

std::vector<int> ranks_in_other(MPI_Comm comm, MPI_Comm other) {
  int size = 0;
  if (PMPI_Comm_size(comm, &size) != MPI_SUCCESS) return {};
  std::vector<int> own(static_cast<std::size_t>(size));
  std::vector<int> translated(own.size(), MPI_UNDEFINED);
  std::iota(own.begin(), own.end(), 0);
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Group other_group = MPI_GROUP_NULL;
  if (PMPI_Comm_group(comm, &group) != MPI_SUCCESS) return translated;
  if (PMPI_Comm_group(other, &other_group) == MPI_SUCCESS) {
    PMPI_Group_translate_ranks(group, size, own.data(), other_group, translated.data());
    PMPI_Group_free(&other_group);
  }
  PMPI_Group_free(&group);
  return translated;
}

bool holds_all_of(MPI_Comm whole, MPI_Comm part) {
  const std::vector<int> ranks = ranks_in_other(part, whole);
  return !ranks.empty() && std::ranges::find(ranks, MPI_UNDEFINED) == ranks.end();
}

}  // namespace sibyl
