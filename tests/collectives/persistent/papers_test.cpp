// The thirteen of Proficz 2020 in the persistent form: seven gathers and six scatters as algorithm,
// order and gates, in random cases of every root, with blocks of nothing, in place, with gaps,
// whoever is late, whoever reports, and however many transfers may be outstanding.
//
// Each case runs among the first p ranks of the run, for a p drawn anew. SIBYL_TEST_LONG=1 runs ten
// thousand cases; under mpiexec -n 48 --oversubscribe they cover every p up to 48.

#include <array>
#include <memory>
#include <vector>

#include "collectives/persistent/cases.hpp"
#include "collectives/persistent/request.hpp"

namespace sibyl::test {
namespace {

struct Published {
  Collective collective;
  const char* algorithm;
  bool by_arrival;
  bool background;
};

constexpr std::array<Published, 13> thirteen{{
    {Collective::gather, "linear", false, false},
    {Collective::gather, "linear-synchronised", false, false},
    {Collective::gather, "linear-synchronised", true, false},
    {Collective::gather, "linear-synchronised", true, true},
    {Collective::gather, "binomial", false, false},
    {Collective::gather, "binomial", true, false},
    {Collective::gather, "binomial", true, true},
    {Collective::scatter, "linear", false, false},
    {Collective::scatter, "linear", true, false},
    {Collective::scatter, "linear", true, true},
    {Collective::scatter, "binomial", false, false},
    {Collective::scatter, "binomial", true, false},
    {Collective::scatter, "binomial", true, true},
}};

// MPI_COMM_WORLD's first ranks; null elsewhere.
class FirstRanks {
 public:
  explicit FirstRanks(int ranks) {
    const int rank = rank_in();
    MPI_Comm_split(MPI_COMM_WORLD, rank < ranks ? 0 : MPI_UNDEFINED, rank, &comm_);
  }
  ~FirstRanks() {
    if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
  }
  FirstRanks(const FirstRanks&) = delete;
  FirstRanks& operator=(const FirstRanks&) = delete;
  MPI_Comm get() const { return comm_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

PersistentCase any_published_case(Random& random, int ranks) {
  const Published& one = thirteen[pick(random, thirteen.size())];
  constexpr std::array<int, 7> counts{0, 1, 2, 63, 700, 3000, 20000};
  PersistentCase now;
  now.collective = one.collective;
  now.algorithm = one.algorithm;
  now.by_arrival = one.by_arrival;
  now.background = one.background;
  now.root = static_cast<int>(pick(random, static_cast<std::uint64_t>(ranks)));
  now.count = counts[pick(random, counts.size())];
  now.in_place = pick(random, 3) == 0;
  now.gaps = pick(random, 3) == 0;
  constexpr std::array<int, 4> windows{1, 2, 8, 8};
  now.outstanding = windows[pick(random, windows.size())];
  return now;
}

TEST(PersistentPapers, RandomCasesOfTheThirteenGiveTheResultsOfGatherAndScatter) {
  SIBYL_TRACE_SEED();
  Random random(run_seed() + 80);
  Random own(run_seed() + 7919 * static_cast<std::uint64_t>(rank_in() + 1));
  const int size = size_of();
  std::vector<std::unique_ptr<FirstRanks>> first(static_cast<std::size_t>(size) + 1);
  const int wanted = long_tests() ? 10000 : cases(200);
  for (int i = 0; i < wanted; ++i) {
    const int ranks = 1 + static_cast<int>(pick(random, static_cast<std::uint64_t>(size)));
    std::unique_ptr<FirstRanks>& comm = first[static_cast<std::size_t>(ranks)];
    if (comm == nullptr) comm = std::make_unique<FirstRanks>(ranks);
    const PersistentCase now = any_published_case(random, ranks);
    const auto edges = static_cast<Edges>(pick(random, 3));
    const std::uint64_t seed = random();
    if (comm->get() == MPI_COMM_NULL) continue;
    SCOPED_TRACE(now.text() + ", " + std::to_string(ranks) + " ranks");
    PersistentTrial trial(now, comm->get());
    ASSERT_TRUE(trial.made());
    for (std::uint64_t k = 0; k < 3; ++k) iterate(trial, seed + k, edges, own, 300);
    trial.free();
    ASSERT_FALSE(testing::Test::HasFailure());
  }
}

TEST(PersistentPapers, SmallBlocksGoStraightUnlessATreeIsAskedFor) {
  if (size_of() < 2) GTEST_SKIP() << "nobody to send to";
  const Duplicate comm;
  for (const Collective collective : {Collective::gather, Collective::scatter}) {
    for (const char* name : {"auto", "binomial"}) {
      PersistentTrial trial({collective, name, true, true, 0, 3}, comm.get());
      ASSERT_TRUE(trial.made());
      const Algorithm* taken =
          reinterpret_cast<const PersistentRequest*>(*trial.request())->algorithm();
      ASSERT_NE(taken, nullptr);
      EXPECT_EQ(taken->name, name == std::string("auto") ? "linear" : "binomial");
    }
  }
}

}  // namespace
}  // namespace sibyl::test
