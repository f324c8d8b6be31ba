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
  const auto same = [&](const auto& site) { return site->bytes == bytes; };
  const auto site = std::ranges::find_if(sites_, same);
  if (site != sites_.end()) return site->get();
  if (sites_.size() == most_sites) return nullptr;
  sites_.push_back(std::make_unique<Site>());
  sites_.back()->bytes = bytes;
  return sites_.back().get();
}

const LateRanks::Site* LateRanks::known(std::uint64_t bytes) const {
  const auto same = [&](const auto& site) { return site->bytes == bytes; };
  const auto site = std::ranges::find_if(sites_, same);
  return site == sites_.end() ? nullptr : site->get();
}

void LateRanks::pass(std::uint64_t bytes) {
  if (Site* const site = find(bytes); site != nullptr) ++site->made;
}

LateRanks::Call LateRanks::enter(std::uint64_t bytes, double late_from, Time now, bool of_nodes) {
  Call call;
  call.late_from = late_from;
  call.of_nodes = of_nodes;
  call.site = find(bytes);
  if (call.site == nullptr) return call;
  Site& site = *call.site;
  ++site.made;
  ++site.calls;
  ++calls_since_comparison_;
  call.line = static_cast<std::size_t>(site.turns.line_of(site.made));
  const bool trial = SplitMix64(static_cast<std::uint64_t>(site.calls)).next() % trial_of == 0;
  if (!trial) call.view = site.lines[call.line].view;
  call.carries = site.calls >= site.next_record;
  if (!call.carries) return call;
  const std::int64_t local = clock_->local().at(now);
  call.record.first_arrival = clock_->common(local);
  call.record.latest.front() = {call.record.first_arrival, name_of(rank_, of_nodes)};
  call.record.last_departure = site.departure;
  // An error without bounds is one of hours.
  constexpr double hours = 1e4;
  call.record.clock_error = static_cast<std::int64_t>(std::min(clock_->error(local), hours) * 1e9);
  return call;
}

LateRanks::Change LateRanks::leave(const Call& call, Time now) {
  if (call.site == nullptr) return {};
  Site& site = *call.site;
  site.departure = clock_->common(now);
  if (call.carries) return learn(call);
  site.last_arrival = Piggyback::never;
  return {};
}

LateRanks::Change LateRanks::learn(const Call& call) {
  Site& site = *call.site;
  const Piggyback& record = call.record;
  // The first call of a site is planned, and costs are measured: it says nothing of later ones.
  if (site.last_arrival != Piggyback::never && site.calls > 2) {
    Line& last = site.lines[site.last_line];
    (site.followed ? last.known : last.unknown).add(record.last_departure - site.last_arrival);
  }
  const int line = site.told_apart.note(site.made, record.place);
  const bool several = site.told_apart.several();
  const bool took_turns = site.turns.period != 0;
  Change change;
  if (several && line != 0) {
    Line& own = site.lines[static_cast<std::size_t>(line)];
    change.withdrawn[0] = learn_of_line(site, own, call, change.made);
  }
  // Also where it is a line beyond those that are told apart, at whose number another's turn was.
  if (several && line != site.turns.line_of(site.made)) {
    site.turns = site.told_apart.turns(site.made);
  }
  if (!took_turns && site.turns.period != 0) {
    // It was all of them together, and is what belongs to none from now on.
    change.withdrawn[1] = forget(site.lines[0]);
  } else if (!several || line == 0 || site.turns.period == 0) {
    change.withdrawn[1] = learn_of_line(site, site.lines[0], call, change.made);
  }
  const bool as_taken = call.line == 0 || call.line == static_cast<std::size_t>(line);
  site.last_arrival = as_taken ? record.latest.front().arrival : Piggyback::never;
  site.last_line = call.line;
  site.followed = call.view != nullptr;
  const double clock_error = static_cast<double>(record.clock_error) * 1e-9;
  wants_clocks_compared_ = calls_since_comparison_ >= calls_between_comparisons &&
                           clock_error > clock_may_be_off * call.late_from;
  plan_next_record(site);
  return change;
}

// All but how long a view that has not paid is to rest. Gives the view that it has no longer.
SharedView LateRanks::forget(Line& line) {
  Line fresh;
  fresh.not_before = line.not_before;
  fresh.pause = line.pause;
  return std::exchange(line, std::move(fresh)).view;
}

// Gives the view that it has no longer.
SharedView LateRanks::learn_of_line(Site& site, Line& line, const Call& call,
                                    SharedView& made) const {
  const double clock_error = static_cast<double>(call.record.clock_error) * 1e-9;
  observe(line, call.record, call.late_from + 2 * clock_error);
  if (line.view != nullptr && (line.missed >= records_missed || !pays(line))) {
    return withdraw(site, line);
  }
  if (line.view == nullptr && line.named != nobody && line.alike >= records_needed &&
      site.calls >= line.not_before) {
    publish(site, line, call.of_nodes);
    made = line.view;
  }
  return nullptr;
}

bool LateRanks::is_quiet(const Site& site) {
  const auto quiet = [](const Line& line) {
    return line.named == nobody && line.alike >= records_of_nobody;
  };
  if (site.turns.period == 0) return quiet(site.lines[0]);
  std::uint32_t told = 0;
  for (std::size_t i = 0; i < most_call_lines; ++i) {
    told |= site.turns.remainders[i];
    if (site.turns.remainders[i] != 0 && !quiet(site.lines[i + 1])) return false;
  }
  // Numbers that belong to no line.
  const std::uint64_t all = (std::uint64_t{1} << static_cast<unsigned>(site.turns.period)) - 1;
  return told == all || quiet(site.lines[0]);
}

// Where nobody is late, ever more rarely, and not in step with the program's own turns: or of
// several lines one might be met always and the others never.
void LateRanks::plan_next_record(Site& site) {
  site.interval = is_quiet(site) ? std::min(2 * site.interval, longest_interval) : 1;
  const auto half = static_cast<std::uint64_t>(site.interval / 2 + 1);
  const std::uint64_t drawn = SplitMix64(static_cast<std::uint64_t>(site.calls)).next() % half;
  site.next_record = site.calls + site.interval - static_cast<std::int64_t>(drawn);
}

// Whom a record names: who is late, and who of the view's is so by half of that.
void LateRanks::observe(Line& line, const Piggyback& record, double late_from) {
  std::array<Piggyback::Late, Piggyback::most_late> late{};
  std::size_t count = 0;
  for (const Piggyback::Late& one : record.latest) {
    const bool told = std::ranges::count(line.named_by_view, one.name) != 0;
    const auto enough = static_cast<std::int64_t>((told ? 0.5 : 1.0) * late_from * 1e9);
    if (one.name >= 0 && one.arrival - record.first_arrival >= enough) late[count++] = one;
  }
  std::ranges::sort(late.begin(), late.begin() + static_cast<std::ptrdiff_t>(count), {},
                    &Piggyback::Late::name);
  Names named = nobody;
  for (std::size_t i = 0; i < count; ++i) named[i] = late[i].name;
  if (named != line.named) {
    line.named = named;
    line.alike = 0;
    for (RecentTimes& times : line.lateness) times.forget();
  }
  ++line.alike;
  for (std::size_t i = 0; i < count; ++i) {
    line.lateness[i].add(late[i].arrival - record.first_arrival);
  }
  line.missed = named == line.named_by_view ? 0 : line.missed + 1;
}

void LateRanks::publish(Site& site, Line& line, bool of_nodes) const {
  ArrivalPattern pattern;
  const auto ranks = static_cast<Rank>(nodes_.size());
  pattern.times.assign(nodes_.size(), 0);
  for (std::size_t i = 0; i < line.named.size() && line.named[i] >= 0; ++i) {
    const double lateness = static_cast<double>(line.lateness[i].median()) * 1e-9;
    for (Rank rank = 0; rank < ranks; ++rank) {
      if (name_of(rank, of_nodes) == line.named[i]) {
        pattern.times[static_cast<std::size_t>(rank)] = lateness;
      }
    }
  }
  pattern.version = site.version + 1;
  line.view = view_of(std::move(pattern));
  ++site.version;
  line.named_by_view = line.named;
  line.missed = 0;
  line.known.forget();
}

// For a while, where it did not pay: the longer the more often that was so.
SharedView LateRanks::withdraw(const Site& site, Line& line) {
  if (line.missed < records_missed) {
    line.not_before = site.calls + line.pause;
    line.pause = std::min(2 * line.pause, longest_pause);
  }
  line.named_by_view = nobody;
  return std::exchange(line.view, nullptr);
}

bool LateRanks::pays(const Line& line) {
  if (line.known.count() < samples_needed || line.unknown.count() < samples_needed) return true;
  const auto by_view = static_cast<double>(line.known.median());
  return by_view <= has_to_save * static_cast<double>(line.unknown.median());
}

}  // namespace sibyl
