// The bounds, one function per direction of the data; see bounds.hpp.
#include "bench/bounds.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace sibyl::bench {
namespace {

bool share_a_node(std::size_t a, std::size_t b, const Network& network) {
  const auto per_node = static_cast<std::size_t>(network.ranks_per_node);
  return a / per_node == b / per_node;
}

double gather_end(std::span<const double> arrivals, std::span<const double> bytes, std::size_t root,
                  const Network& network) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < arrivals.size(); ++i) {
    if (!share_a_node(i, root, network) && bytes[i] > 0) order.push_back(i);
  }
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return arrivals[a] > arrivals[b]; });
  double end = 0;
  double later = 0;
  for (const std::size_t i : order) {  // from the last arrival to the first
    later += bytes[i];
    end = std::max(end, arrivals[i] + network.alpha + network.beta * later);
  }
  return end;
}

double scatter_end(std::span<const double> arrivals, std::span<const double> bytes,
                   std::size_t root, const Network& network) {
  double all = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (!share_a_node(i, root, network)) all += bytes[i];
  }
  return all > 0 ? arrivals[root] + network.alpha + network.beta * all : 0;
}

// All contributions but those of the node of `needs` must reach it, combined on the way.
double combined_end(std::span<const double> arrivals, double bytes, std::size_t needs,
                    const Network& network) {
  double last = 0;
  for (std::size_t i = 0; i < arrivals.size(); ++i) {
    if (!share_a_node(i, needs, network)) last = std::max(last, arrivals[i]);
  }
  return last + network.alpha + network.beta * bytes;
}

int ceil_log2(std::size_t value) {
  int bits = 0;
  while ((std::size_t{1} << bits) < value) ++bits;
  return bits;
}

}  // namespace

double run_time_bound(Operation operation, std::span<const double> arrivals,
                      std::span<const double> bytes, int root, const Network& network) {
  if (arrivals.empty()) return 0;
  const auto [least, most] = std::minmax_element(arrivals.begin(), arrivals.end());
  const double first = *least;
  const double spread = *most - first;
  if (arrivals.size() == 1) return 0;
  const std::size_t ranks = arrivals.size();
  if (share_a_node(0, ranks - 1, network)) return spread;
  std::vector<double> after(arrivals.begin(), arrivals.end());
  for (double& each : after) each -= first;
  const auto at = static_cast<std::size_t>(root);
  double end = 0;
  if (gathers(operation) || operation == Operation::allgather) {
    end = gather_end(after, bytes, at, network);
  } else if (scatters(operation)) {
    end = scatter_end(after, bytes, at, network);
  } else if (operation == Operation::bcast) {
    end = after[at] + network.alpha + network.beta * bytes[at];
  } else if (operation == Operation::allreduce) {
    end = spread + network.alpha + network.beta * bytes[at];
  } else if (operation == Operation::reduce) {
    end = combined_end(after, bytes[at], at, network);
  } else {
    const double vector = bytes.back();
    const int rounds = network.ranks_per_node == 1 ? ceil_log2(ranks) : 1;
    end = std::max(combined_end(after, vector, ranks - 1, network),
                   rounds * network.alpha + network.beta * vector);
  }
  return std::max(end, spread);
}

}  // namespace sibyl::bench
