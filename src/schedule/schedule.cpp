// Names of the schedule's vocabulary and the builder that planners append steps with.
#include "sibyl/schedule.hpp"

#include <array>
#include <cstddef>

namespace sibyl {
namespace {

constexpr std::array<std::string_view, collective_count> collective_names{"exscan",
                                                                          "scan",
                                                                          "gather",
                                                                          "scatter",
                                                                          "gatherv",
                                                                          "scatterv",
                                                                          "reduce",
                                                                          "allreduce",
                                                                          "bcast",
                                                                          "reduce_scatter",
                                                                          "reduce_scatter_block",
                                                                          "allgather",
                                                                          "allgatherv",
                                                                          "alltoall",
                                                                          "alltoallv",
                                                                          "barrier"};
constexpr std::array<std::string_view, 2> partition_names{"vector", "blocks"};
constexpr std::array<std::string_view, 3> buffer_names{"send", "receive", "scratch"};
constexpr std::array<std::string_view, 5> kind_names{"send", "receive", "receive_combine", "copy",
                                                     "combine"};
constexpr std::array<std::string_view, 2> gate_names{"on_start", "on_arrival"};

}  // namespace

std::string_view name_of(Collective collective) {
  return collective_names[static_cast<std::size_t>(collective)];
}
std::string_view name_of(Partition partition) {
  return partition_names[static_cast<std::size_t>(partition)];
}
std::string_view name_of(Buffer buffer) { return buffer_names[static_cast<std::size_t>(buffer)]; }
std::string_view name_of(StepKind kind) { return kind_names[static_cast<std::size_t>(kind)]; }
std::string_view name_of(Gate gate) { return gate_names[static_cast<std::size_t>(gate)]; }

bool collective_from_name(std::string_view name, Collective& collective) {
  for (std::size_t i = 0; i < collective_names.size(); ++i) {
    if (collective_names[i] == name) {
      collective = static_cast<Collective>(i);
      return true;
    }
  }
  return false;
}

Slice ProgramBuilder::slice(Buffer buffer, std::span<const Range> ranges) {
  const auto list = static_cast<std::uint32_t>(program_.ranges.size());
  Unit total = 0;
  for (const Range& range : ranges) {
    if (range.count == 0) continue;
    total += range.count;
    if (program_.ranges.size() > list) {
      Range& last = program_.ranges.back();
      if (last.first + last.count == range.first) {
        last.count += range.count;
        continue;
      }
    }
    program_.ranges.push_back(range);
  }
  const auto size = static_cast<std::uint32_t>(program_.ranges.size() - list);
  if (size <= 1) {
    const Range only = size == 0 ? Range{} : program_.ranges.back();
    program_.ranges.resize(list);
    return Slice{buffer, only, 0, 0};
  }
  return Slice{buffer, Range{program_.ranges[list].first, total}, list, size};
}

StepIndex ProgramBuilder::add(StepKind kind, Rank peer, const Slice& slice, const Slice& from,
                              std::uint32_t round, Gate gate, std::span<const StepIndex> after) {
  Step step;
  step.kind = kind;
  step.gate = gate;
  step.peer = peer;
  step.round = round;
  step.slice = slice;
  step.from = from;
  step.after = static_cast<std::uint32_t>(program_.after.size());
  step.after_size = static_cast<std::uint32_t>(after.size());
  program_.after.insert(program_.after.end(), after.begin(), after.end());
  program_.steps.push_back(step);
  return static_cast<StepIndex>(program_.steps.size() - 1);
}

StepIndex ProgramBuilder::send(Rank peer, const Slice& data, std::uint32_t round, Gate gate,
                               std::span<const StepIndex> after) {
  return add(StepKind::send, peer, data, Slice{}, round, gate, after);
}
StepIndex ProgramBuilder::receive(Rank peer, const Slice& data, std::uint32_t round, Gate gate,
                                  std::span<const StepIndex> after) {
  return add(StepKind::receive, peer, data, Slice{}, round, gate, after);
}
StepIndex ProgramBuilder::receive_combine(Rank peer, const Slice& data, std::uint32_t round,
                                          Gate gate, std::span<const StepIndex> after) {
  return add(StepKind::receive_combine, peer, data, Slice{}, round, gate, after);
}
StepIndex ProgramBuilder::copy(const Slice& to, const Slice& from, std::uint32_t round, Gate gate,
                               std::span<const StepIndex> after) {
  return add(StepKind::copy, no_rank, to, from, round, gate, after);
}
StepIndex ProgramBuilder::combine(const Slice& to, const Slice& from, std::uint32_t round,
                                  Gate gate, std::span<const StepIndex> after) {
  return add(StepKind::combine, no_rank, to, from, round, gate, after);
}

}  // namespace sibyl
