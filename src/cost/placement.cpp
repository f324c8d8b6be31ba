// Finds nodes of consecutive ranks; see placement.hpp.
//
// Every rank compares its host with that of the rank below: where they differ a node begins, and
// all must begin at multiples of the first such rank. Ranks dealt out to hosts in turn count as
// one rank per node, which costs time at most.
#include "cost/placement.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/hash.hpp"

namespace sibyl {

std::int64_t host_number() {
  std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
  int length = 0;
  if (PMPI_Get_processor_name(name.data(), &length) != MPI_SUCCESS) return 0;
  return static_cast<std::int64_t>(
      fnv1a(std::string_view(name.data(), static_cast<std::size_t>(length))));
}

Rank find_ranks_per_node(MPI_Comm comm, std::int64_t own_host) {
  int rank = 0;
  int size = 1;
  if (PMPI_Comm_rank(comm, &rank) != MPI_SUCCESS || PMPI_Comm_size(comm, &size) != MPI_SUCCESS) {
    return 1;
  }
  std::int64_t host_below = own_host;
  const int above = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
  const int below = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  const int error = PMPI_Sendrecv(&own_host, 1, MPI_INT64_T, above, 0, &host_below, 1, MPI_INT64_T,
                                  below, 0, comm, MPI_STATUS_IGNORE);
  const bool begins = rank > 0 && host_below != own_host;
  std::int64_t first = begins ? rank : size;
  std::int64_t per_node = size;
  if (PMPI_Allreduce(&first, &per_node, 1, MPI_INT64_T, MPI_MIN, comm) != MPI_SUCCESS) return 1;
  const bool should_begin = rank > 0 && rank % per_node == 0;
  std::int64_t fits = error == MPI_SUCCESS && begins == should_begin ? 1 : 0;
  std::int64_t all_fit = 0;
  if (PMPI_Allreduce(&fits, &all_fit, 1, MPI_INT64_T, MPI_MIN, comm) != MPI_SUCCESS) return 1;
  return all_fit == 1 ? static_cast<Rank>(per_node) : 1;
}

}  // namespace sibyl
