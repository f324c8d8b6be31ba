// Learns who is late from piggybacked records; see late_ranks.hpp.
#include "arrival_service/late_ranks.hpp"

#include <algorithm>
#include <utility>

#include "arrival/splitmix64.hpp"

namespace sibyl {

std::int64_t LateRanks::RecentTimes::median() const {
  auto sorted = times_;
  const auto end = sorted.begin() + static_cast<std::ptrdiff_t>(count());
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(count() / 2);
  std::nth_element(sorted.begin(), middle, end);
  return *middle;
}

LateRanks::Site* LateRanks::find(std::uint64_t bytes) {
  const auto site = std::ranges::find(sites_, bytes, &Site::bytes);
  if (site != sites_.end()) return &*site;
  if (sites_.size() == most_sites) return nullptr;
  sites_.reserve(most_sites);
  sites_.emplace_back().bytes = bytes;
  return &sites_.back();
}

const LateRanks::Site* LateRanks::known(std::uint64_t bytes) const {
  const auto site = std::ranges::find(sites_, bytes, &Site::bytes);
  return site == sites_.end() ? nullptr : &*site;
}

LateRanks::Call LateRanks::enter(std::uint64_t bytes, double late_from, Time now) {
  Call call;
  call.late_from = late_from;
  call.site = find(bytes);
  if (call.site == nullptr) return call;
  Site& site = *call.site;
  ++site.calls;
  ++calls_since_comparison_;
  const bool trial = SplitMix64(static_cast<std::uint64_t>(site.calls)).next() % trial_of == 0;
  if (!trial) call.view = site.view;
  call.carries = site.calls >= site.next_record;
  if (!call.carries) return call;
  const std::int64_t local = clock_->local().at(now);
  call.record.first_arrival = clock_->common(local);
  call.record.latest.front() = {call.record.first_arrival, rank_};
  call.record.last_departure = site.departure;
  // An error without bounds is one of hours.
  constexpr double hours = 1e4;
  call.record.clock_error = static_cast<std::int64_t>(std::min(clock_->error(local), hours) * 1e9);
  return call;
}

SharedView LateRanks::leave(const Call& call, Time now) {
  if (call.site == nullptr) return nullptr;
  Site& site = *call.site;
  site.departure = clock_->common(now);
  SharedView before;
  if (call.carries) before = learn(call);
  site.followed = call.view != nullptr;
  site.last_arrival = call.carries ? call.record.latest.front().arrival : Piggyback::never;
  return before;
}

SharedView LateRanks::learn(const Call& call) {
  Site& site = *call.site;
  const Piggyback& record = call.record;
  // The first call of a site is planned, and costs are measured: it says nothing of later ones.
  if (site.last_arrival != Piggyback::never && site.calls > 2) {
    (site.followed ? site.known : site.unknown).add(record.last_departure - site.last_arrival);
  }
  const double clock_error = static_cast<double>(record.clock_error) * 1e-9;
  wants_clocks_compared_ = calls_since_comparison_ >= calls_between_comparisons &&
                           clock_error > clock_may_be_off * call.late_from;
  observe(site, record, call.late_from + 2 * clock_error);
  SharedView before;
  if (site.view != nullptr && (site.missed >= records_missed || !pays(site))) {
    before = withdraw(site);
  } else if (site.view == nullptr && site.named != nobody && site.alike >= records_needed &&
             site.calls >= site.not_before) {
    publish(site);
  }
  const bool quiet = site.named == nobody && site.alike >= records_of_nobody;
  site.interval = quiet ? std::min(2 * site.interval, longest_interval) : 1;
  site.next_record = site.calls + site.interval;
  return before;
}

// Whom a record names: who is late, and who of the view's is so by half of that.
void LateRanks::observe(Site& site, const Piggyback& record, double late_from) {
  std::array<Piggyback::Late, Piggyback::most_late> late{};
  std::size_t count = 0;
  for (const Piggyback::Late& one : record.latest) {
    const bool told = std::ranges::count(site.named_by_view, one.rank) != 0;
    const auto enough = static_cast<std::int64_t>((told ? 0.5 : 1.0) * late_from * 1e9);
    if (one.rank >= 0 && one.arrival - record.first_arrival >= enough) late[count++] = one;
  }
  std::ranges::sort(late.begin(), late.begin() + static_cast<std::ptrdiff_t>(count), {},
                    &Piggyback::Late::rank);
  Names named = nobody;
  for (std::size_t i = 0; i < count; ++i) named[i] = late[i].rank;
  if (named != site.named) {
    site.named = named;
    site.alike = 0;
    for (RecentTimes& times : site.lateness) times.forget();
  }
  ++site.alike;
  for (std::size_t i = 0; i < count; ++i) {
    site.lateness[i].add(late[i].arrival - record.first_arrival);
  }
  site.missed = named == site.named_by_view ? 0 : site.missed + 1;
}

void LateRanks::publish(Site& site) {
  ArrivalPattern pattern;
  pattern.times.assign(static_cast<std::size_t>(ranks_), 0);
  for (std::size_t i = 0; i < site.named.size() && site.named[i] >= 0; ++i) {
    pattern.times[static_cast<std::size_t>(site.named[i])] =
        static_cast<double>(site.lateness[i].median()) * 1e-9;
  }
  pattern.version = site.version + 1;
  site.view = view_of(std::move(pattern));
  ++site.version;
  site.named_by_view = site.named;
  site.missed = 0;
  site.known.forget();
}

// For a while, where it did not pay: the longer the more often that was so.
SharedView LateRanks::withdraw(Site& site) {
  if (site.missed < records_missed) {
    site.not_before = site.calls + site.pause;
    site.pause = std::min(2 * site.pause, longest_pause);
  }
  site.named_by_view = nobody;
  return std::exchange(site.view, nullptr);
}

bool LateRanks::pays(const Site& site) {
  if (site.known.count() < samples_needed || site.unknown.count() < samples_needed) return true;
  const auto by_view = static_cast<double>(site.known.median());
  return by_view <= has_to_save * static_cast<double>(site.unknown.median());
}

}  // namespace sibyl
