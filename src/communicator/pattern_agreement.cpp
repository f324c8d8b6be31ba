// Exchanges arrivals and agrees on patterns; see pattern_agreement.hpp.
#include "communicator/pattern_agreement.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <new>
#include <thread>

#include "arrival/splitmix64.hpp"

namespace sibyl {
namespace {

using Site = PatternAgreement::Site;

// A report: exchange, error of the clock in nanoseconds, number of sites; then per site collective,
// root, bytes, number of records; then per record number, arrival, departure, service.
constexpr std::size_t report_head = 3;
constexpr std::size_t site_head = 4;
constexpr std::size_t record_words = 4;
constexpr std::size_t site_words = site_head + record_words * Site::window;
constexpr std::size_t report_words =
    report_head + site_words * PatternAgreement::sites_of_a_message;

// A result: exchange, calls to the next one, number of sites; then per site collective, root,
// bytes, version, whether it pays, error; then the times of all ranks. All numbers are exact.
constexpr std::size_t result_head = 3;
constexpr std::size_t pattern_head = 6;

constexpr double patience_at_the_end = 1.0;  // seconds

std::size_t result_words(Rank ranks) {
  return result_head +
         PatternAgreement::sites_of_a_message * (pattern_head + static_cast<std::size_t>(ranks));
}

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

PatternAgreement::PatternAgreement(const Parties& parties, PredictionMode mode,
                                   const CommonClock& clock)
    : parties_(parties), mode_(mode), clock_(clock) {
  const auto ranks = static_cast<std::size_t>(parties.ranks);
  // All of it now: a rank that found no memory in the middle would leave the others waiting.
  reports_.resize(leads() ? ranks * report_words : report_words);
  result_.resize(result_words(parties.ranks));
  incoming_.reserve(ranks);
  outgoing_.reserve(ranks);
  sites_.reserve(most_sites);
}

PatternAgreement::~PatternAgreement() { finish(); }

bool PatternAgreement::fail(int error) {
  if (error != MPI_SUCCESS) dead_ = true;
  return error != MPI_SUCCESS;
}

Service PatternAgreement::trial_of(std::int64_t call, Service in_force) {
  // Drawn, since a program's calls repeat with some period.
  const std::uint64_t drawn = SplitMix64(static_cast<std::uint64_t>(call)).next() % 16;
  if (drawn == 0) return Service::native;
  if (drawn > 2) return in_force;
  return in_force == Service::fixed_order ? Service::predicted_order : Service::fixed_order;
}

Site* PatternAgreement::find(const CallSite& key, bool make) try {
  for (const auto& site : sites_) {
    if (site->key == key) return site.get();
  }
  if (!make || sites_.size() == most_sites) return nullptr;
  auto site = std::make_unique<Site>();
  site->key = key;
  if (leads()) site->history = std::make_unique<SiteHistory>(parties_.ranks);
  return sites_.emplace_back(std::move(site)).get();
} catch (const std::bad_alloc&) {
  return nullptr;
}

void PatternAgreement::begin_call() {
  arrival_ = std::chrono::steady_clock::now();
  ++calls_;
  if (dead_) return;
  if (under_way_ || result_pending_) progress();
  if (mode_ == PredictionMode::periodic && calls_ == exchange_ + calls_in_flight + 1 &&
      exchange_ > 0) {
    wait_for_result();
  }
  if (calls_ == next_exchange_) begin_exchange();
}

PatternAgreement::Call PatternAgreement::enter(const CallSite& key, bool usable) {
  Call call;
  call.site = dead_ ? nullptr : find(key, true);
  const bool ordered = usable && call.site != nullptr && call.site->pattern.version > 0;
  const Service in_force =
      ordered && call.site->pays ? Service::predicted_order : Service::fixed_order;
  call.service = trial_of(calls_, in_force);
  if (call.service == Service::predicted_order && !ordered) call.service = Service::fixed_order;
  return call;
}

void PatternAgreement::leave(const Call& call) {
  if (call.site == nullptr) return;
  const auto now = std::chrono::steady_clock::now();
  Site::Record& record = call.site->recent[call.site->recorded++ % Site::window];
  record = {calls_, clock_.common(arrival_), clock_.common(now), call.service};
}

void PatternAgreement::write_report(std::int64_t* report) const {
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

void PatternAgreement::begin_exchange() {
  // The last exchange is over long ago, unless a rank is a whole interval of calls behind.
  if (leads() && under_way_) wait_for_result();
  if (fail(PMPI_Waitall(static_cast<int>(outgoing_.size()), outgoing_.data(),
                        MPI_STATUSES_IGNORE))) {
    return;
  }
  outgoing_.clear();
  exchange_ = calls_;
  next_exchange_ =
      calls_ + (mode_ == PredictionMode::periodic ? longest_interval : 2 * shortest_interval);
  write_report(reports_.data());
  constexpr int words = static_cast<int>(report_words);
  if (leads()) {
    for (Rank rank = 1; rank < parties_.ranks; ++rank) {
      std::int64_t* report = reports_.data() + static_cast<std::size_t>(rank) * report_words;
      if (fail(PMPI_Irecv(report, words, MPI_INT64_T, rank, parties_.tag, parties_.comm,
                          &incoming_.emplace_back(MPI_REQUEST_NULL)))) {
        return;
      }
    }
    under_way_ = true;
    return;
  }
  if (fail(PMPI_Isend(reports_.data(), words, MPI_INT64_T, 0, parties_.tag, parties_.comm,
                      &outgoing_.emplace_back(MPI_REQUEST_NULL)))) {
    return;
  }
  if (mode_ == PredictionMode::periodic) {
    under_way_ = true;
    fail(PMPI_Irecv(result_.data(), static_cast<int>(result_.size()), MPI_DOUBLE, 0,
                    parties_.tag + 1, parties_.comm, &incoming_.emplace_back(MPI_REQUEST_NULL)));
  } else {
    // Where this rank is the root of nothing that was reported, nothing will come.
    under_way_ = std::ranges::any_of(
        sites_, [&](const auto& site) { return site->key.root == parties_.rank; });
  }
}

void PatternAgreement::progress() {
  if (dead_ || !under_way_) return;
  int there = 0;
  if (leads() || mode_ == PredictionMode::periodic) {
    if (fail(PMPI_Testall(static_cast<int>(incoming_.size()), incoming_.data(), &there,
                          MPI_STATUSES_IGNORE))) {
      return;
    }
  } else if (fail(PMPI_Iprobe(0, parties_.tag + 1, parties_.comm, &there, MPI_STATUS_IGNORE))) {
    return;
  }
  if (there != 0) take_result();
}

void PatternAgreement::wait_for_result() {
  if (under_way_) {
    if (fail(PMPI_Waitall(static_cast<int>(incoming_.size()), incoming_.data(),
                          MPI_STATUSES_IGNORE))) {
      return;
    }
    take_result();
  }
  if (result_pending_) apply_result();
}

// Everything that this rank waited for has come.
void PatternAgreement::take_result() {
  under_way_ = false;
  incoming_.clear();
  if (leads()) {
    predict();
    send_result();
  } else if (mode_ == PredictionMode::root_led) {
    if (fail(PMPI_Recv(result_.data(), static_cast<int>(result_.size()), MPI_DOUBLE, 0,
                       parties_.tag + 1, parties_.comm, MPI_STATUS_IGNORE))) {
      return;
    }
  }
  result_pending_ = true;
  if (mode_ == PredictionMode::root_led) apply_result();
}

// Hands the calls that all ranks have reported to the site's history; false when there is none.
bool PatternAgreement::feed(Site& site) {
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
void PatternAgreement::predict() {
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
      const bool same =
          site->pattern.version > 0 && order_of_arrival(next.times, next.error) == site->order;
      const bool pays = site->history->pays();
      changed = changed || !same || pays != site->pays;
      double* part =
          out + result_head + count * (pattern_head + static_cast<std::size_t>(parties_.ranks));
      part[0] = static_cast<double>(site->key.collective);
      part[1] = site->key.root;
      part[2] = static_cast<double>(site->key.bytes);
      part[3] = static_cast<double>(site->pattern.version + (same ? 0 : 1));
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

void PatternAgreement::send_result() {
  const std::size_t stride = pattern_head + static_cast<std::size_t>(parties_.ranks);
  const auto count = static_cast<std::size_t>(result_[2]);
  const int words = static_cast<int>(result_head + count * stride);
  for (Rank rank = 1; rank < parties_.ranks; ++rank) {
    bool wanted = mode_ == PredictionMode::periodic;
    for (std::size_t i = 0; i < count && !wanted && !ending_; ++i) {
      wanted = static_cast<Rank>(result_[result_head + i * stride + 1]) == rank;
    }
    if (wanted && fail(PMPI_Isend(result_.data(), words, MPI_DOUBLE, rank, parties_.tag + 1,
                                  parties_.comm, &outgoing_.emplace_back(MPI_REQUEST_NULL)))) {
      return;
    }
  }
}

void PatternAgreement::apply_result() try {
  result_pending_ = false;
  if (mode_ == PredictionMode::periodic) {
    next_exchange_ = exchange_ + static_cast<std::int64_t>(result_[1]);
  }
  const auto ranks = static_cast<std::size_t>(parties_.ranks);
  for (std::size_t i = 0; i < static_cast<std::size_t>(result_[2]); ++i) {
    const double* part = result_.data() + result_head + i * (pattern_head + ranks);
    const CallSite key{static_cast<Collective>(part[0]), static_cast<Rank>(part[1]),
                       static_cast<std::uint64_t>(part[2])};
    Site* site = find(key, true);
    if (site == nullptr) continue;
    site->pays = part[4] != 0;
    const auto version = static_cast<std::uint64_t>(part[3]);
    if (version == site->pattern.version) continue;
    site->pattern.version = version;
    site->pattern.error = part[5];
    site->pattern.times.assign(part + pattern_head, part + pattern_head + ranks);
    site->order = order_of_arrival(site->pattern.times, site->pattern.error);
    if (hear_) hear_(*site);
  }
} catch (const std::bad_alloc&) {
  dead_ = true;
}

// The communicator goes. All its ranks have made the same calls on it, or will have when they get
// here; but a rank may be gone for good.
void PatternAgreement::finish() {
  ending_ = true;
  const double end = PMPI_Wtime() + patience_at_the_end;
  while (under_way_ && !dead_ && !incoming_.empty() && PMPI_Wtime() < end) {
    progress();
    if (under_way_) std::this_thread::yield();
  }
  // A result that the root of a site had no call left to look for.
  if (mode_ == PredictionMode::root_led && !leads()) progress();
  for (MPI_Request& request : incoming_) {
    PMPI_Cancel(&request);
    PMPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  int done = 0;
  while (done == 0 && PMPI_Wtime() < end) {
    if (PMPI_Testall(static_cast<int>(outgoing_.size()), outgoing_.data(), &done,
                     MPI_STATUSES_IGNORE) != MPI_SUCCESS) {
      break;
    }
  }
  for (MPI_Request& request : outgoing_) {
    if (request == MPI_REQUEST_NULL) continue;
    PMPI_Cancel(&request);
    PMPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

}  // namespace sibyl
