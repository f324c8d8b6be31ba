// Records that go with the messages of an allreduce: merged in any order they are the same, and
// after a call every rank holds that of all, with the sum as it must be.
#include "executor/program/piggyback.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "executor/program/carrying_types.hpp"
#include "executor/program/trial.hpp"
#include "support/mpi_test.hpp"

namespace sibyl::test {
namespace {

Piggyback record_of(std::int64_t arrival, std::int64_t rank) {
  Piggyback record;
  record.first_arrival = arrival;
  record.latest.front() = {arrival, rank};
  record.last_departure = -arrival;
  record.clock_error = rank;
  record.place = rank == 0 ? 7 : 0;
  return record;
}

// Where ranks share an arrival, the higher one is later.
std::int64_t arrival_of(std::int64_t rank) { return rank * 7 % 5; }

Piggyback merged(std::vector<std::int64_t> ranks) {
  Piggyback all;
  for (const std::int64_t rank : ranks) all.merge(record_of(arrival_of(rank), rank));
  return all;
}

TEST(Piggyback, IsTheSameInWhateverOrderItIsMerged) {
  std::mt19937 random(1);
  std::vector<std::int64_t> ranks{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  const Piggyback all = merged(ranks);
  EXPECT_EQ(all.first_arrival, 0);
  EXPECT_EQ(all.last_departure, 0);
  EXPECT_EQ(all.clock_error, 10);
  EXPECT_EQ(all.latest[0], (Piggyback::Late{4, 7}));
  EXPECT_EQ(all.latest[1], (Piggyback::Late{4, 2}));
  EXPECT_EQ(all.latest[2], (Piggyback::Late{3, 9}));
  EXPECT_EQ(all.latest[3], (Piggyback::Late{3, 4}));
  for (int trial = 0; trial < 20; ++trial) {
    std::ranges::shuffle(ranks, random);
    // Records that are met twice, alone and in others, change nothing.
    std::vector<std::int64_t> twice = ranks;
    twice.insert(twice.end(), ranks.begin(), ranks.begin() + 5);
    Piggyback both = merged(twice);
    EXPECT_EQ(both, all);
    both.merge(merged(ranks));
    EXPECT_EQ(both, all);
  }
}

TEST(Piggyback, OfNodesHasTheLastRankOfEach) {
  std::mt19937 random(2);
  // Six nodes, each of whose ranks come at times of their own.
  std::vector<Piggyback> records;
  for (std::int64_t i = 0; i < 24; ++i) records.push_back(record_of(i * 5 % 24, i % 6));
  for (int trial = 0; trial < 20; ++trial) {
    std::ranges::shuffle(records, random);
    Piggyback all;
    for (std::size_t i = 0; i < records.size(); i += 3) {
      Piggyback some = records[i];
      some.merge(records[i + 1]);
      some.merge(records[i + 2]);
      all.merge(some);
    }
    for (std::size_t i = 0; i < Piggyback::most_late; ++i) {
      std::int64_t latest = -1;
      std::int64_t node = -1;
      for (const Piggyback& one : records) {
        const auto& [arrival, its] = one.latest.front();
        const auto before = std::span(all.latest).first(i);
        const bool told = std::ranges::count(before, its, &Piggyback::Late::name) != 0;
        if (!told && arrival > latest) {
          latest = arrival;
          node = its;
        }
      }
      EXPECT_EQ(all.latest[i], (Piggyback::Late{latest, node})) << i;
    }
  }
}

TEST(Piggyback, OfFewRanksNamesNobodyElse) {
  const Piggyback two = merged({3, 1});
  EXPECT_EQ(two.latest[0], (Piggyback::Late{2, 1}));
  EXPECT_EQ(two.latest[1], (Piggyback::Late{1, 3}));
  EXPECT_EQ(two.latest[2], Piggyback::Late{});
}

TEST(Piggyback, ReachesAllRanksWithEveryAllreduce) {
  const Duplicate comm;
  Workspace workspace;
  std::mt19937 random(static_cast<unsigned>(rank_in()) + 1);
  std::vector<std::int64_t> everybody;
  for (int r = 0; r < size_of(); ++r) everybody.push_back(r);
  const Piggyback expected = merged(everybody);
  int tag = 0;
  for (const Algorithm& algorithm : algorithms(Collective::allreduce)) {
    for (const std::int64_t count : {1, size_of() + 1, 3000}) {
      for (const bool gaps : {false, true}) {
        Piggyback record = record_of(arrival_of(rank_in()), rank_in());
        Trial trial(algorithm, {.count = count, .gaps = gaps, .piggyback = &record}, comm.get());
        SCOPED_TRACE(trial.text());
        usleep(random() % 500);
        ASSERT_EQ(trial.run(Engine::usual, tag, workspace), MPI_SUCCESS);
        EXPECT_TRUE(trial.right());
        EXPECT_EQ(record, expected);
        tag += trial.tags();
      }
    }
  }
}

// What is sent by a type that stays is what is sent by one made for the message alone. A handle may
// be given out again: that a type is the one of before shows in its name.
TEST(CarryingTypes, StayForTheSamePartsAndNoOthers) {
  if (rank_in() != 0) return;
  constexpr int count = 5;
  constexpr std::size_t buffers = 3 * CarryingTypes::slots;
  std::vector<std::array<int, count>> data(buffers);
  std::vector<Piggyback> records(buffers);
  CarryingTypes types;
  const auto parts_of = [&](std::size_t i, int elements) {
    CarryingTypes::Parts parts{.count = elements, .type = MPI_INT};
    MPI_Get_address(data[i].data(), &parts.data);
    MPI_Get_address(&records[i], &parts.record);
    return parts;
  };
  const auto name_of = [](MPI_Datatype type) {
    std::array<char, MPI_MAX_OBJECT_NAME> name{};
    int length = 0;
    MPI_Type_get_name(type, name.data(), &length);
    return std::string(name.data());
  };
  for (std::size_t turn = 0; turn < 4; ++turn) {
    for (std::size_t i = 0; i < buffers; ++i) {
      data[i].fill(static_cast<int>(10 * i + turn));
      records[i] = record_of(static_cast<std::int64_t>(i), static_cast<std::int64_t>(turn));
      const int elements = turn == 3 ? 1 : count;
      MPI_Datatype made = MPI_DATATYPE_NULL;
      MPI_Datatype same = MPI_DATATYPE_NULL;
      ASSERT_EQ(types.find(parts_of(i, elements), made), MPI_SUCCESS);
      const std::string name = std::to_string(turn) + " " + std::to_string(i);
      MPI_Type_set_name(made, name.c_str());
      ASSERT_EQ(types.find(parts_of(i, elements), same), MPI_SUCCESS);
      EXPECT_EQ(name_of(same), name);
      std::array<int, count> received{};
      Piggyback record;
      CarryingTypes::Parts into{.count = elements, .type = MPI_INT};
      MPI_Get_address(received.data(), &into.data);
      MPI_Get_address(&record, &into.record);
      MPI_Datatype other = MPI_DATATYPE_NULL;
      ASSERT_EQ(CarryingTypes::make(into, other), MPI_SUCCESS);
      MPI_Sendrecv(MPI_BOTTOM, 1, same, 0, 0, MPI_BOTTOM, 1, other, 0, 0, MPI_COMM_SELF,
                   MPI_STATUS_IGNORE);
      MPI_Type_free(&other);
      for (int k = 0; k < count; ++k) EXPECT_EQ(received[k], k < elements ? data[i][k] : 0);
      EXPECT_EQ(record, records[i]);
    }
  }
}

}  // namespace
}  // namespace sibyl::test
