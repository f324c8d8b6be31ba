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
  const std::int64_t now = clock_.local().now();
  report[0] = exchange_;
  report[1] = static_cast<std::int64_t>(std::min(clock_.error(now), 1e6) * 1e9);
  report[2] = static_cast<std::int64_t>(count);
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
    site.history->observe(arrivals, departures, service);
  }
  return site.history->observed() > 0;
}

// At rank 0: fills in the result.
void ArrivalPredictor::predict() {
  double* out = result_.data();
  bool changed = false;
  std::size_t count = 0;
  try {
    std::int64_t clock_error = 0;
    for (Rank rank = 0; rank < parties_.ranks; ++rank) {
      clock_error =
          std::max(clock_error, reports_[static_cast<std::size_t>(rank) * report_words + 1]);
    }
    for (const auto& site : sites_) {
      if (count == sites_of_a_message) break;
      if (part_of(reports_.data(), site->key) == nullptr || !feed(*site)) continue;
      ArrivalPattern next = site->history->pattern();
      next.error += 2e-9 * static_cast<double>(clock_error);
      const bool same = site->version() > 0 && view_of(next)->order == site->view->order;
      const bool pays = site->history->pays();
      changed = changed || !same || pays != site->pays;
      double* part =
          out + result_head + count * (pattern_head + static_cast<std::size_t>(parties_.ranks));
      part[0] = static_cast<double>(site->key.collective);
      part[1] = site->key.root;
      part[2] = static_cast<double>(site->key.bytes);
      part[3] = static_cast<double>(site->version() + (same ? 0 : 1));
      part[4] = pays ? 1 : 0;
      part[5] = next.error;
      std::ranges::copy(next.times, part + pattern_head);
      ++count;
    }
  } catch (const std::bad_alloc&) {
    count = 0;  // no news
  }
  interval_ = changed ? shortest_interval : std::min(2 * interval_, longest_interval);
  out[0] = static_cast<double>(exchange_);
  out[1] = static_cast<double>(interval_);
  out[2] = static_cast<double>(count);
}

}  // namespace sibyl
