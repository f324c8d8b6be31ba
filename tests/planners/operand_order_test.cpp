// In what order operands come together is a matter of the program and not of time: whichever
// messages are late, every element of a result is the same expression. So floating-point results
// have the same bits in every run of a program.
//
// The programs of all ranks run here on hashes that tell expressions apart (the operator neither
// commutes nor associates), by the rules of schedule/dependencies.hpp and with no port window or
// staging pool, so in more orders than any engine takes: a message is read from its sender's
// buffer, put into its receiver's and combined each at a random moment.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "planners/rows.hpp"
#include "schedule/dependencies.hpp"
#include "schedule/semantics.hpp"
#include "sibyl/planners.hpp"

namespace sibyl {
namespace {

using Hash = std::uint64_t;
using Hashes = std::vector<Hash>;

Hash mix(Hash h) {
  h = (h ^ (h >> 31)) * 0x9e3779b97f4a7c15ULL;
  return h ^ (h >> 29);
}
// The same in all parts of a vector, so that only the order tells parts apart.
Hash contribution(std::size_t rank) { return mix(rank + 1); }
Hash left_plus_right(Hash left, Hash right) { return mix(3 * left + 7 * mix(right)); }

// One rank's buffers and what its steps wait for.
struct RankState {
  const Program* program = nullptr;
  Dependencies dependencies;
  std::vector<std::uint32_t> ordinal;
  std::vector<bool> complete;
  Hashes units[3];
};

class RandomRun {
 public:
  RandomRun(const Plan& plan, std::mt19937_64& random) : plan_(plan), random_(random) {
    ranks_.resize(plan.programs.size());
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      RankState& state = ranks_[r];
      state.program = &plan.programs[r];
      derive_dependencies(plan.header, *state.program, state.dependencies);
      message_ordinals(*state.program, state.ordinal);
      state.complete.assign(state.program->steps.size(), false);
      for (Hashes& units : state.units) units.assign(data_units(plan.header), 0);
      state.units[2].assign(state.program->scratch_units, 0);
      Hashes& input = buffer(r, Buffer::send);
      input.assign(input.size(), contribution(r));
      for (StepIndex i = 0; i < state.program->steps.size(); ++i) open_.emplace_back(r, i);
    }
  }

  // False where nothing can go on.
  bool run() {
    while (!open_.empty()) {
      std::shuffle(open_.begin(), open_.end(), random_);
      const std::size_t before = open_.size();
      std::erase_if(open_, [&](const auto& step) {
        return random_() % 3 != 0 && try_step(step.first, step.second);
      });
      stalled_ = open_.size() == before ? stalled_ + 1 : 0;
      if (stalled_ > 200) return false;
    }
    return true;
  }

  // What the ranks that have a result hold in the end.
  std::vector<Hashes> results() const {
    std::vector<Hashes> all;
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      const auto rank = static_cast<Rank>(r);
      const Extent output = output_of(plan_.header, rank, plan_.programs[r]);
      const Hashes& received = ranks_[r].units[1];
      all.emplace_back(received.begin() + output.first, received.begin() + output.end());
    }
    return all;
  }

 private:
  using Message = std::tuple<std::size_t, std::size_t, std::uint32_t>;

  Hashes& buffer(std::size_t rank, Buffer buffer) {
    const bool aliases = buffer == Buffer::send && ranks_[rank].program->in_place &&
                         in_place_aliases(plan_.header.collective);
    return ranks_[rank].units[aliases ? 1 : static_cast<int>(buffer)];
  }
  Hashes read(std::size_t rank, const Slice& slice) {
    Hashes values;
    for (const Range& range : ranks_[rank].program->ranges_of(slice)) {
      for (Unit u = 0; u < range.count; ++u) {
        values.push_back(buffer(rank, slice.buffer).at(range.first + u));
      }
    }
    return values;
  }
  void write(std::size_t rank, const Slice& slice, const Hashes& values, bool combine) {
    std::size_t next = 0;
    for (const Range& range : ranks_[rank].program->ranges_of(slice)) {
      for (Unit u = 0; u < range.count; ++u) {
        Hash& place = buffer(rank, slice.buffer).at(range.first + u);
        place = combine ? left_plus_right(values.at(next), place) : values.at(next);
        ++next;
      }
    }
  }
  static bool all_complete(const RankState& state, std::span<const StepIndex> steps) {
    for (const StepIndex step : steps) {
      if (!state.complete[step]) return false;
    }
    return true;
  }

  // Does as much of a step as may be done now; true when it is complete.
  bool try_step(std::size_t rank, StepIndex index) {
    RankState& state = ranks_[rank];
    const Step& step = state.program->steps[index];
    const auto peer = static_cast<std::size_t>(step.peer);
    if (!all_complete(state, state.dependencies.all_of(index))) return false;
    switch (step.kind) {
      case StepKind::send:
        messages_[{rank, peer, state.ordinal[index]}] = read(rank, step.slice);
        break;
      case StepKind::receive:
      case StepKind::receive_combine: {
        const auto found = messages_.find({peer, rank, state.ordinal[index]});
        if (found == messages_.end()) return false;
        write(rank, step.slice, found->second, step.kind == StepKind::receive_combine);
        break;
      }
      case StepKind::copy:
        write(rank, step.slice, read(rank, step.from), false);
        break;
      case StepKind::combine:
        write(rank, step.slice, read(rank, step.from), true);
        break;
    }
    state.complete[index] = true;
    return true;
  }

  const Plan& plan_;
  std::mt19937_64& random_;
  std::vector<RankState> ranks_;
  std::vector<std::pair<std::size_t, StepIndex>> open_;
  std::map<Message, Hashes> messages_;
  int stalled_ = 0;
};

class OperandOrder : public testing::TestWithParam<const Algorithm*> {
 protected:
  const Algorithm& algorithm() const { return *GetParam(); }

  std::vector<Hashes> run(const Plan& plan) {
    RandomRun one(plan, random_);
    EXPECT_TRUE(one.run()) << "comes to no end";
    return one.results();
  }

  // Requests of all kinds for so many ranks.
  template <class Act>
  void for_each_request(Rank ranks, Act act) {
    std::vector<double> arrivals;
    for (Rank r = 0; r < ranks; ++r) arrivals.push_back(static_cast<double>(random_() % 20));
    for (Rank root = 0; root < (has_root(algorithm().collective) ? ranks : 1); ++root) {
      for (const bool in_place : {false, true}) {
        for (const std::uint32_t segments : {1U, 5U}) {
          if (segments > 1 && !algorithm().segments) continue;
          PlanRequest request{.ranks = ranks, .root = root, .in_place = in_place};
          request.segments = segments;
          if (algorithm().nodes) request.ranks_per_node = 3;
          if (algorithm().arrivals && root % 2 == 0) request.arrivals = arrivals;
          SCOPED_TRACE(std::to_string(ranks) + " ranks, root " + std::to_string(root) + ", " +
                       std::to_string(segments) + " segments" + (in_place ? ", in place" : ""));
          act(request);
        }
      }
    }
  }

  std::mt19937_64 random_{20261122};
};

class OperandOrderEverywhere : public OperandOrder {};

TEST_P(OperandOrder, IsTheSameWhicheverMessagesAreLate) {
  for (const Rank ranks : {1, 2, 3, 4, 5, 6, 8, 9, 13}) {
    for_each_request(ranks, [&](const PlanRequest& request) {
      const Plan plan = make_plan(algorithm(), request);
      const std::vector<Hashes> first = run(plan);
      for (int i = 0; i < 4; ++i) ASSERT_EQ(run(plan), first);
    });
  }
}

// An allreduce gives all ranks the same bits.
TEST_P(OperandOrderEverywhere, IsTheSameAtAllRanks) {
  for (const Rank ranks : {2, 3, 5, 6, 7, 8, 12, 13}) {
    for_each_request(ranks, [&](const PlanRequest& request) {
      const std::vector<Hashes> results = run(make_plan(algorithm(), request));
      for (const Hashes& result : results) ASSERT_EQ(result, results.front());
    });
  }
}

class OperandOrderByRank : public OperandOrder {};

// What keeps the order of the ranks puts the brackets in the same places for every root, and where
// ranks work in place.
TEST_P(OperandOrderByRank, DependsOnNeitherRootNorPlace) {
  for (const Rank ranks : {2, 3, 4, 5, 6, 8, 9, 13}) {
    std::map<std::uint32_t, Hashes> known;  // by segments
    for_each_request(ranks, [&](const PlanRequest& request) {
      const std::vector<Hashes> results = run(make_plan(algorithm(), request));
      Hashes all;
      for (const Hashes& result : results) all.insert(all.end(), result.begin(), result.end());
      const auto [found, is_new] = known.emplace(request.segments, all);
      ASSERT_EQ(found->second, all);
    });
  }
}

// The test can tell orders apart: what is planned for other arrivals or in other segments combines
// otherwise.
TEST(OperandOrderHashes, TellSchedulesApart) {
  const Algorithm& clairvoyant = *find_algorithm(Collective::reduce, "clairvoyant");
  std::mt19937_64 random(1);
  const auto result = [&](std::span<const double> arrivals, std::uint32_t segments) {
    PlanRequest request{.ranks = 6};
    request.segments = segments;
    request.arrivals = arrivals;
    const Plan plan = make_plan(clairvoyant, request);
    RandomRun one(plan, random);
    EXPECT_TRUE(one.run());
    return one.results().front();
  };
  const std::vector<double> late{0, 30, 0, 0, 0, 0};
  const std::vector<double> later{0, 0, 0, 0, 30, 0};
  EXPECT_NE(result({}, 4), result(late, 4));
  EXPECT_NE(result(late, 4), result(later, 4));
  const Hashes cut = result({}, 4);
  const Hash whole = result({}, 1).front();
  EXPECT_FALSE(std::ranges::all_of(cut, [&](Hash part) { return part == whole; }));
}

INSTANTIATE_TEST_SUITE_P(Table, OperandOrder, rows([](const Algorithm& algorithm) {
                           return combines(algorithm.collective);
                         }),
                         name_of_row);
INSTANTIATE_TEST_SUITE_P(Table, OperandOrderEverywhere, rows([](const Algorithm& algorithm) {
                           return algorithm.collective == Collective::allreduce;
                         }),
                         name_of_row);
INSTANTIATE_TEST_SUITE_P(Table, OperandOrderByRank, rows([](const Algorithm& algorithm) {
                           return combines(algorithm.collective) &&
                                  algorithm.describe({.ranks = 4}).keeps_order;
                         }),
                         name_of_row);

}  // namespace
}  // namespace sibyl
