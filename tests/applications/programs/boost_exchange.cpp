// A program in the style of Boost.MPI: values of C++ types, which are serialised, beside plain
// numbers.
//
// Ranks hold texts of unequal lengths, count words over all of them, and hand them round; then they
// iterate a Jacobi sweep whose residual is an allreduce. Prints what every rank must agree on.
#include <algorithm>
#include <boost/mpi.hpp>
#include <boost/serialization/map.hpp>
#include <boost/serialization/string.hpp>
#include <boost/serialization/vector.hpp>
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <vector>

namespace mpi = boost::mpi;

using Words = std::map<std::string, int>;

// No operator of MPI's own: Boost makes one, over serialised values.
struct Merge {
  Words operator()(const Words& left, const Words& right) const {
    Words both = left;
    for (const auto& [word, count] : right) both[word] += count;
    return both;
  }
};

namespace boost::mpi {
template <>
struct is_commutative<Merge, Words> : mpl::true_ {};
}  // namespace boost::mpi

static Words words_of_rank(int rank, int round) {
  Words words;
  for (int i = 0; i <= rank; ++i) words["word" + std::to_string((i * 7 + round) % 5)] += i + 1;
  return words;
}

int main(int argc, char** argv) {
  mpi::environment environment(argc, argv);
  const mpi::communicator world;
  const int rank = world.rank();
  const int ranks = world.size();

  unsigned long checksum = 0;
  for (int round = 0; round < 10; ++round) {
    const Words total = mpi::all_reduce(world, words_of_rank(rank, round), Merge());
    for (const auto& [word, count] : total)
      checksum = checksum * 31 + static_cast<unsigned long>(count + word.back());

    std::vector<std::string> texts;
    mpi::gather(world, std::string(static_cast<std::size_t>(rank + round), 'x'), texts, 0);
    std::string longest;
    if (rank == 0) longest = *std::max_element(texts.begin(), texts.end());
    mpi::broadcast(world, longest, 0);
    checksum += longest.size();

    std::vector<int> parts(static_cast<std::size_t>(ranks));
    std::iota(parts.begin(), parts.end(), round * rank);
    std::vector<int> received;
    mpi::all_to_all(world, parts, received);
    checksum += std::accumulate(received.begin(), received.end(), 0UL);

    int mine = 0;
    std::vector<int> dealt(static_cast<std::size_t>(ranks), round);
    mpi::scatter(world, dealt, mine, 0);
    checksum += static_cast<unsigned long>(mpi::scan(world, mine + rank, std::plus<int>()));
  }
  std::vector<unsigned long> sums;
  mpi::all_gather(world, checksum, sums);

  const int cells = 1000;
  std::vector<double> line(cells + 2, rank + 1.0);
  double residual = 0;
  for (int sweep = 0; sweep < 60; ++sweep) {
    const int up = (rank + 1) % ranks;
    const int down = (rank + ranks - 1) % ranks;
    mpi::request requests[4] = {world.isend(up, 0, line[cells]), world.isend(down, 1, line[1]),
                                world.irecv(down, 0, line[0]), world.irecv(up, 1, line[cells + 1])};
    mpi::wait_all(requests, requests + 4);
    std::vector<double> next = line;
    double change = 0;
    for (int i = 1; i <= cells; ++i) {
      next[i] = 0.5 * (line[i - 1] + line[i + 1]);
      change += std::abs(next[i] - line[i]);
    }
    line.swap(next);
    residual = mpi::all_reduce(world, change, std::plus<double>());
  }
  const double largest = mpi::all_reduce(world, line[1], mpi::maximum<double>());
  const double sum = std::accumulate(line.begin() + 1, line.end() - 1, 0.0);
  double total = 0;
  mpi::reduce(world, sum, total, std::plus<double>(), 0);
  world.barrier();
  if (rank == 0) {
    for (int i = 0; i < ranks; ++i) std::printf("rank %d checksum %lu\n", i, sums[i]);
    std::printf("residual %.12g largest %.12g sum %.12g\n", residual, largest, total);
  }
  return 0;
}
