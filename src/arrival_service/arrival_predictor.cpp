// Exchanges arrivals and agrees on arrival patterns; see arrival_predictor.hpp.
#include "arrival_service/arrival_predictor.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <new>
#include <thread>
#include <utility>

#include "arrival/splitmix64.hpp"
#include "arrival_service/predictor_messages.hpp"

namespace sibyl {

using namespace predictor_messages;

namespace {

constexpr double patience_at_the_end = 1.0;  // seconds
constexpr int advances_at_a_time = 32;

// False, and both are as they were, where there is no memory for that.
bool keep_for_good(std::vector<std::int64_t>&& reports, std::vector<double>&& result) try {
  static std::mutex mutex;
  static auto& all = *new std::vector<std::pair<std::vector<std::int64_t>, std::vector<double>>>;
  const std::lock_guard<std::mutex> lock(mutex);
  all.emplace_back(std::move(reports), std::move(result));
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

}  // namespace

ArrivalPredictor::ArrivalPredictor(const Parties& parties, PredictionMode mode, CommonClock& clock)
    : parties_(parties),
      mode_(mode),
      clock_(clock),
      compared_at_(std::chrono::steady_clock::now()) {
  const auto ranks = static_cast<std::size_t>(parties.ranks);
  // All of it now: a rank that found no memory in the middle would leave the others waiting.
  reports_.resize(leads() ? ranks * report_words : report_words);
  result_.resize(result_words(parties.ranks));
  incoming_.reserve(ranks);
  outgoing_.reserve(ranks);
  owed_.reserve(1);
  sites_.reserve(most_sites);
}

ArrivalPredictor::~ArrivalPredictor() { static_cast<void>(finish()); }

bool ArrivalPredictor::fail(int error) {
  if (error != MPI_SUCCESS) phase_ = Phase::failed;
  return error != MPI_SUCCESS;
}

Service ArrivalPredictor::trial_of(std::int64_t call, Service in_force) {
  // Drawn, since a program's calls repeat with some period.
  const std::uint64_t drawn = SplitMix64(static_cast<std::uint64_t>(call)).next() % 16;
  if (drawn == 0) return Service::native;
  if (drawn > 2) return in_force;
  return in_force == Service::fixed_order ? Service::predicted_order : Service::fixed_order;
}

Site* ArrivalPredictor::find(const CallSite& key, bool make) try {
  for (const auto& site : sites_) {
    if (site->key == key) return site.get();
  }
  if (!make || sites_.size() == most_sites) return nullptr;
  auto site = std::make_unique<Site>();
  site->key = key;
  if (leads()) {
    site->lines[0].history = std::make_unique<SiteHistory>(parties_.ranks);
    site->places.reserve(most_call_lines);
  }
  return sites_.emplace_back(std::move(site)).get();
} catch (const std::bad_alloc&) {
  return nullptr;
}

std::size_t ArrivalPredictor::kind_of(const Site& site) const {
  const auto same = [&](const auto& other) { return other.get() == &site; };
  return static_cast<std::size_t>(std::ranges::find_if(sites_, same) - sites_.begin());
}

// The line of a place; 0 where there are more than are told apart, or nobody knows.
int ArrivalPredictor::line_from(Site& site, std::int64_t place) try {
  if (place == 0) return 0;
  const auto known = std::ranges::find(site.places, place);
  const auto line = static_cast<std::size_t>(known - site.places.begin()) + 1;
  if (known != site.places.end()) return static_cast<int>(line);
  if (line == site.lines.size()) return 0;
  site.lines[line].history = std::make_unique<SiteHistory>(parties_.ranks);
  site.places.push_back(place);
  return static_cast<int>(line);
} catch (const std::bad_alloc&) {
  return 0;
}

ArrivalPredictor::InForce ArrivalPredictor::in_force(const CallSite& key) {
  const std::unique_lock<std::mutex> lock = keep_thread_out();
  const Site* const site = phase_ == Phase::failed ? nullptr : find(key, false);
  if (site == nullptr) return {};
  const int line = site->turns.line_of(calls_);
  const SharedView& view = site->lines[static_cast<std::size_t>(line)].view;
  return {.view = view == nullptr ? nullptr : &view, .line = line};
}

std::unique_lock<std::mutex> ArrivalPredictor::keep_thread_out() {
  return thread_ == nullptr ? std::unique_lock<std::mutex>() : std::unique_lock(mutex_);
}

BackgroundWork::Outcome ArrivalPredictor::progress() noexcept {
  std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return Outcome::waiting;  // a call is at it
  look();
  const Outcome outcome = phase_ == Phase::exchanging ? Outcome::waiting : Outcome::ended;
  const bool ahead = phase_ == Phase::result_announced && hook_ != nullptr;
  lock.unlock();
  if (!ahead) return outcome;
  for (int i = 0; i < advances_at_a_time; ++i) {
    if (!hook_->advance()) return outcome;
  }
  return Outcome::moved;
}

void ArrivalPredictor::begin_call() {
  const std::unique_lock<std::mutex> lock = keep_thread_out();
  arrival_ = std::chrono::steady_clock::now();
  ++calls_;
  if (phase_ == Phase::failed) return;
  look();
  if (tells_all() && calls_ == exchange_ + calls_in_flight + 1 && exchange_ > 0) {
    wait_for_result();
  }
  if (phase_ == Phase::result_here) announce_result();
  if (calls_ != next_exchange_) return;
  begin_exchange();
  if (thread_ != nullptr && phase_ == Phase::exchanging) thread_->submit(*this);
}

ArrivalPredictor::Call ArrivalPredictor::enter(const CallSite& key, bool usable,
                                               std::int64_t place) {
  const std::unique_lock<std::mutex> lock = keep_thread_out();
  Call call;
  call.site = phase_ == Phase::failed ? nullptr : find(key, true);
  if (call.site != nullptr) {
    call.line = &call.site->lines[static_cast<std::size_t>(call.site->turns.line_of(calls_))];
    if (leads()) {
      call.made_from = line_from(*call.site, place);
      cycle_.note(calls_, kind_of(*call.site), call.made_from);
    }
  }
  const bool ordered = usable && call.line != nullptr && call.line->version() > 0;
  const Service in_force =
      ordered && call.line->pays ? Service::predicted_order : Service::fixed_order;
  call.service = trial_of(calls_, in_force);
  if (call.service == Service::predicted_order && !ordered) call.service = Service::fixed_order;
  return call;
}

void ArrivalPredictor::leave(const Call& call) {
  if (call.site == nullptr) return;
  const std::unique_lock<std::mutex> lock = keep_thread_out();
  const auto now = std::chrono::steady_clock::now();
  Site::Record& record = call.site->recent[call.site->recorded++ % Site::window];
  record = {calls_, clock_.common(arrival_), clock_.common(now), call.service, call.made_from};
}

void ArrivalPredictor::begin_exchange() {
  // The last exchange is over long ago, unless a rank is a whole interval of calls behind.
  if (leads() && phase_ == Phase::exchanging) wait_for_result();
  if (fail(PMPI_Waitall(static_cast<int>(outgoing_.size()), outgoing_.data(),
                        MPI_STATUSES_IGNORE))) {
    return;
  }
  outgoing_.clear();
  exchange_ = calls_;
  next_exchange_ = calls_ + (tells_all() ? longest_interval : 2 * shortest_interval);
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
    phase_ = Phase::exchanging;
    return;
  }
  if (fail(PMPI_Isend(reports_.data(), words, MPI_INT64_T, 0, parties_.tag, parties_.comm,
                      &outgoing_.emplace_back(MPI_REQUEST_NULL)))) {
    return;
  }
  if (tells_all() || names_as_root(reports_.data(), parties_.rank)) expect_result();
}

// Rank 0 must not wait for this rank to be ready for it, so all that are owed are received at once:
// where only roots are told, a root may be an exchange ahead.
void ArrivalPredictor::expect_result() try {
  if (result_.empty()) result_.resize(result_words(parties_.ranks));
  std::vector<double>& result = owed_.emplace_back();
  result.swap(result_);
  phase_ = Phase::exchanging;
  fail(PMPI_Irecv(result.data(), static_cast<int>(result.size()), MPI_DOUBLE, 0, parties_.tag + 1,
                  parties_.comm, &incoming_.emplace_back(MPI_REQUEST_NULL)));
} catch (const std::bad_alloc&) {
  phase_ = Phase::failed;
}

void ArrivalPredictor::look() {
  if (phase_ != Phase::exchanging) return;
  const int awaited = leads() ? static_cast<int>(incoming_.size()) : 1;
  int there = 0;
  if (fail(PMPI_Testall(awaited, incoming_.data(), &there, MPI_STATUSES_IGNORE))) return;
  if (there != 0) take_result();
}

void ArrivalPredictor::wait_for_result() {
  if (phase_ == Phase::exchanging) {
    if (fail(PMPI_Waitall(static_cast<int>(incoming_.size()), incoming_.data(),
                          MPI_STATUSES_IGNORE))) {
      return;
    }
    take_result();
  }
  if (phase_ == Phase::result_here || phase_ == Phase::result_announced) apply_result();
}

// Everything that this rank waited for has come, or the first result of several.
void ArrivalPredictor::take_result() {
  phase_ = Phase::result_here;
  if (leads()) {
    incoming_.clear();
    predict();
    send_result();
  } else {
    incoming_.erase(incoming_.begin());
    result_.swap(owed_.front());
    owed_.erase(owed_.begin());
  }
  if (tells_all() || phase_ != Phase::result_here) return;
  apply_result();
  if (phase_ == Phase::quiet && !owed_.empty()) phase_ = Phase::exchanging;
}

void ArrivalPredictor::send_result() {
  const std::size_t stride = pattern_head + static_cast<std::size_t>(parties_.ranks);
  const auto count = static_cast<std::size_t>(result_[2]);
  const int words = static_cast<int>(result_head + count * stride);
  for (Rank rank = 1; rank < parties_.ranks; ++rank) {
    const std::int64_t* report = reports_.data() + static_cast<std::size_t>(rank) * report_words;
    const bool owed = tells_all() || names_as_root(report, rank);
    if (owed && fail(PMPI_Isend(result_.data(), words, MPI_DOUBLE, rank, parties_.tag + 1,
                                parties_.comm, &outgoing_.emplace_back(MPI_REQUEST_NULL)))) {
      return;
    }
  }
}

ArrivalPredictor::Told ArrivalPredictor::told_in_result(std::size_t index) const {
  const auto ranks = static_cast<std::size_t>(parties_.ranks);
  const double* part = result_.data() + result_head + index * (pattern_head + ranks);
  return {.key = {static_cast<Collective>(part[0]), static_cast<Rank>(part[1]),
                  static_cast<std::uint64_t>(part[2])},
          .line = static_cast<std::size_t>(part[3]),
          .period = static_cast<std::int64_t>(part[4]),
          .remainders = static_cast<std::uint32_t>(part[5]),
          .version = static_cast<std::uint64_t>(part[6]),
          .pays = part[7] != 0,
          .error = part[8],
          .times = {part + pattern_head, ranks}};
}

void ArrivalPredictor::announce_result() try {
  phase_ = Phase::result_announced;
  bool comes = false;
  for (std::size_t i = 0; i < static_cast<std::size_t>(result_[2]); ++i) {
    const Told told = told_in_result(i);
    const Site* site = find(told.key, false);
    const std::uint64_t version = site == nullptr ? 0 : site->lines[told.line].version();
    if (told.version == version || !foresee_) continue;
    foresee_(told.key, told.times);
    comes = true;
  }
  if (comes && thread_ != nullptr) thread_->submit(*this);
} catch (const std::bad_alloc&) {
  return;  // nothing is done ahead
}

// On all ranks at the same call.
void ArrivalPredictor::compare_clocks() {
  const auto begin = std::chrono::steady_clock::now();
  clock_.synchronise(parties_.comm, parties_.host);
  compared_at_ = std::chrono::steady_clock::now();
  comparison_ = compared_at_ - begin;
  compared_at_call_ = calls_;
}

void ArrivalPredictor::apply_result() try {
  phase_ = Phase::quiet;
  if (tells_all()) {
    next_exchange_ = exchange_ + static_cast<std::int64_t>(result_[1]);
    if (result_[3] != 0) compare_clocks();
  }
  const Site* before_it = nullptr;
  for (std::size_t i = 0; i < static_cast<std::size_t>(result_[2]); ++i) {
    const Told told = told_in_result(i);
    Site* site = find(told.key, true);
    if (site == nullptr) continue;
    if (site != before_it) site->turns = {.period = told.period};
    before_it = site;
    if (told.line > 0) site->turns.remainders[told.line - 1] = told.remainders;
    Site::Line& line = site->lines[told.line];
    line.pays = told.pays;
    if (told.version == line.version()) continue;
    const ArrivalPattern pattern{.times = {told.times.begin(), told.times.end()},
                                 .version = told.version,
                                 .error = told.error};
    SharedView before = view_of(pattern);
    before.swap(line.view);
    if (hear_) hear_(site->key, static_cast<int>(told.line), pattern, before);
  }
} catch (const std::bad_alloc&) {
  phase_ = Phase::failed;
}

// All ranks have made the same calls on the communicator, or will have when they get here; but a
// rank may be gone for good.
bool ArrivalPredictor::finish() {
  if (ending_) return finished_;
  ending_ = true;
  const double end = PMPI_Wtime() + patience_at_the_end;
  while (phase_ == Phase::exchanging && !incoming_.empty() && PMPI_Wtime() < end) {
    look();
    if (phase_ == Phase::exchanging) std::this_thread::yield();
  }
  bool gave_up = phase_ == Phase::failed;
  for (MPI_Request& request : incoming_) {
    if (request == MPI_REQUEST_NULL) continue;
    gave_up = true;
    PMPI_Cancel(&request);
    PMPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  incoming_.clear();
  int done = 0;
  while (done == 0 && PMPI_Wtime() < end) {
    if (PMPI_Testall(static_cast<int>(outgoing_.size()), outgoing_.data(), &done,
                     MPI_STATUSES_IGNORE) != MPI_SUCCESS) {
      break;
    }
  }
  if (done == 0) leave_sends();
  outgoing_.clear();
  finished_ = done != 0 && !gave_up;
  return finished_;
}

// An MPI library that cannot cancel a long message would wait for its receiver for ever: so it is
// left to the library, and keeps its memory.
void ArrivalPredictor::leave_sends() {
  const bool kept = keep_for_good(std::move(reports_), std::move(result_));
  for (MPI_Request& request : outgoing_) {
    if (request == MPI_REQUEST_NULL) continue;
    if (kept) {
      PMPI_Request_free(&request);
    } else {
      PMPI_Cancel(&request);
      PMPI_Wait(&request, MPI_STATUS_IGNORE);
    }
  }
}

}  // namespace sibyl
