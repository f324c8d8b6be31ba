// Dependencies the other way round: what the completion of a step releases, and how many releases a
// step waits for. The executor, the verifier and the simulator all run a program so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "schedule/dependencies.hpp"

namespace sibyl {

// An entry of a list of successors: the number of a step, and whether only its combination waits,
// not its posting (the data that a receive_combine adds to).
struct Release {
  static constexpr std::uint32_t make(std::uint32_t step, bool combination) {
    return step * 2 + (combination ? 1 : 0);
  }
  static constexpr std::uint32_t step(std::uint32_t entry) { return entry / 2; }
  static constexpr bool of_combination(std::uint32_t entry) { return entry % 2 != 0; }
};

// What is filled in for a step.
struct SuccessorPlace {
  std::uint32_t& successors;  // its list begins here and ends where that of the next step begins
  std::uint32_t& wait_post;   // releases until it is posted, or runs
  std::uint32_t& wait_data;   // further ones until it combines
};

// Appends the lists of one program, whose steps are numbered from `first` on, to `all`. `place`
// gives the SuccessorPlace of the program's step i; the end of the last list is all.size() then.
// `cursor` is room to work in.
template <class Place>
void append_successors(const Dependencies& dependencies, const Program& program,
                       std::uint32_t first, std::vector<std::uint32_t>& cursor,
                       std::vector<std::uint32_t>& all, Place place) {
  const auto steps = static_cast<StepIndex>(program.steps.size());
  cursor.assign(std::size_t{steps} + 1, 0);
  for (const StepIndex earlier : dependencies.predecessor) ++cursor[earlier + 1];
  const auto begin = static_cast<std::uint32_t>(all.size());
  for (StepIndex i = 0; i < steps; ++i) {
    cursor[i + 1] += cursor[i];
    place(i).successors = begin + cursor[i];
  }
  all.resize(begin + dependencies.predecessor.size());
  for (StepIndex i = 0; i < steps; ++i) {
    const bool splits = program.steps[i].kind == StepKind::receive_combine;
    const auto after = dependencies.after_of(i);
    const auto data = dependencies.data_of(i);
    for (const StepIndex earlier : after) {
      all[begin + cursor[earlier]++] = Release::make(first + i, false);
    }
    for (const StepIndex earlier : data) {
      all[begin + cursor[earlier]++] = Release::make(first + i, splits);
    }
    const auto after_size = static_cast<std::uint32_t>(after.size());
    const auto data_size = static_cast<std::uint32_t>(data.size());
    const SuccessorPlace filled = place(i);
    filled.wait_post = after_size + (splits ? 0 : data_size);
    filled.wait_data = splits ? data_size : 0;
  }
}

}  // namespace sibyl
