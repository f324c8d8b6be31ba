// Whether nobody leaves a barrier before everybody has come: what the verifier proves of a
// collective that moves no data.
//
// A step that a rank may run only after its arrival has waited for that rank; a step has waited for
// whatever its predecessors have waited for, and a message that comes in for whatever its send has.
// At the end every rank must have waited for all of them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "schedule/dependencies.hpp"
#include "sibyl/schedule.hpp"

namespace sibyl {

class AwaitedRanks {
 public:
  // `order` holds the numbers of all steps in an order in which they can complete; step i of rank r
  // has the number first_step[r] + i. False with one line in `problem`.
  bool all_awaited(const PlanHeader& header, std::span<const Program> programs,
                   std::span<const std::uint32_t> first_step,
                   std::span<const std::uint32_t> partner, std::span<const std::uint32_t> order,
                   std::string& problem);

 private:
  std::span<std::uint64_t> row(std::uint32_t number) {
    return std::span(bits_).subspan(std::size_t{number} * words_, words_);
  }
  void merge(std::uint32_t from, std::uint32_t into);

  std::size_t words_ = 0;
  std::vector<std::uint64_t> bits_;  // a row of ranks for each step
  std::vector<Dependencies> dependencies_;
  std::vector<std::uint64_t> all_;
};

}  // namespace sibyl
