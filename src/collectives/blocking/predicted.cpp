// Serves calls in the predicted order; see predicted.hpp.
#include "collectives/blocking/predicted.hpp"

#include "selection/reproducible.hpp"

namespace sibyl {

const Algorithm* PredictedCall::choose(Collective collective, int root, std::uint64_t bytes,
                                       const Algorithm* algorithm, CountedCall& counted) {
  // Nor may a trial have the MPI library serve.
  if (is_reproducible(state_.settings(), collective)) return algorithm;
  // Once its ranks' arrivals are known, a reduce may have an algorithm that it has not now, and so
  // may an allreduce between nodes.
  const bool between_nodes = state_.ranks_per_node() < state_.size();
  const bool learns = algorithm != nullptr || collective == Collective::reduce ||
                      (collective == Collective::allreduce && between_nodes);
  if (predictor_ == nullptr || !learns) return algorithm;
  const bool everywhere = predictor_->mode() != PredictionMode::root_led;
  const OrderUse use = algorithm == nullptr ? OrderUse::none : algorithm->order;
  const bool usable = use == OrderUse::root_only || (use == OrderUse::all_ranks && everywhere);
  const std::int64_t place = state_.rank() == 0 ? place_.number() : 0;
  call_ = predictor_->enter({collective, root, bytes}, usable, place);
  if (algorithm == nullptr) call_.service = Service::native;
  const bool ordered = call_.service == Service::predicted_order;
  counted.predicted(call_.service, ordered ? call_.line->version() : 0);
  if (call_.service != Service::native) return algorithm;
  counted.departs_later(call_);
  return nullptr;
}

const Prepared& PredictedCall::program(const Algorithm& algorithm, int root, bool in_place) {
  const bool ordered = call_.service == Service::predicted_order &&
                       (algorithm.order == OrderUse::all_ranks || state_.rank() == root);
  const ProgramSpec spec{.algorithm = &algorithm,
                         .root = root,
                         .outstanding = outstanding_in(state_.settings(), algorithm.collective),
                         .in_place = in_place};
  return ordered ? state_.programs.get(spec, call_.line->view) : state_.programs.get(spec);
}

}  // namespace sibyl
