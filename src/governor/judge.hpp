// Judges the call sites of one communicator, at its rank 0: from what calls cost, which arm is to
// serve, and when that is to be looked at again.
//
// The cost of a call is the time from when the last rank joins it until the last one leaves, where
// all ranks read one clock. Else it is how long the rank was in it that was so for longest: where
// all come together that is the same; what others wait for a late rank adds to it, in either arm
// alike. (By the sum over ranks, which needs no clock either, a library's reduce,
// whose leaves go early, was as good as a schedule that was through in two thirds of its time.)
//
// Trials. The arm in force - Sibyl's choice at first - is to give way where it costs more than the
// contender by more than 5 % and more than 200 ns. So its costs are held against the contender's
// with this margin added, by the rank-sum test (rank_sum.hpp), after 4, 8, 16 and 24 pairs of
// calls: the first decided look ends the trial. A look decides by chance in at most one case of 70.
// After the last one the medians decide, so that an arm at the margin goes either way.
//
// Again. A trial costs what its calls in the worse arm lose. The next one with the same contender
// comes so late that this is half a hundredth of the time until then (a quarter where there are two
// contenders), and each that finds the same twice as late as the one before. While Sibyl serves a
// site of long calls, ranks tell each other what its last four calls cost; these messages too are
// to take no more than half a hundredth. What they take is what the rank that was at it for longest
// was at work, and what all ranks waited. One that is ahead of the others waits for them as well,
// which delays nobody but for what it would have got ready meanwhile: of that one call's time
// counts. Where the median has grown by a quarter, a trial against the library begins at once, be
// another one under way or not. One that then finds that it was not Sibyl's fault doubles what it
// takes to be alarmed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "governor/governor.hpp"
#include "governor/verdict.hpp"

namespace sibyl {

class Judge {
 public:
  // Takes in what another rank has told: the latest times, and the least that one waited. A time or
  // fingerprint that cannot be compared makes the whole so.
  static void take_in(Governor::Report& all, const Governor::Report& report);
  // Of this rank's governor, about which all ranks have told this. Empty where they are not in
  // step. May throw std::bad_alloc.
  std::vector<SiteVerdict> judge(Governor& own, const Governor::Report& all);

  // Another part of this trial. Costs below 0 are of calls that cannot be compared. May throw
  // std::bad_alloc.
  SiteVerdict judge_trial(const Governor::Reported& told, std::span<const double> in_force,
                          std::span<const double> contender);
  // The last calls of a site that Sibyl serves.
  SiteVerdict judge_watched(std::size_t site, std::span<const double> costs);

  static constexpr double margin = 1.05;
  static constexpr double least_margin = 200e-9;
  static constexpr double budget = 0.005;  // of trials, and as much of messages between them
  static constexpr std::int64_t first_pause = 256;
  static constexpr std::int64_t longest_pause = 1 << 24;
  static constexpr std::int64_t shortest_interval = 4;
  static constexpr std::int64_t interval_at_first = 16;
  static constexpr std::int64_t longest_interval = 1 << 16;
  static constexpr double alarming_growth = 0.25;
  static constexpr double largest_growth = 8;

 private:
  struct Record {
    // Of the trial under way.
    std::vector<double> in_force;
    std::vector<double> contender;
    int looks = 0;
    bool alarmed = false;  // it was begun by an alarm
    // Of earlier ones; by Arm that was found wanting, 0: it was not.
    std::array<std::int64_t, arm_count> pauses{};
    double growth = alarming_growth;
    double usual = 0;  // what a call cost when Sibyl was found to serve it well
    void clear();
  };
  Record& record_of(std::size_t site);
  SiteVerdict end_trial(Record& record, const Governor::Reported& told, Action action);
  static bool is_alarming(const Record& record, double now);
  std::int64_t interval_for(double cost) const;

  // What an agreement takes where a call takes `cost`: the one in the middle of the last few, or a
  // rank that was late for one would keep all sites unwatched for long. 0: not known yet.
  double agreement(double cost) const;
  struct Agreement {
    double at_work = 0;
    double most_waiting = 0;
    double least_waiting = 0;
  };
  static constexpr std::size_t agreements_kept = 3;
  std::array<Agreement, agreements_kept> agreements_{};
  std::size_t agreements_noted_ = 0;
  std::vector<Record> records_;
};

}  // namespace sibyl
