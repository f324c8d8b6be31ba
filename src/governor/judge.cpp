// Trials and watches; see judge.hpp.
#include "governor/judge.hpp"

#include <algorithm>
#include <cmath>

#include "governor/rank_sum.hpp"

namespace sibyl {
namespace {

// Up, or what is spent would be more than the budget.
std::int64_t calls_for(double spent, double cost, std::int64_t least, std::int64_t most) {
  const double calls = cost > 0 ? std::ceil(spent / (Judge::budget * cost)) : 0;
  if (calls >= static_cast<double>(most)) return most;
  return std::max(static_cast<std::int64_t>(calls), least);
}

// What calls cost, from when all have joined and left them, and how far apart ranks joined; of as
// many as a site may tell of.
using OfCalls = std::array<double, 2 * Governor::most_pairs>;
struct Told {
  OfCalls costs{};
  OfCalls spreads{};
};

Told told_from(const Governor::Report& all, std::size_t begin) {
  Told told;
  for (std::size_t i = 0; i < told.costs.size(); ++i) {
    const double joined = all[begin++];
    const double left = all[begin++];
    const double first_joined = all[begin++];
    told.costs[i] = left < 0 ? Governor::not_comparable : std::max(left - joined, 0.0);
    told.spreads[i] = left < 0 ? Governor::not_comparable : std::max(joined - first_joined, 0.0);
  }
  return told;
}

// The oldest go where there are more than count.
void keep_last(std::vector<double>& costs, std::size_t most) {
  if (costs.size() > most) {
    costs.erase(costs.begin(), costs.end() - static_cast<std::ptrdiff_t>(most));
  }
}

void keep_comparable(std::vector<double>& kept, std::span<const double> costs) {
  std::ranges::copy_if(costs, std::back_inserter(kept), [](double cost) { return cost >= 0; });
}

double median_of_comparable(std::span<const double> values) {
  std::vector<double> kept;
  keep_comparable(kept, values);
  return kept.empty() ? Governor::not_comparable : median_of(kept);
}

}  // namespace

void Judge::take_in(Governor::Report& all, const Governor::Report& report) {
  constexpr double none = Governor::not_comparable;
  all[0] = all[0] == report[0] ? all[0] : none;
  const auto is_least = [](std::size_t i) {
    constexpr std::size_t head = Governor::report_head;
    constexpr std::size_t words = Governor::words_of_a_stay;
    return i < head ? i == 3 : (i - head) % words == words - 1;
  };
  for (std::size_t i = 1; i < all.size(); ++i) {
    const double told = is_least(i) ? std::min(all[i], report[i]) : std::max(all[i], report[i]);
    all[i] = all[i] < 0 || report[i] < 0 ? none : told;
  }
}

std::vector<SiteVerdict> Judge::judge(Governor& own, const Governor::Report& all) {
  std::vector<SiteVerdict> verdicts;
  if (all[0] < 0) return verdicts;
  // Before the first one nothing has been taken yet.
  if (all[1] > 0) {
    agreements_[agreements_noted_++ % agreements_kept] = {
        .at_work = all[1], .most_waiting = all[2], .least_waiting = all[3]};
  }
  for (const Governor::Reported& told : own.reported()) {
    const Told calls = told_from(all, told.begin);
    const std::span<const double> of = calls.costs;
    const std::span<const double> apart = calls.spreads;
    verdicts.push_back(
        told.trial ? judge_trial(told, of.first(told.pairs), of.subspan(told.pairs, told.pairs),
                                 median_of_comparable(apart.first(2 * told.pairs)))
                   : judge_watched(told, of.first(Governor::watched),
                                   median_of_comparable(apart.first(Governor::watched))));
    verdicts.back().turns = own.turns_seen(told.site);
  }
  return verdicts;
}

Judge::Record& Judge::record_of(std::size_t site) {
  if (site >= records_.size()) records_.resize(site + 1);
  return records_[site];
}

double Judge::agreement(double cost) const {
  const std::size_t known = std::min(agreements_noted_, agreements_kept);
  if (known == 0) return 0;
  std::array<double, agreements_kept> sorted{};
  std::ranges::transform(agreements_, sorted.begin(), [cost](const Agreement& one) {
    return one.at_work + std::max(one.least_waiting, std::min(one.most_waiting, cost));
  });
  std::ranges::sort(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(known));
  return sorted[(known - 1) / 2];
}

std::int64_t Judge::interval_for(double cost) const {
  const double takes = agreement(cost);
  return takes <= 0 ? interval_at_first
                    : calls_for(takes, cost, shortest_interval, longest_interval);
}

bool Judge::is_alarming(const Record& record, Arm rival, double now, double spread) {
  if (record.usual <= 0) return false;
  const double most = 1 + record.growth;
  const double rivals = record.known[static_cast<std::size_t>(rival)];
  const bool still_less =
      (1 + alarming_growth) * now < rivals && now < largest_harmless_growth * record.usual;
  if ((now > most * record.usual && !still_less) || most * now < record.usual) return true;
  if (spread < 0 || record.usual_spread < 0) return false;
  const auto [less, more] = std::minmax(spread, record.usual_spread);
  return more - less > now && more > other_arrivals * most * less;
}

// What an undecided trial of the same two has left.
void Judge::Record::take_up(const Governor::Reported& told) {
  Undecided& left = undecided[static_cast<std::size_t>(told.contender)];
  if (left.arm != told.arm) return;
  in_force.swap(left.in_force);
  contender.swap(left.contender);
  earlier = std::max(in_force.size(), contender.size());
}

void Judge::Record::leave(const Governor::Reported& told, bool keeps) {
  for (std::vector<double>* costs : {&in_force, &contender}) keep_last(*costs, most_undecided);
  const Arm other = keeps ? told.contender : told.arm;
  Undecided& left = undecided[static_cast<std::size_t>(other)];
  left.arm = keeps ? told.arm : told.contender;
  left.in_force.swap(keeps ? in_force : contender);
  left.contender.swap(keeps ? contender : in_force);
}

SiteVerdict Judge::judge_trial(const Governor::Reported& told, std::span<const double> in_force,
                               std::span<const double> contender, double spread) {
  Record& record = record_of(told.site);
  if (record.looks == 0) record.take_up(told);
  const std::size_t known = record.in_force.size();
  keep_comparable(record.in_force, in_force);
  keep_comparable(record.contender, contender);
  ++record.looks;
  const std::span<const double> now = std::span(record.in_force).subspan(known);
  const bool among_own = told.arm != Arm::native && told.contender != told.rival;
  if (among_own && !now.empty() && is_alarming(record, told.rival, median_of(now), spread)) {
    return alarm(record);
  }
  record.spread = spread;
  if (record.in_force.empty() || record.contender.empty()) {
    return told.last_look ? end_trial(record, told, Action::keep, true) : SiteVerdict{};
  }
  std::vector<double> bounds = record.contender;
  for (double& cost : bounds) {
    cost = std::max(margin * cost, cost + least_margin);
  }
  const RankSum found = rank_sum_test(record.in_force, bounds);
  if (found == RankSum::undecided && !told.last_look) return {};
  const bool is_above = found == RankSum::undecided ? share_above(record.in_force, bounds) > 0.5
                                                    : found == RankSum::above;
  return end_trial(record, told, is_above ? Action::change : Action::keep,
                   found == RankSum::undecided);
}

SiteVerdict Judge::alarm(Record& record) {
  record.clear();
  record.undecided = {};
  record.alarmed = true;
  return {.action = Action::try_again};
}

SiteVerdict Judge::end_trial(Record& record, const Governor::Reported& told, Action action,
                             bool undecided) {
  SiteVerdict verdict{.action = action};
  if (!record.in_force.empty() && !record.contender.empty()) {
    verdict.in_force = median_of(record.in_force);
    verdict.contender = median_of(record.contender);
    record.known[static_cast<std::size_t>(told.arm)] = verdict.in_force;
    record.known[static_cast<std::size_t>(told.contender)] = verdict.contender;
  }
  const bool keeps = action == Action::keep;
  const double better = keeps ? verdict.in_force : verdict.contender;
  const double worse = keeps ? verdict.contender : verdict.in_force;
  const auto pairs = static_cast<double>(std::max(record.in_force.size(), record.contender.size()) -
                                         record.earlier);
  const double spent = pairs * std::max(worse - better, 0.0) + record.looks * agreement(better);
  std::int64_t& pause = record.pauses[static_cast<std::size_t>(keeps ? told.contender : told.arm)];
  if (!keeps || pause == 0) {
    pause = first_pause;
  } else if (!undecided) {
    pause = std::min(2 * pause, longest_pause);
  }
  if (!keeps) record.pauses[static_cast<std::size_t>(told.contender)] = 0;
  verdict.next_trial = calls_for(told.contenders * spent, better, pause, longest_pause);
  verdict.next_watch = interval_for(better);
  const bool against_rival = told.contender == told.rival;
  if (record.alarmed && keeps) {
    if (record.growth == largest_growth) {
      verdict.next_watch = std::max(verdict.next_watch, calls_for(spent, better, 0, longest_pause));
    }
    record.growth = std::min(2 * record.growth, largest_growth);
  } else if (against_rival || !keeps) {
    record.growth = alarming_growth;
  }
  // What makes the one cheaper may make the library so.
  if (!against_rival && record.usual > 0) {
    double& rivals = record.known[static_cast<std::size_t>(told.rival)];
    rivals *= std::min(1.0, better / record.usual);
  }
  record.usual = better;
  record.usual_spread = record.spread;
  if (undecided) record.leave(told, keeps);
  record.clear();
  return verdict;
}

void Judge::Record::clear() {
  in_force.clear();
  contender.clear();
  earlier = 0;
  looks = 0;
  alarmed = false;
}

SiteVerdict Judge::judge_watched(const Governor::Reported& told, std::span<const double> costs,
                                 double spread) {
  Record& record = record_of(told.site);
  SiteVerdict verdict{.action = Action::watch_on, .next_watch = longest_interval};
  const double now = median_of_comparable(costs);
  if (now < 0) return verdict;
  verdict.next_watch = interval_for(now);
  if (record.usual <= 0) {
    record.usual = now;
    record.usual_spread = spread;
  }
  return is_alarming(record, told.rival, now, spread) ? alarm(record) : verdict;
}

}  // namespace sibyl
