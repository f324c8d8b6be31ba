// Draws arms, notes times and follows verdicts; see governor.hpp.
#include "governor/governor.hpp"

#include <algorithm>
#include <bit>
#include <string_view>

#include "arrival/splitmix64.hpp"
#include "governor/judge.hpp"

namespace sibyl {

Governor::Key Governor::key_of(Collective collective, Rank root, std::uint64_t bytes,
                               OperatorUse use, bool commutes, const Algorithm* own) {
  return {collective, root, use, commutes, static_cast<int>(std::bit_width(bytes)), own};
}

Governor::Site* Governor::find(const Key& key) {
  if (last_found_ < sites_.size() && sites_[last_found_].key == key) return &sites_[last_found_];
  const auto known = std::ranges::find(sites_, key, &Site::key);
  last_found_ = static_cast<std::size_t>(known - sites_.begin());
  if (known != sites_.end()) return &*known;
  if (sites_.size() == most_sites) return nullptr;
  Site& site = sites_.emplace_back();
  site.key = key;
  site.sends = key.size_class >= static_cast<int>(std::bit_width(long_from));
  return &site;
}

Governor::Call Governor::enter(const Key& key, std::uint64_t arrivals) {
  Call call;
  call.site = off_ ? nullptr : find(key);
  if (call.site == nullptr) return call;
  Site& site = *call.site;
  ++site.calls;
  if (site.arrivals != arrivals) {
    // Other arrivals, perhaps another outcome: long pauses were for the old ones.
    site.arrivals = arrivals;
    site.next_trial = std::min(site.next_trial, site.decided_at + Judge::first_pause);
  }
  const bool may_try = site.sends || agreements_ > 0;
  if (!site.trying && !site.reported && may_try && site.calls >= site.next_trial) {
    begin_trial(site, !site.decided);
  }
  call.arm = site.arm;
  if (site.trying) {
    draw(site, call);
  } else if (site.sends && site.arm == Arm::own) {
    note(site, call);
  }
  ++site.served[static_cast<std::size_t>(call.arm)];
  return call;
}

void Governor::begin_trial(Site& site, bool unseen_pair) {
  site.trying = true;
  site.look = 0;
  site.begun = 0;
  site.unseen = unseen_pair ? 2 : 0;
}

void Governor::draw(Site& site, Call& call) {
  if (site.look_is_due()) return;
  const int number = site.begun++;
  const int seen = number - site.unseen;
  if (site.look_is_due() && site.sends) wanted_ = true;
  if (seen < 0) {
    call.arm = number == 0 ? Arm::own : Arm::native;
    return;
  }
  const bool second = seen % 2 != 0;
  const auto pair_begins = static_cast<std::uint64_t>(site.calls - (second ? 1 : 0));
  const bool own_first = SplitMix64(pair_begins).next() % 2 == 0;
  call.arm = own_first != second ? Arm::own : Arm::native;
  call.took = &site.costs[static_cast<std::size_t>(call.arm)][static_cast<std::size_t>(seen / 2)];
  *call.took = not_comparable;  // until it is over
}

void Governor::note(Site& site, Call& call) {
  call.took = &site.recent[site.noted++ % watched];
  *call.took = not_comparable;
  if (!site.reported && site.watch_is_due()) wanted_ = true;
}

Governor::Step Governor::begin_call() {
  if (off_) return Step::nothing;
  ++number_;
  if (under_way_) {
    if (number_ == reported_at_ + calls_in_flight) {
      under_way_ = false;
      return Step::follow;
    }
    return Step::collect;
  }
  if (!wanted_) return Step::nothing;
  under_way_ = true;
  reported_at_ = number_;
  return Step::report;
}

void Governor::write_report(Report& report, double seconds) {
  reported_count_ = 0;
  std::size_t end = 2;
  const std::size_t first = next_reported_;
  for (std::size_t i = 0; i < sites_.size() && reported_count_ < reported_.size(); ++i) {
    const std::size_t index = (first + i) % sites_.size();
    Site& site = sites_[index];
    if (!site.look_is_due() && !site.watch_is_due()) continue;
    Reported& told = reported_[reported_count_++];
    told = {.site = index, .trial = site.trying, .begin = end};
    if (site.trying) {
      told.pairs = static_cast<std::size_t>(pairs_of_looks[site.look]);
      told.last_look = site.look + 1 == pairs_of_looks.size();
      for (const auto& costs : site.costs) {
        for (std::size_t pair = 0; pair < told.pairs; ++pair) report[end++] = costs[pair];
      }
    } else {
      for (const double cost : site.recent) report[end++] = cost;
    }
    site.reported = true;
    site.reported_at = site.calls;
    next_reported_ = index + 1;
  }
  report[0] = fingerprint();
  report[1] = seconds;
  wanted_ = false;
}

double Governor::fingerprint() const {
  std::uint64_t hash = communicator_ ^ sites_.size();
  const auto add = [&](std::uint64_t value) { hash = SplitMix64(hash ^ value).next(); };
  for (const Reported& told : reported()) {
    const Site& site = sites_[told.site];
    add(told.site);
    add(static_cast<std::uint64_t>(site.key.collective));
    add(static_cast<std::uint64_t>(site.key.root));
    add(static_cast<std::uint64_t>(site.key.size_class));
    add(told.trial ? 1 + site.look : 0);
    add(static_cast<std::uint64_t>(site.calls));
  }
  constexpr int bits_of_a_double = 53;
  return static_cast<double>(hash >> (64 - bits_of_a_double));
}

void Governor::apply(std::span<const SiteVerdict> verdicts) {
  for (std::size_t i = 0; i < reported_count_; ++i) {
    Site& site = sites_[reported_[i].site];
    const SiteVerdict& verdict = verdicts[i];
    site.reported = false;
    site.next_watch = site.reported_at + verdict.next_watch;
    switch (verdict.action) {
      case Action::compare_more:
        ++site.look;
        site.begun = 0;
        site.unseen = 0;
        break;
      case Action::hold_own:
      case Action::hold_native:
        site.trying = false;
        site.decided = true;
        site.arm = verdict.action == Action::hold_own ? Arm::own : Arm::native;
        site.own = verdict.own;
        site.native = verdict.native;
        site.decided_at = site.calls;
        site.next_trial = site.calls + verdict.next_trial;
        site.noted = 0;
        break;
      case Action::watch_on:
        break;
      case Action::try_again:
        begin_trial(site, false);
        break;
    }
  }
  reported_count_ = 0;
  ++agreements_;
  wanted_ = std::ranges::any_of(sites_, [](const Site& site) {
    return site.sends && !site.reported && (site.look_is_due() || site.watch_is_due());
  });
}

void Governor::switch_off() {
  off_ = true;
  under_way_ = false;
  wanted_ = false;
  reported_count_ = 0;
}

}  // namespace sibyl
