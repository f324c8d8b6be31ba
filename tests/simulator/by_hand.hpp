// Plans small enough that a run of them in simulated time can be counted by hand.
#pragma once

#include "sibyl/schedule.hpp"
#include "sibyl/simulator.hpp"

namespace sibyl {

// Of blocks of one segment, without a step yet.
inline Plan blocks_plan(Rank ranks) {
  Plan plan;
  plan.header.collective = Collective::gather;
  plan.header.algorithm = "by hand";
  plan.header.ranks = ranks;
  plan.header.partition = Partition::blocks;
  plan.header.rounds = 8;
  plan.programs.resize(static_cast<std::size_t>(ranks));
  return plan;
}

inline Slice block(Buffer buffer, Unit unit) { return ProgramBuilder::slice(buffer, unit); }

// Rank `from` sends its block to rank `to`.
inline void message(Plan& plan, Rank from, Rank to, std::uint32_t round = 0,
                    Gate gate = Gate::on_arrival) {
  const auto unit = static_cast<Unit>(from);
  ProgramBuilder(plan.programs[static_cast<std::size_t>(from)])
      .send(to, block(Buffer::send, unit), round);
  ProgramBuilder(plan.programs[static_cast<std::size_t>(to)])
      .receive(from, block(Buffer::receive, unit), round, gate);
}

inline SimulationOptions unit_network() {
  SimulationOptions options;
  options.network.hockney = {1, 0.5};
  options.record = true;
  return options;
}

inline DataSizes sized(std::uint64_t bytes) {
  DataSizes sizes;
  sizes.bytes = bytes;
  return sizes;
}

}  // namespace sibyl
