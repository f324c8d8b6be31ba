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
// calls: the first decided look ends the trial. A look decides by chance in at most one case of 70
// for either side, so in one of 35 at all.
// After the last one it goes to the side on which more pairs of costs are, so that an arm at the
// margin goes either way; but nothing was shown, and so the pause until the next trial of the
// two does not double, and that goes on with what is known already: a loss of a tenth that no 24
// pairs show, where single calls scatter by more, is found by 48 or 96.
//
// Again. A trial costs what its calls in the worse arm lose. The next one with the same contender
// comes so late that this is half a hundredth of the time until then (a quarter where there are two
// contenders), and each that finds the same twice as late as the one before. While Sibyl serves a
// site of long calls, ranks tell each other what its last four calls cost; these messages too are
// to take no more than half a hundredth. What they take is what the rank that was at it for longest
// was at work, and what all ranks waited. One that is ahead of the others waits for them as well,
// which delays nobody but for what it would have got ready meanwhile: of that one call's time
// counts. Where the median has grown by a quarter or fallen by a fifth, or ranks come five times as
// far apart as they did, or less than a fifth, and by more than a call takes, things are not what
// they were: a trial against the library begins at once, be another one under way or not; but for
// growth to less than four times only where they do not still take less, by a quarter, than the
// library's did when it was tried last, which it would lose again. One that
// then finds that it was not Sibyl's fault doubles what it takes to be alarmed; where that is at
// its end, nobody looks again before the budget allows for what the trial has cost.
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
  // `spread`: how far apart ranks joined these calls, the one in the middle; below 0: not known.
  SiteVerdict judge_trial(const Governor::Reported& told, std::span<const double> in_force,
                          std::span<const double> contender,
                          double spread = Governor::not_comparable);
  // The last calls of a site that Sibyl serves.
  SiteVerdict judge_watched(const Governor::Reported& told, std::span<const double> costs,
                            double spread = Governor::not_comparable);

  static constexpr double margin = 1.05;
  static constexpr double least_margin = 200e-9;
  static constexpr double budget = 0.005;  // of trials, and as much of messages between them
  static constexpr std::int64_t first_pause = Governor::first_pause;
  static constexpr std::int64_t longest_pause = 1 << 24;
  static constexpr std::int64_t shortest_interval = 4;
  static constexpr std::int64_t interval_at_first = 16;
  static constexpr std::int64_t longest_interval = 1 << 16;
  static constexpr double alarming_growth = 0.25;
  static constexpr double largest_growth = 8;
  static constexpr double largest_harmless_growth = 4;  // where the library took longer still
  static constexpr double other_arrivals = 4;           // times as far apart, and the growth's
  static constexpr std::size_t most_undecided = 96;     // calls of each arm

 private:
  // What calls cost in trials that were not decided, the arm that is in force against another.
  struct Undecided {
    Arm arm = Arm::own;
    std::vector<double> in_force;
    std::vector<double> contender;
  };
  struct Record {
    // Of the trial under way.
    std::vector<double> in_force;
    std::vector<double> contender;
    std::size_t earlier = 0;  // of each, from undecided ones
    int looks = 0;
    bool alarmed = false;  // it was begun by an alarm
    double spread = Governor::not_comparable;
    std::array<Undecided, arm_count> undecided{};  // by contender
    // Of earlier ones; by Arm that was found wanting, 0: it was not.
    std::array<std::int64_t, arm_count> pauses{};
    std::array<double, arm_count> known{};  // by Arm: what calls cost when it was tried; 0: not yet
    double growth = alarming_growth;
    double usual = 0;  // what a call cost when Sibyl was found to serve it well
    double usual_spread = Governor::not_comparable;
    void clear();
    void take_up(const Governor::Reported& told);
    void leave(const Governor::Reported& told, bool keeps);
  };
  Record& record_of(std::size_t site);
  SiteVerdict end_trial(Record& record, const Governor::Reported& told, Action action,
                        bool undecided);
  static bool is_alarming(const Record& record, Arm rival, double now, double spread);
  static SiteVerdict alarm(Record& record);
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
