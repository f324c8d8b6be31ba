// What a rank reports, and what rank 0 makes of the reports; see arrival_predictor.hpp.
#include <algorithm>
#include <new>

#include "arrival_service/predictor_messages.hpp"

namespace sibyl {

using namespace predictor_messages;

namespace {

// The part of a report that is of this site; nullptr when the rank has not said anything of it.
const std::int64_t* part_of(const std::int64_t* report, const CallSite& key) {
  for (std::int64_t i = 0; i < report[2]; ++i) {
    const std::int64_t* part = report + report_head + static_cast<std::size_t>(i) * site_words;
    if (part[0] == static_cast<std::int64_t>(key.collective) && part[1] == key.root &&
        part[2] == static_cast<std::int64_t>(key.bytes)) {
      return part;
    }
  }
  return nullptr;
}

const std::int64_t* record_of(const std::int64_t* part, std::int64_t number) {
  for (std::int64_t i = 0; i < part[3]; ++i) {
    const std::int64_t* record = part + site_head + static_cast<std::size_t>(i) * record_words;
    if (record[0] == number) return record;
  }
  return nullptr;
}

// What moves blocks goes by the order of arrivals alone, reductions by their times.
bool is_planned_alike(const Site& site, const ArrivalView& former, const ArrivalView& later) {
  const Collective collective = site.key.collective;
  const bool by_times = collective == Collective::reduce || collective == Collective::allreduce;
  return former.order == later.order && (!by_times || times_agree(former, later));
}

}  // namespace

void ArrivalPredictor::write_report(std::int64_t* report) const {
  std::array<const Site*, most_sites> latest{};
  std::size_t count = 0;
  for (const auto& site : sites_) latest[count++] = site.get();
  const auto last_call = [](const Site* site) {
    return site->recorded == 0 ? 0 : site->recent[(site->recorded - 1) % Site::window].number;
  };
  std::sort(latest.begin(), latest.begin() + static_cast<std::ptrdiff_t>(count),
            [&](const Site* a, const Site* b) { return last_call(a) > last_call(b); });
  count = std::min(count, sites_of_a_message);
  const auto error_at = [&](std::int64_t time) {
    return static_cast<std::int64_t>(std::min(clock_.error(time), 1e6) * 1e9);
  };
  report[0] = exchange_;
  report[1] = error_at(clock_.local().now());
  report[2] = static_cast<std::int64_t>(count);
  report[3] = error_at(clock_.compared_at());
  for (std::size_t i = 0; i < count; ++i) {
    const Site& site = *latest[i];
    std::int64_t* part = report + report_head + i * site_words;
    part[0] = static_cast<std::int64_t>(site.key.collective);
    part[1] = site.key.root;
    part[2] = static_cast<std::int64_t>(site.key.bytes);
    const std::size_t records = std::min(site.recorded, Site::window);
    part[3] = static_cast<std::int64_t>(records);
    for (std::size_t r = 0; r < records; ++r) {
      const Site::Record& record = site.recent[(site.recorded - records + r) % Site::window];
      std::int64_t* words = part + site_head + r * record_words;
      words[0] = record.number;
      words[1] = record.arrival;
      words[2] = record.departure;
      words[3] = static_cast<std::int64_t>(record.service);
    }
  }
}

// Hands the calls that all ranks have reported to the site's history; false when there is none.
bool ArrivalPredictor::feed(Site& site) {
  std::vector<const std::int64_t*> parts;
  for (Rank rank = 0; rank < parties_.ranks; ++rank) {
    const std::int64_t* part =
        part_of(reports_.data() + static_cast<std::size_t>(rank) * report_words, site.key);
    if (part == nullptr) return false;
    parts.push_back(part);
  }
  std::vector<double> arrivals(parts.size());
  std::vector<double> departures(parts.size());
  for (std::int64_t i = 0; i < parts[0][3]; ++i) {
    const std::int64_t* own = parts[0] + site_head + static_cast<std::size_t>(i) * record_words;
    if (own[0] <= site.last_fed) continue;
    bool everywhere = true;
    Service service = Service::native;
    for (std::size_t rank = 0; rank < parts.size() && everywhere; ++rank) {
      const std::int64_t* record = record_of(parts[rank], own[0]);
      everywhere = record != nullptr;
      if (!everywhere) break;
      // Doubles hold differences of times exactly enough, but not times since the machine began.
      arrivals[rank] = static_cast<double>(record[1] - own[1]) * 1e-9;
      departures[rank] = static_cast<double>(record[2] - own[1]) * 1e-9;
      if (static_cast<Rank>(rank) == site.key.root) service = static_cast<Service>(record[3]);
    }
    if (!everywhere) continue;
    site.last_fed = own[0];
    site.lines[0].history->observe(arrivals, departures, service);
    const auto here = std::ranges::find(site.recent, own[0], &Site::Record::number);
    if (here == site.recent.end() || here->line == 0) continue;  // many calls ago by now
    site.lines[static_cast<std::size_t>(here->line)].history->observe(arrivals, departures,
                                                                      service);
  }
  return site.lines[0].history->observed() > 0;
}

// The largest of all ranks that have reported, in seconds, by this word of a report.
double ArrivalPredictor::largest_error(std::size_t word) const {
  std::int64_t largest = 0;
  for (Rank rank = 0; rank < parties_.ranks; ++rank) {
    largest = std::max(largest, reports_[static_cast<std::size_t>(rank) * report_words + word]);
  }
  return 1e-9 * static_cast<double>(largest);
}

double ArrivalPredictor::clock_error() const { return largest_error(1); }

// Whether that is worth what it takes; no sooner than all ranks have made some calls and the last
// comparison is a hundredth of the time since.
bool ArrivalPredictor::clocks_have_run_off() const {
  if (!tells_all() || calls_ - compared_at_call_ < calls_between_comparisons) return false;
  const std::chrono::duration<double> since = std::chrono::steady_clock::now() - compared_at_;
  const std::chrono::duration<double> took = comparison_;
  if (took.count() > comparisons_budget * since.count()) return false;
  const double grown = 2 * (clock_error() - largest_error(3));  // what a comparison takes away
  const std::size_t stride = pattern_head + static_cast<std::size_t>(parties_.ranks);
  const auto count = static_cast<std::size_t>(result_[2]);
  for (std::size_t i = 0; i < count; ++i) {
    const std::span times(result_.data() + result_head + i * stride + pattern_head,
                          static_cast<std::size_t>(parties_.ranks));
    const auto [first, last] = std::ranges::minmax(times);
    if (grown > clock_may_be_off * (last - first)) return true;
  }
  return false;
}

// What the result says of one line; whether that is news. The version is one of the whole site.
bool ArrivalPredictor::write_pattern(const Site& site, std::size_t line, const CallTurns& turns,
                                     std::uint64_t& version, double* part) const {
  const Site::Line& told = site.lines[line];
  ArrivalPattern next = told.history->pattern();
  next.error += 2 * clock_error();
  const bool same = told.version() > 0 && is_planned_alike(site, *told.view, *view_of(next));
  const bool pays = told.history->pays();
  part[0] = static_cast<double>(site.key.collective);
  part[1] = site.key.root;
  part[2] = static_cast<double>(site.key.bytes);
  part[3] = static_cast<double>(line);
  part[4] = static_cast<double>(turns.period);
  part[5] = line == 0 ? 0 : turns.remainders[line - 1];
  part[6] = static_cast<double>(same ? told.version() : ++version);
  part[7] = pays ? 1 : 0;
  part[8] = next.error;
  std::ranges::copy(next.times, part + pattern_head);
  return !same || pays != told.pays;
}

// Adds the site to the result, by its lines where they take turns and have been seen; whether that
// is news.
bool ArrivalPredictor::tell(Site& site, std::size_t& count) {
  CallTurns turns;
  if (site.places.size() > 1) turns = cycle_.turns(kind_of(site), calls_);
  std::array<std::size_t, 1 + most_call_lines> told{};
  std::size_t lines = 0;
  for (std::size_t line = 1; line <= site.places.size(); ++line) {
    if (turns.remainders[line - 1] == 0) continue;
    if (site.lines[line].history->observed() == 0) turns = {};
    told[lines++] = line;
  }
  if (turns.period == 0 || count + lines > patterns_of_a_message) {
    turns = {};
    lines = 0;
  }
  if (lines == 0) told[lines++] = 0;
  bool news = turns.period != site.turns.period;
  std::uint64_t version = 0;
  for (const Site::Line& line : site.lines) version = std::max(version, line.version());
  const std::size_t stride = pattern_head + static_cast<std::size_t>(parties_.ranks);
  for (std::size_t i = 0; i < lines && count < patterns_of_a_message; ++i) {
    double* part = result_.data() + result_head + count++ * stride;
    news = write_pattern(site, told[i], turns, version, part) || news;
  }
  return news;
}

// At rank 0: fills in the result.
void ArrivalPredictor::predict() {
  double* out = result_.data();
  bool changed = false;
  std::size_t count = 0;
  try {
    for (const auto& site : sites_) {
      if (ending_) break;  // no call is left to follow it
      if (part_of(reports_.data(), site->key) == nullptr || !feed(*site)) continue;
      changed = tell(*site, count) || changed;
    }
  } catch (const std::bad_alloc&) {
    count = 0;  // no news
  }
  interval_ = changed ? shortest_interval : std::min(2 * interval_, longest_interval);
  out[0] = static_cast<double>(exchange_);
  out[1] = static_cast<double>(interval_);
  out[2] = static_cast<double>(count);
  out[3] = clocks_have_run_off() ? 1 : 0;
}

}  // namespace sibyl
