// The bounds, one function per direction of the data; see bounds.hpp.
#include "bench/bounds.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace sibyl::bench {
namespace {

bool share_a_node(std::size_t a, std::size_t b, const Network& network) {
  const auto per_node = static_cast<std::size_t>(network.ranks_per_node);
  return a / per_node == b / per_node;
}

// What crosses a link, no sooner than `earliest`.
struct Piece {
  double earliest;
  double bytes;
};

// What may go at or after a time has still to pass the link then.
double link_end(std::vector<Piece> pieces, const Network& network) {
  std::erase_if(pieces, [](const Piece& piece) { return piece.bytes <= 0; });
  std::ranges::sort(pieces, std::ranges::greater{}, &Piece::earliest);
  double end = 0;
  double later = 0;
  for (const Piece& piece : pieces) {
    later += piece.bytes;
    end = std::max(end, piece.earliest + network.alpha + network.beta * later);
  }
  return end;
}

double gather_end(std::span<const double> arrivals, std::span<const double> bytes, std::size_t root,
                  const Network& network) {
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < arrivals.size(); ++i) {
    if (!share_a_node(i, root, network)) pieces.push_back({arrivals[i], bytes[i]});
  }
  return link_end(pieces, network);
}

double scatter_end(std::span<const double> arrivals, std::span<const double> bytes,
                   std::size_t root, const Network& network) {
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (!share_a_node(i, root, network)) pieces.push_back({arrivals[root], bytes[i]});
  }
  return link_end(pieces, network);
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

// Rounds until all ranks have heard of something, where the ranks of a node may send in parallel.
int rounds_to_all(std::size_t ranks, const Network& network) {
  return network.ranks_per_node == 1 ? ceil_log2(ranks) : 1;
}

// When the first rank of each node comes.
std::vector<double> node_arrivals(std::span<const double> arrivals, const Network& network) {
  const auto per_node = static_cast<std::size_t>(network.ranks_per_node);
  std::vector<double> first;
  for (std::size_t begin = 0; begin < arrivals.size(); begin += per_node) {
    const std::size_t end = std::min(begin + per_node, arrivals.size());
    first.push_back(std::ranges::min(arrivals.subspan(begin, end - begin)));
  }
  return first;
}

// In what follows a rank takes in what it receives once `known` has come. A node takes the vector
// in once one of its ranks does.
double bcast_end(std::span<const double> arrivals, std::span<const double> known, double bytes,
                 std::size_t root, const Network& network) {
  const std::vector<double> nodes = node_arrivals(known, network);
  double end = arrivals[root] + rounds_to_all(arrivals.size(), network) * network.alpha;
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    if (node == root / static_cast<std::size_t>(network.ranks_per_node)) continue;
    const double both = std::max(nodes[node], arrivals[root]);
    end = std::max(end, both + network.alpha + network.beta * bytes);
  }
  return end;
}

// Bytes of merges that may be done before the last rank comes, of `nodes` operands of so many bytes
// each: as many at a time as nodes are there, and no more than leave one operand of theirs.
double merged_before(std::vector<double> nodes, double last, double bytes, const Network& network) {
  std::ranges::sort(nodes);
  double merged = 0;
  for (std::size_t there = 1; there <= nodes.size(); ++there) {
    const double from = nodes[there - 1];
    const double until = there < nodes.size() ? nodes[there] : last;
    if (until <= from) continue;
    const double most = static_cast<double>(there - 1) * bytes;
    if (network.beta <= 0) {
      merged = most;
    } else if (there > 1) {
      merged += static_cast<double>(there) * (until - from) / network.beta;
    }
    merged = std::min(merged, most);
  }
  return merged;
}

double allreduce_end(std::span<const double> arrivals, double last, double bytes,
                     const Network& network) {
  const std::vector<double> nodes = node_arrivals(arrivals, network);
  const auto number = static_cast<double>(nodes.size());
  const double merged = merged_before(nodes, last, bytes, network);
  const double moved = 2 * (number - 1) * bytes - merged;
  return last + network.alpha + network.beta * moved / number;
}

double reduce_scatter_end(std::span<const double> arrivals, std::span<const double> bytes,
                          const Network& network) {
  double end = 0;
  for (std::size_t i = 0; i < arrivals.size(); ++i) {
    double others = 0;
    for (std::size_t r = 0; r < bytes.size(); ++r) {
      if (!share_a_node(i, r, network)) others += bytes[r];
    }
    if (others > 0) end = std::max(end, arrivals[i] + network.alpha + network.beta * others);
  }
  return end;
}

// `bytes_of(from, to)` is sent once `earliest(from, to)` has come; a node's link carries what its
// ranks send, and what they receive.
template <class BytesOf, class Earliest>
double exchange_end(std::size_t ranks, BytesOf bytes_of, Earliest earliest,
                    const Network& network) {
  const auto per_node = static_cast<std::size_t>(network.ranks_per_node);
  double end = 0;
  for (std::size_t begin = 0; begin < ranks; begin += per_node) {
    std::vector<Piece> out;
    std::vector<Piece> in;
    for (std::size_t own = begin; own < std::min(begin + per_node, ranks); ++own) {
      for (std::size_t other = 0; other < ranks; ++other) {
        if (share_a_node(own, other, network)) continue;
        out.push_back({earliest(own, other), bytes_of(own, other)});
        in.push_back({earliest(other, own), bytes_of(other, own)});
      }
    }
    end = std::max({end, link_end(std::move(out), network), link_end(std::move(in), network)});
  }
  return end;
}

// A node takes each block of the others in once. What goes out is
// no bound: a block need not be sent to all by the rank that has it.
double allgather_end(std::span<const double> arrivals, std::span<const double> known,
                     std::span<const double> bytes, const Network& network) {
  const std::vector<double> nodes = node_arrivals(known, network);
  const auto per_node = static_cast<std::size_t>(network.ranks_per_node);
  double end = 0;
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    std::vector<Piece> in;
    for (std::size_t from = 0; from < arrivals.size(); ++from) {
      if (from / per_node == node) continue;
      in.push_back({std::max(arrivals[from], nodes[node]), bytes[from]});
    }
    end = std::max(end, link_end(std::move(in), network));
  }
  return end;
}

double alltoall_end(Operation operation, std::span<const double> arrivals,
                    std::span<const double> known, std::span<const double> bytes,
                    const Network& network) {
  const std::size_t ranks = arrivals.size();
  const auto bytes_of = [&](std::size_t from, std::size_t to) {
    return is_irregular(operation) ? bytes[from * ranks + to] : bytes[from];
  };
  const auto earliest = [&](std::size_t from, std::size_t to) {
    return std::max(arrivals[from], known[to]);
  };
  return exchange_end(ranks, bytes_of, earliest, network);
}

}  // namespace

double run_time_bound(Operation operation, std::span<const double> arrivals,
                      std::span<const double> bytes, int root, const Network& network, bool early) {
  if (arrivals.empty()) return 0;
  const auto [least, most] = std::minmax_element(arrivals.begin(), arrivals.end());
  const double first = *least;
  const double spread = *most - first;
  if (arrivals.size() == 1) return 0;
  const std::size_t ranks = arrivals.size();
  if (share_a_node(0, ranks - 1, network)) return spread;
  std::vector<double> after(arrivals.begin(), arrivals.end());
  for (double& each : after) each -= first;
  const std::vector<double> known = early ? std::vector<double>(ranks, 0.0) : after;
  const auto at = static_cast<std::size_t>(root);
  const int rounds = rounds_to_all(ranks, network);
  // All ranks hear of the last one, in whatever all of them wait for.
  const bool all_wait = std::ranges::all_of(bytes, [](double each) { return each > 0; });
  const double heard =
      spread + (all_wait || operation == Operation::barrier ? rounds * network.alpha : 0);
  if (gathers(operation)) return std::max(gather_end(after, bytes, at, network), spread);
  if (scatters(operation)) return std::max(scatter_end(after, bytes, at, network), spread);
  if (gathers_everywhere(operation))
    return std::max(allgather_end(after, known, bytes, network), heard);
  if (exchanges(operation)) {
    return std::max(alltoall_end(operation, after, known, bytes, network), heard);
  }
  if (scatters_sums(operation)) return std::max(reduce_scatter_end(after, bytes, network), heard);
  switch (gives(operation)) {
    case Collective::bcast:
      return std::max(bcast_end(after, known, bytes[at], at, network), spread);
    case Collective::allreduce:
      return std::max(allreduce_end(after, spread, bytes[at], network), heard);
    case Collective::reduce:
      return std::max(combined_end(after, bytes[at], at, network), spread);
    case Collective::barrier:
      return heard;
    default: {
      const double vector = bytes.back();
      return std::max({combined_end(after, vector, ranks - 1, network),
                       rounds * network.alpha + network.beta * vector, spread});
    }
  }
}

}  // namespace sibyl::bench
