// All ranks of a communicator in one process, with a governor each, whose calls take as long as a
// test says: what communicator/governing.cpp does by messages is done at once.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "governor/governor.hpp"
#include "governor/judge.hpp"

namespace sibyl::test {

constexpr double ms = 1e-3;  // seconds

inline std::size_t place_of(Arm arm) { return static_cast<std::size_t>(arm); }

class GovernedRanks {
 public:
  // Seconds of rank 0, one and so on in its n-th call ever.
  using Cost = std::function<double(Arm arm, int call, Rank rank)>;

  explicit GovernedRanks(Rank ranks = 4, double agreement = 1e-6)
      : agreement_(agreement), each_(static_cast<std::size_t>(ranks)) {}

  static Governor::Key key_of(std::uint64_t bytes, Collective collective = Collective::exscan,
                              Rank root = no_rank) {
    return Governor::key_of(collective, root, bytes, OperatorUse::predefined, true,
                            &algorithms(collective).front());
  }

  // The same site with a challenger.
  static Governor::Key challenged(std::uint64_t bytes = 1 << 20) {
    Governor::Key key = key_of(bytes);
    key.challenger = &algorithms(key.collective).back();
    return key;
  }

  // One call of all ranks; gives the arm that served it.
  // `place`: from where rank 0 makes it.
  Arm call(const Cost& cost, const Governor::Key& key = key_of(1 << 20), std::uint64_t arrivals = 0,
           std::int64_t place = 0) {
    step();
    std::vector<Governor::Call> calls;
    for (Governor& one : each_) {
      calls.push_back(one.enter(key, arrivals, calls.empty() ? place : 0));
    }
    for (std::size_t r = 0; r < each_.size(); ++r) {
      EXPECT_EQ(calls[r].arm, calls.front().arm);
      EXPECT_EQ(calls[r].stay == nullptr, calls.front().stay == nullptr);
      if (calls[r].stay != nullptr) {
        const double joined = joins_ ? joins_(calls_, static_cast<Rank>(r)) : 0;
        *calls[r].stay = {joined, joined + cost(calls[r].arm, calls_, static_cast<Rank>(r))};
      }
    }
    ++calls_;
    return calls.front().arm;
  }
  // How many of `times` calls were native.
  int native_of(int times, const Cost& cost, const Governor::Key& key = key_of(1 << 20)) {
    int native = 0;
    for (int i = 0; i < times; ++i) native += call(cost, key) == Arm::native ? 1 : 0;
    return native;
  }

  const Governor::Site& site(std::size_t index = 0) const { return each_[1].sites()[index]; }
  Governor& of(Rank rank) { return each_[static_cast<std::size_t>(rank)]; }
  // All ranks read one clock, by which they join their n-th call then.
  void join_at(std::function<double(int call, Rank rank)> joins) { joins_ = std::move(joins); }
  // The next agreement takes so many seconds.
  void delay_next_agreement(double seconds) { delay_ = seconds; }
  // In every agreement rank 0 waits so many seconds for the others, and nobody else does.
  void put_rank_zero_ahead(double seconds) { ahead_ = seconds; }
  int agreements = 0;
  int calls() const { return calls_; }

 private:
  void step() {
    std::vector<Governor::Step> steps;
    for (Governor& one : each_) steps.push_back(one.begin_call());
    for (const Governor::Step step : steps) EXPECT_EQ(step, steps.front());
    if (steps.front() == Governor::Step::report) {
      ++agreements;
      for (std::size_t r = 0; r < each_.size(); ++r) {
        Governor::Report report{};
        each_[r].write_report(report,
                              {.at_work = agreement_ + delay_, .waiting = r == 0 ? ahead_ : 0});
        if (r == 0) {
          all_ = report;
        } else {
          Judge::take_in(all_, report);
        }
      }
      delay_ = 0;
      verdicts_ = judge_.judge(each_.front(), all_);
    }
    if (steps.front() != Governor::Step::follow) return;
    for (Governor& one : each_) {
      if (verdicts_.empty()) {
        one.switch_off();
      } else {
        one.apply(verdicts_);
      }
    }
  }

  Judge judge_;
  double agreement_;
  double delay_ = 0;
  double ahead_ = 0;
  std::function<double(int call, Rank rank)> joins_;
  std::vector<Governor> each_;
  int calls_ = 0;
  Governor::Report all_{};
  std::vector<SiteVerdict> verdicts_;
};

// Every rank takes so long by each arm.
inline GovernedRanks::Cost costs_of_three(double own, double native, double challenger) {
  return [=](Arm arm, int, Rank) {
    return std::array{own, native, challenger}[static_cast<std::size_t>(arm)];
  };
}

inline GovernedRanks::Cost costs(double own, double native) {
  return [=](Arm arm, int, Rank) { return arm == Arm::own ? own : native; };
}

}  // namespace sibyl::test
