// The lines of a program that make calls which MPI cannot tell apart, and the turns they take.
//
// A place is any number that is another one for another line of the program; 0 is that of a call
// whose line is not known. Lines are numbered from 1 in the order in which they were first seen.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "arrival/call_cycle.hpp"

namespace sibyl {

class CallLines {
 public:
  // The call of this number, counted from 1, was made from there. Returns its line; 0 where it is
  // not known, or there are more than are told apart.
  int note(std::int64_t call, std::int64_t place);
  bool several() const { return seen_ > 1; }
  // The turns they have taken of late, up to this call; none where there is but one.
  CallTurns turns(std::int64_t call) const {
    return several() ? cycle_.turns(0, call) : CallTurns{};
  }

 private:
  int line_of(std::int64_t place);

  std::array<std::int64_t, most_call_lines> places_{};
  std::size_t seen_ = 0;
  CallCycle cycle_;
};

}  // namespace sibyl
