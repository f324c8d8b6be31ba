// Serves calls in the predicted order; see predicted.hpp.
#include "collectives/blocking/predicted.hpp"

#include "selection/reproducible.hpp"

namespace sibyl {
namespace {

// The program in the order of the site's pattern, planned anew when that has changed.
const Prepared& ordered_program(const CommunicatorState& state, ArrivalPredictor::Site& site,
                                const Algorithm& algorithm, bool in_place) {
  ArrivalPredictor::Site::Program& known = site.program;
  const std::uint32_t outstanding = outstanding_in(state.settings(), algorithm.collective);
  if (known.algorithm == &algorithm && known.version == site.pattern.version &&
      known.in_place == in_place && known.outstanding == outstanding) {
    return known.prepared;
  }
  known.algorithm = nullptr;  // matches nothing should planning throw
  PlanRequest request;
  request.ranks = state.size();
  request.root = site.key.root;
  request.in_place = in_place;
  request.outstanding = outstanding;
  request.order = site.order;
  if (algorithm.nodes) request.ranks_per_node = state.ranks_per_node();
  prepare(algorithm, request, state.rank(), known.prepared);
  known.algorithm = &algorithm;
  known.version = site.pattern.version;
  known.in_place = in_place;
  known.outstanding = outstanding;
  return known.prepared;
}

}  // namespace

const Algorithm* PredictedCall::choose(Collective collective, int root, std::uint64_t bytes,
                                       const Algorithm* algorithm, CountedCall& counted) {
  // Nor may a trial have the MPI library serve.
  if (is_reproducible(state_.settings(), collective)) return algorithm;
  // Once its ranks' arrivals are known, a reduce may have an algorithm that it has not now.
  const bool learns = algorithm != nullptr || collective == Collective::reduce;
  if (agreement_ == nullptr || !learns) return algorithm;
  const bool everywhere = agreement_->mode() != PredictionMode::root_led;
  const OrderUse use = algorithm == nullptr ? OrderUse::none : algorithm->order;
  const bool usable = use == OrderUse::root_only || (use == OrderUse::all_ranks && everywhere);
  call_ = agreement_->enter({collective, root, bytes}, usable);
  if (algorithm == nullptr) call_.service = Service::native;
  const bool ordered = call_.service == Service::predicted_order;
  counted.predicted(call_.service, ordered ? call_.site->pattern.version : 0);
  return call_.service == Service::native ? nullptr : algorithm;
}

const Prepared& PredictedCall::program(const Algorithm& algorithm, int root, bool in_place) {
  const bool ordered = call_.service == Service::predicted_order &&
                       (algorithm.order == OrderUse::all_ranks || state_.rank() == root);
  return ordered ? ordered_program(state_, *call_.site, algorithm, in_place)
                 : state_.plans.get(algorithm, root, in_place,
                                    outstanding_in(state_.settings(), algorithm.collective));
}

}  // namespace sibyl
