// The simulator's public face: programs in, times out.
#include "sibyl/simulator.hpp"

#include <cmath>
#include <initializer_list>
#include <utility>

#include "simulator/engine.hpp"
#include "simulator/programs.hpp"

namespace sibyl {

struct Simulation::Parts {
  Parts(const PlanHeader& header, const DataSizes& sizes) : programs(header, sizes) {}
  simulator::Programs programs;
  simulator::Engine engine;
};

Simulation::Simulation(const PlanHeader& header, const DataSizes& sizes)
    : parts_(std::make_unique<Parts>(header, sizes)) {}
Simulation::~Simulation() = default;
Simulation::Simulation(Simulation&& other) noexcept = default;
Simulation& Simulation::operator=(Simulation&& other) noexcept = default;

void Simulation::add(const Program& program) { parts_->programs.add(program); }

SimulationResult Simulation::run(const SimulationOptions& options) {
  SimulationResult result;
  result.problem = check_options(options, parts_->programs.header().ranks);
  if (result.ok()) result.problem = parts_->programs.finish();
  return result.ok() ? parts_->engine.run(parts_->programs, options) : result;
}

SimulationResult simulate(const Plan& plan, const DataSizes& sizes,
                          const SimulationOptions& options) {
  Simulation simulation(plan.header, sizes);
  for (const Program& program : plan.programs) simulation.add(program);
  return simulation.run(options);
}

std::uint64_t simulation_memory(std::uint64_t ranks, std::uint64_t steps, bool record) {
  // Rows of steps, their successors, their states; vectors that grow hold up to twice as much for a
  // moment. Of every two steps one at most starts a message, which stands in the queue of events.
  const std::uint64_t a_step = 2 * sizeof(simulator::SimStep) + 4 * sizeof(std::uint32_t) + 9 +
                               (record ? 12 + sizeof(SimulatedMessage) : 0);
  return steps * a_step + ranks * 256;
}

namespace {

std::string check_placement(const NetworkModel& network, Rank ranks) {
  if (network.ranks_per_node < 1) return "a node holds at least 1 rank";
  if (network.nodes.empty()) return "";
  if (network.ranks_per_node != 1) return "ranks per node and nodes are both given; leave out one";
  if (network.nodes.size() != static_cast<std::size_t>(ranks)) {
    return "there are nodes for " + std::to_string(network.nodes.size()) + " of " +
           std::to_string(ranks) + " ranks";
  }
  for (const Rank node : network.nodes) {
    if (node < 0 || node >= ranks) {
      return "a rank is on node " + std::to_string(node) + "; nodes are numbered 0 to " +
             std::to_string(ranks - 1);
    }
  }
  return "";
}

std::string check_sharing(const NetworkModel& network) {
  if (!network.sharing) {
    if (network.handshake) return "a handshake is for messages that share ports";
    return network.at_switch.queue_bytes == 0 ? "" : "a queue is for messages that share ports";
  }
  if (network.kind != NetworkKind::hockney) return "messages share ports in the Hockney model only";
  // Else a message would be over before it has taken anything of the link.
  if (network.link_beta > 0 && network.hockney.beta == 0) {
    return "beta of a node's link needs a beta of the ports that messages share";
  }
  if (network.at_switch.queue_bytes == 0) return "";
  // Else nothing would ever fit once something is there, however often it is sent again.
  if (network.at_switch.queue_bytes < SwitchModel::noticed_bytes) {
    return "a queue holds at least " + std::to_string(SwitchModel::noticed_bytes) + " bytes";
  }
  if (network.at_switch.timeout == 0) return "a queue needs a timeout";
  return "";
}

}  // namespace

std::string check_options(const SimulationOptions& options, Rank ranks) {
  const NetworkModel& network = options.network;
  const std::pair<double, const char*> numbers[] = {
      {network.hockney.alpha, "alpha"},
      {network.hockney.beta, "beta"},
      {network.inside.alpha, "alpha inside a node"},
      {network.inside.beta, "beta inside a node"},
      {network.link_beta, "beta of a node's link"},
      {network.loggp.latency, "L"},
      {network.loggp.overhead, "o"},
      {network.loggp.gap, "g"},
      {network.loggp.gap_per_byte, "G"},
      {network.at_switch.timeout, "the timeout"},
      {options.compute.combine_per_byte, "the time to combine a byte"},
      {options.compute.copy_per_byte, "the time to copy a byte"},
      {options.compute.planning, "the time to plan"},
      {options.start, "the start of the computation"},
  };
  for (const auto& [value, name] : numbers) {
    if (!std::isfinite(value) || value < 0) {
      return std::string(name) + " is " + std::to_string(value) + "; it is a time, not negative";
    }
  }
  if (std::string wrong = check_placement(network, ranks); !wrong.empty()) return wrong;
  if (std::string wrong = check_sharing(network); !wrong.empty()) return wrong;
  if (!options.arrivals.empty() && options.arrivals.size() != static_cast<std::size_t>(ranks)) {
    return "there are " + std::to_string(options.arrivals.size()) + " arrival times for " +
           std::to_string(ranks) + " ranks";
  }
  for (const double arrival : options.arrivals) {
    if (!std::isfinite(arrival) || arrival < 0) {
      return "an arrival time is " + std::to_string(arrival) + "; times are finite, not negative";
    }
  }
  return "";
}

}  // namespace sibyl
