// How a communicator comes to be predicted: at its set-up, by all ranks or none; and its clock.
#include <memory>
#include <new>

#include "communicator/communicator_state.hpp"
#include "cost/placement.hpp"

namespace sibyl {

void CommunicatorState::replace_settings(const Settings& settings) {
  const PredictionMode before = settings_.predict;
  settings_ = settings;
  cached_choice = {};
  if (settings.predict == before || mode_ != Mode::served) return;
  end_prediction();
  if (settings.predict != PredictionMode::off && size_ > 1) set_up_prediction();
}

void CommunicatorState::end_prediction() {
  if (prediction_ != nullptr) process_.withdraw(*prediction_);
  prediction_.reset();
}

const CommonClock& CommunicatorState::compare_clocks() {
  // Ranks of one node share its clock.
  if (!one_clock()) clock_.synchronise(private_comm(), host_.value_or(host_number()));
  return clock_;
}

CommonClock CommunicatorState::clock_led_by(int leader) {
  CommonClock clock = compare_clocks();
  if (!one_clock()) clock.follow(private_comm(), leader);
  return clock;
}

void CommunicatorState::replace_clock(const CommonClock& clock, std::int64_t host) {
  clock_ = clock;
  host_ = host;
}

// All ranks predict, or none: they agree on whether each has found the memory.
void CommunicatorState::set_up_prediction() {
  const CommonClock& clock = compare_clocks();
  try {
    prediction_ = std::make_unique<ArrivalPredictor>(
        ArrivalPredictor::Parties{private_comm(), rank_, size_, static_cast<int>(tags_.end())},
        settings_.predict, clock);
  } catch (const std::bad_alloc&) {
    prediction_.reset();
  }
  std::int64_t made = prediction_ != nullptr ? 1 : 0;
  std::int64_t made_everywhere = 0;
  if (PMPI_Allreduce(&made, &made_everywhere, 1, MPI_INT64_T, MPI_MIN, private_comm()) !=
          MPI_SUCCESS ||
      made_everywhere == 0) {
    prediction_.reset();
    return;
  }
  if (settings_.predict == PredictionMode::background) {
    prediction_->work_in(process_.progress_thread());
  }
  prediction_->on_new_pattern([this](const ArrivalPredictor::Site& site) {
    recording.add(
        RecordedPattern{site.key.collective, site.key.root, site.key.bytes, site.pattern});
    // Only where all ranks hear of it at the same call; a reduce is planned for it then.
    if (site.key.collective == Collective::reduce &&
        prediction_->mode() != PredictionMode::root_led) {
      replace_arrivals(site.pattern.times, site.pattern.error);
    }
  });
  if (prediction_->mode() == PredictionMode::root_led) return;
  prediction_->work_ahead([this] { return plans.ahead().advance(); });
  prediction_->on_coming_pattern([this](const CallSite& site, std::span<const double> times) {
    if (site.collective == Collective::reduce) foresee_arrivals(times, site.root, site.bytes);
  });
}

}  // namespace sibyl
