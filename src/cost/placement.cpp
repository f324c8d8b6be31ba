// Asks all ranks for their hosts; see placement.hpp.
#include "cost/placement.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <string_view>
#include <vector>

#include "base/hash.hpp"

namespace sibyl {
namespace {

// Of "0,0,1"; empty where it is no such list.
std::vector<std::int64_t> numbers_of(std::string_view list) {
  std::vector<std::int64_t> numbers;
  const char* text = list.data();
  const char* const end = text + list.size();
  while (text < end) {
    std::int64_t number = 0;
    const auto [rest, error] = std::from_chars(text, end, number);
    if (error != std::errc{} || (rest != end && *rest != ',')) return {};
    numbers.push_back(number);
    text = rest == end ? end : rest + 1;
  }
  return numbers;
}

// Nodes of so many consecutive ranks, but for the last; 0 where they are not.
Rank consecutive_ranks(const std::vector<Rank>& nodes) {
  const auto ranks = static_cast<Rank>(nodes.size());
  const auto first = std::ranges::find_if(nodes, [](Rank node) { return node != 0; });
  const auto per_node = static_cast<Rank>(first - nodes.begin());
  for (Rank rank = 0; rank < ranks; ++rank) {
    if (nodes[static_cast<std::size_t>(rank)] != rank / per_node) return 0;
  }
  return per_node;
}

constexpr int words = 128;  // 8192 processors
using Processors = std::array<unsigned long, words>;

// That this rank may run on; none where the system does not say.
Processors own_processors() {
  Processors own{};
  if (sched_getaffinity(0, sizeof own, reinterpret_cast<cpu_set_t*>(own.data())) != 0) own = {};
  return own;
}

std::int64_t count_of(const Processors& processors) {
  std::int64_t count = 0;
  for (const unsigned long word : processors) count += std::popcount(word);
  return count;
}

}  // namespace

std::int64_t host_number() {
  std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
  int length = 0;
  if (PMPI_Get_processor_name(name.data(), &length) != MPI_SUCCESS) return 0;
  return static_cast<std::int64_t>(
      fnv1a(std::string_view(name.data(), static_cast<std::size_t>(length))));
}

std::int64_t node_number(std::string_view test_placement) {
  const std::vector<std::int64_t> nodes = numbers_of(test_placement);
  int rank = 0;
  if (nodes.empty() || PMPI_Comm_rank(MPI_COMM_WORLD, &rank) != MPI_SUCCESS) return host_number();
  return nodes[static_cast<std::size_t>(rank) % nodes.size()];
}

Placement find_placement(MPI_Comm comm, std::int64_t own_node) {
  int size = 1;
  if (PMPI_Comm_size(comm, &size) != MPI_SUCCESS) return {};
  std::vector<std::int64_t> hosts(static_cast<std::size_t>(size));
  if (PMPI_Allgather(&own_node, 1, MPI_INT64_T, hosts.data(), 1, MPI_INT64_T, comm) !=
      MPI_SUCCESS) {
    return {};
  }
  Placement placement;
  std::map<std::int64_t, Rank> number;
  for (const std::int64_t host : hosts) {
    const auto next = static_cast<Rank>(number.size());
    placement.nodes.push_back(number.try_emplace(host, next).first->second);
  }
  placement.count = static_cast<Rank>(number.size());
  if (const Rank per_node = consecutive_ranks(placement.nodes); per_node != 0) {
    placement = {.ranks_per_node = per_node};
  }
  return placement;
}

std::int64_t processors_of(MPI_Comm comm, int tag, std::span<const Rank> ranks) {
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  const Rank leader = ranks.front();
  Processors all = own_processors();
  std::int64_t count = 0;
  if (rank != leader) {
    const bool heard =
        PMPI_Send(all.data(), words, MPI_UNSIGNED_LONG, leader, tag, comm) == MPI_SUCCESS &&
        PMPI_Recv(&count, 1, MPI_INT64_T, leader, tag, comm, MPI_STATUS_IGNORE) == MPI_SUCCESS;
    return heard ? count : 0;
  }
  std::int64_t sum = count_of(all);
  bool known = sum != 0;
  bool well = true;
  for (const Rank other : ranks.subspan(1)) {
    Processors theirs{};
    well = PMPI_Recv(theirs.data(), words, MPI_UNSIGNED_LONG, other, tag, comm,
                     MPI_STATUS_IGNORE) == MPI_SUCCESS &&
           well;
    known = known && count_of(theirs) != 0;
    sum += count_of(theirs);
    std::ranges::transform(all, theirs, all.begin(), std::bit_or{});
  }
  const bool bound_apart = known && sum == count_of(all);
  if (well) count = bound_apart ? std::numeric_limits<std::int64_t>::max() : count_of(all);
  for (const Rank other : ranks.subspan(1)) {
    well = PMPI_Send(&count, 1, MPI_INT64_T, other, tag, comm) == MPI_SUCCESS && well;
  }
  return well ? count : 0;
}

std::vector<Rank> ranks_of_own_node(const Placement& placement, Rank rank, Rank ranks) {
  std::vector<Rank> found;
  for (Rank other = 0; other < ranks; ++other) {
    if (placement.node_of(other) == placement.node_of(rank)) found.push_back(other);
  }
  return found;
}

}  // namespace sibyl
