// Trials and watches; see judge.hpp.
#include "governor/judge.hpp"

#include <algorithm>

#include "governor/rank_sum.hpp"

namespace sibyl {
namespace {

std::int64_t calls_for(double spent, double cost, std::int64_t least, std::int64_t most) {
  const double calls = cost > 0 ? spent / (Judge::budget * cost) : 0;
  if (calls >= static_cast<double>(most)) return most;
  return std::max(static_cast<std::int64_t>(calls), least);
}

void keep_comparable(std::vector<double>& kept, std::span<const double> costs) {
  std::ranges::copy_if(costs, std::back_inserter(kept), [](double cost) { return cost >= 0; });
}

}  // namespace

void Judge::take_in(Governor::Report& all, const Governor::Report& report) {
  constexpr double none = Governor::not_comparable;
  all[0] = all[0] == report[0] ? all[0] : none;
  for (std::size_t i = 1; i < all.size(); ++i) {
    all[i] = all[i] < 0 || report[i] < 0 ? none : std::max(all[i], report[i]);
  }
}

std::vector<SiteVerdict> Judge::judge(const Governor& own, const Governor::Report& all) {
  std::vector<SiteVerdict> verdicts;
  if (all[0] < 0) return verdicts;
  agreement_ = std::max(all[1], 0.0);
  for (const Governor::Reported& told : own.reported()) {
    const std::span<const double> costs = std::span(all).subspan(told.begin);
    verdicts.push_back(told.trial
                           ? judge_trial(told.site, costs.first(told.pairs),
                                         costs.subspan(told.pairs, told.pairs), told.last_look)
                           : judge_watched(told.site, costs.first(Governor::watched)));
  }
  return verdicts;
}

Judge::Record& Judge::record_of(std::size_t site) {
  if (site >= records_.size()) records_.resize(site + 1);
  return records_[site];
}

std::int64_t Judge::interval_for(double cost) const {
  if (agreement_ <= 0) return interval_at_first;
  return calls_for(agreement_, cost, shortest_interval, longest_interval);
}

SiteVerdict Judge::judge_trial(std::size_t site, std::span<const double> own,
                               std::span<const double> native, bool last) {
  Record& record = record_of(site);
  keep_comparable(record.own, own);
  keep_comparable(record.native, native);
  ++record.looks;
  if (record.own.empty() || record.native.empty()) {
    return last ? end_trial(record, Action::hold_own) : SiteVerdict{};
  }
  std::vector<double> bounds = record.native;
  for (double& cost : bounds) {
    cost = std::max(margin * cost, cost + least_margin);
  }
  RankSum found = rank_sum_test(record.own, bounds);
  if (found == RankSum::undecided && last) {
    found = median_of(record.own) > median_of(bounds) ? RankSum::above : RankSum::below;
  }
  if (found == RankSum::undecided) return {};
  return end_trial(record, found == RankSum::above ? Action::hold_native : Action::hold_own);
}

SiteVerdict Judge::end_trial(Record& record, Action action) {
  SiteVerdict verdict{.action = action};
  if (!record.own.empty() && !record.native.empty()) {
    verdict.own = median_of(record.own);
    verdict.native = median_of(record.native);
  }
  const double better = action == Action::hold_own ? verdict.own : verdict.native;
  const double worse = action == Action::hold_own ? verdict.native : verdict.own;
  const auto pairs = static_cast<double>(std::max(record.own.size(), record.native.size()));
  const double spent = pairs * std::max(worse - better, 0.0) + record.looks * agreement_;
  record.pause = action == record.held ? std::min(2 * record.pause, longest_pause) : first_pause;
  verdict.next_trial = calls_for(spent, better, record.pause, longest_pause);
  verdict.next_watch = interval_for(verdict.own);
  const bool false_alarm = record.alarmed && action == Action::hold_own;
  record.growth = false_alarm ? std::min(2 * record.growth, largest_growth) : alarming_growth;
  record.usual = verdict.own;
  record.held = action;
  record.own.clear();
  record.native.clear();
  record.looks = 0;
  record.alarmed = false;
  return verdict;
}

SiteVerdict Judge::judge_watched(std::size_t site, std::span<const double> costs) {
  Record& record = record_of(site);
  std::vector<double> comparable;
  keep_comparable(comparable, costs);
  SiteVerdict verdict{.action = Action::watch_on, .next_watch = longest_interval};
  if (comparable.empty()) return verdict;
  const double now = median_of(comparable);
  verdict.next_watch = interval_for(now);
  if (record.usual <= 0) record.usual = now;
  if (now > (1 + record.growth) * record.usual) {
    verdict.action = Action::try_again;
    record.alarmed = true;
  }
  return verdict;
}

}  // namespace sibyl
