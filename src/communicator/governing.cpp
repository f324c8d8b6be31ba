// Agreements of the governor; see governing.hpp.
#include "communicator/governing.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <string>
#include <thread>

namespace sibyl {
namespace {

constexpr double patience_at_the_end = 1.0;  // seconds
constexpr int report_words = static_cast<int>(std::tuple_size_v<Governor::Report>);

// Whether there was one.
bool cancel(std::vector<MPI_Request>& requests) {
  bool any = false;
  for (MPI_Request& request : requests) {
    if (request == MPI_REQUEST_NULL) continue;
    any = true;
    PMPI_Cancel(&request);
    PMPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  requests.clear();
  return any;
}

std::string name_of(const Algorithm* algorithm) {
  return algorithm == nullptr ? std::string() : std::string(algorithm->name);
}

// What calls by other arms than the cheapest have taken longer, by what each cost in its last
// trial.
double lost_by(const Governor::Site& site) {
  double least = 0;
  for (const double cost : site.cost) {
    if (cost > 0 && (least == 0 || cost < least)) least = cost;
  }
  double lost = 0;
  for (std::size_t arm = 0; arm < arm_count; ++arm) {
    lost += static_cast<double>(site.served[arm]) * std::max(site.cost[arm] - least, 0.0);
  }
  return lost;
}

}  // namespace

// All memory now: a rank that found none in the middle would leave the others waiting.
Governing::Governing(const Parties& parties)
    : parties_(parties),
      governor_(parties.id),
      reports_(parties.rank == 0 ? static_cast<std::size_t>(parties.ranks) : 1) {
  incoming_.reserve(static_cast<std::size_t>(parties.ranks));
  outgoing_.reserve(static_cast<std::size_t>(parties.ranks));
}

Governing::~Governing() { static_cast<void>(finish()); }

void Governing::add_to(CommunicatorReport& report, bool of_request) const {
  std::vector<GovernedSite> sites;
  for (const Governor::Site& site : governor_.sites()) {
    sites.push_back({.collective = site.key.collective,
                     .persistent = of_request,
                     .root = site.key.root,
                     .least_bytes = site.key.least_bytes(),
                     .most_bytes = site.key.most_bytes(),
                     .algorithm = std::string(site.key.own->name),
                     .challenger = name_of(site.key.challenger),
                     .line = site.key.line,
                     .decided = site.decided,
                     .served_by = site.arm,
                     .calls = static_cast<std::uint64_t>(site.calls),
                     .native_calls = static_cast<std::uint64_t>(site.served[1]),
                     .challenger_calls = static_cast<std::uint64_t>(site.served[2]),
                     .seconds = site.cost,
                     .lost_seconds = lost_by(site)});
  }
  report.governed.insert(report.governed.end(), sites.begin(), sites.end());
  report.governing_seconds += spent_before_ + spent_.at_work + spent_.waiting;
}

// MPI_Wtime need not begin at the same moment on all ranks of a host, and simulated ranks have no
// other time.
double Governing::now() const {
  if (!parties_.one_clock) return PMPI_Wtime();
  const std::chrono::duration<double> since = std::chrono::steady_clock::now().time_since_epoch();
  return since.count();
}

[[gnu::hot]] Governor::Call Governing::enter(const Governor::Key& key, std::uint64_t arrivals,
                                             std::int64_t place) {
  if (const Governor::Step now = governor_.begin_call(); now != Governor::Step::nothing) step(now);
  const Governor::Call call = governor_.enter(key, arrivals, place);
  if (call.stay != nullptr) joined_ = now();
  return call;
}

[[gnu::hot]] void Governing::leave(const Governor::Call& call, bool comparable) {
  if (call.stay == nullptr || !comparable) return;
  const double lasted = lasted_ ? lasted_(*call.site, call.arm) : std::max(now() - joined_, 0.0);
  const double joined = parties_.one_clock && !lasted_ ? joined_ : 0;
  *call.stay = {.joined = joined, .left = joined + lasted};
}

Governor::Call Governing::start(const Governor::Key& key) {
  const Governor::Step due = governor_.begin_call();
  if (due == Governor::Step::report || due == Governor::Step::follow) step(due);
  return governor_.enter(key, 0);
}

void Governing::progress(bool waits) {
  if (all_came()) return;
  const double begin = now();
  int done = 0;
  int error = PMPI_Testall(static_cast<int>(incoming_.size()), incoming_.data(), &done,
                           MPI_STATUSES_IGNORE);
  if (error == MPI_SUCCESS && done != 0) {
    incoming_.clear();
    error = collect();
  }
  if (error != MPI_SUCCESS) governor_.switch_off();
  const bool came = all_came();
  if (came && !lasted_) spent_.at_work += std::max(now() - begin, 0.0);
  if (waits && !settled() && waits_since_ == 0) waits_since_ = begin;
  if (came && waits_since_ != 0) {
    if (!lasted_) spent_.waiting += std::max(begin - waits_since_, 0.0);
    waits_since_ = 0;
  }
}

bool Governing::left() {
  progress(false);
  if (!all_came()) return false;
  int done = 0;
  if (PMPI_Testall(static_cast<int>(outgoing_.size()), outgoing_.data(), &done,
                   MPI_STATUSES_IGNORE) != MPI_SUCCESS) {
    return true;
  }
  if (done != 0) outgoing_.clear();
  return done != 0;
}

void Governing::complete(const Governor::Call& call, double seconds) {
  if (call.stay == nullptr) return;
  *call.stay = {.joined = 0, .left = lasted_ ? lasted_(*call.site, call.arm) : seconds};
}

void Governing::step(Governor::Step due) {
  const double begin = now();
  waited_ = 0;
  int error = MPI_SUCCESS;
  if (due == Governor::Step::report) error = report();
  if (due == Governor::Step::collect) error = collect();
  if (due == Governor::Step::follow) error = follow();
  if (error != MPI_SUCCESS) governor_.switch_off();
  const double took = std::max(now() - begin - waited_, 0.0);
  spent_.at_work += lasted_ ? std::min(took, 1e-9) : took;
  if (!lasted_) spent_.waiting += waited_;
}

int Governing::wait_for(std::vector<MPI_Request>& requests) {
  const auto count = static_cast<int>(requests.size());
  int done = 0;
  int error = PMPI_Testall(count, requests.data(), &done, MPI_STATUSES_IGNORE);
  if (error == MPI_SUCCESS && done == 0) {
    const double begin = now();
    error = PMPI_Waitall(count, requests.data(), MPI_STATUSES_IGNORE);
    waited_ += std::max(now() - begin, 0.0);
  }
  if (error == MPI_SUCCESS) requests.clear();
  return error;
}

int Governing::report() {
  // Those of the last agreement; they have been received long ago.
  int error = wait_for(outgoing_);
  if (error != MPI_SUCCESS) return error;
  collected_ = false;
  const auto words = static_cast<int>(governor_.write_report(reports_.front(), spent_));
  spent_before_ += spent_.at_work + spent_.waiting;
  spent_ = {};
  if (!leads()) {
    error = PMPI_Isend(reports_.front().data(), words, MPI_DOUBLE, 0, parties_.tag, parties_.comm,
                       &outgoing_.emplace_back(MPI_REQUEST_NULL));
    if (error != MPI_SUCCESS) return error;
    return PMPI_Irecv(verdicts_.data(), static_cast<int>(verdicts_.size()), MPI_DOUBLE, 0,
                      parties_.tag + 1, parties_.comm, &incoming_.emplace_back(MPI_REQUEST_NULL));
  }
  for (Rank rank = 1; rank < parties_.ranks && error == MPI_SUCCESS; ++rank) {
    error =
        PMPI_Irecv(reports_[static_cast<std::size_t>(rank)].data(), report_words, MPI_DOUBLE, rank,
                   parties_.tag, parties_.comm, &incoming_.emplace_back(MPI_REQUEST_NULL));
  }
  return error;
}

int Governing::collect() {
  if (!leads() || collected_) return MPI_SUCCESS;
  int error = wait_for(incoming_);
  if (error != MPI_SUCCESS) return error;
  collected_ = true;
  pass_verdicts();
  for (Rank rank = 1; rank < parties_.ranks && error == MPI_SUCCESS; ++rank) {
    error = PMPI_Isend(verdicts_.data(), static_cast<int>(verdicts_.size()), MPI_DOUBLE, rank,
                       parties_.tag + 1, parties_.comm, &outgoing_.emplace_back(MPI_REQUEST_NULL));
  }
  return error;
}

// Rank 0's verdicts on what all have told; without memory for them all are told to switch off.
void Governing::pass_verdicts() try {
  verdicts_ = {};
  Governor::Report& all = reports_.front();
  for (std::size_t rank = 1; rank < reports_.size(); ++rank) Judge::take_in(all, reports_[rank]);
  const std::vector<SiteVerdict> passed = judge_.judge(governor_, all);
  double* end = verdicts_.data();
  *end++ = static_cast<double>(passed.size());
  for (const SiteVerdict& verdict : passed) end = std::ranges::copy(verdict.packed(), end).out;
} catch (const std::bad_alloc&) {
  verdicts_ = {};
}

int Governing::follow() {
  const int error = leads() ? collect() : wait_for(incoming_);
  if (error != MPI_SUCCESS) return error;
  std::array<SiteVerdict, Governor::sites_of_an_agreement> passed;
  const auto count = static_cast<std::size_t>(verdicts_.front());
  if (count == 0 || count != governor_.reported().size()) {
    governor_.switch_off();
    return MPI_SUCCESS;
  }
  for (std::size_t i = 0; i < count; ++i) {
    passed[i] = SiteVerdict::unpacked(verdicts_.data() + 1 + i * SiteVerdict::words);
  }
  governor_.apply({passed.data(), count});
  ++agreements_;
  return MPI_SUCCESS;
}

// Until then, or until they are complete; true if they are.
bool Governing::wait_until(double end, std::vector<MPI_Request>& requests) const {
  int done = 0;
  while (true) {
    if (PMPI_Testall(static_cast<int>(requests.size()), requests.data(), &done,
                     MPI_STATUSES_IGNORE) != MPI_SUCCESS) {
      return false;
    }
    if (done != 0 || now() >= end) return done != 0;
    std::this_thread::yield();
  }
}

// All ranks have made the same calls on the communicator, or will have when they get here; but a
// rank may be gone for good.
bool Governing::finish() {
  if (gave_up_) return false;
  const double end = now() + patience_at_the_end;
  const bool came = incoming_.empty() || wait_until(end, incoming_);
  if (came) incoming_.clear();
  if (leads() && came && governor_.is_under_way() && !collected_) {
    collect();
  }
  gave_up_ = cancel(incoming_);
  if (wait_until(end, outgoing_)) outgoing_.clear();
  gave_up_ = cancel(outgoing_) || gave_up_;
  return !gave_up_;
}

}  // namespace sibyl
