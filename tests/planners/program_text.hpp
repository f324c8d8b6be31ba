// Programs as text, one line per step, so that tests can hold them against programs written by
// hand: "ROUND: WHAT", gates only where open, `after` only where given. Examples:
//   0: send receive[0] to 3
//   1: scratch[1] := receive[0] (+) scratch[1]
//   0: receive receive[2,0-1] from 2 on_start after 0
#pragma once

#include <string>
#include <vector>

#include "sibyl/planners.hpp"

namespace sibyl {

inline std::string text_of(const Program& program, const Slice& slice) {
  if (slice.range.count == 0) return "nothing";
  std::string units;
  for (const Range& range : program.ranges_of(slice)) {
    if (!units.empty()) units += ",";
    units += std::to_string(range.first);
    if (range.count > 1) units += "-" + std::to_string(range.first + range.count - 1);
  }
  return std::string(name_of(slice.buffer)) + "[" + units + "]";
}

inline std::string text_of(const Program& program, const Step& step) {
  const std::string data = text_of(program, step.slice);
  const std::string peer = std::to_string(step.peer);
  std::string text = std::to_string(step.round) + ": ";
  switch (step.kind) {
    case StepKind::send:
      text += "send " + data + " to " + peer;
      break;
    case StepKind::receive:
      text += "receive " + data + " from " + peer;
      break;
    case StepKind::receive_combine:
      text += data + " := from " + peer + " (+) " + data;
      break;
    case StepKind::copy:
      text += data + " := " + text_of(program, step.from);
      break;
    case StepKind::combine:
      text += data + " := " + text_of(program, step.from) + " (+) " + data;
      break;
  }
  if (step.gate == Gate::on_start) text += " on_start";
  if (step.after_size > 0) text += " after";
  for (const StepIndex earlier : program.after_of(step)) text += " " + std::to_string(earlier);
  return text;
}

inline std::vector<std::string> text_of(const Program& program) {
  std::vector<std::string> lines;
  for (const Step& step : program.steps) lines.push_back(text_of(program, step));
  return lines;
}

// The program with all rounds 0: what runs, without what only costs and draws.
inline Program without_rounds(Program program) {
  for (Step& step : program.steps) step.round = 0;
  return program;
}

inline Program program_of(Collective collective, std::string_view name, const PlanRequest& request,
                          Rank rank) {
  Program program;
  find_algorithm(collective, name)->plan(request, rank, program);
  return program;
}

using Lines = std::vector<std::string>;

}  // namespace sibyl
