// The constants of the model; see model.hpp.
#include "selection/model.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace sibyl {
namespace {

// A message: `alpha` seconds, and `beta` more per byte.
struct Link {
  double alpha;
  double beta;
};
// How messages travel, by their size: within the header, copied by both ends, by rendezvous.
struct Regime {
  double up_to;  // bytes
  Link within;   // ranks of one node
  Link between;  // ranks of two nodes
};

constexpr std::array<Regime, 3> regimes{{
    {64, {1.15e-6, 4.0e-10}, {1.7e-6, 2.7e-10}},
    {65536, {2.45e-6, 4.0e-10}, {3.0e-6, 2.7e-10}},
    {std::numeric_limits<double>::infinity(), {4.0e-6, 1.7e-10}, {15e-6, 1.6e-10}},
}};
constexpr double beta_node = 4.0e-11;  // of all messages that leave a node together
// Shifts leave some ranks within their node and take others out of it: rounds drift apart, so that
// start-ups overlap, and messages share a node's connection longer.
constexpr double shifts_overlap = 0.95;
constexpr double shifts_crowding = 1.4;
constexpr double gamma_predefined = 1e-10;  // seconds per byte combined
constexpr double gamma_user = 2e-9;

const Regime& regime_of(double bytes) {
  return *std::ranges::find_if(regimes, [&](const Regime& r) { return bytes < r.up_to; });
}

}  // namespace

double round_cost(double bytes, std::uint64_t leaving) {
  const Regime& regime = regime_of(bytes);
  if (leaving == 0) return regime.within.alpha + regime.within.beta * bytes;
  return regime.between.alpha +
         bytes * std::max(regime.between.beta, static_cast<double>(leaving) * beta_node);
}

// Paths lead through ranks that wait for another node and ranks that do not, so the mean of the
// latencies counts.
double shift_cost(double bytes, std::uint64_t distance, std::uint64_t per_node) {
  const std::uint64_t leaving = std::min(distance, per_node);
  const Regime& regime = regime_of(bytes);
  const double staying = 1 - static_cast<double>(leaving) / static_cast<double>(per_node);
  const double saved = staying * (regime.between.alpha - regime.within.alpha);
  const double transfer = round_cost(bytes, leaving) - regime.between.alpha;
  if (per_node == 1) return regime.between.alpha + transfer;
  return shifts_overlap * (regime.between.alpha - saved) + shifts_crowding * transfer;
}

// Up to the rendezvous both ends copy; from there on they share the transfer.
double end_cost(double bytes) {
  if (bytes >= regimes[1].up_to) return regimes[2].between.beta / 2 * bytes;
  return 1.5e-6 + 5.5e-11 * bytes;
}

double gamma_of(OperatorUse use) {
  return use == OperatorUse::user ? gamma_user : gamma_predefined;
}

double gamma_of(OperatorUse use, const Costs& costs) {
  return use == OperatorUse::user ? std::max(gamma_user, costs.gamma) : costs.gamma;
}

std::uint32_t most_sends_to_one(const Costs& costs, std::uint64_t bytes, std::uint32_t segments) {
  constexpr double answer = 100e-6;  // seconds
  if (!costs.known() || segments < 2 || bytes <= sent_at_once * segments) return 0;
  const double moving = costs.beta * static_cast<double>(bytes) / segments;
  return moving >= answer ? 2 : 0;
}

}  // namespace sibyl
