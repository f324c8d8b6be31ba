// The trees of tree_variants.hpp over MPI, in turns, beside the ordered tree that Sibyl runs: what
// tests/simulator/tree_variants_test.cpp simulates. By plain messages, each of them a whole subtree
// in place, so that the shapes alone are compared.
//
//   sibyl-tree-variants-FLAVOUR [ITERATIONS [BLOCK...]]    15 and 10 100 1000: integers a rank
//
// Rank 0 prints a row per problem: the ordered tree's time, from the first rank's start to the last
// one's end, and of each other tree the median of its turns' ratios with its interval of 95 %.
// Ranks must share a monotonic clock, as on one machine and on a cluster of namespaces. Under
// SimGrid's MPI time is simulated, and repeats to the last digit:
//
//   platforms/run-smpi --platform infiniband-35x16 --ranks-per-node 16 sibyl-tree-variants-smpi 1
#include "tree_variants.hpp"

#include <mpi.h>
#ifdef SMPI_H
#include <simgrid/actor.h>
#endif

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "run_time.hpp"
#include "sibyl/sibyl.h"

namespace sibyl::tree_variants {
namespace {

int ranks = 0;

// Asked of MPI wherever it is needed: SimGrid's ranks share what is global.
Rank own_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

#ifdef SMPI_H
constexpr bool simulated = true;
double seconds_now() { return MPI_Wtime(); }
// Ranks leave a barrier some microseconds apart, a large part of what a short gather takes.
void start_together() {
  double latest = seconds_now();
  MPI_Allreduce(MPI_IN_PLACE, &latest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  constexpr double pause = 0.1;  // all are back from that
  sg_actor_sleep_for(latest + pause - seconds_now());
}
#else
constexpr bool simulated = false;
double seconds_now() { return now(); }
void start_together() { MPI_Barrier(MPI_COMM_WORLD); }
#endif

std::size_t place_of(Rank one) { return static_cast<std::size_t>(one); }

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "sibyl-tree-variants: %s\n", why.c_str());
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

// One gather along a tree. A rank's own block comes first in what it holds, then those of its
// children as they have come.
class Gather {
 public:
  Gather(const Tree& tree, const Sizes& sizes)
      : children_(children_of(tree)[place_of(own_rank())]),
        parent_(tree.parent[place_of(own_rank())]),
        sent_(gathered(tree, sizes)),
        own_(sizes[place_of(own_rank())]),
        held_(sent_[place_of(own_rank())]) {
    std::fill_n(held_.begin(), own_, static_cast<unsigned char>(own_rank() + 1));
    for (Rank one = 0; one < ranks; ++one) sum_ += (place_of(one) + 1) % 256 * sizes[place_of(one)];
  }
  void operator()() {
    std::vector<MPI_Request> requests;
    unsigned char* to = held_.data() + own_;
    for (const Rank child : children_) {
      const auto bytes = static_cast<int>(sent_[place_of(child)]);
      MPI_Irecv(to, bytes, MPI_BYTE, child, 0, MPI_COMM_WORLD, &requests.emplace_back());
      to += bytes;
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    if (parent_ == no_rank) return;
    MPI_Send(held_.data(), static_cast<int>(held_.size()), MPI_BYTE, parent_, 0, MPI_COMM_WORLD);
  }
  void check() const {
    if (parent_ != no_rank) return;
    if (std::accumulate(held_.begin(), held_.end(), std::uint64_t{0}) != sum_)
      give_up("the root of a gather has other bytes than were sent");
  }

 private:
  std::vector<Rank> children_;
  Rank parent_;
  Sizes sent_;
  std::uint64_t own_;
  std::vector<unsigned char> held_;
  std::uint64_t sum_ = 0;
};

struct Entry {
  std::uint32_t place;
  float value;
};
using Sparse = std::vector<Entry>;

Sparse sum_of(const Sparse& one, const Sparse& other) {
  Sparse sum;
  sum.reserve(one.size() + other.size());
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < one.size() || j < other.size()) {
    if (j == other.size() || (i < one.size() && one[i].place < other[j].place)) {
      sum.push_back(one[i++]);
    } else if (i == one.size() || other[j].place < one[i].place) {
      sum.push_back(other[j++]);
    } else {
      sum.push_back({one[i].place, one[i].value + other[j].value});
      ++i;
      ++j;
    }
  }
  return sum;
}

// One sum of sparse vectors along a tree; how much comes nobody knows before.
class SparseReduce {
 public:
  SparseReduce(const Tree& tree, const std::vector<Sparse>& vectors)
      : children_(children_of(tree)[place_of(own_rank())]),
        parent_(tree.parent[place_of(own_rank())]),
        own_(vectors[place_of(own_rank())]) {
    for (const Sparse& one : vectors) entries_ += one.size();
  }
  void operator()() {
    result_ = own_;
    for (const Rank child : children_) {
      MPI_Status status;
      MPI_Probe(child, 0, MPI_COMM_WORLD, &status);
      int bytes = 0;
      MPI_Get_count(&status, MPI_BYTE, &bytes);
      Sparse come(static_cast<std::size_t>(bytes) / sizeof(Entry));
      MPI_Recv(come.data(), bytes, MPI_BYTE, child, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      result_ = sum_of(result_, come);
    }
    if (parent_ == no_rank) return;
    MPI_Send(result_.data(), static_cast<int>(result_.size() * sizeof(Entry)), MPI_BYTE, parent_, 0,
             MPI_COMM_WORLD);
  }
  // Every value is 1, so that all together are as many as there were.
  void check() const {
    if (parent_ != no_rank) return;
    double sum = 0;
    for (const Entry& one : result_) sum += one.value;
    if (sum != static_cast<double>(entries_))
      give_up("the root of a sparse reduction has another sum than that of the vectors");
  }

 private:
  std::vector<Rank> children_;
  Rank parent_;
  Sparse own_;
  Sparse result_;
  std::size_t entries_ = 0;
};

struct Contender {
  std::function<void()> run;
  std::function<void()> check;
};

template <class Operation>
Contender contender(Operation operation) {
  const auto shared = std::make_shared<Operation>(std::move(operation));
  return {[shared] { (*shared)(); }, [shared] { shared->check(); }};
}

double seconds_of(const Contender& one) {
  start_together();
  const double start = seconds_now();
  one.run();
  return run_time(start, seconds_now());
}

// So many of the values on either side are outside of the median's interval of 95 %.
std::size_t outside(std::size_t values) {
  double below = 0;
  double probability = std::exp2(-static_cast<double>(values));
  std::size_t count = 0;
  while (count < values / 2 && below + probability <= 0.025) {
    below += probability;
    probability *= static_cast<double>(values - count) / static_cast<double>(count + 1);
    ++count;
  }
  return count == 0 ? 0 : count - 1;
}

// The first one's time, and the others' ratios to it.
void measure(const std::string& name, const std::vector<Contender>& contenders, int iterations) {
  std::vector<std::vector<double>> seconds(contenders.size());
  constexpr int first = simulated ? 0 : -1;  // to warm up
  for (int turn = first; turn < iterations; ++turn) {
    for (std::size_t i = 0; i < contenders.size(); ++i) {
      const std::size_t next =
          (i + static_cast<std::size_t>(turn + 1)) % contenders.size();  // who begins changes
      const double took = seconds_of(contenders[next]);
      if (turn >= 0) seconds[next].push_back(took);
    }
  }
  for (const Contender& one : contenders) one.check();
  if (own_rank() != 0) return;
  std::printf("| %s | %.3f ms", name.c_str(), 1e3 * median(seconds.front()));
  for (std::size_t i = 1; i < contenders.size(); ++i) {
    std::vector<double> ratios;
    for (std::size_t turn = 0; turn < seconds[i].size(); ++turn)
      ratios.push_back(seconds[i][turn] / seconds.front()[turn]);
    std::ranges::sort(ratios);
    const std::size_t ends = outside(ratios.size());
    std::printf(" | %.2f (%.2f to %.2f)", median(ratios), ratios[ends],
                ratios[ratios.size() - 1 - ends]);
  }
  std::printf(" |\n");
  std::fflush(stdout);
}

void measure_gathers(const std::vector<std::uint64_t>& blocks, int iterations) {
  if (own_rank() == 0) {
    std::printf(
        "| blocks | integers | ordered tree | from 4 KiB direct | 16 KiB | 64 KiB | 256 KiB |");
    std::printf(" 3 cubes at once | 4 | 8 | 16 |\n|---|---|---|---|---|---|---|---|---|---|---|\n");
  }
  for (const std::string problem : problems) {
    for (const std::uint64_t block : blocks) {
      const Sizes sizes = blocks_of(problem, ranks, block);
      const Rank root = ranks / 2;
      const Tree tree = ordered(sizes, root, 1);
      std::vector<Contender> contenders{contender(Gather(tree, sizes))};
      for (const std::uint64_t from : {1UL << 12, 1UL << 14, 1UL << 16, 1UL << 18})
        contenders.push_back(contender(Gather(degraded(tree, sizes, from), sizes)));
      for (const int radix : {3, 4, 8, 16})
        contenders.push_back(contender(Gather(joined_by(radix, sizes, root), sizes)));
      measure(problem + " | " + std::to_string(block), contenders, iterations);
    }
  }
}

// Vectors of 2^20 places, or of the first 64th of them.
void measure_sparse_reductions(int iterations) {
  if (own_rank() == 0) {
    std::printf("\n| entries | places | tree that minds how many | that does not |\n");
    std::printf("|---|---|---|---|\n");
  }
  for (const std::string problem : problems) {
    for (const bool shared : {false, true}) {
      const SparseVectors all = sparse_vectors(problem, ranks, shared);
      std::vector<Sparse> vectors;
      Sizes sizes;
      for (const auto& places : all) {
        Sparse& one = vectors.emplace_back();
        for (const std::uint32_t place : places) one.push_back({place, 1});
        sizes.push_back(sizeof(Entry) * one.size());
      }
      const Rank root = ranks / 2;
      measure(problem + " | " + (shared ? "shared" : "apart"),
              {contender(SparseReduce(ordered(sizes, root, 1), vectors)),
               contender(SparseReduce(ordered(Sizes(sizes.size(), 1), root, 1), vectors))},
              iterations);
    }
  }
}

std::uint64_t number(const char* word) {
  char* end = nullptr;
  const unsigned long value = std::strtoul(word, &end, 10);
  if (*word == '\0' || *end != '\0' || value == 0 || value > 1'000'000) {
    if (own_rank() == 0)
      std::fprintf(stderr, "sibyl-tree-variants: '%s' is no number above 0\n", word);
    MPI_Finalize();
    std::exit(2);
  }
  return value;
}

}  // namespace
}  // namespace sibyl::tree_variants

// Exported: smpirun looks the function up in the loaded program.
SIBYL_EXPORT int main(int count, char** words) {
  using namespace sibyl::tree_variants;
  MPI_Init(&count, &words);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int iterations = count > 1 ? static_cast<int>(number(words[1])) : 15;
  std::vector<std::uint64_t> blocks;
  for (int i = 2; i < count; ++i) blocks.push_back(number(words[i]));
  if (blocks.empty()) blocks = {10, 100, 1000};
  measure_gathers(blocks, iterations);
  // Simulated, sums would cost nothing, and who probes looks in steps.
  if (!simulated) measure_sparse_reductions(iterations);
  MPI_Finalize();
  return 0;
}
