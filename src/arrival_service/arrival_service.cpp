// Publishes what providers know of arrivals; see arrival_service.hpp.
#include "arrival_service/arrival_service.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash.hpp"
#include "cost/placement.hpp"

namespace sibyl {

ArrivalService::ArrivalService(ArrivalListener& listener)
    : listener_(listener), view_(view_of({})) {}

// Where all ranks share a clock the number is one and the same.
std::int64_t ArrivalService::host() const {
  return one_clock() ? 0 : host_.value_or(host_number());
}

bool ArrivalService::usable(std::span<const double> times) const {
  if (times.empty()) return true;
  if (!check_times(times, parties_.ranks).empty()) return false;
  const auto [first, last] = std::ranges::minmax(times);
  return last - first <= longest_spread;
}

bool ArrivalService::publish(std::span<const double> times, double error) {
  if (!usable(times)) return false;
  SharedView before = view_of(
      {.times = {times.begin(), times.end()}, .version = view_->version + 1, .error = error});
  before.swap(view_);
  told_last_.reset();
  ++changes_;
  listener_.arrivals_changed(before);
  return true;
}

bool ArrivalService::agree_on(std::span<const double> times) {
  const std::string_view bytes(reinterpret_cast<const char*>(times.data()), times.size_bytes());
  const auto hash = static_cast<std::int64_t>(fnv1a(bytes) >> 1);
  const std::array<std::int64_t, 3> own{usable(times) ? 1 : 0, hash, -hash};
  std::array<std::int64_t, 3> least{};
  const int met = PMPI_Allreduce(own.data(), least.data(), static_cast<int>(own.size()),
                                 MPI_INT64_T, MPI_MIN, parties_.comm);
  if (met != MPI_SUCCESS || least[0] == 0 || least[1] != -least[2]) return false;
  return publish(times);
}

// The setting was checked when the environment was read.
bool ArrivalService::take_given(const std::string& setting) {
  std::vector<double> times;
  int count = 0;
  if (parties_.rank == 0 && !setting.empty()) {
    times = given_arrivals(setting, parties_.ranks).pattern.times;
    count = static_cast<int>(times.size());
  }
  if (PMPI_Bcast(&count, 1, MPI_INT, 0, parties_.comm) != MPI_SUCCESS) return false;
  if (count == 0) return true;
  times.resize(static_cast<std::size_t>(count));
  if (PMPI_Bcast(times.data(), count, MPI_DOUBLE, 0, parties_.comm) != MPI_SUCCESS) return false;
  publish(times);
  return true;
}

void ArrivalService::follow_line(const CallSite& site) {
  const bool all_are_told = predictor_ != nullptr && predictor_->mode() != PredictionMode::root_led;
  ArrivalPredictor::InForce own;
  if (all_are_told) own = predictor_->in_force(site);
  // That of the site as a whole is the view for all calls where it was told last; and times that
  // the program has given since are for all.
  const bool for_all = !told_last_.has_value() || *told_last_ == site;
  follow(own.line == 0 && for_all ? nullptr : own.view);
}

void ArrivalService::expect(const CallSite& site, std::span<const double> times) {
  if (!usable(times)) return;
  listener_.arrivals_expected(site, view_of({.times = {times.begin(), times.end()}}));
}

const CommonClock& ArrivalService::compare_clocks() {
  if (!one_clock()) clock_.synchronise(parties_.comm, host());
  return clock_;
}

CommonClock ArrivalService::clock_led_by(int leader) {
  CommonClock clock = compare_clocks();
  if (!one_clock()) clock.follow(parties_.comm, leader);
  return clock;
}

void ArrivalService::replace_clock(const CommonClock& clock, std::int64_t host) {
  clock_ = clock;
  host_ = host;
}

void ArrivalService::predict(PredictionMode mode, ProgressThread* thread, ProgressHook& hook) {
  compare_clocks();
  const ArrivalPredictor::Parties parties{.comm = parties_.comm,
                                          .rank = parties_.rank,
                                          .ranks = parties_.ranks,
                                          .tag = parties_.tag,
                                          .host = host()};
  try {
    predictor_ = std::make_unique<ArrivalPredictor>(parties, mode, clock_);
  } catch (const std::bad_alloc&) {
    predictor_.reset();
  }
  std::int64_t made = predictor_ != nullptr ? 1 : 0;
  std::int64_t made_everywhere = 0;
  if (PMPI_Allreduce(&made, &made_everywhere, 1, MPI_INT64_T, MPI_MIN, parties_.comm) !=
          MPI_SUCCESS ||
      made_everywhere == 0) {
    predictor_.reset();
    return;
  }
  predictor_->work_in(thread);
  // Reductions need the same view on all ranks: only where all hear of it at the same call.
  const bool tells_all = mode != PredictionMode::root_led;
  predictor_->on_new_pattern([this, tells_all](const CallSite& site, int line,
                                               const ArrivalPattern& pattern,
                                               const SharedView& before) {
    listener_.site_predicted(site, pattern, before);
    const bool reduces =
        site.collective == Collective::reduce || site.collective == Collective::allreduce;
    if (!tells_all || !reduces) return;
    if (line == 0) {
      if (publish(pattern.times, pattern.error)) told_last_ = site;
    } else {
      ++changes_;
    }
  });
  if (!tells_all) return;
  predictor_->work_ahead(&hook);
  predictor_->on_coming_pattern([this](const CallSite& site, std::span<const double> times) {
    if (site.collective == Collective::reduce) expect(site, times);
  });
}

}  // namespace sibyl
