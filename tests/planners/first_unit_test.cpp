// What is piggybacked on the messages of an allreduce reaches every rank from every rank
// (executor/program/piggyback.hpp): messages that hold the first unit of the vector carry it, and
// each is sent when what it is made of has come, whatever else a rank may have heard by then.
#include <gtest/gtest.h>

#include <bitset>
#include <cstdint>
#include <string>
#include <vector>

#include "planners/rows.hpp"
#include "schedule/dependencies.hpp"
#include "schedule/matching.hpp"
#include "sibyl/planners.hpp"

namespace sibyl {
namespace {

constexpr std::size_t most_ranks = 64;
using Heard = std::bitset<most_ranks>;

// Of whom a step knows, at the least: its rank and whom the steps before it know of that it waits
// for, and of an incoming message also what its send knows of.
class Hearsay {
 public:
  explicit Hearsay(const Plan& plan) : plan_(plan) {
    first_.push_back(0);
    for (const Program& program : plan.programs) {
      first_.push_back(first_.back() + static_cast<std::uint32_t>(program.steps.size()));
    }
    partner_.resize(first_.back());
    knows_.resize(first_.back());
    dependencies_.resize(plan.programs.size());
    for (std::size_t r = 0; r < plan.programs.size(); ++r) {
      derive_dependencies(plan.header, plan.programs[r], dependencies_[r]);
    }
    Matcher matcher;
    std::uint32_t tags = 0;
    std::string problem;
    const auto firsts = std::span(first_).first(plan.programs.size());
    EXPECT_TRUE(matcher.match(plan.header, plan.programs, firsts, partner_, tags, problem))
        << problem;
  }

  // Every rank, of all that its steps know in the end.
  std::vector<Heard> in_the_end() {
    while (pass_on()) {
    }
    std::vector<Heard> all(plan_.programs.size());
    for (std::size_t r = 0; r < all.size(); ++r) {
      all[r].set(r);
      for (std::uint32_t i = first_[r]; i < first_[r + 1]; ++i) all[r] |= knows_[i];
    }
    return all;
  }

 private:
  bool pass_on() {
    bool news = false;
    for (std::size_t r = 0; r < plan_.programs.size(); ++r) {
      const Program& program = plan_.programs[r];
      for (StepIndex i = 0; i < program.steps.size(); ++i) {
        const Step& step = program.steps[i];
        Heard now = knows_[first_[r] + i];
        now.set(r);
        for (const StepIndex earlier : dependencies_[r].after_of(i)) {
          now |= knows_[first_[r] + earlier];
        }
        // Of a receive_combine: of what it adds to, which its own successors wait for as well.
        for (const StepIndex earlier : dependencies_[r].data_of(i)) {
          now |= knows_[first_[r] + earlier];
        }
        const bool receives =
            step.kind == StepKind::receive || step.kind == StepKind::receive_combine;
        if (receives && holds_first_unit(plan_.header, program, step.slice)) {
          now |= knows_[partner_[first_[r] + i]];
        }
        news = news || now != knows_[first_[r] + i];
        knows_[first_[r] + i] = now;
      }
    }
    return news;
  }

  const Plan& plan_;
  std::vector<std::uint32_t> first_;
  std::vector<std::uint32_t> partner_;
  std::vector<Heard> knows_;
  std::vector<Dependencies> dependencies_;
};

class FirstUnit : public testing::TestWithParam<const Algorithm*> {};

TEST_P(FirstUnit, PassesByEveryRankOnItsWayToAll) {
  for (const Rank ranks : {2, 3, 4, 5, 7, 8, 12, 13, 16, 23, 48}) {
    for (const bool one_is_late : {false, true}) {
      if (one_is_late && !GetParam()->arrivals) continue;
      std::vector<double> arrivals(one_is_late ? static_cast<std::size_t>(ranks) : 0, 0.0);
      if (one_is_late) arrivals[static_cast<std::size_t>(ranks) / 2] = 1000;
      const PlanRequest request{
          .ranks = ranks,
          .segments = GetParam()->segments ? 2 * static_cast<std::uint32_t>(ranks) : 1,
          .arrivals = arrivals};
      ASSERT_EQ(check_request(*GetParam(), request), "");
      SCOPED_TRACE(std::to_string(ranks) + (one_is_late ? " ranks, one late" : " ranks"));
      const Plan plan = make_plan(*GetParam(), request);
      Hearsay hearsay(plan);
      for (const Heard& heard : hearsay.in_the_end()) {
        EXPECT_EQ(heard.count(), static_cast<std::size_t>(ranks));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Allreduce, FirstUnit, rows([](const Algorithm& row) {
                           return row.collective == Collective::allreduce;
                         }),
                         name_of_row);

}  // namespace
}  // namespace sibyl
