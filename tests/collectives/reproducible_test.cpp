// SIBYL_REPRODUCIBLE: reductions have the same bits in every call, whoever is late, whatever was
// measured or predicted meanwhile and however ranks lie on nodes. Operands are numbers of very
// different sizes, so that nearly every other order of additions shows.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "collectives/harness.hpp"

namespace sibyl::test {
namespace {

constexpr std::array combining{Collective::reduce,         Collective::scan,
                               Collective::exscan,         Collective::allreduce,
                               Collective::reduce_scatter, Collective::reduce_scatter_block};
// Both engines: lockstep up to 64 KiB, dataflow above; the last is more than a MiB.
constexpr std::array vector_counts{1, 1000, 8192, 8193, 140001};

std::vector<double> operands(int rank, int count) {
  Random random(static_cast<std::uint64_t>(rank) + 99);
  std::vector<double> values(static_cast<std::size_t>(count));
  for (double& value : values) {
    value = std::ldexp(static_cast<double>(random() % (1ULL << 52)) - (1ULL << 51),
                       static_cast<int>(random() % 40));
  }
  return values;
}

void be_late(Random& own) {
  if (own() % 2 == 0) usleep(static_cast<useconds_t>(own() % 3000));
}

// The bits that a call leaves at this rank; of none where the rank has no result.
using Bits = std::vector<std::uint64_t>;

Bits bits_of(const std::vector<double>& values) {
  Bits bits(values.size());
  std::memcpy(bits.data(), values.data(), values.size() * sizeof(double));
  return bits;
}

// A failure names one element, and ends no rank's loop: the others would wait for it.
testing::AssertionResult same(const Bits& now, const Bits& first) {
  if (now.size() != first.size()) return testing::AssertionFailure() << "another length";
  const auto [at, other] = std::ranges::mismatch(now, first);
  if (at == now.end()) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "element " << at - now.begin() << " of " << now.size();
}

// A reduce-scatter is of at least one element a rank, and of all that is left for the last one.
Bits call(Collective collective, MPI_Comm comm, int root, int count, bool in_place = false) {
  const int rank = rank_in(comm);
  const int size = size_of(comm);
  const int block = std::max(1, count / size);
  if (scatters_sums(collective)) count = std::max(count, size);
  if (collective == Collective::reduce_scatter_block) count = block * size;
  std::vector<int> blocks(static_cast<std::size_t>(size), block);
  blocks.back() += count - block * size;
  std::vector<double> send = operands(rank, count);
  std::vector<double> receive(send.size());
  const bool reduces = collective == Collective::reduce;
  const bool here = in_place && (!reduces || rank == root);
  if (here) receive = send;
  const void* const from = here ? MPI_IN_PLACE : send.data();
  void* const to = receive.data();
  int error = MPI_SUCCESS;
  switch (collective) {
    case Collective::reduce:
      error = SIBYL_Reduce(from, to, count, MPI_DOUBLE, MPI_SUM, root, comm);
      break;
    case Collective::scan:
      error = SIBYL_Scan(from, to, count, MPI_DOUBLE, MPI_SUM, comm);
      break;
    case Collective::exscan:
      error = SIBYL_Exscan(from, to, count, MPI_DOUBLE, MPI_SUM, comm);
      break;
    case Collective::allreduce:
      error = SIBYL_Allreduce(from, to, count, MPI_DOUBLE, MPI_SUM, comm);
      break;
    case Collective::reduce_scatter:
      error = SIBYL_Reduce_scatter(from, to, blocks.data(), MPI_DOUBLE, MPI_SUM, comm);
      break;
    default:
      error = SIBYL_Reduce_scatter_block(from, to, block, MPI_DOUBLE, MPI_SUM, comm);
  }
  EXPECT_EQ(error, MPI_SUCCESS);
  if (scatters_sums(collective)) {
    receive.resize(static_cast<std::size_t>(blocks[static_cast<std::size_t>(rank)]));
  }
  const bool has_result = reduces ? rank == root : collective != Collective::exscan || rank > 0;
  return has_result ? bits_of(receive) : Bits{};
}

Settings reproducible(Collective collective, const Algorithm* row) {
  Settings settings = forced(collective, row);
  settings.reproducible = 1;
  return settings;
}

Costs any_costs(Random& random) {
  const auto number = [&](double most) {
    return most * static_cast<double>(1 + random() % 1000) / 1000;
  };
  return {.alpha = number(1e-3),
          .overhead = number(1e-5),
          .beta = number(1e-8),
          .gamma = number(1e-9),
          .fifo_links = random() % 2 == 0};
}

// What a run may come to know; the same on all ranks.
void know_something_else(CommunicatorState& state, Random& random) {
  state.replace_costs(any_costs(random));
  std::vector<double> times;
  for (int r = 0; r < state.size(); ++r) {
    times.push_back(1e-4 * static_cast<double>(random() % 1000));
  }
  ASSERT_TRUE(state.arrivals.publish(times));
  state.cached_choice = {};
}

TEST(Reproducible, BitsStayWhoeverIsLateAndWhateverIsKnown) {
  SIBYL_TRACE_SEED();
  Random random(run_seed() + 40);
  Random own(run_seed() + 41 + static_cast<std::uint64_t>(rank_in()));
  for (const Collective collective : combining) {
    for (const Algorithm* row : rows_and_auto(collective)) {
      Served served(collective, nullptr);
      served.state().replace_settings(reproducible(collective, row));
      for (const int count : vector_counts) {
        if (row != nullptr && count == vector_counts.back() && !long_tests()) continue;
        const int root = static_cast<int>(pick(random, static_cast<std::uint64_t>(size_of())));
        SCOPED_TRACE(std::string(name_of(collective)) + " " + name_or_auto(row) + ", " +
                     std::to_string(count) + " elements, root " + std::to_string(root));
        const Bits first = call(collective, served.get(), root, count);
        const Algorithm* const by = served.served_by();
        EXPECT_NE(by, nullptr) << "left to the MPI library";
        EXPECT_TRUE(row == nullptr || by == row);
        for (int i = 0; i < cases(4); ++i) {
          know_something_else(served.state(), random);
          be_late(own);
          EXPECT_TRUE(same(call(collective, served.get(), root, count), first));
          EXPECT_EQ(served.served_by(), by);
        }
      }
    }
  }
}

// What follows from the setting is no accident: Clairvoyant follows costs, and without it they
// show.
TEST(Reproducible, WithoutTheSettingCostsShowInTheBits) {
  if (size_of() < 4) GTEST_SKIP() << "two operands have one order, three may have";
  constexpr int count = 4096;
  const Algorithm* const clairvoyant = find_algorithm(Collective::reduce, "clairvoyant");
  for (const bool on : {false, true}) {
    Served served(Collective::reduce, nullptr);
    Settings settings = forced(Collective::reduce, clairvoyant);
    settings.reproducible = on ? 1 : 0;
    std::vector<Bits> results;
    for (const double overhead : {1e-9, 1.0}) {  // many segments, and one
      served.state().replace_settings(settings);
      served.state().replace_costs({.alpha = 1e-6, .overhead = overhead, .beta = 1e-9});
      results.push_back(call(Collective::reduce, served.get(), 0, count));
    }
    if (rank_in() == 0) {
      EXPECT_EQ(results[0] == results[1], on);
    }
  }
}

// Trials under prediction hand calls to the MPI library, and patterns change the schedule.
TEST(Reproducible, BitsStayWhileArrivalsArePredicted) {
  SIBYL_TRACE_SEED();
  for (const char* name : {"auto", "clairvoyant"}) {
    const Served served(Collective::reduce, nullptr);
    CommunicatorState& state = *CommunicatorState::get(served.get());
    Settings settings = reproducible(Collective::reduce, find_algorithm(Collective::reduce, name));
    settings.predict = PredictionMode::periodic;
    state.replace_settings(settings);
    Bits first;
    for (int i = 0; i < 60; ++i) {
      if (rank_in() == size_of() - 1) usleep(1000);
      const Bits now = call(Collective::reduce, served.get(), 0, 1000);
      if (i == 0) first = now;
      EXPECT_TRUE(same(now, first)) << name << ", call " << i;
    }
  }
}

TEST(Reproducible, NothingIsMeasured) {
  const Served served(Collective::reduce, nullptr);
  CommunicatorState& state = *CommunicatorState::get(served.get());
  for (const char* name : {"auto", "clairvoyant"}) {
    state.replace_settings(
        reproducible(Collective::reduce, find_algorithm(Collective::reduce, name)));
    call(Collective::reduce, served.get(), 0, 140001);
    EXPECT_FALSE(state.costs_sought()) << name;
  }
}

TEST(Reproducible, SibylsOwnChoiceDoesNotLookAtNodes) {
  for (const Collective collective : combining) {
    for (const int count : {1, 9000, 140001}) {
      Bits first;
      std::uint32_t segments = 0;
      const Algorithm* by = nullptr;
      for (const Rank per_node : {1, 2, size_of()}) {
        Served served(collective, nullptr);
        served.state().set_placement({.ranks_per_node = per_node});
        served.state().replace_settings(reproducible(collective, nullptr));
        const Bits now = call(collective, served.get(), size_of() - 1, count);
        const CommunicatorState::CachedChoice& choice =
            served.state().cached_choice[static_cast<std::size_t>(collective)];
        if (per_node == 1 && by == nullptr) {
          first = now;
          by = choice.algorithm;
          segments = choice.segments.segments;
        }
        EXPECT_TRUE(same(now, first)) << name_of(collective);
        EXPECT_EQ(choice.algorithm, by) << name_of(collective);
        EXPECT_EQ(choice.segments.segments, segments) << name_of(collective);
      }
    }
  }
}

// Of what Sibyl chooses, which keeps the order of the ranks.
TEST(Reproducible, NeitherRootNorPlaceShows) {
  Served served(Collective::reduce, nullptr);
  served.state().replace_settings(reproducible(Collective::reduce, nullptr));
  for (const int count : {5, 9000}) {
    Bits first;
    for (int root = 0; root < size_of(); ++root) {
      for (const bool in_place : {false, true}) {
        Bits bits = call(Collective::reduce, served.get(), root, count, in_place);
        bits.resize(static_cast<std::size_t>(count));
        MPI_Bcast(bits.data(), count, MPI_UINT64_T, root, served.get());
        if (first.empty()) first = bits;
        EXPECT_TRUE(same(bits, first)) << "root " << root;
      }
    }
  }
}

TEST(Reproducible, PlaceDoesNotShowInSumsForAllRanks) {
  for (const Collective collective :
       {Collective::allreduce, Collective::reduce_scatter, Collective::reduce_scatter_block}) {
    for (const Algorithm* row : rows_and_auto(collective)) {
      Served served(collective, nullptr);
      served.state().replace_settings(reproducible(collective, row));
      for (const int count : {5, 9000}) {
        SCOPED_TRACE(std::string(name_of(collective)) + " " + name_or_auto(row));
        const Bits first = call(collective, served.get(), 0, count);
        const bool in_place = rank_in() % 2 == 0;
        EXPECT_TRUE(same(call(collective, served.get(), 0, count, in_place), first));
      }
    }
  }
}

// Whatever the settings: a program may compare what its ranks have, and branch on it.
TEST(Reproducible, AnAllreduceHasTheSameBitsAtAllRanksInEveryCall) {
  SIBYL_TRACE_SEED();
  Random random(run_seed() + 45);
  Random own(run_seed() + 46 + static_cast<std::uint64_t>(rank_in()));
  for (const Algorithm& row : algorithms(Collective::allreduce)) {
    Served served(Collective::allreduce, &row);
    for (const int count : vector_counts) {
      if (count == vector_counts.back() && !long_tests()) continue;
      SCOPED_TRACE(std::string(row.name) + ", " + std::to_string(count) + " elements");
      Bits first;
      for (int i = 0; i < cases(4); ++i) {
        know_something_else(served.state(), random);
        be_late(own);
        const Bits bits = call(Collective::allreduce, served.get(), 0, count, i % 2 == 1);
        EXPECT_EQ(served.served_by(), &row);
        Bits of_rank_0 = bits;
        MPI_Bcast(of_rank_0.data(), count, MPI_UINT64_T, 0, served.get());
        EXPECT_TRUE(same(bits, of_rank_0)) << "call " << i;
        if (i == 0) first = bits;
        if (!row.commutative_only) {
          EXPECT_TRUE(same(bits, first)) << "call " << i;
        }
      }
    }
  }
}

TEST(Reproducible, APersistentReduceHasTheBitsOfTheCall) {
  SIBYL_TRACE_SEED();
  Random own(run_seed() + 44 + static_cast<std::uint64_t>(rank_in()));
  for (const char* name : {"auto", "clairvoyant"}) {
    for (const bool by_info : {false, true}) {
      Served served(Collective::reduce, nullptr);
      Settings settings =
          reproducible(Collective::reduce, find_algorithm(Collective::reduce, name));
      served.state().replace_settings(settings);
      constexpr int count = 9000;
      const Bits first = call(Collective::reduce, served.get(), 0, count);
      if (by_info) settings.reproducible = 0;
      served.state().replace_settings(settings);
      MPI_Info info = MPI_INFO_NULL;
      MPI_Info_create(&info);
      if (by_info) MPI_Info_set(info, "sibyl_reproducible", "true");
      std::vector<double> send = operands(rank_in(), count);
      std::vector<double> receive(send.size());
      SIBYL_Request request = SIBYL_REQUEST_NULL;
      ASSERT_EQ(SIBYL_Reduce_init(send.data(), receive.data(), count, MPI_DOUBLE, MPI_SUM, 0,
                                  served.get(), info, &request),
                MPI_SUCCESS);
      MPI_Info_free(&info);
      for (int i = 0; i < 5; ++i) {
        ASSERT_EQ(SIBYL_Start(&request), MPI_SUCCESS);
        be_late(own);
        ASSERT_EQ(SIBYL_Edge(&request, 0.5), MPI_SUCCESS);
        be_late(own);
        ASSERT_EQ(SIBYL_Arrive(&request), MPI_SUCCESS);
        ASSERT_EQ(SIBYL_Wait(&request), MPI_SUCCESS);
        if (rank_in() == 0) {
          EXPECT_TRUE(same(bits_of(receive), first)) << name << (by_info ? ", asked by info" : "");
        }
      }
      ASSERT_EQ(SIBYL_Request_free(&request), MPI_SUCCESS);
    }
  }
}

}  // namespace
}  // namespace sibyl::test
