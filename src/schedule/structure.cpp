// One pass over the steps of a program, in program order.
#include "schedule/structure.hpp"

#include <algorithm>
#include <limits>

namespace sibyl {
namespace {

bool is_local(StepKind kind) { return kind == StepKind::copy || kind == StepKind::combine; }
bool applies_operator(StepKind kind) {
  return kind == StepKind::combine || kind == StepKind::receive_combine;
}

std::string unit_text(Unit unit, Buffer buffer) {
  return "unit " + std::to_string(unit) + " of " + std::string(name_of(buffer));
}

bool is_known(Buffer buffer) { return buffer <= Buffer::scratch; }

}  // namespace

std::string name_of_step(Rank rank, StepIndex index, const Step& step) {
  std::string text = "rank " + std::to_string(rank) + ", step " + std::to_string(index) + " (" +
                     std::string(name_of(step.kind));
  if (!is_local(step.kind)) {
    text += step.kind == StepKind::send ? " to " : " from ";
    text += std::to_string(step.peer);
  }
  return text + ", round " + std::to_string(step.round) + ")";
}

std::string check_header(const PlanHeader& header, std::size_t programs) {
  if (header.ranks < 1) return "the plan has no ranks";
  if (programs != static_cast<std::size_t>(header.ranks)) {
    return "the plan has " + std::to_string(programs) + " programs for " +
           std::to_string(header.ranks) + " ranks";
  }
  if (header.root < 0 || header.root >= header.ranks) {
    return "root " + std::to_string(header.root) + " is not a rank";
  }
  if (header.segments < 1) return "the plan has no segments";
  if (header.partition != partition_of(header.collective)) {
    return "the partition " + std::string(name_of(header.partition)) + " does not fit " +
           std::string(name_of(header.collective));
  }
  constexpr std::uint64_t most_units = std::numeric_limits<std::uint32_t>::max() / 4;
  const auto ranks = static_cast<std::uint64_t>(header.ranks);
  const std::uint64_t blocks = exchanges_all(header.collective) ? ranks * ranks : ranks;
  if (blocks > most_units || blocks * header.segments > most_units) {
    return "the plan has too many units";
  }
  return {};
}

bool StructureCheck::check(const PlanHeader& header, Rank rank, const Program& program,
                           ProgramCounts& counts, std::string& problem) {
  rank_ = rank;
  counts = ProgramCounts{};
  round_ = next_send_round_ = next_receive_round_ = 0;
  if (program.in_place && !may_be_in_place(header, rank)) {
    problem = "rank " + std::to_string(rank) + " is in place, but ";
    problem += has_root(header.collective) && header.collective != Collective::bcast
                   ? "only the root of a " + std::string(name_of(header.collective)) + " can be"
                   : "no rank of a " + std::string(name_of(header.collective)) + " can be";
    return false;
  }
  if (program.scratch_units > std::numeric_limits<std::uint32_t>::max() / 4) {
    problem = "rank " + std::to_string(rank) + " has too many scratch units";
    return false;
  }
  const bool aliases = program.in_place && in_place_aliases(header.collective);
  for (const Buffer buffer : {Buffer::send, Buffer::receive, Buffer::scratch}) {
    Extent& extent = extents_[static_cast<int>(buffer)];
    extent = extent_of(header, rank, program, buffer);
    if (buffer != Buffer::receive || !aliases) counts.units += extent.count;
  }
  untouchable_receive_ = header.collective == Collective::exscan && rank == 0;
  for (StepIndex i = 0; i < program.steps.size(); ++i) {
    if (!check_step(header, program, i, counts, problem)) {
      problem = name_of_step(rank, i, program.steps[i]) + " " + problem;
      return false;
    }
  }
  return true;
}

bool StructureCheck::check_step(const PlanHeader& header, const Program& program, StepIndex index,
                                ProgramCounts& counts, std::string& problem) {
  const Step& step = program.steps[index];
  if (step.round < round_) {
    problem = "goes back from round " + std::to_string(round_);
    return false;
  }
  round_ = step.round;
  if (step.after_size > 0) {
    if (std::uint64_t{step.after} + step.after_size > program.after.size()) {
      problem = "has an `after` list that is not in the pool";
      return false;
    }
    for (const StepIndex earlier : program.after_of(step)) {
      if (earlier >= index) {
        problem = "waits with `after` for step " + std::to_string(earlier) +
                  ", which is not an earlier one";
        return false;
      }
    }
  }
  const bool writes = step.kind != StepKind::send;
  if (!check_slice(program, step.slice, writes, problem)) return false;
  if (!check_parts(header, step.slice, problem)) return false;
  if (applies_operator(step.kind)) {
    if (!combines(header.collective)) {
      problem = "combines in a collective that only moves data";
      return false;
    }
    counts.operator_applications += step.slice.range.count;
  }
  if (is_local(step.kind)) return check_local(header, program, step, problem);
  if (!check_message(header, step, problem)) return false;
  if (step.kind == StepKind::send) {
    ++counts.sends;
    counts.control_messages += step.slice.range.count == 0 ? 1 : 0;
    counts.units_sent += step.slice.range.count;
  } else {
    ++counts.receives;
  }
  counts.rounds = std::max(counts.rounds, step.round + 1);
  return true;
}

bool StructureCheck::check_message(const PlanHeader& header, const Step& step,
                                   std::string& problem) {
  if (step.peer < 0 || step.peer >= header.ranks) {
    problem = "names a peer that is not a rank";
    return false;
  }
  if (step.peer == rank_) {
    problem = "names its own rank as peer";
    return false;
  }
  if (step.round >= header.rounds) {
    problem = "lies beyond the " + std::to_string(header.rounds) + " rounds of the plan";
    return false;
  }
  if (step.kind == StepKind::receive_combine && step.slice.range.count == 0) {
    problem = "combines no units";
    return false;
  }
  if (!header.one_ported) return true;
  std::uint32_t& next = step.kind == StepKind::send ? next_send_round_ : next_receive_round_;
  if (step.round < next) {
    problem = step.kind == StepKind::send ? "is a second send" : "is a second receive";
    problem += " in one round of a one-ported plan";
    return false;
  }
  next = step.round + 1;
  return true;
}

bool StructureCheck::check_local(const PlanHeader& header, const Program& program, const Step& step,
                                 std::string& problem) {
  if (step.peer != no_rank) {
    problem = "is local but names a peer";
    return false;
  }
  if (step.round > header.rounds) {
    problem = "lies beyond the " + std::to_string(header.rounds) + " rounds of the plan";
    return false;
  }
  if (!check_slice(program, step.from, false, problem)) return false;
  if (!check_parts(header, step.from, problem)) return false;
  if (step.slice.range.count == 0) {
    problem = "names no units";
    return false;
  }
  if (step.slice.range.count != step.from.range.count) {
    problem = "has unequal unit counts: " + std::to_string(step.from.range.count) + " to " +
              std::to_string(step.slice.range.count);
    return false;
  }
  const bool aliases = program.in_place && in_place_aliases(header.collective);
  const auto memory = [&](Buffer buffer) {
    return aliases && buffer == Buffer::receive ? Buffer::send : buffer;
  };
  if (memory(step.slice.buffer) == memory(step.from.buffer) &&
      names_a_unit_twice(program.ranges_of(step.slice), program.ranges_of(step.from))) {
    problem = "reads a unit that it writes";
    return false;
  }
  return true;
}

bool StructureCheck::check_slice(const Program& program, const Slice& slice, bool written,
                                 std::string& problem) {
  if (slice.range.count == 0 && slice.list_size == 0) return true;
  if (!is_known(slice.buffer)) {
    problem = "names an unknown buffer";
    return false;
  }
  if (written && untouchable_receive_ && slice.buffer != Buffer::scratch) {
    problem = "writes " + std::string(name_of(slice.buffer)) +
              ", which rank 0 of an exclusive scan must leave untouched";
    return false;
  }
  if (written && slice.buffer == Buffer::send && !program.in_place) {
    problem = "writes send, which belongs to the caller";
    return false;
  }
  const Extent& extent = extents_[static_cast<int>(slice.buffer)];
  if (slice.list_size == 0) {
    if (slice.range.first >= extent.first && slice.range.first < extent.end() &&
        slice.range.count <= extent.end() - slice.range.first) {
      return true;
    }
  }
  return check_ranges(program, slice, extent, written, problem);
}

bool StructureCheck::check_parts(const PlanHeader& header, const Slice& slice,
                                 std::string& problem) {
  const Unit copy = units_of_a_copy(header);
  if (copy == 0 || slice.range.count == 0) return true;
  if (slice.list_size != 0) {
    problem = "names a list of ranges, which a slice of a vector cannot be";
    return false;
  }
  const Range& range = slice.range;
  const bool whole_copies = range.first % copy == 0 && range.count % copy == 0;
  if (slice.buffer == Buffer::scratch && !whole_copies && range.first % copy + range.count > copy) {
    problem =
        "names " + unit_text(range.first, Buffer::scratch) + " and beyond the end of its copy";
    return false;
  }
  return true;
}

bool StructureCheck::check_ranges(const Program& program, const Slice& slice, const Extent& extent,
                                  bool written, std::string& problem) {
  if (std::uint64_t{slice.list} + slice.list_size > program.ranges.size()) {
    problem = "has a slice whose ranges are not in the pool";
    return false;
  }
  std::uint64_t total = 0;
  for (const Range& range : program.ranges_of(slice)) {
    total += range.count;
    const std::uint64_t end = std::uint64_t{range.first} + range.count;
    if (range.first >= extent.first && end <= extent.end()) continue;
    const Unit wrong =
        range.first < extent.first || range.first >= extent.end() ? range.first : extent.end();
    problem = "names " + unit_text(wrong, slice.buffer) + ", which does not exist: ";
    problem += extent.count == 0 ? "this rank has no such units"
                                 : "the units are " + std::to_string(extent.first) + " to " +
                                       std::to_string(extent.end() - 1);
    return false;
  }
  if (total != slice.range.count) {
    problem = "has a slice whose count is not the total of its ranges";
    return false;
  }
  if (written && names_a_unit_twice(program.ranges_of(slice), {})) {
    problem = "writes a unit twice";
    return false;
  }
  return true;
}

bool StructureCheck::names_a_unit_twice(std::span<const Range> first,
                                        std::span<const Range> second) {
  sorted_.assign(first.begin(), first.end());
  sorted_.insert(sorted_.end(), second.begin(), second.end());
  const auto before = [](const Range& a, const Range& b) { return a.first < b.first; };
  if (!std::is_sorted(sorted_.begin(), sorted_.end(), before)) {
    std::sort(sorted_.begin(), sorted_.end(), before);
  }
  for (std::size_t i = 1; i < sorted_.size(); ++i) {
    if (sorted_[i - 1].first + sorted_[i - 1].count > sorted_[i].first) return true;
  }
  return false;
}

}  // namespace sibyl
