// All that the calls of one communicator know of arrivals, in one place.
//
// Providers publish views (arrival/view.hpp), calls look at them:
//
//   given     SIBYL_ARRIVALS at set-up and SIBYL_Comm_set_arrivals: one view for all calls
//   history   ArrivalPredictor: a view per collective, root and size; the one of a reduction that
//             was told last is for all calls too that have none of their own. Where several lines
//             of the program make such calls, a view for each.
//             LateRanks: a view per call site of an allreduce, learnt from its own messages
//   progress  ArrivalExchange: a view per iteration of a persistent request. It lives with the
//             request, which may outlive the communicator, and on the clock that is kept here.
//
// A view for all calls comes into force on all ranks between the same two calls: that is the
// provider's part.
//
// Thread safety: one caller at a time, besides the predictor's thread.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "arrival/view.hpp"
#include "arrival_service/arrival_predictor.hpp"
#include "arrival_service/clock.hpp"
#include "arrival_service/late_ranks.hpp"

namespace sibyl {

// Whoever plans for arrivals hears of them.
class ArrivalListener {
 public:
  // Another view for all calls is in force.
  virtual void arrivals_changed(const SharedView& before) = 0;
  // This one will be, some calls from now, for reduces like those of this site.
  virtual void arrivals_expected(const CallSite& site, const SharedView& coming) = 0;
  // Reduces follow another view for a call, or again the one for all.
  virtual void other_view_followed() = 0;
  // A call site has another arrival pattern, whose view takes the place of `before`.
  virtual void site_predicted(const CallSite& site, const ArrivalPattern& pattern,
                              const SharedView& before) = 0;

 protected:
  ~ArrivalListener() = default;
};

class ArrivalService {
 public:
  struct Parties {
    MPI_Comm comm = MPI_COMM_NULL;  // private; returns its errors
    Rank rank = 0;
    Rank ranks = 1;
    int tag = 0;            // the first of ArrivalService::tags
    bool one_node = false;  // its ranks share a clock
  };
  static constexpr int tags = ArrivalPredictor::tags;

  explicit ArrivalService(ArrivalListener& listener);

  // Before the following are used. All ranks at the same call.
  void open(const Parties& parties) { parties_ = parties; }

  // The view for all calls, or that which is followed instead; never nullptr.
  const SharedView& view() const { return followed_ == nullptr ? view_ : *followed_; }
  // A reduction of this site begins: it follows the view of its line of the program, where there is
  // one, until end_following(). On all ranks alike.
  void follow_line(const CallSite& site);
  void end_following() { follow(nullptr); }
  // Grows with every change of any view.
  std::uint64_t changes() const { return changes_; }
  // Another one, of the next version; no times: nothing is known any more. The caller vouches that
  // all ranks do so with the same times between the same two calls. False, and nothing is changed,
  // when the times are not those of as many ranks, finite, not negative and within longest_spread
  // of each other.
  bool publish(std::span<const double> times, double error = 0);
  // The same for times that may differ between the ranks, which compare them first. Collective;
  // false on all ranks when they are not all usable and alike.
  bool agree_on(std::span<const double> times);
  // Publishes what rank 0's SIBYL_ARRIVALS says, if it says anything of so many ranks. Collective;
  // false when MPI fails.
  bool take_given(const std::string& setting);
  // These times will be in force some calls from now, for reduces like those of this site.
  void expect(const CallSite& site, std::span<const double> times);

  // One clock for all ranks, compared anew where they are on several hosts. Collective.
  const CommonClock& compare_clocks();
  // The same, led by `leader`.
  CommonClock clock_led_by(int leader);
  // For tests: this rank's clock, on a host of this number. On all ranks.
  void replace_clock(const CommonClock& clock, std::int64_t host);

  // From now on calls are predicted, on all ranks or on none; nothing is where one of them has no
  // memory. Collective. The thread may be nullptr; where there is one and all ranks are told, it
  // calls the hook between calls.
  void predict(PredictionMode mode, ProgressThread* thread, ProgressHook& hook);
  // The same at no messages, for allreduce alone; `nodes`: that of each rank. On all ranks.
  void learn_late_ranks(std::vector<Rank> nodes) {
    late_ranks_.emplace(parties_.rank, std::move(nodes), clock_);
  }
  // nullptr where nobody learns so.
  LateRanks* late_ranks() { return late_ranks_.has_value() ? &*late_ranks_ : nullptr; }
  // No longer. Whoever gave a thread has withdrawn the predictor from it. False: as
  // ArrivalPredictor::finish().
  [[nodiscard]] bool end_prediction() {
    const bool finished = predictor_ == nullptr || predictor_->finish();
    predictor_.reset();
    late_ranks_.reset();
    return finished;
  }
  // nullptr where nothing is predicted.
  ArrivalPredictor* predictor() const { return predictor_.get(); }

 private:
  void follow(const SharedView* view) {
    if (view == followed_) return;
    followed_ = view;
    listener_.other_view_followed();
  }
  bool usable(std::span<const double> times) const;
  std::int64_t host() const;
  bool one_clock() const { return !host_.has_value() && parties_.one_node; }

  ArrivalListener& listener_;
  Parties parties_;
  SharedView view_;
  const SharedView* followed_ = nullptr;
  std::optional<CallSite> told_last_;  // whose predicted pattern `view_` is; empty: nobody's
  std::uint64_t changes_ = 0;
  CommonClock clock_;
  std::optional<std::int64_t> host_;  // given by a test
  std::unique_ptr<ArrivalPredictor> predictor_;
  std::optional<LateRanks> late_ranks_;
};

}  // namespace sibyl
