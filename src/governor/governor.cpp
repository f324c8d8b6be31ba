// Draws arms, notes times and follows verdicts; see governor.hpp.
#include "governor/governor.hpp"

#include <algorithm>
#include <bit>
#include <new>
#include <string_view>

#include "arrival/splitmix64.hpp"
#include "governor/judge.hpp"

namespace sibyl {

Governor::Key Governor::key_of(Collective collective, Rank root, std::uint64_t bytes,
                               OperatorUse use, bool commutes, const Algorithm* own,
                               const Algorithm* challenger, Rank ranks) {
  const Rank blocks = blocks_of_a_call(collective, ranks);
  const auto each = static_cast<std::uint64_t>(blocks);
  return {.collective = collective,
          .root = root,
          .operator_use = use,
          .commutes = commutes,
          .size_class = static_cast<int>(std::bit_width(bytes)),
          .own = own,
          .challenger = challenger,
          .blocks = blocks,
          .long_calls = bytes >= (governed_from + each - 1) / each};
}

// The library first where several are due since the same call.
Arm Governor::Site::next_contender() const {
  Arm next = arm;
  for (const Arm one : {Arm::native, Arm::own, Arm::challenger}) {
    const std::int64_t at = next_trial[static_cast<std::size_t>(one)];
    if (one == arm || !key.has(one) || calls < at) continue;
    if (next == arm || at < next_trial[static_cast<std::size_t>(next)]) next = one;
  }
  return next;
}

void Governor::Site::reconsider() {
  const std::int64_t sooner = decided_at + pause_of_changes;
  for (std::int64_t& at : next_trial) {
    hurried = hurried || sooner < at;
    at = std::min(at, sooner);
  }
}

std::uint64_t Governor::Key::hash() const {
  std::uint64_t hash = static_cast<std::uint32_t>(root);
  for (const int part : {static_cast<int>(collective), static_cast<int>(operator_use), size_class,
                         line, commutes ? 1 : 0}) {
    hash = hash << 6U ^ static_cast<std::uint64_t>(part);
  }
  return SplitMix64(hash).next();
}

// Where the site of this key is, or would be.
[[gnu::hot]] std::size_t Governor::place_of(const Key& key) const {
  std::size_t place = key.hash() % places_.size();
  while (places_[place] != 0 && sites_[places_[place] - 1U].key != key) {
    place = (place + 1) % places_.size();
  }
  return place;
}

[[gnu::hot]] Governor::Site* Governor::known(const Key& key) {
  const std::uint8_t found = places_[place_of(key)];
  return found == 0 ? nullptr : &sites_[found - 1U];
}

[[gnu::hot]] Governor::Site* Governor::find(const Key& key) {
  if (last_found_ < sites_.size() && sites_[last_found_].key == key) return &sites_[last_found_];
  if (Site* const site = known(key)) {
    last_found_ = static_cast<std::size_t>(site - sites_.data());
    return site;
  }
  // Lines are numbered by the site of no line, and so are of its root or of all further ones.
  Key own = key;
  if (key.line == 0) {
    if (Site* const of_further_roots = known(key.with_root(no_rank))) return of_further_roots;
  }
  if (sites_.size() == most_sites) return nullptr;
  if (key.line == 0) {
    const auto roots = std::ranges::count_if(
        sites_, [&](const Site& site) { return site.key.with_root(key.root) == key; });
    if (roots == most_roots) own = key.with_root(no_rank);
  }
  Site& site = sites_.emplace_back();
  site.key = own;
  site.sends = own.may_send();
  places_[place_of(own)] = static_cast<std::uint8_t>(sites_.size());
  return &site;
}

// The site of the line whose turn it is; of no line where there is no room for it.
[[gnu::hot]] Governor::Site* Governor::site_of(const Key& key, std::int64_t place) {
  Site* const all = find(key);
  if (all == nullptr) return nullptr;
  ++all->made;
  if (place != 0) {
    // Rank 0 alone looks at lines, and must not fail alone: without memory it looks at none.
    if (all->lines == nullptr) all->lines.reset(new (std::nothrow) CallLines);
    if (all->lines != nullptr) all->lines->note(all->made, place);
  }
  const int line = all->turns.line_of(all->made);
  if (line == 0) return all;
  Key own = all->key;
  own.line = line;
  // Half of the room is for sites that are no line's, or those of later calls would find none.
  const bool has_room = sites_.size() < most_sites / 2;
  return has_room || known(own) != nullptr ? find(own) : all;
}

CallTurns Governor::turns_seen(std::size_t site) {
  Key key = sites_[site].key;
  key.line = 0;
  const Site* const all = known(key);
  return all->lines == nullptr ? CallTurns{} : all->lines->turns(all->made);
}

[[gnu::hot]] Governor::Call Governor::enter(const Key& key, std::uint64_t arrivals,
                                            std::int64_t place) {
  Call call;
  if (off_) return call;
  call.site = site_of(key, place);
  if (call.site == nullptr) {
    if (key.library) call.arm = Arm::native;
    return call;
  }
  Site& site = *call.site;
  ++site.calls;
  if (site.arrivals != arrivals) {
    // Other arrivals, perhaps another outcome: long pauses were for the old ones.
    site.arrivals = arrivals;
    site.reconsider();
  }
  const bool may_try = site.sends || agreements_ > 0;
  if (!site.trying && !site.reported && may_try) {
    if (const Arm next = site.next_contender(); next != site.arm) begin_trial(site, next);
  }
  call.arm = site.arm;
  if (site.trying) {
    draw(site, call);
  } else if (site.sends && site.arm != Arm::native) {
    note(site, call);
  }
  ++site.served[static_cast<std::size_t>(call.arm)];
  return call;
}

void Governor::begin_trial(Site& site, Arm contender) {
  site.trying = true;
  site.contender = contender;
  site.look = 0;
  site.begun = 0;
  site.unseen = site.cost[static_cast<std::size_t>(contender)] == 0 ? 2 : 0;
}

[[gnu::hot]] void Governor::draw(Site& site, Call& call) {
  if (site.look_is_due()) return;
  const int number = site.begun++;
  const int seen = number - site.unseen;
  if (site.look_is_due() && site.sends) wanted_ = true;
  if (seen < 0) {
    call.arm = number == 0 ? site.arm : site.contender;
    return;
  }
  static_assert(std::ranges::all_of(pairs_of_looks, [](int pairs) { return pairs % 4 == 0; }));
  const int place = seen % 8;  // among four pairs
  const auto begin = static_cast<std::uint64_t>(site.calls - place);
  const auto index = static_cast<std::uint64_t>(&site - sites_.data());
  const std::uint64_t drawn = SplitMix64(begin ^ index << 32U).next();
  const bool first_of_two = (drawn >> static_cast<unsigned>(place / 2 % 2) & 1U) != 0;
  const bool contender_first = first_of_two != (place >= 4);
  const bool contends = contender_first != (seen % 2 != 0);
  call.arm = contends ? site.contender : site.arm;
  call.stay = &site.stays[contends ? 1 : 0][static_cast<std::size_t>(seen / 2)];
  *call.stay = {};  // not comparable until it is over
}

[[gnu::hot]] void Governor::note(Site& site, Call& call) {
  call.stay = &site.recent[site.noted++ % watched];
  *call.stay = {};
  if (!site.reported && site.watch_is_due()) wanted_ = true;
}

[[gnu::hot]] Governor::Step Governor::begin_call() {
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
  // A trial has begun since that takes the place of the watch that was due: what tells nothing
  // would be taken for a rank that has lost its step.
  wanted_ = has_to_tell();
  if (!wanted_) return Step::nothing;
  under_way_ = true;
  reported_at_ = number_;
  return Step::report;
}

std::size_t Governor::write_report(Report& report, Spent spent) {
  reported_count_ = 0;
  std::size_t end = report_head;
  const auto write = [&](const Stay& stay) {
    report[end++] = stay.joined;
    report[end++] = stay.left;
    report[end++] = stay.joined;  // of which rank 0 makes the least of all ranks
  };
  const std::size_t first = next_reported_;
  for (std::size_t i = 0; i < sites_.size() && reported_count_ < reported_.size(); ++i) {
    const std::size_t index = (first + i) % sites_.size();
    Site& site = sites_[index];
    if (!site.look_is_due() && !site.watch_is_due()) continue;
    Reported& told = reported_[reported_count_++];
    told = {.site = index,
            .trial = site.trying,
            .arm = site.arm,
            .contender = site.contender,
            .rival = site.rival(),
            .contenders = site.key.contenders(),
            .begin = end};
    if (site.trying) {
      told.pairs = static_cast<std::size_t>(pairs_of_looks[site.look]);
      told.last_look = site.look + 1 == pairs_of_looks.size();
      for (const auto& stays : site.stays) {
        for (std::size_t pair = 0; pair < told.pairs; ++pair) write(stays[pair]);
      }
    } else {
      for (const Stay& stay : site.recent) write(stay);
    }
    site.reported = true;
    site.reported_at = site.calls;
    next_reported_ = index + 1;
  }
  report[0] = fingerprint();
  report[1] = spent.at_work;
  report[2] = spent.waiting;
  report[3] = spent.waiting;
  wanted_ = false;
  return end;
}

double Governor::fingerprint() const {
  std::uint64_t hash = communicator_ ^ sites_.size();
  const auto add = [&](std::uint64_t value) { hash = SplitMix64(hash ^ value).next(); };
  add(static_cast<std::uint64_t>(number_));
  for (const Reported& told : reported()) {
    const Site& site = sites_[told.site];
    add(told.site);
    add(static_cast<std::uint64_t>(site.key.collective));
    add(static_cast<std::uint64_t>(site.key.root));
    add(static_cast<std::uint64_t>(site.key.size_class));
    add(static_cast<std::uint64_t>(site.key.line));
    add(told.trial ? 1 + site.look : 0);
    add(arm_count * static_cast<std::uint64_t>(told.arm) +
        static_cast<std::uint64_t>(told.contender));
    add(static_cast<std::uint64_t>(site.calls));
  }
  constexpr int bits_of_a_double = 53;
  return static_cast<double>(hash >> (64 - bits_of_a_double));
}

// The one that gives way is tried again after its own pause.
void Governor::end_trial(Site& site, const SiteVerdict& verdict) {
  const bool changes = verdict.action == Action::change;
  const Arm loser = changes ? site.arm : site.contender;
  site.trying = false;
  site.decided = true;
  site.cost[static_cast<std::size_t>(site.arm)] = verdict.in_force;
  site.cost[static_cast<std::size_t>(site.contender)] = verdict.contender;
  site.decided_at = site.calls;
  site.noted = 0;
  if (site.look + 1 == pairs_of_looks.size()) {
    std::int64_t& challenge = site.next_trial[static_cast<std::size_t>(Arm::challenger)];
    challenge = std::max(challenge, first_challenge);
  }
  if (changes) {
    site.arm = site.contender;
    site.pause_of_changes = Judge::first_pause;
    site.reconsider();
  } else if (site.hurried) {
    site.pause_of_changes = std::min(2 * site.pause_of_changes, Judge::longest_pause);
  }
  site.hurried = false;
  site.next_trial[static_cast<std::size_t>(loser)] = site.calls + verdict.next_trial;
}

void Governor::apply(std::span<const SiteVerdict> verdicts) {
  for (std::size_t i = 0; i < reported_count_; ++i) {
    Site& site = sites_[reported_[i].site];
    const SiteVerdict& verdict = verdicts[i];
    Key key_of_all = site.key;
    key_of_all.line = 0;
    known(key_of_all)->turns = verdict.turns;
    site.reported = false;
    site.next_watch = site.reported_at + verdict.next_watch;
    switch (verdict.action) {
      case Action::compare_more:
        ++site.look;
        site.begun = 0;
        site.unseen = 0;
        break;
      case Action::keep:
      case Action::change:
        end_trial(site, verdict);
        break;
      case Action::watch_on:
        break;
      case Action::try_again:
        begin_trial(site, site.rival());
        break;
    }
  }
  reported_count_ = 0;
  ++agreements_;
  wanted_ = has_to_tell();
}

bool Governor::has_to_tell() const {
  return std::ranges::any_of(sites_, [](const Site& site) {
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
